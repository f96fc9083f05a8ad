"""One budget for all users of a key: several processes with several threads each (specification 8)."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING, Any

import pytest
from stub_server import web

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


def test_processes_and_threads_of_one_key_never_get_429(tmp_path: Path) -> None:
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


EXCESSIVE = {"Retry-After": "1000000000"}, {"X-RateLimit-Reset": "1790000000"}


@pytest.mark.parametrize("headers", EXCESSIVE, ids=["seconds", "an epoch"])
def test_excessive_wait_blocks_calls_for_five_minutes_and_is_named(tmp_path: Path, headers: dict[str, str]) -> None:
    with web(lambda _: (429, headers, b"Enough.")) as host:
        keys: dict[str, Any] = {"api_key": "key", "shared_secret": "c2VjcmV0", "access_key": "customer"}
        keys["base_url"] = f"http://{host}"
        state = tmp_path / "limits.sqlite3"
        with (
            hl.Client(**keys, limiter_state=state, timeout=hl.Timeout(5, 5, 60)) as client,
            hl.Client(**keys, limiter_state=state) as other,
        ):
            for _ in range(2):
                with pytest.raises(hl.RateLimited, match=r"asked to wait 24 hours or longer.* timeout of 60 s"):
                    client.access_key()
            budget = other.budget()
            assert budget.service_wait == 86_400
            assert 290 < budget.next_call_in <= 300


def test_invalid_limiter_file_is_moved_aside_with_a_warning(service: hl.Sandbox, tmp_path: Path) -> None:
    state = tmp_path / "limits.sqlite3"
    state.write_bytes(b"garbage" * 1_000)
    with (
        pytest.warns(hl.HeadlandWarning, match=r"limits\.sqlite3\.damaged-1"),
        hl.Client(**service.credentials, limiter_state=state) as client,
    ):
        assert client.access_key()["is_active"]
    assert (tmp_path / "limits.sqlite3.damaged-1").read_bytes() == b"garbage" * 1_000
    with hl.Client(**service.credentials, limiter_state=state) as client:
        assert client.budget().windows[0].used == 1
