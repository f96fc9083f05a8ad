"""A layer: a table of field data with its map."""

from __future__ import annotations

import html
import json
import re
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from headland import arguments

if TYPE_CHECKING:
    import os

    import geopandas as gpd
    import pyarrow as pa

    from headland import _core

AsIs = Literal["as-is"]
"""Coordinates as they are in the archive, instead of WGS 84."""

NUMBERS = ("Int", "UInt", "Float")
"""How the names of Arrow's types of numbers begin."""

CRS_SHOWN = 60
"""How much of the name of a coordinate system one line shows."""

WKT_NAME = re.compile(r'\s*[A-Za-z_]+\s*[\[(]\s*"([^"]+)"')
"""The name that stands first in well-known text."""


class Diagnostic(NamedTuple):
    """Something that was repaired or left out while reading."""

    code: str
    message: str
    member: str | None
    record: int | None


class Column(NamedTuple):
    """A column: its name, its Arrow type and how many of its cells are null."""

    name: str
    type: str
    nulls: int


class Layer:
    """A table of field data: columns, geometry, coordinate system, units, metadata, and what was repaired on reading.

    It speaks the Arrow C stream, so ``pyarrow.table(layer)``, polars and duckdb take it as it is.
    """

    __slots__ = ("_core",)

    def __init__(self, core: _core.Layer) -> None:
        self._core = core

    @property
    def name(self) -> str:
        """The name of the layer in its archive."""
        return self._core.name

    @property
    def source(self) -> str:
        """What it was read from: a path, ``bytes``, or the call, the id and the format of a job."""
        return self._core.source

    @property
    def columns(self) -> list[str]:
        """The names of the columns in their order, the geometry column among them."""
        return self._core.columns

    @property
    def crs(self) -> str | None:
        """The coordinate system: ``EPSG:n`` where it is certain, else the text of the .prj, else ``None``."""
        epsg = self._core.crs_epsg
        return self._core.crs_wkt if epsg is None else f"EPSG:{epsg}"

    @property
    def units(self) -> dict[str, str]:
        """The unit of each column of numbers, ``"unknown"`` where nobody says it; also of others that have one."""
        numbers = {column.name: "unknown" for column in self.describe() if column.type.startswith(NUMBERS)}
        return numbers | dict(self._core.units)

    @property
    def metadata(self) -> dict[str, str]:
        """What the source says of the layer as a whole, as texts: the header of a grain cart file."""
        return dict(self._core.metadata)

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """What was repaired or left out while reading."""
        return [Diagnostic(**diagnostic) for diagnostic in self._core.diagnostics]

    def describe(self) -> list[Column]:
        """Give name, type and count of nulls of each column."""
        return [Column(*column) for column in self._core.describe()]

    def __len__(self) -> int:
        """Count the records."""
        return len(self._core)

    def __repr__(self) -> str:
        """Show name, size and coordinate system in one line."""
        crs = self.crs or "no coordinate system"
        # Well-known text begins with the name of the system, as in `PROJCS["WGS_1984_UTM_Zone_32N",...]`.
        named = WKT_NAME.match(crs)
        crs = textwrap.shorten(named[1] if named else crs, CRS_SHOWN)
        return f"<Layer {self.name!r}: {len(self)} records, {len(self.columns)} columns, {crs}>"

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Export the columns by the Arrow C stream interface; the geometry is ``geoarrow.wkb``."""
        return self._core.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        """Export the schema by the Arrow C schema interface."""
        return self._core.__arrow_c_schema__()

    @property
    def __geo_interface__(self) -> dict[str, Any]:
        """A GeoJSON feature collection in WGS 84."""
        collection: dict[str, Any] = json.loads(self._core.geojson(as_is=False))
        return collection

    def to_arrow(self) -> pa.Table:
        """Give a pyarrow table; it shares the memory."""
        import pyarrow as pa

        return pa.table(self)

    def to_geopandas(
        self, dtype_backend: Literal["numpy_nullable", "pyarrow", "numpy"] = "numpy_nullable"
    ) -> gpd.GeoDataFrame:
        """Give a geopandas frame.

        Args:
            dtype_backend: ``"numpy_nullable"`` keeps integers with nulls as integers, ``"pyarrow"`` keeps the Arrow
                types, ``"numpy"`` is what pandas did of old.
        """
        import geopandas as gpd

        from headland.frames import options

        how = options(dtype_backend)
        if self._core.geometry_column is None:
            return gpd.GeoDataFrame(self.to_arrow().to_pandas(**how))
        return gpd.GeoDataFrame.from_arrow(self.to_arrow(), geometry=self._core.geometry_column, to_pandas_kwargs=how)

    def write_geojson(self, path: str | os.PathLike[str], crs: AsIs | None = None) -> Path:
        """Write GeoJSON in WGS 84; ``crs="as-is"`` keeps the coordinates as they are."""
        target = Path(path)
        self._core.write_geojson(target, _as_is(crs))
        return target

    def write_parquet(self, path: str | os.PathLike[str]) -> Path:
        """Write GeoParquet 1.1 with the coordinate system and the units."""
        target = Path(path)
        self._core.write_parquet(target)
        return target

    def values(self, column: str) -> list[Any]:
        """Give the cells of one column as Python values, without any other package; null is ``None``."""
        return self._core.values(arguments.text("column", column))

    def area(self) -> float | None:
        """Give the area of the polygons in square metres; ``None`` where there are none."""
        return self._core.area()

    def picture(
        self,
        column: str | None = None,
        *,
        title: str | None = None,
        unit: str | None = None,
        width: int | None = None,
        crs: AsIs | None = None,
    ) -> str:
        """Draw an SVG map of one column, with a legend and its unit and a scale bar."""
        texts = {"column": column, "title": title, "unit": unit}
        return self._core.picture(
            **{name: None if given is None else arguments.text(name, given) for name, given in texts.items()},
            width=None if width is None else arguments.whole_number("width", width, 1, 2**32 - 1),
            as_is=_as_is(crs),
        )

    def _repr_html_(self) -> str:
        """Show the map, the columns and the diagnostics; needs no network."""
        units = self.units
        rows = "".join(
            f"<tr><td>{html.escape(name)}</td><td>{html.escape(kind)}</td>"
            f"<td>{html.escape(units.get(name, ''))}</td><td>{nulls}</td></tr>"
            for name, kind, nulls in self.describe()
        )
        notes = "".join(
            f"<li><code>{html.escape(note.code)}</code> {html.escape(note.message)}</li>" for note in self.diagnostics
        )
        return (
            f"<div>{self._map()}<p>{html.escape(repr(self))}</p>"
            "<table><thead><tr><th>column</th><th>type</th><th>unit</th><th>nulls</th></tr></thead>"
            f"<tbody>{rows}</tbody></table>{f'<ul>{notes}</ul>' if notes else ''}</div>"
        )

    def _map(self) -> str:
        """Draw the map, or say why there is none: a notebook must show the table in any case."""
        from headland.errors import HeadlandError

        if self._core.geometry_column is None or len(self) == 0:
            return ""
        try:
            return self.picture()
        except (HeadlandError, ValueError) as reason:
            return f"<p>{html.escape(str(reason))}</p>"


def _as_is(crs: AsIs | None) -> bool:
    if crs not in (None, "as-is"):
        raise ValueError(f"`crs` takes None (WGS 84) or 'as-is', not {crs!r}")
    return crs is not None
