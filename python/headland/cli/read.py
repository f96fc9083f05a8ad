"""The verb ``read``: describes an archive or converts it, and prints XML as a tree."""

from __future__ import annotations

import argparse
import re
import shutil
import sys
from pathlib import Path

import headland as hl
from headland.cli import layer_files, read_files
from headland.cli.argument_parser import Verbs, add_verb
from headland.cli.output import print_json, print_text, print_wrapped
from headland.cli.records import print_record
from headland.cli.tables import print_table
from headland.display.escaping import printable
from headland.layer.columns import type_in_words

COMPANION_FILES = ("advanced.xml", "jobdata.xml")
"""XML files that describe the tables next to them, and are read with those."""

ID = re.compile(r"(?:[a-z0-9]I[dD]|[_ ](?i:id)|^(?i:id)|(?i:uuid|guid))s?$")
"""The end of the name of a text that is an id, such as that of an organisation; `--json` has them."""

MARKUP = ("{", "[", "<")
"""Beginnings of texts of JSON and XML, such as those of `.shp.xml`; the table of columns has their units."""

FIRST_ROWS = 5
"""Rows that `read` shows."""

ROWS_WIDTH = 100
"""Columns of text for the rows in a file or a pipe."""


def add_read(verbs: Verbs) -> None:
    """Add the verb ``read``."""
    examples = ("read job.zip --to job.parquet", "read season --to season.parquet")
    text = "Describe archives or convert them; print XML as a tree."
    read = add_verb(verbs, "read", _read, text, examples)
    what = "zips, shapefiles, grain cart files, an XML file, folders, or patterns such as '2025/*.zip'"
    read.add_argument("files", type=Path, nargs="+", metavar="FILE", help=what)
    read.add_argument("--layer", metavar="NAME", help="name of the layer, if the archive has several")
    what = "only layers of this kind, such as yield, as_applied or planting, of several archives; may be repeated"
    read.add_argument("--type", "--job-type", dest="job_type", action="append", metavar="NAME", help=what)
    read.add_argument("--encoding", metavar="NAME", help="the encoding of texts; overrides that of the archive")
    read.add_argument("--lenient", action="store_true", help="read the intact parts of a damaged archive")
    read.add_argument("--to", type=Path, metavar="FILE", help="write FILE: .parquet, .geojson, .csv, .gpkg or .svg")
    what = "keep the columns of several archives, which are harmonised otherwise"
    read.add_argument("--originals", action="store_true", help=what)
    read.add_argument("--units", type=_unit, action="append", metavar="COLUMN=UNIT", help="a unit that archives lack")
    read.add_argument("--crop", metavar="NAME", help="the crop, such as corn, for dry yields")
    read.add_argument("--timezone", metavar="ZONE", help="the zone of times, such as America/Chicago")
    what = "transform coordinates to WGS 84; QGIS and ogr2ogr transform a .gpkg to other systems"
    read.add_argument("--to-crs", type=str.upper, choices=("EPSG:4326", "WGS84"), help=what)


def _read(given: argparse.Namespace) -> int:
    write = None if given.to is None else layer_files.writer(given.to)
    read_files.check_options(given)
    if read_files.is_many(given):
        return read_files.run(given, lambda layer: _show(layer, None, as_json=given.json))
    file = given.files[0]
    if file.suffix.lower() == ".xml" and file.name.lower() not in COMPANION_FILES:
        return _tree(file, given)
    layer = hl.read(file, layer=given.layer, encoding=given.encoding, strict=not given.lenient, to_crs=given.to_crs)
    if write is not None:
        write(layer)
    _show(layer, given.to, as_json=given.json)
    return 0


def _unit(text: str) -> tuple[str, str]:
    """Parse a column and its unit."""
    column, equals, unit = text.rpartition("=")
    if not (column and equals and unit):
        raise argparse.ArgumentTypeError(f"expected COLUMN=UNIT, such as FLOW=lb/s, got {text!r}")
    return column, unit


def _show(layer: hl.Layer, written: Path | None, *, as_json: bool) -> None:
    if as_json:
        print_json(_summary(layer, written))
    else:
        _print(layer, written)


def _tree(file: Path, given: argparse.Namespace) -> int:
    if given.to is not None:
        raise ValueError(f"`{file}` is XML, not a table: use `--json` to print it as a tree")
    tree = hl.read_tree(file)
    if given.json:
        print_json(tree)
    else:
        print_record(tree)
    return 0


def _summary(layer: hl.Layer, written: Path | None) -> dict[str, object]:
    return {
        "name": layer.name,
        "source": layer.source,
        "records": len(layer),
        "crs": layer.crs,
        "columns": _columns(layer),
        "metadata": layer.metadata,
        "diagnostics": [diagnostic._asdict() for diagnostic in layer.diagnostics],
        "written": written,
    }


def _columns(layer: hl.Layer) -> list[dict[str, object]]:
    units = layer.units
    return [
        {"name": column.name, "type": column.type, "unit": units.get(column.name), "nulls": column.nulls}
        for column in layer.describe()
    ]


def _print(layer: hl.Layer, written: Path | None) -> None:
    system = [] if layer._core.geometry_column is None else [layer.crs or "no coordinate system"]  # noqa: SLF001 - own
    print_wrapped(printable(", ".join([f"{layer.name}: {len(layer):,} records", *system])))
    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    geometry = layer._core.geometry_column  # noqa: SLF001 - of this package
    columns = _columns(layer)
    if is_terminal:
        # Programs get Arrow's names, as with `--json`.
        types = ({"type": type_in_words(str(each["type"]), is_geometry=each["name"] == geometry)} for each in columns)
        columns = [{**each, **words} for each, words in zip(columns, types, strict=True)]
    print_table(columns, ("name", "type", "unit", "nulls"), whole=["name"], right=["nulls"])
    if len(layer):
        print_text(f"first {min(FIRST_ROWS, len(layer))} rows:")
        width = shutil.get_terminal_size().columns if is_terminal else ROWS_WIDTH
        for line in layer.head(FIRST_ROWS).lines(width - 2):
            print_text(f"  {line}".rstrip())
    for key, value in layer.metadata.items():
        if _is_readable(key, value):
            print_wrapped(printable(f"{key}: {value}"))
    for diagnostic in layer.diagnostics:
        print_wrapped(printable(f"{diagnostic.severity} {diagnostic.code}: {diagnostic.message}"))
    if written is not None:
        print_text(printable(f"written: {written}"))


def _is_readable(key: str, value: str) -> bool:
    """Return whether a text of a sidecar is for people: no id of an organisation or a record, no JSON and no XML."""
    return bool(value.strip()) and ID.search(key) is None and value.lstrip()[:1] not in MARKUP and key != "Version"
