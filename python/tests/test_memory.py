"""What a process holds after layers were let go of."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from test_open import memory, write_points

import headland as hl

if TYPE_CHECKING:
    from pathlib import Path

KEPT = 512 * 1024
"""What may be kept for the next read, in KiB."""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_memory_goes_back_when_many_layers_are_let_go_of(tmp_path: Path) -> None:
    large = tmp_path / "points.zip"
    write_points(large, 400_000)
    held, left = memory(
        """
        layers = [hl.read(sys.argv[1]) for _ in range(40)]
        print(status("VmRSS") - before)
        layers.clear()
        print(status("VmRSS") - before)
        """,
        str(large),
    )
    table = pa.table(hl.read(large)).nbytes // 1024
    assert held > 40 * table > KEPT
    assert left < held // 2, f"{left} KiB of {held} are left behind"


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_the_memory_of_threads_that_have_ended_does_not_add_up(tmp_path: Path) -> None:
    large = tmp_path / "points.zip"
    write_points(large, 400_000)
    (left,) = memory(
        """
        import threading
        def work():
            for _ in range(2):
                hl.read(sys.argv[1])
        threads = [threading.Thread(target=work) for _ in range(40)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        print(status("VmRSS") - before)
        """,
        str(large),
    )
    # What each thread needed beside its layers comes on top.
    assert left < KEPT * 3 // 2, f"threads left {left} KiB behind"
