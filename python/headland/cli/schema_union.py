"""One list of columns for layers of several displays: those of one name, unit and type are one column."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from headland import extras
from headland.layer.table_input import as_layer

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from headland.layer.layer import Layer

KEYS = ("source", "layer")
"""The first columns of each table."""


class Key(NamedTuple):
    """What the columns of files have to agree in to be one column."""

    name: str
    """In lower case, as databases compare names."""
    position: int
    """Number of the column among those of its name in the layer."""
    form: str
    """``number``, or the type of another column."""
    unit: str


class OriginalColumns:
    """The columns of a table, found before its first row is written."""

    def __init__(self) -> None:
        extras.require("geo", "pyarrow")
        self._fields: dict[Key, pa.Field] = {}
        self._geometry: pa.Field | None = None

    def add(self, layer: Layer) -> None:
        """Add the columns of a layer."""
        import pyarrow as pa

        for _, key, field in self._keys(layer):
            known = self._fields.setdefault(key, field)
            if known.type != field.type:
                both = pa.unify_schemas(
                    [pa.schema([("", each.type)]) for each in (known, field)], promote_options="permissive"
                )
                self._fields[key] = known.with_type(both.field(0).type)
        if layer._core.geometry_column is not None:  # noqa: SLF001 - a layer of this package
            self._geometry = pa.schema(layer).field(layer._core.geometry_column)  # noqa: SLF001 - own layer

    def _keys(self, layer: Layer) -> Iterator[tuple[int, Key, pa.Field]]:
        import pyarrow as pa

        seen: dict[str, int] = {}
        for index, field in enumerate(pa.schema(layer)):
            name = field.name.lower()
            if field.name != layer._core.geometry_column:  # noqa: SLF001 - a layer of this package
                seen[name] = position = seen.get(name, -1) + 1
                is_number = pa.types.is_integer(field.type) or pa.types.is_floating(field.type)
                form = "number" if is_number else str(field.type).removeprefix("large_")
                unit = (field.metadata or {}).get(b"unit", b"").decode()
                yield index, Key(name, position, form, unit), field

    @cached_property
    def names(self) -> dict[Key, str]:
        """Return the name of each column; what tells apart those of one name is in brackets."""
        names: dict[Key, str] = {}
        taken = {*KEYS, "geometry"}
        for key, field in self._fields.items():
            others = [other for other in self._fields if other[:2] == key[:2] and other != key]
            parts = [key.form] if any(other.form != key.form for other in others) else []
            parts += [key.unit or "unit unknown"] if any(other.unit != key.unit for other in others) else []
            name = wanted = field.name + (f" ({', '.join(parts)})" if parts else "")
            number = 0
            while name.lower() in taken:
                number += 1
                name = f"{wanted}_{number}"
            taken.add(name.lower())
            names[key] = name
        return names

    def split(self) -> list[str]:
        """Return the columns of one name that are several, since units or types of the files differ."""
        first = [key[:2] for key in self._fields]
        return [name for key, name in self.names.items() if first.count(key[:2]) > 1]

    def rows(self, layer: Layer) -> Layer:
        """Return the rows of a layer in these columns.

        Raises:
            ValueError: A whole number is too large for the type that the other layers need.
        """
        import pyarrow as pa

        table = pa.table(layer)
        own = {key: table.column(index) for index, key, _ in self._keys(layer)}
        count = len(layer)
        fields: list[pa.Field] = [pa.field(name, pa.large_string()) for name in KEYS]
        columns: list[Any] = [pa.array([text] * count, pa.large_string()) for text in (layer.source, layer.name)]
        for key, name in self.names.items():
            field = self._fields[key]
            fields.append(field.with_name(name))
            columns.append(own[key].cast(field.type) if key in own else pa.nulls(count, field.type))
        if self._geometry is not None:
            column = layer._core.geometry_column  # noqa: SLF001 - a layer of this package
            fields.append(self._geometry.with_name("geometry"))
            columns.append(pa.nulls(count, self._geometry.type) if column is None else table.column(column))
        return as_layer("layer", pa.table(columns, schema=pa.schema(fields)))
