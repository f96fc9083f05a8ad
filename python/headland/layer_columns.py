"""The columns of a layer as they are shown: the order in which a user looks for them, and their types in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headland.layer_views import Column, LayerViews

FIRST = (
    *("job_name", "field"),
    *("yield_dry", "yield_wet", "yield", "yield_dry_mass", "yield_wet_mass", "yield_dry_volume", "yield_wet_volume"),
    *("yield_dry_matter", "applied_rate", "target_rate", "control_rate", "dry_mass", "wet_mass", "amount"),
    *("worked_area", "moisture", "protein", "crop", "product", "variety", "time", "flow", "speed"),
    *("swath_width", "distance", "interval", "heading", "elevation", "pass_number", "working"),
)
"""Columns of a harmonised layer in the order in which they are looked for; the others follow."""

NUMBERS = {"Int": "whole number", "UInt": "whole number", "Float": "number"}

TYPES = {"LargeUtf8": "text", "Utf8": "text", "Boolean": "yes or no", "Date32": "date", "Timestamp": "time"}
"""Arrow's types in words, by the beginnings of their names."""


def type_in_words(kind: str, *, is_geometry: bool = False) -> str:
    """Return an Arrow type in words, such as ``number`` for ``Float64``."""
    if is_geometry:
        return "geometry"
    return next((words for start, words in (NUMBERS | TYPES).items() if kind.startswith(start)), kind)


def ordered_columns(layer: LayerViews) -> tuple[list[Column], list[Column]]:
    """Return the columns in the order in which they are looked for, and the originals of a harmonised layer."""
    columns = layer.describe()
    added = {entry["column"] for entry in layer.provenance}
    if not added & {column.name for column in columns}:
        return columns, []
    geometry = layer._core.geometry_column  # noqa: SLF001 - a layer of this package
    computed = {*added, geometry, "job_id", "job_name", "source", "field"}
    place = {name: index for index, name in enumerate(FIRST)}
    own = sorted((each for each in columns if each.name in computed), key=lambda each: place.get(each.name, len(place)))
    return own, [column for column in columns if column.name not in computed]
