"""Prints results of verbs: JSON for programs, lines for people."""

from __future__ import annotations

import datetime as dt
import json
import os
import shutil
import sys
import textwrap
import threading
from pathlib import Path
from typing import Any, TextIO

from headland.display.escaping import printable
from headland.display.quantities import iso_text

BOLD, RED, RESET = "\x1b[1m", "\x1b[31m", "\x1b[0m"
"""Styles of texts in a terminal."""

UNLIMITED = 1_000_000
"""Columns of an output that is no terminal."""

MIN_TEXT = 24
"""Minimum width of a text that wraps."""

LINE = threading.Lock()
"""Locked while a line is printed."""


def has_colour(file: TextIO) -> bool:
    """Return whether a stream is a terminal that shows colours; see https://no-color.org."""
    # The console of Windows shows control sequences as text; its newer terminal, which does not, sets this variable.
    is_console = sys.platform == "win32" and not os.environ.get("WT_SESSION")
    return file.isatty() and not (is_console or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb")


def print_text(text: str, file: TextIO | None = None, *, mark: tuple[str, str] | None = None) -> None:
    """Print complete lines, also from concurrent threads; control characters are escaped.

    `mark` is a style and the part of the text that has it in a terminal.
    """
    out = sys.stdout if file is None else file
    if out is None:
        # The stream is closed.
        return
    shown = _encodable(printable(text, lines=True), out)
    if mark is not None and has_colour(out):
        style, marked = mark
        shown = shown.replace(marked, f"{style}{marked}{RESET}", 1)
    with LINE:
        out.write(f"{shown}\n")
        out.flush()


def json_text(value: object, indent: int | None = None) -> str:
    """Return a value as JSON; characters that the encoding of the output may lack are escaped as JSON has it."""
    is_unicode = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().startswith("utf")
    return json.dumps(value, default=_plain, ensure_ascii=not is_unicode, indent=indent)


def print_json(value: object, file: TextIO | None = None) -> None:
    """Print a value as one line of JSON."""
    print_text(json_text(value), file)


def _encodable(text: str, file: TextIO) -> str:
    """Escape characters that the encoding of a stream lacks; that of files and pipes on Windows is a code page."""
    encoding = getattr(file, "encoding", None) or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def width_of(file: TextIO | None) -> int:
    """Return the columns of a terminal, and a width without limit for files and programs."""
    return shutil.get_terminal_size().columns if file is not None and file.isatty() else UNLIMITED


def wrapped(text: str, width: int, indent: str = "  ") -> list[str]:
    """Return a text as lines that break at spaces; a longer word is left whole."""
    if len(text) <= width:
        return [text]
    start = text[: len(text) - len(text.lstrip())]
    options: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False, "drop_whitespace": True}
    room = max(width, len(indent) + MIN_TEXT)
    front, rest = (text[: len(indent)], text[len(indent) :]) if len(indent) > len(start) + 2 else (start, text.lstrip())
    lines = textwrap.wrap(rest, room, initial_indent=front, subsequent_indent=indent, **options)
    return lines or [text]


def print_wrapped(text: str, file: TextIO | None = None, *, indent: str = "  ", mark: str = "") -> None:
    """Print a text that wraps at spaces in a terminal; `mark` is its part in red."""
    out = sys.stdout if file is None else file
    lines = [line for part in printable(text, lines=True).split("\n") for line in wrapped(part, width_of(out), indent)]
    print_text("\n".join(lines), out, mark=(RED, mark) if mark else None)


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
