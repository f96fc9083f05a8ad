"""The end of the interpreter: open objects and reading threads write nothing to standard error."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING

import pytest
from point_files import write_points

if TYPE_CHECKING:
    from pathlib import Path

SERVICE = """
        service = hl.Sandbox.demo(rate_limits=())
        client = hl.Client(**service.credentials, rate_limits=(), limiter_state="memory", page_size=1)
"""

OPEN = {
    "a reader": """
        reader = hl.open(path, batch_size=100)
        next(reader)
    """,
    "a stream of a reader": """
        import pyarrow as pa
        stream = pa.RecordBatchReader.from_stream(hl.open(path, batch_size=100))
        stream.read_next_batch()
    """,
    "a reader in a cycle": """
        class Holder: pass
        holder = Holder()
        holder.itself, holder.reader = holder, hl.open(path, batch_size=100)
        next(holder.reader)
    """,
    "a service, a client, a mirror and a listing": SERVICE
    + """
        mirror = hl.Mirror(folder, client)
        mirror.plan()
        listing = iter(client.job_data.list())
        next(listing)
    """,
    "a stream of a listing": SERVICE
    + """
        import pyarrow as pa
        stream = pa.RecordBatchReader.from_stream(client.job_data.list())
        stream.read_next_batch()
    """,
    "a reader of a thread that exits": """
        def read():
            for batch in hl.open(path, batch_size=100):
                sys.exit(3)
        threading.Thread(target=read).start()
    """,
    "a thread that reads": """
        def read():
            while True:
                for batch in hl.open(path, batch_size=100):
                    begun.set()
        threading.Thread(target=read, daemon=True).start()
        begun.wait()
    """,
}


def ended(program: str, folder: Path, *options: str) -> tuple[int, str]:
    """Run a program to its end; return its exit code and its output."""
    path = folder / "points.zip"
    write_points(path, 20_000)
    start = """
        import sys, threading
        import headland as hl
        path, folder = sys.argv[1], sys.argv[2]
        begun = threading.Event()
    """
    whole = textwrap.dedent(start) + textwrap.dedent(program)
    command = [sys.executable, *options, "-c", whole, str(path), str(folder / "mirror")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("options", [(), ("-X", "dev")], ids=["plain", "dev"])
@pytest.mark.parametrize("left", OPEN.values(), ids=OPEN.keys())
def test_open_objects_are_silent_at_exit(left: str, options: tuple[str, ...], tmp_path: Path) -> None:
    assert ended(left, tmp_path, *options) == (0, "")


def test_thread_that_reads_an_arrow_stream_is_silent_at_exit(tmp_path: Path) -> None:
    # Exit handlers run in reverse order: the thread still runs while the exit has begun, for a short time.
    program = """
        import atexit
        has_raised = threading.Event()
        atexit.register(has_raised.wait, 0.2)
        import pyarrow as pa
        def read():
            try:
                while True:
                    for batch in pa.RecordBatchReader.from_stream(hl.open(path, batch_size=100)):
                        begun.set()
            except OSError as reason:
                print(reason, flush=True)
                has_raised.set()
        threading.Thread(target=read, daemon=True).start()
        begun.wait()
    """
    assert ended(program, tmp_path) == (0, "")
