"""The first import of the package: in any thread, which may end, but in no sub-interpreter."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING

import pytest
from point_files import write_points

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


IN_SUB = """
    import sys, threading
    if sys.version_info < (3, 13):
        import _xxsubinterpreters as interpreters
    else:
        import _interpreters as interpreters
    def call():
        import headland as hl
        keys = dict(base_url="http://127.0.0.1:9", api_key="a", shared_secret="c2VjcmV0", access_key="k")
        client = hl.Client(**keys, limiter_state="memory", timeout=hl.Timeout(1, 1, 1))
        try:
            client.access_key()
        except hl.HeadlandError as error:
            print(type(error).__name__)
    if sys.argv[1] == "first":
        call()
    try:
        sub = interpreters.create()
        failure = interpreters.run_string(sub, "import headland")
    except Exception as raised:
        failure = raised
    assert "headland" in str(failure) and "interpreter" in str(failure), failure
    print("refused")
    if sys.argv[2] == "destroyed":
        interpreters.destroy(sub)
    # Neither the refusal nor the end of the sub-interpreter is in the way of the main one and its threads.
    thread = threading.Thread(target=call)
    thread.start()
    thread.join()
"""


@pytest.mark.parametrize("end", ["destroyed", "left"])
@pytest.mark.parametrize("order", ["first", "after"])
def test_sub_interpreter_is_an_error_and_the_process_ends(order: str, end: str) -> None:
    command = [sys.executable, "-c", textwrap.dedent(IN_SUB), order, end]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    calls = ["TransportError"] if order == "first" else []
    assert (done.returncode, done.stdout.split()) == (0, [*calls, "refused", "TransportError"]), done.stderr
