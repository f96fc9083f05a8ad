"""Signals while archives are read: Ctrl-C ends the wait, a handler may read as well."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
import time
from pathlib import Path

import pytest
from point_files import write_points

import headland as hl


def computed() -> int:
    """Return the CPU time of the core's threads in hundredths of a second."""
    ticks = 0
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(OSError):
            name, _, facts = (task / "stat").read_text(encoding="ascii").partition(")")
            if "headland-comput" in name:
                ticks += int(facts.split()[11])
    return ticks


def interrupt_once_it_reads(before: int) -> None:
    """Send the signal of Ctrl-C as soon as a thread of the core computes: before that there is nothing to interrupt."""
    patience = time.monotonic() + 60
    while time.monotonic() < patience and computed() <= before:
        pass
    signal.raise_signal(signal.SIGINT)


@pytest.mark.skipif(sys.platform != "linux", reason="threads are looked for in /proc")
def test_ctrl_c_ends_a_batch_and_the_reader(tmp_path: Path) -> None:
    # Signals are checked every 50 ms, so the batch must take several times as long.
    path = tmp_path / "points.zip"
    write_points(path, 3_000_000)
    reader = hl.open(path, batch_size=3_000_000)
    sender = threading.Thread(target=interrupt_once_it_reads, args=(computed(),))
    sender.start()
    with pytest.raises(KeyboardInterrupt):
        next(reader)
    sender.join()
    with pytest.raises(ValueError, match="closed"):
        next(reader)
    write_points(tmp_path / "few.zip", 1000)
    assert len(hl.read(tmp_path / "few.zip")) == 1000


@pytest.mark.skipif(sys.platform != "linux", reason="threads are looked for in /proc")
def test_ctrl_c_ends_the_start_of_a_service() -> None:
    sender = threading.Thread(target=interrupt_once_it_reads, args=(computed(),))
    # A thread of the test before may still compute, and then the signal comes at once.
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012
        sender.start()
        hl.Sandbox.demo(harvest="logged")
    sender.join()


def test_a_handler_may_read_an_archive(tmp_path: Path) -> None:
    large, small = tmp_path / "large.zip", tmp_path / "small.zip"
    write_points(large, 1_000_000)
    write_points(small, 1000)
    rows = []
    before = signal.signal(signal.SIGALRM, lambda *_: rows.append(len(hl.read(small))))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        rows.append(len(hl.read(large)))
    finally:
        signal.signal(signal.SIGALRM, before)
    assert rows == [1000, 1_000_000]
