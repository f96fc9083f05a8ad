"""Metadata of Arrow schemas: sorted by key in every table, so that equal tables are equal bytes."""

from __future__ import annotations

import io
import json
import pickle
import zipfile
from typing import Any

import pyarrow as pa
import shapefile  # pyshp

import headland as hl

COLUMNS = [f"COLUMN{number:02}" for number in range(20)]


def archive() -> bytes:
    """Make a zip whose sidecar gives each of its columns a unit and a description."""
    members = {ending: io.BytesIO() for ending in ("shp", "shx", "dbf")}
    with shapefile.Writer(**members, shapeType=shapefile.POINT) as writer:
        for name in COLUMNS:
            writer.field(name, "N", 9, 0)
        writer.point(1.0, 2.0)
        writer.record(*range(len(COLUMNS)))
    sidecar = {"DataAttributes": [{"Name": name, "Unit": "m", "Description": "text"} for name in COLUMNS]}
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as target:
        for ending, member in members.items():
            target.writestr(f"t.{ending}", member.getvalue())
        target.writestr("t-Deere-Metadata.json", json.dumps(sidecar))
    return content.getvalue()


def test_metadata_of_schemas_are_sorted_by_key() -> None:
    layer = hl.read(archive())
    with hl.open(archive()) as reader:
        batch = next(reader)
        exports: list[Any] = [
            pa.table(layer).schema,
            pa.schema(layer),
            pa.schema(reader),
            pa.record_batch(batch).schema,
            pa.RecordBatchReader.from_stream(layer).schema,
        ]
    for schema in exports:
        assert schema.names == [*COLUMNS, "geometry"]
        for field in schema:
            assert list(field.metadata) == sorted(field.metadata), field.name
        assert schema.field("COLUMN07").metadata == {b"description": b"text", b"unit": b"m"}
        assert schema.field("COLUMN07").nullable


def test_equal_layers_have_equal_pickles() -> None:
    assert len({pickle.dumps(hl.read(archive())) for _ in range(5)}) == 1
