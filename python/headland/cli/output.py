"""Prints results of verbs: JSON for programs, lines for people."""

from __future__ import annotations

import datetime as dt
import json
import os
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from headland.escaping import printable
from headland.iso_time import iso_text

if TYPE_CHECKING:
    from collections.abc import Mapping

BOLD, RED, RESET = "\x1b[1m", "\x1b[31m", "\x1b[0m"
"""Styles of texts in a terminal."""

LINE = threading.Lock()
"""Locked while a line is printed."""


def has_colour(file: TextIO) -> bool:
    """Return whether a stream is a terminal that shows colours; see https://no-color.org."""
    return file.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def print_text(text: str, file: TextIO | None = None, *, mark: tuple[str, str] | None = None) -> None:
    """Print complete lines, also from concurrent threads; control characters are escaped.

    `mark` is a style and the part of the text that has it in a terminal.
    """
    out = sys.stdout if file is None else file
    if out is None:
        # The stream is closed.
        return
    shown = printable(text, lines=True)
    if mark is not None and has_colour(out):
        style, marked = mark
        shown = shown.replace(marked, f"{style}{marked}{RESET}", 1)
    with LINE:
        out.write(f"{shown}\n")
        out.flush()


def print_json(value: object) -> None:
    """Print a value as one line of JSON."""
    print_text(json.dumps(value, default=_plain, ensure_ascii=False))


def print_record(record: Mapping[str, object]) -> None:
    """Print a record, one field per line."""
    width = max((len(name) for name in record), default=0)
    for name, value in record.items():
        shown = json.dumps(value, default=_plain) if isinstance(value, dict | list) else cell(value)
        print_text(f"{printable(name):<{width}}  {shown}")


def cell(value: object) -> str:
    """Return a value as the text of a table."""
    if value is None:
        return ""
    return _plain(value) if isinstance(value, dt.datetime) else printable(str(value))


def _plain(value: object) -> str:
    if isinstance(value, dt.datetime):
        return iso_text(value)
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")
