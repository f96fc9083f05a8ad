"""Renders a layer as HTML for notebooks."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from headland.display import quantities
from headland.display.escaping import printable
from headland.display.tables import SHOWN, table_html
from headland.errors import HeadlandError
from headland.layer.columns import ordered_columns, type_in_words
from headland.layer.text import heading

if TYPE_CHECKING:
    from collections.abc import Iterable

    from headland.layer.display_protocol import Column, ShownLayer

KINDS = {"yield": "Harvest", "as_applied": "Application", "planting": "Planting"}
"""Kinds of jobs, as they are shown."""


def render(layer: ShownLayer, *, has_map: bool) -> str:
    """Return the map, what the layer contains, its columns and the diagnostics as HTML; needs no network.

    A table without geometries shows its rows in place of a map.
    """
    diagnostics = "".join(
        f"<li>{diagnostic.severity} <code>{_shown(diagnostic.code)}</code> {_shown(diagnostic.message)}</li>"
        for diagnostic in layer.diagnostics
    )
    is_table = layer._core.geometry_column is None  # noqa: SLF001 - a layer of this package
    facts = _facts(layer)
    return (
        f"<div>{_map(layer) if has_map else ''}{f'<p>{_shown(facts)}</p>' if facts else ''}"
        f"<p>{_shown(heading(layer))}</p>"
        f"{_rows(layer) if is_table and len(layer) else _columns(layer)}"
        f"{f'<ul>{diagnostics}</ul>' if diagnostics else ''}</div>"
    )


def _columns(layer: ShownLayer) -> str:
    """Return the table of the columns; the originals of a harmonised layer are folded."""
    first, originals = ordered_columns(layer)
    table = _column_table(layer, first)
    if originals:
        count = f"{len(originals)} column{'' if len(originals) == 1 else 's'} as logged"
        table += f"<details><summary>{count}</summary>{_column_table(layer, originals)}</details>"
    return table


def _column_table(layer: ShownLayer, columns: Iterable[Column]) -> str:
    units, geometry = layer.units, layer._core.geometry_column  # noqa: SLF001 - a layer of this package
    rows = (
        (each.name, type_in_words(each.type, is_geometry=each.name == geometry), _unit(each, units), each.nulls)
        for each in columns
    )
    return table_html(("column", "type", "unit", "nulls"), rows)


def _unit(column: Column, units: dict[str, str]) -> str:
    """Return the unit; counts, codes and shares need none."""
    unit = units.get(column.name, "")
    has_none = unit == "1" or (unit == "unknown" and (column.name == "share" or not column.type.startswith("Float")))
    return "" if has_none else unit


def _rows(layer: ShownLayer) -> str:
    """Return the first rows, and the other columns and types folded."""
    rows = layer.head(SHOWN)._repr_html_()
    more = f"<p>first {SHOWN} rows</p>" if len(layer) > SHOWN else ""
    return f"{rows}{more}<details><summary>columns</summary>{_columns(layer)}</details>"


def _facts(layer: ShownLayer) -> str:
    """Return kind, crop, points, ground and amount of a harmonised layer in one line; empty for other layers."""
    metadata = layer.metadata
    kind = KINDS.get(metadata.get("headland:kind", ""))
    if kind is None:
        return ""
    crop = metadata.get("headland:crop") if kind != KINDS["as_applied"] else None
    basis = {entry["column"]: entry.get("moisture_basis") for entry in layer.provenance}
    texts = [f"{len(layer):,} rows"]
    if "worked_area" in layer.columns:
        texts.append(f"{quantities.hectares(_sum(layer, 'worked_area'))} worked")
    for name, is_grain in (("dry_mass", True), ("wet_mass", True), ("amount", False)):
        unit = layer.units.get(name, "unknown")
        if unit != "unknown" and (total := _sum(layer, name)):
            moisture = f" {quantities.at_moisture(basis.get(name))}" if is_grain else ""
            texts.append(f"{quantities.amount(total, unit, is_grain=is_grain)}{moisture}")
            break
    return f"{kind}{f' of {crop}' if crop else ''}: {', '.join(texts)}"


def _sum(layer: ShownLayer, column: str) -> float:
    return float(sum(value for value in layer[column] if value is not None and value == value))  # noqa: PLR0124 - NaN


def _shown(text: str) -> str:
    return html.escape(printable(text))


def _map(layer: ShownLayer) -> str:
    """Return the map, or the reason why there is none: a notebook must show the table in any case."""
    try:
        return layer.picture()
    except (HeadlandError, ValueError) as reason:
        return f"<p>{_shown(str(reason))}</p>"
