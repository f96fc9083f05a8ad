"""A layer: a table of field data with its map."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from headland import _core, argument_hints, arguments, errors
from headland.layer.columns import check_named
from headland.layer.listings import Diagnostics
from headland.layer.table_methods import TableMethods

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Self

    from headland.display.map import Map
    from headland.layer.diagnostic_codes import DiagnosticCode, Severity

AsIs = Literal["as-is"]
"""Coordinates as in the archive, instead of WGS 84."""


class Diagnostic(NamedTuple):
    """A repair, assumption or loss on reading."""

    code: DiagnosticCode
    """The kind of diagnostic, a stable name such as ``no-shx``."""
    message: str
    """The finding and its consequence."""
    member: str | None
    """The member of the archive."""
    record: int | None
    """The record, counted from 0, if a single record is the cause."""
    severity: Severity
    """``"error"``: data are lost or values may be wrong; ``"warning"``: something was repaired, assumed or is missing;
    ``"info"``: a fact worth knowing.
    """


class Layer(TableMethods):
    """A table of field data: columns, geometry, coordinate system, units, metadata and diagnostics.

    It supports the Arrow C stream, so ``pyarrow.table(layer)``, polars and duckdb accept it.
    """

    __slots__ = ()

    @property
    def name(self) -> str:
        """The name of the layer in its archive."""
        return self._core.name

    @property
    def source(self) -> str:
        """The source: a path, ``bytes``, or the call, id and format of a job."""
        return self._core.source

    @property
    def crs(self) -> str | None:
        """The coordinate system: ``EPSG:n`` if it is certain, else the text of the .prj, else ``None``."""
        return self._core.crs

    @property
    def metadata(self) -> dict[str, str]:
        """Texts that the source states about the whole layer, such as the header of a grain cart file."""
        return dict(self._core.metadata)

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """Diagnostics of the reading, ordered by member and record."""
        return Diagnostics(Diagnostic(**diagnostic) for diagnostic in self._core.diagnostics)

    def __repr__(self) -> str:
        """Return name, size and coordinate system in one line; a table without geometries shows its first rows too."""
        from headland.layer.text import text

        return text(self)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle rows, schema and metadata for other processes; they contain no secret."""
        return _from_parts, (type(self), *self._core.to_parts())

    def __copy__(self) -> Self:
        """Return an equal layer, which shares the columns: layers are immutable."""
        return type(self)(self._core)

    def __deepcopy__(self, memo: object) -> Self:
        """Return an equal layer, which shares the columns: layers are immutable."""
        return type(self)(self._core)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Export the columns by the Arrow C stream interface; the geometry is ``geoarrow.wkb``."""
        return self._core.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        """Export the schema by the Arrow C schema interface."""
        return self._core.__arrow_c_schema__()

    @property
    def __geo_interface__(self) -> dict[str, Any]:
        """A GeoJSON feature collection in WGS 84, as written by ``write_geojson``.

        The protocol has no arguments, so this raises ``ValueError`` if the coordinate system is unknown, where
        ``write_geojson(path, crs="as-is")`` and ``to_geopandas().__geo_interface__`` keep the coordinates unchanged.
        """
        collection: dict[str, Any] = json.loads(self._core.geojson(as_is=False))
        return collection

    def write_geojson(self, path: str | os.PathLike[str], crs: AsIs | None = None) -> Path:
        """Write GeoJSON (RFC 7946): one feature per line, outer rings counter-clockwise, shortest exact digits.

        Args:
            path: The file, ``.geojson`` or ``.json``. It appears under its name once it is complete, and replaces an
                existing file. A link is followed; a target that is not a regular file is refused.
            crs: ``None`` transforms coordinates to WGS 84 (degrees, longitude first), as the format requires;
                ``"as-is"`` writes them in the layer's own system and units.

        Returns:
            The path. Nulls and numbers that are not finite are ``null``, dates are ISO texts, and a geometry with an
            invalid coordinate is ``null``. Of columns with the same name, the later ones have a number as suffix. The
            format has no units.

        Raises:
            ValueError: The coordinate system is unknown and ``crs`` is not ``"as-is"``, or another ending or ``crs``.
            HeadlandError: A coordinate cannot be transformed to WGS 84 or is beyond 180 or 90 degrees (RFC 7946), or
                the file cannot be written (then it is an ``OSError`` too).

        >>> headland.read("job.zip").write_geojson("job.geojson")
        """
        target = arguments.path("path", path, ".geojson", ".json")
        self._core.write_geojson(target, _as_is(crs))
        return target

    def write_parquet(self, path: str | os.PathLike[str]) -> Path:
        """Write GeoParquet 1.1, compressed with zstd: all columns and types, the coordinate system and the units.

        Args:
            path: The file, such as ``job.parquet``. It appears under its name once it is complete, and replaces an
                existing file. A link is followed; a target that is not a regular file is refused.

        Returns:
            The path. Geometries are well-known binary in the layer's own system, which the file stores as PROJJSON, or
            as ``null`` if it is unknown or has no PROJJSON. Of columns with the same name, the later ones have a number
            as suffix. A column ``bbox`` stores the bounding box of each geometry, for readers that select a region,
            such as ``geopandas.read_parquet(path, bbox=...)``. A column's unit is its field's metadata under ``unit``.
            GeoParquet has neither M, which is left out with a warning, nor surfaces of triangles, which are polygons.

        Raises:
            ValueError: The name ends neither in ``.parquet`` nor in ``.geoparquet`` or ``.pq``.
            HeadlandError: The file cannot be written (it is an ``OSError`` too).

        >>> headland.read("job.zip").write_parquet("job.parquet")
        """
        target = arguments.path("path", path, ".parquet", ".geoparquet", ".pq")
        if self._core.has_m:
            errors.warn(
                f"the M values of layer `{self.name}` are not in `{target}`: GeoParquet has none; `to_arrow` keeps them"
            )
        self._core.write_parquet(target)
        return target

    @argument_hints.explained(argument_hints.ZONE)
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
        """Return the layer with one more column: dates and times of day joined to UTC timestamps in microseconds.

        Args:
            name: Name of the new column. It precedes the geometry; its source columns are kept.
            date: The column of dates, or of texts with a date and a time of day: `2026-09-01T12:00:00`, with a blank
                for the ``T``, `20260901 120000`; or of timestamps without a zone, which FMIS tables may have.
            time: The column of times of day, if different: `12:00:00`, `12:00:00.25`, `120000`, `1:02:03 PM`.
            zone: The time zone of the columns: ``"UTC"``, an offset such as ``"+02:00"``, or a name such as
                ``"America/Chicago"`` that means the same on every machine (``"localtime"`` does not). headland never
                guesses it. Offsets in texts must agree with it.
            format: The format of the texts in the signs of ``strptime``, such as ``"%m/%d/%Y %H:%M:%S"``. Without it,
                the order of day, month and year that all rows allow. With `time`, the format of both, separated by one
                blank.
            fold: Selects one of two times if clocks went back: 0 the earlier, 1 the later. Without it, the one that
                rows in order of time show.

        Returns:
            The layer. Null are cells that are no time, times skipped by the clocks of the zone, and without `fold`
            times that occurred twice, if the order of the rows does not show which is meant; ``diagnostics`` count each
            kind.

        Raises:
            ValueError: An unknown column, zone or sign of a format, a column name that is not unique, a `name` that
                exists, a text whose offset differs from that of the zone, or without `format` dates whose order of day,
                month and year the rows do not show.

        >>> layer = layer.with_time("when", date="DATE", time="TIME", zone="America/Chicago")
        """
        from headland.layer.local_times import with_time

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
            TypeError: `units` is neither a word nor a mapping.

        >>> layer = headland.read("job.zip").to_units({"YIELD": "t/ha"}, crop="corn")
        """
        check_named(self, units)
        return type(self)(_core.to_units(self._core, units, None if crop is None else arguments.text("crop", crop)))

    @property
    def boundary(self) -> Layer | None:
        """The boundary of the field, if the archive of the job has it as another layer; else ``None``.

        `job_data.read` reads the layer of the job from such an archive, and ``headland.read`` requires a layer's name.

        >>> outline = client.job_data.read(job_id).boundary
        """
        core = self._core.boundary
        return None if core is None else Layer(core)

    def area(self, crs: AsIs | None = None) -> float | None:
        """Return the area of the polygons, or the worked area of points; ``None`` without either.

        The worked area is the sum of `worked_area`, distance x swath width of each row, in square metres. It needs
        no coordinate system. A layer that is not harmonised is harmonised for it.

        Args:
            crs: ``None`` computes square metres on the ellipsoid of WGS 84, regardless of the layer's system; in the
                layer's own plane, if a projected system has no known way to WGS 84 (diagnostic ``own-plane``).
                ``"as-is"`` computes the planar area of polygons in the square of the coordinates' unit, also if the
                system is unknown.

        Returns:
            The sum over all records, without holes; areas of two records count twice, rows without a width do not.

        Raises:
            ValueError: The coordinate system is unknown and ``crs`` is not ``"as-is"``, or ``crs`` has another value.
            ArchiveError: A coordinate is outside its system, or degrees cannot be transformed to WGS 84.

        >>> hectares = headland.read("job.zip").area() / 10_000
        """
        return self._core.area(_as_is(crs))

    def covered_area(self) -> float:
        """Return the worked ground in m², each piece once; a `HeadlandWarning` says what `clean` doubts of the ground.

        Raises:
            ValueError: The kind of job, the swath width or the coordinate system is unknown.

        >>> hectares = headland.harmonize(headland.read("job.zip"), kind="yield").covered_area() / 10_000
        """
        area, messages = _core.covered_area(self._core)
        for message in messages:
            errors.warn(message)
        return area

    def picture(
        self,
        column: str | None = None,
        *,
        title: str | None = None,
        unit: str | None = None,
        width: int | None = None,
        crs: AsIs | None = None,
    ) -> str:
        """Return the SVG text of `plot`, for files and pages; in a notebook, use `plot`.

        Args:
            column: As in `plot`.
            title: As in `plot`.
            unit: As in `plot`.
            width: As in `plot`.
            crs: As in `plot`.

        Returns:
            The text of the map.

        >>> svg = headland.read("job.zip").picture("YIELD")
        """
        return self.plot(column, title=title, unit=unit, width=width, crs=crs).svg

    @argument_hints.explained(argument_hints.PLOT)
    def plot(
        self,
        column: str | None = None,
        *,
        label: str | None = None,
        title: str | None = None,
        unit: str | None = None,
        width: int | None = None,
        vmin: float | None = None,
        vmax: float | None = None,
        crs: AsIs | None = None,
    ) -> Map:
        """Draw a map of one column, with a legend, its unit and a scale bar, which a notebook shows.

        Args:
            column: The column. ``None`` chooses the dry yield at market moisture, else the wet one, else the display's
                yield or a rate, else another measured column, else the locations; never an id, a year or a coordinate.
                Texts, flags and up to 8 different numbers are drawn as classes.
            label: The name of the column in heading and legend; ``None`` is its own, and for a dry one, such as a
                yield, its water.
            title: The title; ``None`` is the name of the layer.
            unit: The unit of the values; ``None`` is that of the layer. It labels the map and converts nothing: see
                `to_units`.
            width: The width in pixels, 760 by default.
            vmin: The value of the first colour, so that several maps have one scale; ``None`` is the 2 % quantile.
            vmax: The value of the last colour; ``None`` is the 98 % quantile.
            crs: ``"as-is"`` draws unchanged coordinates, also if their system is unknown.

        Returns:
            The map. A layer of more than some thousand records is thinned evenly, and the map states the counts. A
            `HeadlandWarning` says if cells of a grid cover others, such as those of several years.

        Raises:
            ValueError: The layer has no geometry or no such column, the column has neither numbers nor text, `vmin` is
                not below `vmax`, or the coordinate system is unknown and `crs` is not ``"as-is"``.
            ArchiveError: A coordinate cannot be transformed to WGS 84.

        >>> headland.read("job.zip").plot("YIELD").save("yield.svg")
        """
        from headland.display.map import Map
        from headland.layer.columns import missing_column, warn_of_hidden_cells

        texts = {"column": column, "label": label, "title": title, "unit": unit}
        given = {name: None if text is None else arguments.text(name, text) for name, text in texts.items()}
        if column is not None and column not in self:
            raise ValueError(missing_column(self, column))
        svg = self._core.picture(
            **given,
            width=None if width is None else arguments.whole_number("width", width, 1, 2**32 - 1),
            vmin=None if vmin is None else arguments.number("vmin", vmin),
            vmax=None if vmax is None else arguments.number("vmax", vmax),
            as_is=_as_is(crs),
        )
        warn_of_hidden_cells(self)
        shown = given["column"] or self._core.map_column()
        name, label = self._core.map_texts(given["column"])
        return Map(svg, shown, f"{given['label'] or label or shown or 'locations'} of {given['title'] or name}")

    def explore(self, column: str | None = None) -> Any:
        """Show the records on an interactive map with lonboard, or with folium if that is what is installed.

        Args:
            column: The column of the colours; ``None`` chooses one as in `plot`. Hovering shows values with units.

        Returns:
            A ``lonboard.Map`` or a ``folium.Map``, which a notebook shows. The map of the background comes from the
            network; data stay on this machine. folium shows at most 20,000 records, thinned evenly.

        Raises:
            ImportError: Neither is installed: ``pip install 'headland[explore]'``.
            ValueError: The layer has no geometry or no such column, or its coordinate system is unknown.

        >>> headland.read("job.zip").explore("YIELD")
        """
        from headland.layer.explore import explore

        if self._core.geometry_column is None:
            raise ValueError(f"layer `{self.name}` has no geometry, so there is nothing to show")
        return explore(self, None if column is None else arguments.text("column", column))

    def _repr_html_(self) -> str:
        """Return the map, the columns and the diagnostics as HTML; needs no network."""
        from headland.layer.html import render

        return render(self, has_map=self._core.geometry_column is not None and len(self) > 0)


def _from_parts(kind: type[Layer], about: str, buffers: list[bytes]) -> Layer:
    """Return the layer of pickled parts."""
    return kind(_core.Layer.from_parts(about, buffers))


def _as_is(crs: AsIs | None) -> bool:
    if crs not in (None, "as-is"):
        raise ValueError(f"`crs`: expected None (WGS 84) or 'as-is', got {crs!r}")
    return crs is not None
