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
    from collections.abc import Mapping
    from typing import Self

    import geopandas as gpd
    import pyarrow as pa

    from headland import _core
    from headland.diagnostic_codes import DiagnosticCode, Severity

AsIs = Literal["as-is"]
"""Coordinates as they are in the archive, instead of WGS 84."""

NUMBER_TYPES = ("Int", "UInt", "Float")
"""How the names of Arrow's types of numbers begin."""

MAX_CRS_SHOWN = 60
"""How much of the name of a coordinate system one line shows."""

WKT_NAME = re.compile(r'\s*[A-Za-z_]+\s*[\[(]\s*"([^"]+)"')
"""The name that stands first in well-known text."""


class Diagnostic(NamedTuple):
    """Something that was repaired or left out while reading."""

    code: DiagnosticCode
    """The kind of finding, a stable name such as ``no-shx``."""
    message: str
    """What was found and what was done about it."""
    member: str | None
    """The member of the archive."""
    record: int | None
    """The record, counted from 0, where one record is the cause."""
    severity: Severity
    """``"error"``: data are lost or values are doubtful; ``"warning"``: something was repaired, assumed or is missing;
    ``"info"``: a fact worth knowing."""


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
        """The unit of each column of numbers, ``"unknown"`` where nobody says it; also of others that have one.

        Archives state units by the names of columns, so that columns of one name have one unit.
        """
        numbers = {column.name: "unknown" for column in self.describe() if column.type.startswith(NUMBER_TYPES)}
        return numbers | dict(self._core.units)

    @property
    def metadata(self) -> dict[str, str]:
        """What the source says of the layer as a whole, as texts: the header of a grain cart file."""
        return dict(self._core.metadata)

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """What was repaired or left out while reading, in the order of members and records."""
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
        crs = textwrap.shorten(named[1] if named else crs, MAX_CRS_SHOWN)
        return f"<Layer {self.name!r}: {len(self)} records, {len(self.columns)} columns, {crs}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the rows, the schema and all that is told of them, for other processes: no secret is among them."""
        return _from_parts, (type(self), *self._core.to_parts())

    def __copy__(self) -> Self:
        """Give the same layer: none ever changes, so that its columns are shared."""
        return type(self)(self._core)

    def __deepcopy__(self, memo: object) -> Self:
        """Give the same layer: none ever changes, so that its columns are shared."""
        return type(self)(self._core)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Export the columns by the Arrow C stream interface; the geometry is ``geoarrow.wkb``."""
        return self._core.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        """Export the schema by the Arrow C schema interface."""
        return self._core.__arrow_c_schema__()

    @property
    def __geo_interface__(self) -> dict[str, Any]:
        """A GeoJSON feature collection in WGS 84, as ``write_geojson`` writes it.

        The protocol takes no arguments: where the coordinate system is unknown this is a ``ValueError``, and
        coordinates as they are come from ``write_geojson(path, crs="as-is")`` or ``to_geopandas().__geo_interface__``.
        """
        collection: dict[str, Any] = json.loads(self._core.geojson(as_is=False))
        return collection

    def to_arrow(self) -> pa.Table:
        """Give a pyarrow table; it shares the memory."""
        import pyarrow as pa

        return pa.table(self)

    def to_geopandas(
        self, dtype_backend: Literal["numpy_nullable", "pyarrow", "numpy"] = "numpy_nullable"
    ) -> gpd.GeoDataFrame:
        """Give a geopandas frame with the layer's rows, columns and coordinate system.

        Args:
            dtype_backend: ``"numpy_nullable"`` keeps integers with nulls as integers (``Int32``, ``Float64``, ...),
                ``"pyarrow"`` keeps the Arrow types and shares their memory, ``"numpy"`` is what pandas did of old:
                integers with nulls become floats.

        Returns:
            A ``geopandas.GeoDataFrame``, equal to what ``geopandas.GeoDataFrame.from_arrow`` makes of the layer.
            Coordinates are in the layer's own system (``frame.crs``, ``None`` where it is unknown) and its units; null
            geometries are ``None``. Dates are ``datetime.date`` objects, under ``"pyarrow"`` Arrow's dates. A layer
            without geometry gives a frame without a geometry column. Columns of one name each have their own values and
            type: ``frame.iloc[:, place]`` is one of them.

        Raises:
            ImportError: geopandas or pyarrow is not installed; ``pip install 'headland[geo]'`` brings both.
            ValueError: ``dtype_backend`` is none of the three.

        >>> frame = headland.read("job.zip").to_geopandas()
        >>> frame.to_crs(frame.estimate_utm_crs()).area.sum()
        """
        import geopandas as gpd

        from headland.frames import pandas_options, to_frame, to_geo_frame

        options = pandas_options(dtype_backend)
        if self._core.geometry_column is None:
            return gpd.GeoDataFrame(to_frame(self.to_arrow(), options), copy=False)
        return to_geo_frame(self.to_arrow(), self._core.geometry_column, options)

    def write_geojson(self, path: str | os.PathLike[str], crs: AsIs | None = None) -> Path:
        """Write GeoJSON (RFC 7946): one feature a line, outer rings counter-clockwise, the shortest exact digits.

        Args:
            path: The file. It appears under its name once it is whole, and takes the place of what stood there. A link
                is followed, and what is no regular file is refused.
            crs: ``None`` brings coordinates to WGS 84 (degrees, longitude first), as the format wants it; ``"as-is"``
                writes them in the layer's own system and units.

        Returns:
            The path. Nulls, and numbers that are not finite, are ``null``; dates are ISO texts; a geometry with a
            coordinate that is no place is ``null``. Of columns of one name, the later ones have a number at their end.
            Units are not part of the format.

        Raises:
            ValueError: The coordinate system is unknown and ``crs`` is not ``"as-is"``, or ``crs`` is something else.
            HeadlandError: A coordinate has no place in WGS 84 or is beyond 180 or 90 degrees (RFC 7946), or the file
                cannot be written (this is an ``OSError`` too).

        >>> headland.read("job.zip").write_geojson("job.geojson")
        """
        target = Path(path)
        self._core.write_geojson(target, _as_is(crs))
        return target

    def write_parquet(self, path: str | os.PathLike[str]) -> Path:
        """Write GeoParquet 1.1, compressed with zstd: all columns and types, the coordinate system and the units.

        Args:
            path: The file. It appears under its name once it is whole, and takes the place of what stood there. A link
                is followed, and what is no regular file is refused.

        Returns:
            The path. Geometries are well-known binary in the layer's own system, which the file holds as PROJJSON, or
            as ``null`` where it is unknown or has no PROJJSON. Of columns of one name, the later ones have a number at
            their end. A column ``bbox`` holds the box around each geometry, for readers that look for a region;
            ``geopandas.read_parquet(path, bbox=...)`` is one. A column's unit is its field's metadata under ``unit``.

        Raises:
            HeadlandError: The file cannot be written (this is an ``OSError`` too).

        >>> headland.read("job.zip").write_parquet("job.parquet")
        """
        target = Path(path)
        self._core.write_parquet(target)
        return target

    def values(self, column: str) -> list[Any]:
        """Give the cells of one column as Python values, without any other package; null is ``None``.

        Raises:
            ValueError: There is no column of that name, or there are several: their places tell them apart, as in
                ``to_arrow().column(place)``.
        """
        return self._core.values(arguments.text("column", column))

    def with_time(
        self,
        name: str,
        *,
        date: str,
        time: str | None = None,
        zone: str,
        format: str | None = None,
        fold: Literal[0, 1] | None = None,
    ) -> Layer:
        """Give the same layer with one more column: dates and times of day joined to UTC timestamps in microseconds.

        Args:
            name: What the new column is called. It stands before the geometry; the columns it came from are kept.
            date: The column of dates, or of texts with a date and a time of day: `2026-09-01T12:00:00`, with a blank
                for the ``T``, `20260901 120000`; or of timestamps without a zone, as FMIS tables may have them.
            time: The column of times of day, where it is another one: `12:00:00`, `12:00:00.25`, `120000`,
                `1:02:03 PM`.
            zone: The time zone that the columns are in: ``"UTC"``, an offset such as ``"+02:00"``, or a name such as
                ``"America/Chicago"`` that means the same on every machine (``"localtime"`` does not). headland never
                guesses it. Texts that state an offset must agree with it.
            format: The form of the texts in the signs of ``strptime``, where it is another, such as
                ``"%m/%d/%Y %H:%M:%S"``; with `time`, that of both with one blank between them.
            fold: Which of two is meant where clocks went back: 0 the earlier, 1 the later.

        Returns:
            The layer. Cells that are no time, times that the clocks of the zone left out, and without `fold` those that
            came twice are null; ``diagnostics`` count each kind.

        Raises:
            ValueError: An unknown column, zone or sign of a format, a column whose name several have, a `name` that is
                taken, or a text whose own offset is not that of the zone.

        >>> layer = layer.with_time("when", date="DATE", time="TIME", zone="America/Chicago")
        """
        from headland.local_times import with_time

        return Layer(with_time(self._core, name, date=date, time=time, zone=zone, format=format, fold=fold))

    def to_units(self, units: Mapping[str, str] | Literal["metric", "us"], *, crop: str | None = None) -> Self:
        """Return the same layer with columns in other units.

        Args:
            units: ``"metric"`` (m, m2, kg, kg/ha, m3/ha, L/ha, seeds/ha, m/s, kg/s), ``"us"`` (ft, ac, lb, bu/ac for
                yields, lb/ac, gal/ac, seeds/ac, mph, lb/s), or a unit for each named column: ``{"YIELD": "t/ha"}``. The
                two words leave columns alone whose unit is ``"unknown"`` or has no counterpart.
            crop: The crop, such as ``"corn"``, which gives the weight of a bushel: bushels and volumes of grain convert
                to masses with it alone. Without it, the crop that the layer's metadata state.

        Returns:
            A layer with the same rows and columns. Converted values are 64-bit floats; nulls stay null. The field
            metadata ``headland:unit_in`` and ``headland:factor`` keep the unit of the source and the factor.

        Raises:
            ValueError: An unknown column, unit, word or crop; a named column whose unit is unknown or
                measures something else; bushels to or from a mass without a known crop.
            TypeError: `units` is neither a word nor a mapping of texts.

        >>> layer = headland.read("job.zip").to_units({"YIELD": "t/ha"}, crop="corn")

        """
        from headland import _core

        crop = None if crop is None else arguments.text("crop", crop)
        return type(self)(_core.to_units(self._core, units, crop))

    def area(self, crs: AsIs | None = None) -> float | None:
        """Give the area of the polygons; ``None`` where there are none.

        Args:
            crs: ``None`` gives square metres on the ellipsoid of WGS 84, whatever system the layer is in; ``"as-is"``
                the area in the plane of the coordinates, in the square of their unit: also where the system is unknown.

        Returns:
            The sum over all records, holes left out. What two records cover counts twice.

        Raises:
            ValueError: The coordinate system is unknown and ``crs`` is not ``"as-is"``, or ``crs`` is something else.
            ArchiveError: The system cannot be brought to WGS 84, or a coordinate has no place there.

        >>> hectares = headland.read("job.zip").area() / 10_000
        """
        return self._core.area(_as_is(crs))

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
        given = {name: None if text is None else arguments.text(name, text) for name, text in texts.items()}
        return self._core.picture(
            **given,
            width=None if width is None else arguments.whole_number("width", width, 1, 2**32 - 1),
            as_is=_as_is(crs),
        )

    def _repr_html_(self) -> str:
        """Show the map, the columns and the diagnostics; needs no network."""
        from headland.escaping import printable

        def shown(text: str) -> str:
            return html.escape(printable(text))

        units = self.units
        rows = "".join(
            f"<tr><td>{shown(name)}</td><td>{shown(kind)}</td>"
            f"<td>{shown(units.get(name, ''))}</td><td>{nulls}</td></tr>"
            for name, kind, nulls in self.describe()
        )
        diagnostics = "".join(
            f"<li>{diagnostic.severity} <code>{shown(diagnostic.code)}</code> {shown(diagnostic.message)}</li>"
            for diagnostic in self.diagnostics
        )
        return (
            f"<div>{self._map()}<p>{shown(repr(self))}</p>"
            "<table><thead><tr><th>column</th><th>type</th><th>unit</th><th>nulls</th></tr></thead>"
            f"<tbody>{rows}</tbody></table>{f'<ul>{diagnostics}</ul>' if diagnostics else ''}</div>"
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


def _from_parts(kind: type[Layer], about: str, buffers: list[bytes]) -> Layer:
    """Make a layer of what it was pickled as."""
    from headland import _core

    return kind(_core.Layer.from_parts(about, buffers))


def _as_is(crs: AsIs | None) -> bool:
    if crs not in (None, "as-is"):
        raise ValueError(f"`crs` takes None (WGS 84) or 'as-is', not {crs!r}")
    return crs is not None
