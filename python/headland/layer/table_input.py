"""Converts tables of other libraries to layers: frames of pandas, geopandas and polars, Arrow tables and streams."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import numbers
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeAlias

from headland import _core, extras
from headland.layer.frames import GEOMETRY, METADATA
from headland.layer.layer import Layer
from headland.layer.spare_columns import is_spare

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


class ArrowStream(Protocol):
    """An object with the Arrow C stream interface, such as a pyarrow table, a polars frame or a DuckDB relation."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Export the columns."""


TableLike: TypeAlias = Layer | ArrowStream
"""A layer, or a table that becomes one: a GeoDataFrame, a pandas or polars frame, an Arrow table or stream."""

ACCEPTED = "headland.Layer, a GeoDataFrame, a pandas or polars DataFrame, or an Arrow table or stream"
"""The accepted types, in errors."""

SHAPES = ("zones", "source", "target", "boundary", "plots")
"""Arguments whose rows are polygons."""

EXTENSION, EXTENSION_METADATA = b"ARROW:extension:name", b"ARROW:extension:metadata"
"""Keys of the metadata of a field with an Arrow extension type."""

WKB = ("geoarrow.wkb", "ogc.wkb")
"""Extension types of well-known binary."""

BOX = {"xmin", "ymin", "xmax", "ymax"}
"""Parts of a bounding box, the covering column of GeoParquet."""


def is_table(value: object) -> bool:
    """Return whether it is one layer or one table."""
    return isinstance(value, Layer) or _is_frame(value) or _is_arrow(value)


def as_layer(name: str, value: TableLike, rate: str | None = None) -> Layer:
    """Return a layer unchanged, and another table as a layer; `name` is the argument, in errors.

    The rows of a frame keep their order; its index is no column. Integers become ``int32`` or ``int64``, floats
    ``float64``, decimals ``int64`` or ``float64`` by their digits behind the point, texts and categories texts,
    timestamps microseconds: with a zone in UTC, without one on their own clock. NaN in a frame of pandas is null, and
    its column of midnights without a zone contains dates, because pandas has no dates. Units are
    ``frame.attrs["units"]`` or the field metadata ``unit``. Columns of zones and boundaries with other types, such as
    lists, are left out unless they can be the rate; `rate` is its column if it is known.

    Raises:
        TypeError: The value is no table.
        ValueError: A column has a type that layers do not have, several columns contain geometries, or a geometry is
            malformed.
        ImportError: pyarrow is not installed.
    """
    layer = value if isinstance(value, Layer) else _converted(name, value, rate)
    if name in SHAPES and layer._core.geometry_column is None:  # noqa: SLF001 - a layer of this package
        raise ValueError(
            f"`{name}`: the {type(value).__name__} has no geometry; pass polygons, such as a GeoDataFrame: "
            "`layer.to_geopandas()` keeps them, `layer.to_pandas()` does not"
        )
    return layer


def _converted(name: str, value: Any, rate: str | None) -> Layer:
    if not is_table(value) or _is_series(value):
        _refuse(name, value)
    extras.require("geo", "pyarrow")
    import pyarrow as pa

    if _is_frame(value):
        table = _frame_to_table(name, value, rate)
    else:
        try:
            table = pa.table(value)
        except (TypeError, pa.ArrowInvalid) as reason:
            raise TypeError(f"`{name}`: expected {ACCEPTED}, got {type(value).__name__}: {reason}") from None
    return Layer(_to_core(name, type(value).__name__, table, rate))


def _refuse(name: str, value: object) -> NoReturn:
    hint = ""
    if isinstance(value, str | bytes | os.PathLike) or hasattr(value, "read"):
        hint = "; read archives with `headland.read`"
    elif hasattr(value, "cr_code"):
        hint = "; `await` it first"
    elif _is_series(value):
        hint = "; pass a frame, such as `series.to_frame()`"
    elif hasattr(value, "_parts"):
        hint = "; pass all rows, `jobs.concat()`, or those of one job: `job, layer = jobs[0]`"
    elif isinstance(value, tuple | Mapping):
        hint = "; `read_all` returns pairs: `job, layer = jobs[0]`"
    raise TypeError(f"`{name}`: expected {ACCEPTED}, got {type(value).__name__}{hint}")


def _is_arrow(value: object) -> bool:
    # A class has the attributes of its instances.
    has_interface = hasattr(value, "__arrow_c_stream__") or hasattr(value, "__arrow_c_array__")
    return has_interface and not isinstance(value, type)


def _is_frame(value: object) -> bool:
    """Return whether it is a frame of pandas or geopandas, without importing them."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(value, pandas.DataFrame)


def _is_series(value: object) -> bool:
    """Return whether it is a column of pandas, geopandas or polars."""
    return any(
        isinstance(value, sys.modules[package].Series) for package in ("pandas", "polars") if package in sys.modules
    )


def _frame_to_table(name: str, frame: Any, rate: str | None) -> pa.Table:
    """Convert a frame of pandas or geopandas, by position: names can be duplicate.

    Of several geometry columns, the active one is used and the others are left out.
    """
    import pyarrow as pa

    units = frame.attrs.get("units")
    units = units if isinstance(units, Mapping) else {}
    kept = _json(str(frame.attrs.get(METADATA, "")).encode())
    provenance, of_layer = ({**kept.get(part, {})} for part in ("columns", "layer"))
    geometries = [index for index, kind in enumerate(frame.dtypes) if str(kind) == "geometry"]
    active = getattr(frame, "active_geometry_name", None)
    used = [index for index in geometries if active is None or frame.columns[index] == active]
    fields, arrays = [], []
    for index, label in enumerate(frame.columns):
        if index in geometries and index not in used:
            continue
        # A copy: layers are immutable, and Arrow would share the memory of the frame.
        column = frame.iloc[:, index].copy()
        try:
            array, metadata = _geometries(column) if index in geometries else _attributes(column)
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as reason:
            is_value = any(isinstance(cell, str | numbers.Number) for cell in column)
            if is_spare(name, str(label), frame.columns, rate, is_value=is_value):
                continue
            raise ValueError(f"`{name}`: column `{label}`: {reason}; convert or drop it") from None
        stated = {"unit": units[label]} if isinstance(units.get(label), str) else {}
        metadata |= stated | provenance.get(label, {})
        fields.append(pa.field(str(label), array.type, metadata=metadata))
        arrays.append(array)
    return pa.table(arrays, schema=pa.schema(fields, {"headland.metadata": json.dumps(of_layer)}))


def _geometries(column: Any) -> tuple[pa.Array, dict[str, str]]:
    """Convert a column of geopandas to well-known binary with its coordinate system."""
    import pyarrow as pa
    import shapely

    wkb = shapely.to_wkb(column.to_numpy(), byte_order=1, flavor="iso")
    crs = column.array.crs
    system = {} if crs is None else {"crs": crs.to_json_dict()}
    metadata = {EXTENSION.decode(): WKB[0], EXTENSION_METADATA.decode(): json.dumps(system)}
    return pa.array(wkb, pa.large_binary()), metadata


def _attributes(column: pd.Series[Any]) -> tuple[pa.Array, dict[str, str]]:
    """Convert a column of pandas; NaN is null, and midnights are dates."""
    import pyarrow as pa
    import pyarrow.compute as pc

    array = pa.array(column, from_pandas=True)
    if pa.types.is_timestamp(array.type) and array.type.tz is None:
        midnight = pc.floor_temporal(array, unit="day")
        if pc.all(pc.equal(array, midnight)).as_py() is not False:
            array = array.cast(pa.date32())
    return array, {}


def _to_core(name: str, source: str, table: pa.Table, rate: str | None) -> _core.Layer:
    """Cast the columns to the types of layers, and build the layer."""
    import pyarrow as pa

    try:
        table.validate(full=True)
    except pa.ArrowInvalid as reason:
        raise ValueError(f"`{name}`: the table is not valid: {reason}") from None
    table, geometry, crs = _find_geometry(name, table)
    fields: list[pa.Field] = []
    columns, place = [], None
    for index, field in enumerate(table.schema):
        kind = pa.large_binary() if index == geometry else _layer_type(field.type)
        is_left_out = index != geometry and is_spare(
            name, field.name, table.column_names, rate, is_value=kind is not None
        )
        if kind is None:
            if is_left_out:
                continue
            raise ValueError(
                f"`{name}`: column `{field.name}` has the type {field.type}, which layers do not have; convert it to "
                "numbers, booleans, texts, dates or times, or drop it"
            )
        try:
            columns.append(_cast(table.column(index), kind))
        except pa.ArrowException as reason:
            if is_left_out:
                continue
            raise ValueError(f"`{name}`: column `{field.name}`: {reason}; convert or drop it") from None
        if index == geometry:
            place = len(fields)
        fields.append(pa.field(field.name, kind, metadata=_kept_metadata(field)))
    made = pa.table(columns, schema=pa.schema(fields)).combine_chunks()
    batch = next(iter(made.to_batches()), pa.RecordBatch.from_pylist([], schema=made.schema))
    entries = _json((table.schema.metadata or {}).get(b"headland.metadata", b""))
    metadata = [(key, value) for key, value in entries.items() if isinstance(value, str)]
    return _core.layer_from_batch(source, batch, place, systems(crs), metadata)


def _kept_metadata(field: pa.Field) -> dict[bytes, bytes]:
    """Return the metadata that columns of layers have: unit, description and provenance."""
    metadata = (field.metadata or {}).items()
    known = (b"unit", b"description")
    return {key: text for key, text in metadata if key in known or key.startswith(b"headland:")}


def _layer_type(kind: pa.DataType) -> pa.DataType | None:
    """Return the type that a column has in layers, or ``None`` if there is none."""
    import pyarrow as pa

    types = pa.types
    if types.is_dictionary(kind):
        return _layer_type(kind.value_type)
    if types.is_integer(kind):
        return pa.int32() if kind.bit_width < 32 or kind == pa.int32() else pa.int64()  # noqa: PLR2004 - bits
    if types.is_timestamp(kind):
        return pa.timestamp("us", None if kind.tz is None else "UTC")
    is_text = types.is_string(kind) or types.is_large_string(kind) or kind == pa.string_view()
    for is_kind, target in (
        # Times of day are texts in archives; GDAL and CSV readers parse them.
        (is_text or types.is_null(kind) or types.is_time(kind), pa.large_string()),
        # DuckDB sums integers to decimals without a fraction, which are ids and counts of all digits.
        (types.is_decimal(kind) and kind.scale <= 0, pa.int64()),
        (types.is_floating(kind) or types.is_decimal(kind), pa.float64()),
        (types.is_boolean(kind), pa.bool_()),
        (types.is_date(kind), pa.date32()),
    ):
        if is_kind:
            return target
    return None


def _cast(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    import pyarrow as pa

    if isinstance(column.type, pa.BaseExtensionType):
        column = pa.chunked_array([chunk.storage for chunk in column.chunks], column.type.storage_type)
    if pa.types.is_dictionary(column.type):
        # Not all types of values have a cast from dictionaries, but each has one of its own.
        pairs = [(chunk.indices, chunk.dictionary.cast(kind)) for chunk in column.chunks]
        decoded = [pa.DictionaryArray.from_arrays(*pair).dictionary_decode() for pair in pairs]
        return pa.chunked_array(decoded, kind)
    if pa.types.is_time(column.type):
        import pyarrow.compute as pc

        return pc.replace_substring_regex(column.cast(kind), r"\.0+$", "")
    # Fractions of a microsecond are cut; any other loss is an error.
    has_nanoseconds = pa.types.is_timestamp(column.type) and column.type.unit == "ns"
    return column.cast(kind, safe=not has_nanoseconds)


def _find_geometry(name: str, table: pa.Table) -> tuple[pa.Table, int | None, Any]:
    """Return the table, the index of its geometry column and the coordinate system, as JSON or text.

    Files of GeoParquet name the column. Otherwise it has the extension type of well-known binary, or is the only one
    with bytes. A column of bounding boxes is left out.
    """
    import pyarrow as pa

    primary, crs, boxes = _geoparquet(table.schema)
    # DuckDB and polars keep the column of bounding boxes, but not the metadata that name it.
    is_box = {field.name for field in table.schema if pa.types.is_struct(field.type) and _box(field.type) == BOX}
    table = table.drop_columns([name for name in table.column_names if name in boxes | is_box])
    binary = (pa.binary(), pa.large_binary(), pa.binary_view())
    stated = {index: extension for index, field in enumerate(table.schema) if (extension := _extension(field))}
    wkb = [index for index, (extension, _) in stated.items() if extension in WKB]
    named = [index for index, label in enumerate(table.column_names) if label == primary]
    others = [index for index, field in enumerate(table.schema) if field.type in binary]
    found = named or wkb or others
    if not found and GEOMETRY in table.column_names:
        table, found = _with_wkb(name, table)
    if len(found) > 1:
        labels = ", ".join(f"`{table.column_names[index]}`" for index in found)
        raise ValueError(
            f"`{name}`: the columns {labels} contain geometries or bytes; keep one, or pass a GeoDataFrame"
        )
    if not found:
        return table, None, None
    [index] = found
    kind = getattr(table.schema.types[index], "storage_type", table.schema.types[index])
    if kind not in binary and not pa.types.is_null(kind):
        raise ValueError(
            f"`{name}`: the geometry column `{table.column_names[index]}` has the type {kind}; convert it to "
            "well-known binary (`geoarrow.wkb`)"
        )
    return table, index, stated[index][1].get("crs") if index in stated else crs


def _with_wkb(name: str, table: pa.Table) -> tuple[pa.Table, list[int]]:
    """Parse a geometry column of well-known text, as tables from CSV have it."""
    import pyarrow as pa

    index = table.schema.get_field_index(GEOMETRY)
    column = table.column(index)
    if index < 0 or _layer_type(column.type) != pa.large_string():
        return table, []
    extras.require("geo", "shapely")
    import shapely

    try:
        shapes = shapely.from_wkt(column.to_pylist())
    except shapely.errors.GEOSException as reason:
        raise ValueError(f"`{name}`: the column `{GEOMETRY}` is no well-known text: {reason}") from None
    wkb = pa.array(shapely.to_wkb(shapes, byte_order=1, flavor="iso"), pa.large_binary())
    return table.set_column(index, GEOMETRY, wkb), [index]


def _box(kind: Any) -> set[str]:
    """Return the names of the parts of a struct."""
    return {kind.field(index).name for index in range(kind.num_fields)}


def _extension(field: pa.Field) -> tuple[str, dict[str, Any]] | None:
    """Return the name and the metadata of the extension type of a field."""
    import pyarrow as pa

    if isinstance(field.type, pa.ExtensionType):
        return field.type.extension_name, _json(field.type.__arrow_ext_serialize__())
    metadata = field.metadata or {}
    extension = metadata.get(EXTENSION, b"").decode(errors="replace")
    return (extension, _json(metadata.get(EXTENSION_METADATA, b""))) if extension in WKB else None


def _geoparquet(schema: pa.Schema) -> tuple[str | None, Any, set[str]]:
    """Return the geometry column of a file of GeoParquet, its coordinate system, and its columns of bounding boxes."""
    geo = _json((schema.metadata or {}).get(b"geo", b""))
    try:
        column = geo["columns"][geo["primary_column"]]
        boxes = {path[0] for path in column.get("covering", {}).get("bbox", {}).values()}
        return geo["primary_column"], column.get("crs", "OGC:CRS84"), boxes
    except (AttributeError, LookupError, TypeError):
        return None, None, set()


def _json(text: bytes) -> dict[str, Any]:
    """Parse an object; other text is an empty one."""
    try:
        parsed = json.loads(text)
    except ValueError:
        return {}
    return parsed if isinstance(parsed, dict) else {}


def systems(crs: Any) -> list[str]:
    """Return a coordinate system as code and as WKT, because the core does not know all codes."""
    if not crs:
        return []
    code = crs
    if isinstance(crs, Mapping):
        stated = crs.get("id")
        code = f"{stated.get('authority')}:{stated.get('code')}" if isinstance(stated, Mapping) else ""
    texts = ["EPSG:4326" if str(code).upper() == "OGC:CRS84" else str(code)]
    if importlib.util.find_spec("pyproj") is not None:
        import pyproj

        with contextlib.suppress(pyproj.exceptions.CRSError):
            texts.append(pyproj.CRS.from_user_input(crs).to_wkt())
    return [text for text in texts if text]
