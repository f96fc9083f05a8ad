"""Writes the layers of many archives to one file for each kind of job, in the memory of one archive."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple, Protocol, get_args

from headland import _core, extras, files
from headland.agronomy.harmonize import JobKind, harmonize
from headland.cli.layer_files import fill_geopackage, text_frame
from headland.layer.layer import Layer
from headland.layer.table_input import as_layer

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

BOUNDARIES, OTHER = "boundaries", "other"
"""Tables of layers of no kind: outlines of fields, and with original columns also all others."""

TABLES = (*get_args(JobKind), BOUNDARIES, OTHER)
"""All tables."""


HARVESTED = re.compile("yield|flow|mass")
"""The canonical columns that a table of yields needs one of; those of unknown units count too."""


class Written(NamedTuple):
    """A table that was written."""

    path: Path
    table: str
    records: int
    layers: int


class Format(Protocol):
    """A file in progress, to which layers with the same columns are appended."""

    def __init__(self, path: Path) -> None: ...

    def add(self, layer: Layer) -> None:
        """Append the rows of a layer."""

    def finish(self) -> None:
        """Complete the file."""


class _Parquet:
    def __init__(self, path: Path) -> None:
        self._file = _core.TableFile(path)

    def add(self, layer: Layer) -> None:
        self._file.add(layer._core)  # noqa: SLF001 - a layer of this package

    def finish(self) -> None:
        self._file.finish()


class _GeoJson:
    """One feature a line, as in ``Layer.write_geojson``."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._is_empty = True

    def add(self, layer: Layer) -> None:
        text = layer._core.geojson(as_is=False)  # noqa: SLF001 - a layer of this package
        start, end = text.index("\n"), text.rindex("\n]}")
        is_new = not self._path.exists()
        with self._path.open("a", encoding="utf-8", newline="") as file:
            file.write(text[:start] if is_new else "")
            if len(layer):
                file.write(text[start:end] if self._is_empty else f",{text[start:end]}")
                self._is_empty = False

    def finish(self) -> None:
        with self._path.open("a", encoding="utf-8", newline="") as file:
            file.write("\n]}\n")


class _Csv:
    def __init__(self, path: Path) -> None:
        self._path = path

    def add(self, layer: Layer) -> None:
        text_frame(layer).to_csv(self._path, mode="a", header=not self._path.exists(), index=False)

    def finish(self) -> None:
        pass


class _GeoPackage:
    def __init__(self, path: Path) -> None:
        extras.require("geo", "geopandas", "pyogrio", "pyarrow")
        self._path = path

    def add(self, layer: Layer) -> None:
        # Boundaries of one file are polygons, and those of another are multipolygons.
        options = {"layer": self._path.stem, "geometry_type": "Unknown"}
        fill_geopackage(layer, self._path, append=self._path.exists(), **options)

    def finish(self) -> None:
        pass


class _Map:
    """A map of all rows. Its colours depend on all of them, so they are in memory at the end."""

    def __init__(self, path: Path) -> None:
        extras.require("geo", "pyarrow")
        self._path = path
        self._rows = _core.TableFile(path.with_suffix(".parquet"))

    def add(self, layer: Layer) -> None:
        self._rows.add(layer._core)  # noqa: SLF001 - a layer of this package

    def finish(self) -> None:
        import pyarrow.parquet as pq

        self._rows.finish()
        as_layer("layer", pq.read_table(self._path.with_suffix(".parquet"))).plot().save(self._path)


FORMATS: dict[str, type[Format]] = {
    ".parquet": _Parquet,
    ".geojson": _GeoJson,
    ".json": _GeoJson,
    ".csv": _Csv,
    ".gpkg": _GeoPackage,
    ".svg": _Map,
}
"""Formats by the extension of a file."""


class KindRows:
    """Makes the rows of layers in the tables of their kinds, with what the user states of all archives."""

    def __init__(self, units: Mapping[str, str], crop: str | None, timezone: str | None) -> None:
        self._units, self._crop, self._timezone = units, crop, timezone
        self._unused = set(units)

    def of(self, layer: Layer) -> tuple[str, Layer]:
        """Return the table of a layer, and its rows there: the canonical columns of a kind, or those of boundaries."""
        outline = _core.boundary_table(layer._core)  # noqa: SLF001 - a layer of this package
        if outline is not None:
            return BOUNDARIES, Layer(outline)
        # Archives of other displays state the units of the same columns.
        units = {name: unit for name, unit in self._units.items() if layer.units.get(name) == "unknown"}
        self._unused -= units.keys()
        made = harmonize(layer, units=units, crop=self._crop, timezone=self._timezone)
        rows = Layer(_core.kind_table(made._core))  # noqa: SLF001 - a layer of this package
        kind = rows.metadata["headland:kind"]
        if kind == "yield" and not any(HARVESTED.search(str(each["column"])) for each in made.provenance):
            # Such as a table of protein, which is of a harvest but none itself.
            raise ValueError(
                "no column is a yield, a mass or a flow, so it is in no table; `--originals` writes its own"
            )
        return kind, rows

    def check(self) -> None:
        """Raise an error, after all layers, if none has a column whose unit is stated."""
        for name in sorted(self._unused):
            raise ValueError(f"`--units`: no archive has a column `{name}` whose unit is unknown")


def table_of(layer: Layer) -> str:
    """Return the table of a layer with its own columns."""
    if _core.boundary_table(layer._core) is not None:  # noqa: SLF001 - a layer of this package
        return BOUNDARIES
    try:
        return harmonize(layer).metadata.get("headland:kind", OTHER)
    except ValueError:
        return OTHER


class TableFiles:
    """The files of the tables, in a hidden folder until they are complete."""

    def __init__(self, target: Path, folder: Path) -> None:
        self._target = target
        self._folder = folder
        self._open: dict[str, Format] = {}
        self._counts: dict[str, tuple[int, int]] = {}

    def add(self, table: str, rows: Layer) -> None:
        """Append the rows of a layer to a table, whose file the first one creates."""
        with files.writing(self._target):
            if table not in self._open:
                suffix = self._target.suffix
                self._open[table] = FORMATS[suffix.lower()](self._folder / f"{table}{suffix}")
            self._open[table].add(rows)
        records, layers = self._counts.get(table, (0, 0))
        self._counts[table] = (records + len(rows), layers + 1)

    def finish(self) -> list[Written]:
        """Complete all files, and move them to their names: that of the target, if there is one kind."""
        kinds = [table for table in self._counts if table != BOUNDARIES] or [*self._counts]
        with files.writing(self._target):
            for table in self._counts:
                self._open[table].finish()
        written = []
        for table, counts in sorted(self._counts.items()):
            target = self._target
            path = target if kinds == [table] else target.with_name(f"{target.stem}-{table}{target.suffix}")
            files.replaceable(path)
            written.append(Written(path, table, *counts))
        for file in written:
            with files.writing(file.path):
                (self._folder / f"{file.table}{file.path.suffix}").replace(files.replaceable(file.path))
        return written

    def earlier(self, written: list[Written]) -> list[Path]:
        """Return the files of other tables under these names, which an earlier run with other archives wrote."""
        target = self._target
        names = [target, *(target.with_name(f"{target.stem}-{table}{target.suffix}") for table in TABLES)]
        return [path for path in names if path.exists() and path not in [file.path for file in written]]
