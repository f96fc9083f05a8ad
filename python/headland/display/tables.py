"""Tables for display: aligned text for consoles, HTML for notebooks."""

from __future__ import annotations

import html
import math
import shutil
import textwrap
from typing import TYPE_CHECKING, TypeVar

from headland.display.escaping import printable, shortened

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

Item = TypeVar("Item")

SHOWN = 20
"""Rows of a table that is shown in part."""

CONSOLE = (100, 24)
"""Size of a console that does not state its own."""

INDENT = 2
"""Characters before each line of a table below its title."""

MIN_LAST = 24
"""Minimum width of a last column, whose text is wrapped."""

MIN_NUMBER, TENTH, THOUSAND, MAX_WHOLE = 1e-5, 0.1, 1e3, 1e15
"""Largest numbers of a column that change its form: below the first and from the last on they have exponents."""

MAX_NAMES = 0.6
"""Part of the width that the names of rows may take in each block."""

LONG_WORD = 24
"""Characters of a word that may be broken in HTML, so that a table fits a narrow page."""

MAX_BLOCKS = 3
"""Blocks of columns, one below the other, of a table that is wider than the console."""

MAX_CELL = 40
"""Characters of a text in a table, except in its last column."""


def aligned(rows: Sequence[Sequence[str]], is_right: Callable[[int, str], bool] = lambda *_: False) -> list[str]:
    """Return the rows as lines of one width per column; `is_right` tells by column and cell what is right-aligned."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]

    def padded(index: int, cell: str) -> str:
        return cell.rjust(widths[index]) if is_right(index, cell) else cell.ljust(widths[index])

    return ["  ".join(padded(index, cell) for index, cell in enumerate(row)).rstrip() for row in rows]


def text_table(
    head: Iterable[str],
    rows: Iterable[Iterable[object]],
    *,
    right: Collection[int] = (),
    width: int | None = None,
    most: int = MAX_BLOCKS,
) -> list[str]:
    """Return a table as lines: numbers and the columns `right` are right-aligned, a last text wraps at spaces.

    Columns that do not fit the width, by default that of the console, follow below, in `most` blocks altogether. Each
    block begins with the texts that name its rows. A single row that does not fit has a line for each column.
    """
    titles, cells = list(head), _with_rounded_numbers([list(row) for row in rows])
    numbers = {*right, *number_columns(cells)}
    last = len(titles) - 1
    texts = [[printable(title) for title in titles]]
    texts += [[_text(cell, None if index == last else MAX_CELL) for index, cell in enumerate(row)] for row in cells]
    room = shutil.get_terminal_size(CONSOLE).columns - INDENT if width is None else width
    names = _names(texts, numbers, room)
    blocks = _blocks(texts, room, names, can_wrap=last not in numbers)
    if len(blocks) > 1 and len(cells) == 1 and max(map(len, texts[0])) + 2 + MIN_LAST <= room:
        return _wrapped(list(zip(*texts, strict=True)), (), room)
    lines: list[str] = []
    for number, block in enumerate(blocks):
        if number == most:
            left_out = len({*range(len(titles))}.difference(*blocks[:most]))
            return [*lines, "", f"and {left_out} more column{'s' if left_out > 1 else ''}"]
        shown = [[row[index] for index in block] for row in texts]
        places = {place for place, index in enumerate(block) if index in numbers}
        lines += [""] if lines else []
        lines += _wrapped(shown, places, room) if block[-1] == last not in numbers else _lines(shown, places)
    return lines


def _names(texts: Sequence[Sequence[str]], numbers: Collection[int], width: int) -> list[int]:
    """Return the first columns if they are texts, which name the rows; as many as leave space for numbers."""
    names: list[int] = []
    taken = 0
    for index, column in enumerate(zip(*texts, strict=True)):
        taken += max(map(len, column)) + 2
        if index in numbers or taken > MAX_NAMES * width or index == len(texts[0]) - 1:
            break
        names.append(index)
    return names


def _blocks(texts: Sequence[Sequence[str]], width: int, names: list[int], *, can_wrap: bool) -> list[list[int]]:
    """Return the columns of each block, so that a block fits the width; the others than the first repeat the names."""
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    if can_wrap and widths:
        widths[-1] = min(widths[-1], MIN_LAST)
    blocks: list[list[int]] = []
    for index, needed in enumerate(widths):
        if blocks and sum(widths[each] + 2 for each in blocks[-1]) + needed <= width:
            blocks[-1].append(index)
        else:
            blocks.append([*names, index] if blocks else [index])
    return blocks


def _lines(rows: Sequence[Sequence[str]], numbers: Collection[int]) -> list[str]:
    return aligned(rows, lambda index, _: index in numbers)


def _wrapped(rows: Sequence[Sequence[str]], numbers: Collection[int], width: int) -> list[str]:
    """Align the rows; the text of the last column continues on lines below."""
    has_front = len(rows[0]) > 1
    fronts = _lines([row[:-1] for row in rows], numbers) if has_front else [""] * len(rows)
    indent = max(map(len, fronts)) + 2 if has_front else 0
    room = max(width - indent, MIN_LAST)
    lines = []
    for front, row in zip(fronts, rows, strict=True):
        parts = textwrap.wrap(row[-1], room, break_long_words=False, break_on_hyphens=False) or [""]
        lines.append(f"{front.ljust(indent)}{parts[0]}".rstrip())
        lines += [f"{'':{indent}}{part}" for part in parts[1:]]
    return lines


def table_html(
    head: Iterable[str],
    rows: Iterable[Iterable[object]],
    *,
    caption: str = "",
    can_wrap: bool = True,
    right: Collection[int] = (),
) -> str:
    """Return an HTML table with escaped texts: ``None`` is an empty cell, numbers of a column have equal decimals.

    Texts are on the left, numbers and the columns `right` on the right, also in notebooks whose own style differs. A
    table that is wider than the page scrolls.
    """
    titles, cells = list(head), _with_rounded_numbers([list(row) for row in rows])
    numbers = {*right, *number_columns(cells)}
    sides = ["right" if index in numbers else "left" for index in range(max(len(titles), *map(len, cells), 0))]

    def line(tag: str, row: Iterable[str]) -> str:
        made = (
            f"<{tag} style='text-align:{side}{_breaking(cell)}'>{_escaped(cell)}</{tag}>"
            for side, cell in zip(sides, row, strict=False)
        )
        return f"<tr>{''.join(made)}</tr>"

    top = f"<caption>{_escaped(caption)}</caption>" if caption else ""
    top += f"<thead>{line('th', titles)}</thead>" if titles else ""
    body = "".join(line("td", (_text(cell, None) for cell in row)) for row in cells)
    space = "normal" if can_wrap else "nowrap"
    return f"<table style='display:block;overflow-x:auto;white-space:{space}'>{top}<tbody>{body}</tbody></table>"


class Listing(list[Item]):
    """A list that consoles and notebooks show as a table."""

    __slots__ = ()

    def _title(self) -> str:
        """Return what the list contains."""
        raise NotImplementedError

    def _columns(self) -> dict[str, Callable[[Item], object]]:
        """Return the titles of the columns, and what makes the cell of an item."""
        raise NotImplementedError

    def _cells(self) -> list[list[object]]:
        return [[cell(item) for cell in self._columns().values()] for item in self[:SHOWN]]

    def _heading(self) -> str:
        return f"{self._title()}, first {SHOWN}" if len(self) > SHOWN else self._title()

    def __repr__(self) -> str:
        """Return the items as a table of text."""
        if not self:
            return self._heading()
        return "\n".join([self._heading(), *(f"  {line}" for line in text_table(self._columns(), self._cells()))])

    def _repr_html_(self) -> str:
        """Return the items as an HTML table; all texts are escaped."""
        table = table_html(self._columns(), self._cells()) if self else ""
        return f"<div><p>{_escaped(self._heading())}</p>{table}</div>"


def number_columns(rows: Iterable[Sequence[object]]) -> set[int]:
    """Return the columns that have numbers and nothing else."""
    kinds: dict[int, set[bool]] = {}
    for row in rows:
        for index, cell in enumerate(row):
            if cell is not None and cell != "":
                is_number = isinstance(cell, int | float) and not isinstance(cell, bool)
                kinds.setdefault(index, set()).add(is_number)
    return {index for index, found in kinds.items() if found == {True}}


class Rounded(float):
    """A number with the decimals of its column."""

    decimals: int

    def __str__(self) -> str:
        """Return the number with its decimals."""
        return f"{self:.{self.decimals}f}"


def _with_rounded_numbers(rows: list[list[object]]) -> list[list[object]]:
    """Round the numbers of each column to the decimals that its largest one needs, so that they compare at a glance."""
    for index in range(max(map(len, rows), default=0)):
        cells = [row[index] for row in rows if index < len(row)]
        values = [cell for cell in cells if isinstance(cell, float) and math.isfinite(cell)]
        decimals = _decimals(values)
        if decimals is None:
            continue
        for row in rows:
            cell = row[index] if index < len(row) else None
            if isinstance(cell, float) and math.isfinite(cell):
                row[index] = Rounded(cell)
                row[index].decimals = decimals  # type: ignore[attr-defined]
    return rows


def _decimals(values: Sequence[float]) -> int | None:
    """Return the decimals of a column; ``None`` for numbers that need an exponent."""
    top = max(map(abs, values), default=0.0)
    if not MIN_NUMBER <= top < MAX_WHOLE:
        return None if top else 0
    whole = len(str(int(top))) if top >= 1.0 else 0
    most = (
        max(0, 5 - whole) if top >= THOUSAND else min(6 - whole, 4) if top >= TENTH else 3 - math.floor(math.log10(top))
    )
    return next(
        each for each in range(most + 1) if each == most or all(round(v, each) == round(v, most) for v in values)
    )


def _text(cell: object, most: int | None) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    text = f"{cell:.6g}" if isinstance(cell, float) and not isinstance(cell, Rounded) else str(cell)
    return printable(text) if most is None else shortened(text, most)


def _breaking(text: str) -> str:
    """Return the style of a cell that may break its words; empty for texts of usual words."""
    is_long = len(text) > LONG_WORD and any(len(word) > LONG_WORD for word in text.split())
    return ";overflow-wrap:anywhere;min-width:12em" if is_long else ""


def _escaped(text: str) -> str:
    return html.escape(printable(text))
