"""One budget for all that use a key: several processes with several threads each (specification 8)."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING

import headland as hl

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """
    import sys
    from concurrent.futures import ThreadPoolExecutor
    import headland as hl
    with hl.Client.from_env() as client, ThreadPoolExecutor(4) as threads:
        print("ready", flush=True)
        sys.stdin.readline()
        list(threads.map(lambda _: client.access_key(), range(8)))
"""


def test_processes_and_threads_of_one_key_are_never_refused(tmp_path: Path) -> None:
    with hl.Sandbox(rate_limits=[(8, 0.4)], window="sliding") as service:
        keys = {f"HEADLAND_{name.upper()}": str(value) for name, value in service.credentials.items()}
        shared = {"HEADLAND_RATE_LIMITS": "8/0.4", "HEADLAND_LIMITER_STATE": str(tmp_path / "limits.sqlite3")}
        children = [
            subprocess.Popen(
                [sys.executable, "-c", textwrap.dedent(PROGRAM)],
                env={**os.environ, **keys, **shared},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for _ in range(3)
        ]
        for process in children:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for process in children:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        for process in children:
            process.communicate()
            assert process.returncode == 0
        assert [request.status for request in service.requests] == [200] * 24
