"""The end of a reader: a late consumer gets an error, and an iteration stays at its end (design, section 2)."""

from __future__ import annotations

import polars as pl
import pyarrow as pa
import pytest
from shapefiles import POINT, shp, zipped
from three_points import archive

import headland as hl


def test_second_consumer_of_a_stream_is_an_error_and_no_empty_table() -> None:
    reader = hl.open(archive(), batch_size=2)
    assert len(pa.table(reader)) == 3
    for consume in (pa.table, pa.RecordBatchReader.from_stream, pl.DataFrame):
        with pytest.raises(ValueError, match="read to its end: open the archive again"):
            consume(reader)
    # An ended iteration stays ended, like that of a file or a generator.
    assert list(reader) == []
    assert next(reader, None) is None
    reader.close()
    with pytest.raises(ValueError, match="closed"):
        next(reader)


def test_stream_after_an_iteration_has_the_rest_or_is_an_error_at_the_end() -> None:
    with hl.open(archive(), batch_size=2) as reader:
        assert len(next(reader)) == 2
        assert len(pa.table(reader)) == 1
    with hl.open(archive(), batch_size=2) as reader:
        assert sum(len(batch) for batch in reader) == 3
        with pytest.raises(ValueError, match="read to its end"):
            pa.table(reader)
        # Attributes other than rows stay available.
        assert pa.schema(reader).names == reader.columns


def test_later_of_two_streams_is_an_error() -> None:
    reader = hl.open(archive(), batch_size=2)
    first, second = pa.RecordBatchReader.from_stream(reader), pa.RecordBatchReader.from_stream(reader)
    assert len(first.read_all()) == 3
    with pytest.raises(OSError, match="read to its end"):
        second.read_all()


def test_a_layer_without_rows_is_a_table_without_rows() -> None:
    content, index = shp(POINT, [])
    reader = hl.open(zipped({"t.shp": content, "t.shx": index}))
    table = pa.table(reader)
    assert (table.num_rows, table.column_names) == (0, ["geometry"])
    with pytest.raises(ValueError, match="read to its end"):
        pa.table(reader)


def test_diagnostics_of_the_reader_cover_all_batches() -> None:
    with hl.open(archive(prj=None), batch_size=1) as reader:
        assert [batch.diagnostics for batch in reader] == [[], [], []]
        assert "no-prj" in [note.code for note in reader.diagnostics]
