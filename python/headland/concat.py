"""One table from several layers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from headland import _core
from headland.layer import Layer

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable


class Part(NamedTuple):
    """A layer of a concatenation and what its rows get in addition."""

    layer: Layer
    job_id: str | None = None
    job_name: str | None = None
    field: str | None = None
    start_date: dt.datetime | None = None


def concat(layers: Iterable[Layer], *, units: Literal["metric"] | None = "metric", originals: bool = False) -> Layer:
    """Return one layer with the canonical columns and all rows of several layers, in their order.

    Layers that are not harmonised are harmonised (``headland.harmonize``). A column that a layer lacks is null there.
    Geometries are transformed to WGS 84 unless all layers have one coordinate system.

    Args:
        layers: The layers, of one kind of job.
        units: ``"metric"`` converts to the canonical units; ``None`` keeps the units, and a column with two units,
            quantities or moisture bases is an error that names both sources.
        originals: Whether the original columns are kept, those of one name as one column.

    Returns:
        A layer with the columns `source` and `job_id` (null for layers that are no job's), then the canonical columns.

    Raises:
        ValueError: No layer, layers of several kinds, columns without a known meaning, or a column that cannot have one
            unit, such as rates in kg/ha and L/ha.
        TypeError: An item that is no layer.

    >>> both = headland.concat([headland.read("north.zip"), headland.read("south.zip")])
    """
    if isinstance(layers, Layer):
        raise TypeError("`layers`: expected several layers, got one; pass a list")
    parts = []
    for layer in layers:
        if not isinstance(layer, Layer):
            raise TypeError(f"`layers`: expected headland.Layer, got {type(layer).__name__}")
        parts.append(Part(layer))
    return concat_parts(parts, units, originals=originals)


def concat_parts(parts: list[Part], units: Literal["metric"] | None, *, originals: bool) -> Layer:
    """Concatenate layers whose rows get more columns."""
    if units not in ("metric", None):
        raise ValueError(f"`units`: expected 'metric' or None, got {units!r}")
    given = [(part.layer._core, *part[1:]) for part in parts]  # noqa: SLF001 - the layers of this package
    return Layer(_core.concat(given, units is not None, bool(originals)))
