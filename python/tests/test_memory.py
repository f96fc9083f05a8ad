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


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_memory_goes_back_with_the_layers_of_threads_that_have_ended(tmp_path: Path) -> None:
    large = tmp_path / "points.zip"
    write_points(large, 400_000)
    (left,) = memory(
        """
        import threading
        def work():
            for _ in range(2):
                hl.read(sys.argv[1])
        threads = [threading.Thread(target=work) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        print(status("VmRSS") - before)
        """,
        str(large),
    )
    table = pa.table(hl.read(large)).nbytes // 1024
    assert left < 3 * table, f"six threads left {left} KiB behind, where a table has {table}"
