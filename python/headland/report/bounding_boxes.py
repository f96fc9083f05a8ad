"""Bounding boxes of layers in degrees, and how much two of them overlap."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headland.errors import HeadlandError

if TYPE_CHECKING:
    from headland.layer.layer import Layer

__all__ = ["Box", "box_of", "common"]

Box = tuple[float, float, float, float]
"""West, south, east and north in degrees."""


def common(one: Box, other: Box) -> float:
    """Return the area that two boxes share, as part of the larger one."""
    across = min(one[2], other[2]) - max(one[0], other[0])
    along = min(one[3], other[3]) - max(one[1], other[1])
    largest = max((box[2] - box[0]) * (box[3] - box[1]) for box in (one, other))
    return across * along / largest if across > 0 and along > 0 else 0.0


def box_of(layer: Layer) -> Box | None:
    """Return the box around a layer in degrees; None if it has no position on Earth."""
    try:
        box = layer.to_geopandas().geometry.to_crs("EPSG:4326").total_bounds.tolist()
    except (HeadlandError, ImportError, ValueError):
        return None
    west, south, east, north = box
    return (west, south, east, north) if west <= east and south <= north else None
