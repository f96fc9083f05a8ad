"""Archives read batch by batch (design, sections 2 and 5): rows, types, consumers, ends, threads, signals, memory."""

from __future__ import annotations

import concurrent.futures
import doctest
import gc
import inspect
import io
import os
import pickle
import subprocess
import sys
import textwrap
import threading
import zipfile
from typing import TYPE_CHECKING

import duckdb
import polars as pl
import pyarrow as pa
import pytest
from doc_examples import run
from forks import in_child
from point_files import write_points
from three_points import archive

import headland as hl

if TYPE_CHECKING:
    from pathlib import Path

SERIES = int(os.environ.get("HEADLAND_SERIES", "1"))
ROWS = 4_000_000 if SERIES > 1 else 400_000
"""Number of rows of the large archive: the documented number in a long series, a tenth of it in a short one."""


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("large") / "points.zip"
    write_points(path, ROWS)
    return path


def table_of(reader: hl.LayerReader) -> pa.Table:
    return pa.Table.from_batches([pa.record_batch(batch) for batch in reader], schema=pa.schema(reader))


@pytest.mark.parametrize("batch_size", [1, 2, 65_536])
def test_batches_are_the_rows_of_the_layer(batch_size: int, tmp_path: Path) -> None:
    content = archive()
    path = tmp_path / "job.zip"
    path.write_bytes(content)
    layer = hl.read(content)
    for source in (content, path, io.BytesIO(content), bytearray(content)):
        with hl.open(source, batch_size=batch_size) as reader:
            assert (reader.name, reader.columns, reader.crs) == (layer.name, layer.columns, layer.crs)
            assert (reader.units, reader.schema) == (layer.units, pa.table(layer).schema)
            assert table_of(reader).equals(pa.table(layer), check_metadata=True)
            assert reader.diagnostics == layer.diagnostics
    assert "LayerReader 'YIELD': 6 columns" in repr(reader)


@pytest.mark.parametrize("subject", [hl.open, hl.LayerReader], ids=["open", "LayerReader"])
def test_the_examples_of_the_docstrings_run(subject: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "job.zip").write_bytes(archive())
    monkeypatch.chdir(tmp_path)
    examples = doctest.DocTestParser().get_examples(inspect.getdoc(subject) or "")
    assert examples
    for example in examples:
        run(example.source, {"headland": hl})


def test_a_batch_is_a_layer_and_a_record_batch() -> None:
    with hl.open(archive(), batch_size=2) as reader:
        first, second = reader
    assert (len(first), first.num_rows, len(second)) == (2, 2, 1)
    assert isinstance(first, hl.Layer)
    assert first.values("PASS") == [1, None]
    frame = first.to_geopandas()
    assert (len(frame), frame.crs.to_epsg(), frame.geometry[0].x) == (2, 32614, 500_000)
    assert "<svg" in first.picture("MOISTURE")
    assert "<Batch 'YIELD': 1 records" in repr(second)
    batch = pa.record_batch(first)
    assert batch.schema == pa.schema(reader)
    assert batch.column("VARIETY").to_pylist() == ["early", None]


def fractions() -> bytes:
    """Return a table of 50 rows whose column of integers has decimals in record 37."""
    records = [b"  1.5" if row == 37 else b"%5d" % row for row in range(50)]
    head = bytes([3, 126, 1, 1]) + (50).to_bytes(4, "little") + (65).to_bytes(2, "little") + (6).to_bytes(2, "little")
    field = b"RATE".ljust(11, b"\0") + b"N" + bytes(4) + bytes((5, 0)) + bytes(14)
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as target:
        target.writestr("t.dbf", head.ljust(32, b"\0") + field + b"\r" + b"".join(b" " + record for record in records))
    return content.getvalue()


def test_cell_of_another_type_is_an_error_with_the_next_step() -> None:
    reader = hl.open(fractions(), batch_size=10)
    assert [len(next(reader)) for _ in range(3)] == [10, 10, 10]
    with pytest.raises(hl.ArchiveError, match=r"float64.*scan") as caught:
        next(reader)
    assert (caught.value.member, caught.value.record, caught.value.field) == ("t.dbf", 37, "RATE")
    with pytest.raises(ValueError, match="closed"):
        next(reader)
    for reader in (hl.open(fractions(), types="scan"), hl.open(fractions(), types={"RATE": "float64"})):
        with reader:
            assert reader.schema.field("RATE").type == pa.float64()
            assert next(reader).values("RATE")[37] == 1.5
    with hl.open(fractions(), types={"RATE": "string"}) as reader:
        assert next(reader).values("RATE")[36:38] == ["36", "1.5"]


def test_columns_may_name_the_geometry() -> None:
    with hl.open(archive(), columns=["PASS", "geometry"], to_crs="EPSG:4326") as reader:
        assert (reader.columns, reader.crs) == (["PASS", "geometry"], "EPSG:4326")
        frame = next(reader).to_geopandas()
    assert frame.geometry[0].x == pytest.approx(-99)


def test_grain_cart_is_read_in_batches(client: hl.Client) -> None:
    cart = next(iter(client.grain_carts.list()))
    content = client.grain_carts.download(cart["id"])
    layer = hl.read(content)
    with hl.open(content, batch_size=1) as reader:
        assert reader.metadata == layer.metadata
        assert table_of(reader).equals(pa.table(layer))


def test_consumers_of_arrow_read_batch_by_batch() -> None:
    content, rows = archive(), 3
    with hl.open(content, batch_size=1) as reader:
        stream = pa.RecordBatchReader.from_stream(reader)
        assert stream.schema == pa.schema(reader)
        assert stream.read_next_batch().column("PASS").to_pylist() == [1]
        assert next(reader).values("PASS") == [None], "the stream has taken one batch and no more"
        assert stream.read_all().num_rows == 1
        assert next(reader, None) is None
    assert len(pl.DataFrame(hl.open(content))) == rows
    stream = pa.RecordBatchReader.from_stream(hl.open(content, batch_size=2))
    assert duckdb.sql("SELECT count(*), sum(MOISTURE) FROM stream").fetchall() == [(rows, 13.625)]


def test_an_error_in_a_stream_reaches_the_consumer() -> None:
    stream = pa.RecordBatchReader.from_stream(hl.open(fractions(), batch_size=10))
    assert stream.read_next_batch().num_rows == 10
    with pytest.raises(OSError, match="record 37"):
        stream.read_all()


def test_streams_are_freed_in_any_thread(large: Path) -> None:
    def half_read() -> None:
        stream = pa.RecordBatchReader.from_stream(hl.open(large, batch_size=100))
        stream.read_next_batch()
        del stream
        gc.collect()

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for future in [pool.submit(half_read) for _ in range(8)]:
            future.result()
    content = large.read_bytes()
    before = sys.getrefcount(content)
    pa.RecordBatchReader.from_stream(hl.open(content, batch_size=100)).read_next_batch()
    gc.collect()
    assert sys.getrefcount(content) == before


def test_closed_reader_is_an_error(large: Path) -> None:
    reader = hl.open(large, batch_size=100)
    next(reader)
    reader.close()
    reader.close()
    for use in (lambda: next(reader), lambda: pa.RecordBatchReader.from_stream(reader), reader.__enter__):
        with pytest.raises(ValueError, match="closed"):
            use()
    assert (reader.name, [note.code for note in reader.diagnostics]) == ("points", ["no-prj"])
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(reader)
    with hl.open(archive()) as read_out:
        assert sum(len(batch) for batch in read_out) == 3
        assert list(read_out) == [], "the end stays the end"
    with pytest.raises(ValueError, match="closed"):
        next(read_out)


def test_damage_is_an_error_after_the_batches_before_it(large: Path, tmp_path: Path) -> None:
    content = bytearray(large.read_bytes())
    with zipfile.ZipFile(large) as names:
        dbf = names.getinfo("points.dbf")
    at = dbf.header_offset + dbf.compress_size * 2 // 3
    content[at : at + 2000] = b"\xff" * 2000
    path = tmp_path / "damaged.zip"
    path.write_bytes(content)
    rows = []
    for threads in (1, 2):
        lengths: list[int] = []
        with pytest.raises(hl.ArchiveError) as caught:
            lengths.extend(map(len, hl.open(path, batch_size=10_000, threads=threads)))
        seen = sum(lengths)
        assert caught.value.member == "points.dbf"
        rows.append((seen, str(caught.value)))
        # Invalid bytes between the fault and its detection may look like decimals, which integer columns reject.
        with hl.open(path, batch_size=10_000, threads=threads, strict=False, columns=["MOISTURE"]) as lenient:
            saved = sum(len(batch) for batch in lenient)
            assert seen <= saved < ROWS
            assert {note.code for note in lenient.diagnostics} >= {"dbf-damaged", "row-mismatch"}
    assert rows[0] == rows[1], "one thread and two say the same"


def test_threads_share_a_reader(large: Path) -> None:
    with hl.open(large, batch_size=1000, columns=["PASS"]) as reader:

        def rows() -> int:
            return sum(len(batch) for batch in reader)

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            counts = [future.result() for future in [pool.submit(rows) for _ in range(4)]]
    assert sum(counts) == ROWS, "each batch goes to one of them"


def test_closing_from_another_thread_ends_the_iteration(large: Path) -> None:
    reader = hl.open(large, batch_size=1000)
    asked, closed = threading.Event(), threading.Event()

    def close() -> None:
        asked.wait(60)
        reader.close()
        closed.set()

    closer = threading.Thread(target=close)
    closer.start()
    taken = 0
    with pytest.raises(ValueError, match="closed"):  # noqa: PT012 -- which batch is the last one is what is asked
        for _ in reader:
            taken += 1
            if taken == 3:
                asked.set()
                assert closed.wait(60), "closing waits for no other thread"
    closer.join()
    assert taken == 3, "nothing is given after the close"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
def test_reader_opened_before_a_fork_is_an_error(large: Path) -> None:
    reader = hl.open(large, batch_size=1000, threads=2)
    next(reader)

    def read_on() -> None:
        for use in (lambda: next(reader), lambda: reader.diagnostics):
            with pytest.raises(RuntimeError, match="before a fork"):
                use()
        reader.close()
        with hl.open(large, batch_size=1000, threads=2) as own:
            assert len(next(own)) == 1000

    in_child(read_on)
    assert len(next(reader)) == 1000, "the parent reads on"


def memory(program: str, *arguments: str) -> list[int]:
    """Run a program in a child and return its output, which is in KiB."""
    start = """
        import sys, headland as hl
        def status(name):
            with open("/proc/self/status") as lines:
                return next(int(line.split()[1]) for line in lines if line.startswith(name))
        before = status("VmRSS")
    """
    program = textwrap.dedent(start) + textwrap.dedent(program)
    outcome = subprocess.run([sys.executable, "-c", program, *arguments], check=True, capture_output=True, text=True)
    return [int(word) for word in outcome.stdout.split()]


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_memory_is_bounded_for_any_number_of_rows(large: Path) -> None:
    rows, peak = memory(
        """
        with hl.open(sys.argv[1]) as reader:
            rows = sum(len(batch) for batch in reader)
        print(rows, status("VmHWM") - before)
        """,
        str(large),
    )
    assert rows == ROWS
    # The index takes four bytes a row; all else does not depend on the number of rows.
    bound = 60 * 1024 + 4 * ROWS // 1024
    assert peak < bound < 200 * 1024, f"{ROWS} rows took {peak} KiB"


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_memory_of_a_whole_read_is_little_more_than_the_table(large: Path) -> None:
    code = "layer = hl.read(sys.argv[1])\nprint(status('VmHWM') - before)"
    peak = memory(code, str(large))[0]
    table = pa.table(hl.read(large)).nbytes
    # With a second thread the peak has two values, 2 MiB apart; beside other processes it is always the higher one.
    bound = (table + large.stat().st_size + 22_500_000) // 1024
    assert peak < bound, f"{ROWS} rows took {peak} KiB, of which the table has {table // 1024}"
