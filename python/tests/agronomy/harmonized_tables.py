"""Rows of the tables in `python/docs/harmonized.md`, from real results, and builders of small layers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from checkout import CORPUS, DOCS
from shapefiles import Field, dbf, zipped

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

PAGE = DOCS / "harmonized.md"

PREFIXES = ("FarmerC Hill Farms-FarmerC Hill Farms-", "FarmerB_", "FarmerI_")
"""Beginnings of file names that the table leaves out."""


WIDTHS = {"C": 26, "N": 18, "D": 8}
"""Widths of fields by kind; wider numbers without decimals are floats."""


class Found(NamedTuple):
    """A harmonised column: its name, the original column, the unit of that, the factor and the rule."""

    column: str
    original: str
    unit: str
    factor: str
    rule: str


def short(path: Path) -> str:
    """Return the name of a file without the name of the farm."""
    name = path.name
    for prefix in PREFIXES:
        name = name.removeprefix(prefix)
    return name


def archives() -> dict[str, Path]:
    """Return the zips of real machine data in the corpus by their short name."""
    folder = CORPUS / "ag" / "paulhegedus+OFPEDATA" / "data-raw"
    return {short(path): path for path in sorted(folder.glob("*.zip"), key=short)}


def found(layer: hl.Layer) -> list[Found]:
    """Return the columns of a harmonised layer that are not computed."""
    rows = []
    for entry in layer.provenance:
        if entry["rule"] == "computed":
            continue
        factor = entry.get("factor")
        unit = "unknown" if entry.get("unit") == "unknown" else str(entry.get("unit_in") or entry.get("unit") or "")
        original = str(entry["source"]).removesuffix("_original")
        scale = "" if factor is None else f"{factor:.6g}"
        rows.append(Found(str(entry["column"]), original, unit, scale, str(entry["rule"]) + proof(entry)))
    return rows


def proof(entry: Mapping[str, object]) -> str:
    """Return how a unit is proven, if nothing states it."""
    evidence = entry.get("evidence")
    if evidence is None or entry["column"] == "time":
        return ""
    return ", unit by range" if "values are" in str(evidence) else ", unit by closure"


def corpus_table() -> list[str]:
    """Return the rows of the table of the corpus in Markdown."""
    lines = []
    for name, path in archives().items():
        try:
            rows = found(hl.harmonize(hl.read(path)))
        except ValueError:
            lines.append(f"| `{name}` | | | | | no known meaning |")
            continue
        for number, row in enumerate(sorted(rows)):
            file = "" if number else f"`{name}`"
            cells = [f"`{row.column}`", f"`{row.original}`", row.unit, row.factor, row.rule]
            lines.append(f"| {file} | {' | '.join(cells)} |".replace("|  |", "| |").replace("|  |", "| |"))
    return lines


def section(heading: str) -> list[str]:
    """Return the rows below the head of the table in a section of the page."""
    text = PAGE.read_text(encoding="utf-8").split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    return [line for line in text.splitlines() if line.startswith("|")][2:]


def table(fields: Sequence[tuple[str, str]], rows: Iterable[Sequence[object]]) -> hl.Layer:
    """Return a layer without geometries; the kind of a field is C, N or D, with digits after N."""
    kinds = [Field(name.encode(), kind[0], WIDTHS[kind[0]], int(kind[1:] or 0)) for name, kind in fields]
    packed = [
        [f"{cell:<26}".encode() if field.kind == "C" else f"{cell:>{field.width}}".encode() for cell, field in pairs]
        for pairs in (zip(row, kinds, strict=True) for row in rows)
    ]
    return hl.read(zipped({"table.dbf": dbf(kinds, packed)}))


def codes(layer: hl.Layer) -> set[str]:
    """Return the codes of the diagnostics of a layer."""
    return {str(diagnostic.code) for diagnostic in layer.diagnostics}


YIELD = ("YIELD", "N1")
"""A field of a harvest."""


def timed(cells: list[str], kind: str = "C", name: str = "TIME") -> hl.Layer:
    """Return a harvest whose records have these times."""
    return table([(name, kind), YIELD], [(cell, 5) for cell in cells])


def dated(cells: list[tuple[str, str]], kind: str = "C") -> hl.Layer:
    """Return a harvest whose records have these dates and times of day."""
    return table([("DATE", kind), ("TIME", "C"), YIELD], [(*pair, 5) for pair in cells])
