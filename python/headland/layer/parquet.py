"""Writes frames as Parquet or GeoParquet with the units of their columns."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from headland import arguments, extras, files

if TYPE_CHECKING:
    import os
    from pathlib import Path

    import pandas as pd
    import pyarrow as pa

COVERING = "bbox"
"""The column with the bounding box of each geometry, as in ``Layer.write_parquet``."""


def write_parquet(frame: pd.DataFrame, path: str | os.PathLike[str]) -> Path:
    """Write a frame as Parquet, compressed with zstd; a frame with geometries as GeoParquet 1.1.

    Args:
        frame: A ``geopandas.GeoDataFrame`` or a ``pandas.DataFrame``; ``Layer.write_parquet`` writes a layer.
        path: The file. It appears under its name once it is complete, and replaces an existing file. A link is
            followed; a target that is not a regular file is refused.

    Returns:
        The path. ``frame.attrs`` are part of the file, and ``frame.attrs["units"]``, the units of columns by name, are
        also the metadata ``unit`` of the Arrow fields, as ``Layer.write_parquet`` writes them. pandas 2.1 and geopandas
        restore ``attrs``; other readers, and versions of geopandas that do not, find the units in
        ``pyarrow.parquet.read_schema(path)``. A column ``bbox`` stores the bounding box of each geometry, for
        ``geopandas.read_parquet(path, bbox=...)``, unless the frame has a column of this name.

    Raises:
        HeadlandError: The file cannot be written (it is an ``OSError`` too).
        TypeError: `frame` is not a frame, or its ``attrs`` contain an object that JSON does not have.
        ValueError: Several columns have the same name, or a column contains values of several types.
        ImportError: pandas or pyarrow is not installed; ``pip install 'headland[geo]'`` installs both.

    >>> frame = headland.read("job.zip").to_geopandas()
    >>> headland.write_parquet(frame[frame.MOISTURE < 20], "dry.parquet")
    >>> geopandas.read_parquet("dry.parquet").attrs["units"]["MOISTURE"]
    """
    extras.require("geo", "pandas", "pyarrow")
    import pandas as pd
    import pyarrow.parquet as pq

    target = arguments.path("path", path, ".parquet", ".geoparquet", ".pq")
    if not isinstance(frame, pd.DataFrame):
        hint = "; call its own `write_parquet`" if hasattr(frame, "write_parquet") else ""
        raise TypeError(f"`frame`: expected a frame of pandas or geopandas, got {type(frame).__name__}{hint}")
    table = _table(frame)
    with files.replacing(target) as file:
        pq.write_table(table, file, compression="zstd")
    return target


def _table(frame: Any) -> pa.Table:
    """Convert a frame to a table with the metadata of GeoParquet, and add units and ``attrs``."""
    import pandas as pd
    import pyarrow.parquet as pq

    # Only writing a file makes the metadata of GeoParquet, so one is written to memory first.
    content = io.BytesIO()
    if getattr(frame, "active_geometry_name", None) is None:
        pd.DataFrame(frame).to_parquet(content, engine="pyarrow", compression=None)
    else:
        has_covering = COVERING not in frame.columns
        frame.to_parquet(content, compression=None, schema_version="1.1.0", write_covering_bbox=has_covering)
    table = pq.read_table(content)
    units = frame.attrs.get("units")
    schema = table.schema
    for index, field in enumerate(schema):
        if isinstance(units, Mapping) and field.name in units:
            metadata = {**(field.metadata or {}), "unit": str(units[field.name])}
            schema = schema.set(index, field.with_metadata(metadata))
    # The key of pandas, which geopandas has too, but only in its newer versions.
    return table.cast(schema.with_metadata({**(schema.metadata or {}), "PANDAS_ATTRS": json.dumps(frame.attrs)}))
