"""Memory of a process after its layers are freed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from point_files import write_points
from test_open import SERIES, memory

import headland as hl

if TYPE_CHECKING:
    from pathlib import Path

KEPT = 512 * 1024
"""Memory in KiB that may be kept for the next read."""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_memory_of_freed_layers_is_returned(tmp_path: Path) -> None:
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
def test_memory_of_ended_threads_does_not_accumulate(tmp_path: Path) -> None:
    large = tmp_path / "points.zip"
    write_points(large, 400_000)
    (left,) = memory(
        """
        import threading
        def work():
            for _ in range(int(sys.argv[2])):
                hl.read(sys.argv[1])
        threads = [threading.Thread(target=work) for _ in range(40)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        print(status("VmRSS") - before)
        """,
        str(large),
        "1" if SERIES == 1 else "2",
    )
    # The memory of each thread apart from its layers is added.
    assert left < KEPT * 3 // 2, f"threads left {left} KiB behind"
