"""Writes the page of one cleaned job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .draw import draw_field
from .job import Job, add_layer
from .page import number_jobs, write_page

if TYPE_CHECKING:
    from pathlib import Path

    from headland.cleaned import Cleaned

__all__ = ["write_one"]


def write_one(cleaned: Cleaned, path: Path) -> None:
    """Write the page of a cleaned job."""
    layer = cleaned.layer
    name = layer._core.map_texts(None)[0]  # noqa: SLF001 - a layer of this package
    job = Job("", name, "", name, source=name)
    add_layer(job, layer, lambda _: cleaned)
    draw_field([job])
    write_page(path, name, number_jobs([job]))
