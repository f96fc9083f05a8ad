"""Reads prescription maps for a report, and finds the fields that they are on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headland.agronomy.check_prescription import check_prescription
from headland.errors import HeadlandError

from .bounding_boxes import Box, box_of, common
from .draw_maps import LEFT_OUT, without_counts
from .formats import day, for_readers, shown

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from headland.client.client import Client
    from headland.layer.layer import Layer
    from headland.mirror.progress import StepReporter

__all__ = ["RateMap", "map_name", "read_maps", "section"]

WIDTH = 460
"""The width of a map in pixels."""

MOST_BYTES = 400_000
"""Maximum bytes of the maps of a section; the oldest are left out."""

COMMON = 0.5
"""The part of the larger box that a map and a job share on one field."""


@dataclass
class RateMap:
    """A prescription map, drawn."""

    name: str
    about: str
    box: Box | None
    svg: str
    sentences: list[str]
    is_placed: bool = False
    """Whether a field has it."""

    def is_on(self, boxes: Iterable[Box | None]) -> bool:
        """Return whether the map is on a field, from the boxes of its jobs."""
        box = self.box
        if box is not None and any(other is not None and common(box, other) >= COMMON for other in boxes):
            self.is_placed = True
            return True
        return False


def read_maps(
    client: Client | None, records: Sequence[dict[str, Any]], years: Collection[int] | None, steps: StepReporter
) -> tuple[list[RateMap], list[str]]:
    """Read and draw the listed maps with one call each; also return why some could not be read."""
    maps, problems = [], []
    for record in records if client is not None else ():
        steps(map_name(record))
        created = record.get("create_date")
        if years is not None and (created is None or created.year not in years):
            continue
        name = map_name(record)
        try:
            zones = client.prescription_maps.read(record["id"])  # type: ignore[union-attr]  # no records without one
            maps.append(drawn(name, record, zones))
        except (HeadlandError, ValueError) as error:
            problems.append(f"The prescription map {name}: {error}")
    return maps, problems


def map_name(record: dict[str, Any]) -> str:
    """Return the name of a listed map."""
    return str(record.get("name") or record["id"])


def drawn(name: str, record: dict[str, Any], zones: Layer) -> RateMap:
    """Return a map with its zones drawn and checked."""
    created, status = record.get("create_date"), record.get("status")
    about = [
        f"{len(zones):,} zones",
        f"created {day(created)}" if created else "",
        f"status {status}" if status else "",
    ]
    column = next((each for each in zones.columns if each.upper() == "RATE"), None)
    plot = zones.plot(column, title=name, width=WIDTH)
    sentences = [f"{each.severity} {each.code}: {each.message}" for each in check_prescription(zones)]
    return RateMap(name, ", ".join(filter(None, about)), box_of(zones), without_counts(plot.svg), sentences)


def section(maps: Sequence[RateMap], heading: str) -> str:
    """Return the maps as a section of a page; empty without any."""
    if not maps:
        return ""
    size, pictures = 0, []
    for each in reversed(maps):
        size += len(each.svg)
        pictures.append(each.svg if size <= MOST_BYTES else LEFT_OUT)
    figures = "".join(
        f"<figure><div class='map'>{svg}</div><figcaption><p class='said'>{shown(each.name)}: {shown(each.about)}"
        f"</p>{checked(each.sentences)}</figcaption></figure>"
        for each, svg in zip(maps, reversed(pictures), strict=True)
    )
    return f"<section class='card' id='prescriptions'><h2>{heading}</h2><div class='maps'>{figures}</div></section>"


def checked(sentences: list[str]) -> str:
    """Return what a display would refuse or misread."""
    items = "".join(f"<li>{for_readers(text)}</li>" for text in sentences)
    summary = f"What a display may refuse ({len(sentences)})"
    return f"<details><summary>{summary}</summary><div><ul>{items}</ul></div></details>" if items else ""
