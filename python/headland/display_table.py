"""Tables for display: aligned text for consoles, HTML for notebooks."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from headland.escaping import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


def aligned(rows: Sequence[Sequence[str]], is_right: Callable[[int, str], bool] = lambda *_: False) -> list[str]:
    """Return the rows as lines of one width per column; `is_right` tells by column and cell what is right-aligned."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]

    def padded(index: int, cell: str) -> str:
        return cell.rjust(widths[index]) if is_right(index, cell) else cell.ljust(widths[index])

    return ["  ".join(padded(index, cell) for index, cell in enumerate(row)).rstrip() for row in rows]


def table_html(
    head: Iterable[str], rows: Iterable[Iterable[object]], *, caption: str = "", can_wrap: bool = True
) -> str:
    """Return an HTML table with escaped texts: ``None`` is an empty cell, numbers are on the right with six digits."""
    heads = "".join(f"<th>{_shown(title)}</th>" for title in head)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    top = f"<caption>{_shown(caption)}</caption>" if caption else ""
    top += f"<thead><tr>{heads}</tr></thead>" if heads else ""
    return f"<table style='white-space:{'normal' if can_wrap else 'nowrap'}'>{top}<tbody>{body}</tbody></table>"


def _cell(cell: object) -> str:
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        shown = f"{cell:.6g}" if isinstance(cell, float) else f"{cell}"
        return f"<td style='text-align:right'>{shown}</td>"
    return f"<td>{'' if cell is None else _shown(str(cell))}</td>"


def _shown(text: str) -> str:
    return html.escape(printable(text))
