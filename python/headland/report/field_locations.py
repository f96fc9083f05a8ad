"""Assigns jobs without rows to fields by name, and separates fields of one name by their locations."""

from __future__ import annotations

import math
from itertools import takewhile
from typing import TYPE_CHECKING

from .bounding_boxes import common

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from .bounding_boxes import Box

__all__ = ["apart", "field_in", "grounds", "normalized_name", "where"]

APART = 2_000.0
"""Metres between the jobs of different fields of one name; parts of one field are closer."""

COMMON = 0.5
"""The part of the larger box that jobs of one field share."""

DEGREE = 111_195.0
"""Metres of a degree of latitude."""


def field_in(name: str, fields: Mapping[str, str]) -> str | None:
    """Return the field whose name begins a name; of several the longest, so that `Barn Quarter 2024` is not `Barn`.

    Args:
        name: The name of a job or a map.
        fields: The names of fields by their normalized names.
    """
    words = normalized_name(name).split()
    beginnings = (" ".join(words[:count]) for count in range(len(words), 0, -1))
    return next((fields[each] for each in beginnings if each in fields), None)


def normalized_name(name: str) -> str:
    """Return a name without case and without the spaces that file names replace."""
    return " ".join(name.replace("_", " ").casefold().split())


def apart(boxes: Mapping[str, Box | None]) -> list[tuple[list[str], Box | None]]:
    """Group the jobs of one name by place, from west to east; jobs without a place are of the first group."""
    groups: list[tuple[list[str], Box]] = []
    for job, box in boxes.items():
        if box is None:
            continue
        jobs, around = [job], box
        for each in [each for each in groups if metres(each[1], box) <= APART]:
            groups.remove(each)
            jobs, around = each[0] + jobs, union(each[1], around)
        groups.append((jobs, around))
    groups.sort(key=lambda each: each[1])
    unplaced = [job for job, box in boxes.items() if box is None]
    if not groups:
        return [(unplaced, None)]
    groups[0][0].extend(unplaced)
    return [*groups]


def grounds(names: Mapping[str, str], boxes: Mapping[str, Box]) -> dict[str, str]:
    """Return the name of the ground of each job: of several on one ground, the words with which their names begin."""
    groups: list[list[str]] = []
    for job in names:
        box = boxes.get(job)
        placed = [] if box is None else [(each, boxes[each[0]]) for each in groups if each[0] in boxes]
        own = next((each for each, other in placed if box is not None and common(box, other) >= COMMON), None)
        if own is None:
            own = []
            groups.append(own)
        own.append(job)
    return {job: beginning([names[each] for each in group]) for group in groups for job in group}


def beginning(names: list[str]) -> str:
    """Return the words with which all names begin; without any, the first name."""
    words = zip(*(name.split() for name in names), strict=False)
    same = [each[0] for each in takewhile(lambda each: len({*each}) == 1, words)]
    return names[0] if len(names) == 1 else " ".join(same) or names[0]


def union(one: Box, other: Box) -> Box:
    """Return the box around two boxes."""
    return min(one[0], other[0]), min(one[1], other[1]), max(one[2], other[2]), max(one[3], other[3])


def metres(one: Box, other: Box) -> float:
    """Return the distance between two boxes, 0 if they touch."""
    across = max(one[0] - other[2], other[0] - one[2], 0.0) * math.cos(math.radians(one[1]))
    along = max(one[1] - other[3], other[1] - one[3], 0.0)
    return math.hypot(across, along) * DEGREE


def where(own: Box, others: Collection[Box]) -> str:
    """Return where one of several fields of a name is."""
    latitude, longitude = (own[1] + own[3]) / 2.0, (own[0] + own[2]) / 2.0
    distance = min(metres(own, each) for each in others)
    return (
        f"Another field has the same name, {distance / 1000.0:,.0f} km away. This one is at {abs(latitude):.3f}° "
        f"{'N' if latitude >= 0.0 else 'S'}, {abs(longitude):.3f}° {'E' if longitude >= 0.0 else 'W'}."
    )
