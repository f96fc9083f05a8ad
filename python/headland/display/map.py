"""A drawn map of a layer, which notebooks show as a picture."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from headland import arguments, files
from headland.display.escaping import printable, shortened

if TYPE_CHECKING:
    import os
    from pathlib import Path

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title></head>
<body style="margin:1rem">
{svg}</body></html>
"""


MAX_CAPTION = 100
"""Characters of quantity and title in one line."""


class Map:
    """A map of one column of a layer, as `Layer.plot` draws it.

    Notebooks show it, and hovering over a record shows its value with the unit.

    >>> map = headland.read("job.zip").plot("YIELD")
    >>> map.save("yield.svg")
    """

    __slots__ = ("_caption", "_column", "_svg")

    def __init__(self, svg: str, column: str | None, caption: str) -> None:
        self._svg, self._column, self._caption = svg, column, caption

    @property
    def column(self) -> str | None:
        """The mapped column; ``None`` if the map shows locations alone."""
        return self._column

    @property
    def svg(self) -> str:
        """The map as SVG text, without links to fonts or pictures."""
        return self._svg

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the map to a file and return its path.

        Args:
            path: A name that ends in ``.svg``, or in ``.html`` for a page that shows values on hovering. An existing
                file is replaced.

        Raises:
            ValueError: The name has another ending.
            HeadlandError: The file cannot be written (it is an ``OSError`` too).

        >>> layer.plot().save("map.svg")
        """
        target = arguments.path("path", path, ".svg", ".html")
        text = (
            self._svg
            if target.suffix.lower() == ".svg"
            else PAGE.format(title=html.escape(printable(self._caption)), svg=self._svg)
        )
        files.write_text(target, text)
        return target

    def _repr_svg_(self) -> str:
        """Return the map for notebooks."""
        return self._svg

    def _repr_html_(self) -> str:
        """Return the map for notebooks, with values on hovering."""
        return f"<div>{self._svg}</div>"

    def __repr__(self) -> str:
        """Return what the map shows."""
        return f"<headland.Map of {shortened(self._caption, MAX_CAPTION)}: `save` writes it, `svg` is its text>"
