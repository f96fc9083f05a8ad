"""One schema for tables that differ: the union of their columns, and how a table is brought to it without loss."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from headland import frames
from headland.archives import names

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import geopandas as gpd
    import pyarrow as pa

GEOMETRY = "geometry"
"""What the column of places is called."""

UNIT = b"unit"
"""Where the metadata of a column keep its unit."""

WGS84 = "WGS 84"
"""The coordinate system that rows are in where it can be known."""

PRJ = b"headland.prj"
"""Where the metadata of the column of places keep the text of the .prj, of a system that is not WGS 84."""

OR = " | "
"""What stands between units, where a column has several."""

CRS = b"ARROW:extension:metadata"
"""Where the metadata of the column of places keep its coordinate system."""


def union(tables: Iterable[tuple[str, pa.Schema]], columns: Iterable[str] | None = None) -> pa.Schema:
    """Give the columns of all tables, in the order in which they first come, the geometry last.

    Args:
        tables: The name of each table, for errors, and its schema.
        columns: Only these columns; the geometry always comes along.

    Returns:
        A schema that each table can be brought to without loss: integers become wider, or floats where another table
        has floats. The unit of a column is its metadata; where tables have several, they are joined by ``OR``.

    Raises:
        ValueError: A column has types that no table can be brought to, such as a date and a text; or no table has it.
    """
    import pyarrow as pa

    wanted = None if columns is None else names(columns)
    seen: dict[str, None] = {}
    fields: dict[str, pa.Field] = {}
    first: dict[str, str] = {}
    for name, schema in tables:
        for field in schema:
            seen[field.name] = None
            if wanted is not None and field.name not in {*wanted, GEOMETRY}:
                continue
            known = fields.get(field.name)
            if known is None:
                fields[field.name], first[field.name] = field.with_nullable(nullable=True), name
                continue
            wide = _wide(known.type, field.type)
            if wide is None:
                raise ValueError(
                    f"column `{field.name}` is {known.type} in `{first[field.name]}` and {field.type} in `{name}`: "
                    "read the two apart, or name the other columns in `columns`"
                )
            fields[field.name] = _with_units(known.with_type(wide), field)
    for name in wanted or ():
        if name not in seen:
            raise ValueError(f"there is no column `{name}`; there are: {', '.join(seen)}")
    last = [fields.pop(GEOMETRY)] if GEOMETRY in fields else []
    return pa.schema([*fields.values(), *last])


def _wide(one: pa.DataType, other: pa.DataType) -> pa.DataType | None:
    """Give the type that holds the values of both."""
    import pyarrow as pa

    if one.equals(other) or pa.types.is_null(other):
        return one
    if pa.types.is_null(one):
        return other
    if pa.types.is_signed_integer(one) and pa.types.is_signed_integer(other):
        return max(one, other, key=lambda kind: kind.bit_width)
    if all(pa.types.is_signed_integer(kind) or pa.types.is_floating(kind) for kind in (one, other)):
        return pa.float64()
    for is_kind, wide in ((_is_text, pa.large_string()), (_is_bytes, pa.large_binary())):
        if is_kind(one) and is_kind(other):
            return wide
    return None


def _is_text(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _is_bytes(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def _with_units(field: pa.Field, other: pa.Field) -> pa.Field:
    """Keep the units that a column has anywhere, each once."""
    known, new = (dict(each.metadata or {}) for each in (field, other))
    if field.name == GEOMETRY:
        return field
    said = [unit for unit in known.get(UNIT, b"").split(OR.encode()) if unit]
    if UNIT in new and new[UNIT] not in said:
        said.append(new[UNIT])
    return field.with_metadata(known | ({UNIT: OR.encode().join(said)} if said else {}))


def units(schema: pa.Schema) -> dict[str, str]:
    """Give the units of the columns that have one."""
    found = {field.name: (field.metadata or {}).get(UNIT, b"").decode() for field in schema}
    return {name: unit for name, unit in found.items() if unit}


def crs(schema: pa.Schema) -> Any:
    """Give the coordinate system of the column of places, as PROJJSON; ``None`` where it is unknown."""
    place = schema.get_field_index(GEOMETRY)
    metadata = {} if place < 0 else schema.field(place).metadata or {}
    return json.loads(metadata.get(CRS, b"{}")).get("crs")


def system(schema: pa.Schema) -> str | None:
    """Give what tells the coordinate system of places from others: one text for WGS 84, whoever wrote it."""
    place = schema.get_field_index(GEOMETRY)
    if place < 0:
        return None
    known = crs(schema)
    if known == "OGC:CRS84" or (isinstance(known, dict) and known.get("id") == {"authority": "EPSG", "code": 4326}):
        return WGS84
    prj: bytes = (schema.field(place).metadata or {}).get(PRJ, b"")
    return json.dumps(known) + prj.decode()


def places(system: Any, metadata: Mapping[bytes, bytes] | None) -> pa.Field:
    """Give a column of places in a coordinate system, ``None`` where it is unknown, with what else is said of it."""
    import pyarrow as pa

    said = {CRS: json.dumps({} if system is None else {"crs": system}).encode()}
    known = {**(metadata or {}), b"ARROW:extension:name": b"geoarrow.wkb"}
    return pa.field(GEOMETRY, pa.large_binary(), metadata=known | said)


def conformed(table: pa.Table, schema: pa.Schema, name: str) -> pa.Table:
    """Bring a table to a schema: columns that it lacks are null, others wider.

    Raises:
        ValueError: A value does not fit the type of its column.
    """
    import pyarrow as pa

    columns = []
    for field in schema:
        if field.name not in table.column_names:
            columns.append(pa.nulls(len(table), field.type))
            continue
        cells = table.column(field.name)
        # Arrow would take whole numbers for days, and write dates as texts.
        reason = f"it is {cells.type}" if _wide(field.type, cells.type) is None else None
        try:
            columns.append(cells.cast(field.type) if reason is None else None)
        except pa.ArrowInvalid as cause:
            reason = str(cause)
        if reason is not None:
            raise ValueError(
                f"column `{field.name}` of `{name}` does not fit {field.type}: {reason}; "
                "give `schema` with a type that holds it, or read the columns without it"
            )
    return pa.table(columns, schema=schema)


def frame(table: pa.Table, dtype_backend: str = "numpy_nullable") -> gpd.GeoDataFrame:
    """Give the frame of a table, with its coordinate system where it has places."""
    import geopandas as gpd

    how = frames.options(dtype_backend)
    if GEOMETRY not in table.column_names:
        return gpd.GeoDataFrame(table.to_pandas(**how), copy=False)
    return frames.geo_frame(table, GEOMETRY, how)
