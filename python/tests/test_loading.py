"""The package may be imported first in any thread, and that thread may end."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING

import pytest
from test_open import write_points

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """
    import sys, threading
    def first():
        import headland
        if sys.argv[2] == "read":
            assert len(headland.read(sys.argv[1])) == 300_000
    for _ in range(2):
        thread = threading.Thread(target=first)
        thread.start()
        thread.join()
    import headland
    assert len(headland.read(sys.argv[1])) == 300_000
    layers = []
    threads = [threading.Thread(target=lambda: layers.append(headland.read(sys.argv[1]))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(sum(map(len, layers)))
"""


@pytest.mark.parametrize("first", ["import", "read"])
def test_the_thread_that_imports_first_may_end(tmp_path: Path, first: str) -> None:
    path = tmp_path / "points.zip"
    write_points(path, 300_000)
    command = [sys.executable, "-c", textwrap.dedent(PROGRAM), str(path), first]
    done = subprocess.run(command, capture_output=True, text=True, timeout=110, check=False)
    assert (done.returncode, done.stdout) == (0, "1200000\n"), done.stderr
