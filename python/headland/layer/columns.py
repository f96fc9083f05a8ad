"""The columns of a layer as they are shown: the order in which a user looks for them, and their types in words."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

from headland import _core, errors
from headland.display.escaping import printable
from headland.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Collection

    from headland.layer.display_protocol import Column, ShownTable

FIRST = (
    *("job_name", "field"),
    *("yield_dry", "yield_wet", "yield", "yield_dry_mass", "yield_wet_mass", "yield_dry_volume", "yield_wet_volume"),
    *("yield_dry_matter", "applied_rate", "target_rate", "control_rate", "dry_mass", "wet_mass", "amount"),
    *("worked_area", "moisture", "protein", "crop", "product", "variety", "time", "flow", "speed"),
    *("swath_width", "distance", "interval", "heading", "elevation", "pass_number", "working"),
)
"""Columns of a harmonised layer in the order in which they are looked for; the others follow."""

MEANS = ("job_name", "field", "year", "crop", "mean", "covered_area", "dry_mass")
"""Columns of a table of means in the order in which they are looked for."""

MOST_HIDDEN = 0.25
"""Most cells on the ground of others, as crops of one field share those of their border."""

NUMBERS = {"Int": "whole number", "UInt": "whole number", "Float": "number"}

TYPES = {"LargeUtf8": "text", "Utf8": "text", "Boolean": "yes or no", "Date32": "date", "Timestamp": "time"}
"""Arrow's types in words, by the beginnings of their names."""


def type_in_words(kind: str, *, is_geometry: bool = False) -> str:
    """Return an Arrow type in words, such as ``number`` for ``Float64``."""
    if is_geometry:
        return "geometry"
    return next((words for start, words in (NUMBERS | TYPES).items() if kind.startswith(start)), kind)


def ordered_columns(layer: ShownTable) -> tuple[list[Column], list[Column]]:
    """Return the columns in the order in which they are looked for, and the originals of a harmonised layer."""
    columns = layer.describe()
    added = {entry["column"] for entry in layer.provenance}
    if not added & {column.name for column in columns}:
        # Of a table of means, what is looked for comes first too, and the order of its columns is that of the core.
        order = {name: index for index, name in enumerate(MEANS)} if "mean" in layer.columns else {}
        return sorted(columns, key=lambda each: order.get(each.name, len(order))), []
    geometry = layer._core.geometry_column  # noqa: SLF001 - a layer of this package
    computed = {*added, geometry, "job_id", "job_name", "source", "field"}
    place = {name: index for index, name in enumerate(FIRST)}
    own = sorted((each for each in columns if each.name in computed), key=lambda each: place.get(each.name, len(place)))
    return own, [column for column in columns if column.name not in computed]


def missing_column(layer: ShownTable, column: str) -> str:
    """Return the message for a column that a layer does not have: a similar one, or all; and what `harmonize` adds."""
    canonical: list[str] = []
    if not layer.provenance:
        with contextlib.suppress(ValueError):  # It has no canonical columns.
            canonical = _core.harmonize(layer._core, {"market_moisture": []}, None).columns  # noqa: SLF001 - a layer of this package
    added = _similar(column, [name for name in canonical if name not in layer.columns])
    # A misspelt column of the layer itself comes first.
    own = None if added == column else _similar(column, layer.columns, 0.8 if added else 0.6)
    hint = f": did you mean `{own}`?" if own else ""
    if added and not own:
        hint = f"; `headland.harmonize(layer)` adds `{added}`"
    return printable(f"there is no column `{column}`{hint or '; there are: ' + ', '.join(layer.columns)}")


def check_named(layer: ShownTable, units: object) -> None:
    """Refuse units of a column that a layer does not have; the core checks all else.

    Raises:
        ValueError: The message names a similar column, or what `harmonize` adds.
    """
    named = units.items() if isinstance(units, Mapping) else ()
    for name, unit in named:
        if isinstance(name, str) and isinstance(unit, str) and name not in layer.columns:
            raise ValueError(missing_column(layer, name))


def warn_of_hidden_cells(layer: ShownTable) -> None:
    """Warn if cells of a grid cover others on a map: those of another crop or year on the same ground."""
    if not {"x", "y", "covered", "share"} <= {*layer.columns}:
        return
    places = list(zip(layer.values("x"), layer.values("y"), strict=True))
    hidden = len(places) - len(set(places))
    if hidden > MOST_HIDDEN * len(places):
        errors.warn(
            f"{hidden:,} of {len(places):,} cells have the ground of another one, of another crop or year, and cover "
            "each other on the map; clean and map each job, or select one year of `to_geopandas()`"
        )


def _similar(column: str, names: Collection[str], cutoff: float = 0.6) -> str | None:
    """Return the column that is meant: the same, of several with this beginning the first, or a similar one."""
    # A yield is looked for by its first word.
    found = [column, *(name for name in FIRST if name.startswith(f"{column}_"))]
    similar = did_you_mean(column, names, cutoff).partition("`")[2].partition("`")[0]
    return next((name for name in found if name in names), similar or None)
