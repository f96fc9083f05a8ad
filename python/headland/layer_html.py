"""Renders a layer as HTML for notebooks."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from headland.display_table import table_html
from headland.errors import HeadlandError
from headland.escaping import printable

if TYPE_CHECKING:
    from headland.layer import Layer


def render(layer: Layer, *, has_map: bool) -> str:
    """Return the map, the columns and the diagnostics as HTML; needs no network."""
    units = layer.units
    rows = ((name, kind, units.get(name), nulls) for name, kind, nulls in layer.describe())
    diagnostics = "".join(
        f"<li>{diagnostic.severity} <code>{_shown(diagnostic.code)}</code> {_shown(diagnostic.message)}</li>"
        for diagnostic in layer.diagnostics
    )
    return (
        f"<div>{_map(layer) if has_map else ''}<p>{_shown(repr(layer))}</p>"
        f"{table_html(('column', 'type', 'unit', 'nulls'), rows)}"
        f"{f'<ul>{diagnostics}</ul>' if diagnostics else ''}</div>"
    )


def _shown(text: str) -> str:
    return html.escape(printable(text))


def _map(layer: Layer) -> str:
    """Return the map, or the reason why there is none: a notebook must show the table in any case."""
    try:
        return layer.picture()
    except (HeadlandError, ValueError) as reason:
        return f"<p>{html.escape(str(reason))}</p>"
