"""Describes a layer in one line, and tables without geometries with their rows."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

from headland.display.tables import SHOWN

if TYPE_CHECKING:
    from headland.layer.display_protocol import ShownLayer

MAX_CRS_SHOWN = 60
"""Maximum length of a coordinate system's name in one line."""

WKT_NAME = re.compile(r'\s*[A-Za-z_]+\s*[\[(]\s*"([^"]+)"')
"""The name at the beginning of well-known text."""


def heading(layer: ShownLayer) -> str:
    """Return name, size and coordinate system in one line; a table without geometries has no system."""
    size = f"<Layer {layer.name!r}: {len(layer):,} records, {len(layer.columns)} columns"
    if layer._core.geometry_column is None:  # noqa: SLF001 - a layer of this package
        return f"{size}>"
    crs = layer.crs or "no coordinate system"
    # Well-known text begins with the name of the system, as in `PROJCS["WGS_1984_UTM_Zone_32N",...]`.
    named = WKT_NAME.match(crs)
    return f"{size}, {textwrap.shorten(named[1] if named else crs, MAX_CRS_SHOWN)}>"


def text(layer: ShownLayer) -> str:
    """Return the heading; for a table without geometries also its first rows."""
    if layer._core.geometry_column is not None or len(layer) == 0:  # noqa: SLF001 - as above
        return heading(layer)
    rest = [f"first {SHOWN} of {len(layer):,} rows"] if len(layer) > SHOWN else []
    return "\n".join([heading(layer), *(f"  {line}".rstrip() for line in (*layer.head(SHOWN).lines(), *rest))])
