"""Converts Arrow columns to pandas and polars columns, and well-known binary to geometries."""

from __future__ import annotations

import gc
import json
from contextlib import contextmanager
from itertools import accumulate
from typing import TYPE_CHECKING, Any, TypeVar

from headland import _core, errors

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import geopandas as gpd
    import numpy as np
    import pandas as pd
    import polars as pl
    import pyarrow as pa

Frame = TypeVar("Frame", bound="pd.DataFrame")

Box = tuple[float, float, float, float]
"""West, south, east and north."""

GEOMETRY = "geometry"
"""The geometry column of datasets and of frames of many archives."""

METADATA = "headland"
"""Key of ``frame.attrs`` with the provenance of harmonised columns, so that ``harmonize`` recognises them."""

EVIDENCE, JOB_NAME = "headland:evidence", "headland:job_name"

NOT_UNITS = {"", "unknown", "as configured on the field computer"}
"""Texts in the unit metadata of a field that do not name a unit."""


def pandas_options(dtype_backend: str) -> dict[str, Any]:
    """Return the arguments of ``to_pandas`` for a backend."""
    import pandas as pd

    # Without split blocks, numpy columns have memory of their own and are writable.
    if dtype_backend == "numpy":
        return {}
    if dtype_backend == "pyarrow":
        return {"types_mapper": pd.ArrowDtype, "split_blocks": True}
    if dtype_backend == "numpy_nullable":
        return {"types_mapper": _nullable_types().get}
    raise ValueError(f"`dtype_backend`: expected 'numpy_nullable', 'pyarrow' or 'numpy', got {dtype_backend!r}")


def _nullable_types() -> dict[Any, Any]:
    import pandas as pd
    import pyarrow as pa

    return {
        pa.int8(): pd.Int8Dtype(),
        pa.int16(): pd.Int16Dtype(),
        pa.int32(): pd.Int32Dtype(),
        pa.int64(): pd.Int64Dtype(),
        pa.uint8(): pd.UInt8Dtype(),
        pa.uint16(): pd.UInt16Dtype(),
        pa.uint32(): pd.UInt32Dtype(),
        pa.uint64(): pd.UInt64Dtype(),
        pa.float32(): pd.Float32Dtype(),
        pa.float64(): pd.Float64Dtype(),
        pa.bool_(): pd.BooleanDtype(),
        pa.string(): pd.StringDtype(),
        pa.large_string(): pd.StringDtype(),
    }


def with_units(frame: Frame, schema: pa.Schema) -> Frame:
    """Add the known units of a schema's columns as ``frame.attrs["units"]``, and return the frame."""
    stated = {field.name: (field.metadata or {}).get(b"unit", b"unknown").decode() for field in schema}
    frame.attrs["units"] = {name: unit for name, unit in stated.items() if unit not in NOT_UNITS}
    kept = _kept_metadata(schema)
    if kept:
        # pandas copies `attrs` with each operation, and a text costs nothing to copy.
        frame.attrs[METADATA] = json.dumps(kept)
    return frame


def _kept_metadata(schema: pa.Schema) -> dict[str, Any]:
    """Return the provenance of a harmonised table; empty for others.

    The evidence of units and the name of the job are omitted: pandas keeps `attrs` in a concatenation only if they are
    equal.
    """
    columns = {}
    for field in schema:
        found = {key.decode(): text.decode() for key, text in (field.metadata or {}).items()}
        provenance = {key: text for key, text in found.items() if key.startswith("headland:") and key != EVIDENCE}
        if provenance:
            columns[field.name] = provenance
    entries = json.loads((schema.metadata or {}).get(b"headland.metadata", b"{}"))
    layer = {key: text for key, text in entries.items() if key.startswith("headland:") and key != JOB_NAME}
    return {name: found for name, found in (("columns", columns), ("layer", layer)) if found}


def to_frame(table: pa.Table, options: dict[str, Any] | None) -> pd.DataFrame:
    """Convert a table to a frame with units; each column keeps its values and type, also if names are duplicate.

    `options` are those of ``pandas_options``; ``None`` selects the dtype of each column by its values.
    """
    names = table.column_names
    has_duplicates = len({*names}) < len(names)
    # pyarrow selects columns by name and would use the type of the last for all with the same name.
    unique = table.rename_columns([str(index) for index in range(len(names))]) if has_duplicates else table
    made = _by_values(unique) if options is None else unique.to_pandas(**options)
    if has_duplicates:
        made.columns = names
    return with_units(made, table.schema)


def _by_values(table: pa.Table) -> pd.DataFrame:
    """Convert a table to numpy dtypes and pandas' own texts; integers and booleans with nulls become nullable."""
    import pyarrow as pa

    for index, field in enumerate(table.schema):
        if pa.types.is_date(field.type):
            # `datetime.date` objects have neither `.dt` nor arithmetic.
            table = table.set_column(index, field.name, table.column(index).cast(pa.timestamp("us")))
    nullable = [
        (index, field.name)
        for index, field in enumerate(table.schema)
        if (pa.types.is_integer(field.type) or pa.types.is_boolean(field.type)) and table.column(index).null_count
    ]
    made = table.drop_columns([name for _, name in nullable]).to_pandas()
    for index, name in nullable:
        made.insert(index, name, table.column(index).to_pandas(types_mapper=_nullable_types().get))
    return made


def table_to_geo_frame(table: pa.Table, dtype_backend: str = "numpy_nullable") -> gpd.GeoDataFrame:
    """Convert a table whose geometry column, if any, is named ``geometry``."""
    options = pandas_options(dtype_backend)
    return to_geo_frame(table, GEOMETRY if GEOMETRY in table.column_names else None, options)


def to_geo_frame(table: pa.Table, geometry: str | None, options: dict[str, Any] | None) -> gpd.GeoDataFrame:
    """Convert a table with the geometry column `geometry`, as ``GeoDataFrame.from_arrow`` does, in less time.

    `options` as in ``to_frame``.
    """
    import geopandas as gpd
    import numpy as np

    if geometry is None:
        return with_units(gpd.GeoDataFrame(to_frame(table, options), copy=False), table.schema)
    index = table.schema.get_field_index(geometry)
    extension = json.loads((table.schema.field(index).metadata or {}).get(b"ARROW:extension:metadata", b"{}"))
    parts = table.column(index).chunks
    chunks = [
        _geometries(part, start) for part, start in zip(parts, accumulate(map(len, parts), initial=0), strict=False)
    ]
    shapes = chunks[0] if len(chunks) == 1 else np.concatenate([np.empty(0, dtype=object), *chunks])
    column = gpd.array.GeometryArray(shapes, crs=_crs(extension.get("crs")))
    whole = to_frame(table.remove_column(index), options)
    whole.insert(index, geometry, column)
    return with_units(gpd.GeoDataFrame(whole, geometry=geometry, copy=False), table.schema)


def _crs(system: dict[str, Any] | str | None) -> Any:
    """Return the system by its EPSG code, so that it has the name, the area of use and the axes of the registry.

    A code that the installed PROJ does not know is no reason to lose the system: its parameters define it.
    """
    import pyproj

    if not isinstance(system, dict) or "id" not in system:
        return system
    try:
        return pyproj.CRS.from_authority(system["id"]["authority"], system["id"]["code"])
    except pyproj.exceptions.CRSError:
        return system


@contextmanager
def _gc_paused() -> Iterator[None]:
    """Pause the cyclic garbage collector while many objects are created that cannot be in a cycle.

    Its repeated scans would take a third of the time. A collector that was disabled before stays disabled.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@_gc_paused()
def geometries(column: pa.Array) -> np.ndarray[Any, Any]:
    """Convert a column of well-known binary to geometries.

    Geometries of one type without nulls are made from coordinate arrays; all others are parsed one by one.
    """
    import pyarrow as pa
    import shapely

    ragged = _core.ragged(column)
    if ragged is None:
        return shapely.from_wkb(column.to_numpy(zero_copy_only=False))  # type: ignore[no-any-return]
    kind, dimensions, table = ragged
    coordinates, *offsets = (each.chunk(0).flatten().to_numpy() for each in pa.table(table).columns)
    return shapely.from_ragged_array(  # type: ignore[no-any-return]
        shapely.GeometryType[kind], coordinates.reshape(-1, dimensions), tuple(offsets)
    )


def _geometries(column: pa.Array, start: int) -> np.ndarray[Any, Any]:
    """Convert a column to geometries; its first row is the row ``start`` of its frame.

    Geometries that GEOS refuses are None, with a warning. Otherwise one line of a single vertex would lose those of all
    other rows.
    """
    import shapely

    try:
        return geometries(column)
    except shapely.errors.GEOSException:
        shapes = shapely.from_wkb(column.to_numpy(zero_copy_only=False), on_invalid="ignore")
    refused = (shapely.is_missing(shapes) & column.is_valid().to_numpy(zero_copy_only=False)).nonzero()[0]
    errors.warn(
        f"{len(refused)} geometries are None, first in row {start + int(refused[0])}: GEOS rejects lines of one "
        "vertex and rings of two (diagnostic `short-part`); `to_arrow()` returns them unchanged"
    )
    return shapes  # type: ignore[no-any-return]


def total_bounds(column: pa.ChunkedArray) -> tuple[float, float, float, float] | None:
    """Return the bounding box of well-known binary; ``None`` without a vertex."""
    import numpy as np
    import shapely

    shapes = [_geometries(part, 0) for part in column.chunks]
    west, south, east, north = map(float, shapely.total_bounds(np.concatenate(shapes)))
    return None if west != west else (west, south, east, north)  # noqa: PLR0124 - it is NaN


def to_polars(names: Iterable[str], table: pa.Table) -> pl.DataFrame:
    """Convert a table to polars with unique names; an extension such as ``geoarrow.wkb`` becomes its plain type."""
    import polars as pl
    import pyarrow as pa

    # Fields of their own have no metadata, so polars makes no extension type of the geometry.
    plain = dict(zip(names, table.columns, strict=True))
    return pl.DataFrame(pa.table(plain))


def filter_box(frame: gpd.GeoDataFrame, bbox: Box | None) -> gpd.GeoDataFrame:
    """Keep the rows whose geometries intersect a box; the boxes in the file are rounded outwards."""
    import shapely

    if bbox is None or GEOMETRY not in frame:
        return frame
    return frame[frame.geometry.intersects(shapely.box(*bbox))].reset_index(drop=True)
