"""Prints results of verbs: JSON for programs, columns for people."""

from __future__ import annotations

import datetime as dt
import json
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from headland.escaping import printable

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Mapping

Verbs = Any
"""The sub-commands of `argparse`, whose type has no public name."""


LINE = threading.Lock()
"""Locked while a line is printed."""


def add_verb(verbs: Verbs, name: str, run: Callable[[argparse.Namespace], int], help: str) -> argparse.ArgumentParser:
    """Add a verb; every verb has ``--json``."""
    verb: argparse.ArgumentParser = verbs.add_parser(name, help=help, description=help)
    verb.add_argument("--json", action="store_true", help="print JSON, one value per line, also for errors")
    verb.set_defaults(run=run)
    return verb


def print_text(text: str, file: TextIO | None = None) -> None:
    """Print complete lines, also from concurrent threads; control characters are escaped."""
    out = sys.stdout if file is None else file
    with LINE:
        out.write(f"{printable(text, lines=True)}\n")
        out.flush()


def print_json(value: object) -> None:
    """Print a value as one line of JSON."""
    print_text(json.dumps(value, default=_plain, ensure_ascii=False))


def print_record(record: Mapping[str, object]) -> None:
    """Print a record, one field per line."""
    width = max((len(name) for name in record), default=0)
    for name, value in record.items():
        shown = json.dumps(value, default=_plain) if isinstance(value, dict | list) else _cell(value)
        print_text(f"{printable(name):<{width}}  {shown}")


def print_table(records: Iterable[Mapping[str, object]], columns: Iterable[str]) -> None:
    """Print records as they are received, one per line, in columns separated by tabs."""
    names = list(columns)
    head: str | None = "\t".join(names)
    # The head is printed with the first record: a list that cannot be read prints nothing.
    for record in records:
        if head is not None:
            print_text(head)
            head = None
        print_text("\t".join(_cell(record.get(name)) for name in names))
    if head is not None:
        print_text(head)


def _cell(value: object) -> str:
    if value is None:
        return ""
    return _plain(value) if isinstance(value, dt.datetime) else printable(str(value))


def _plain(value: object) -> str:
    if isinstance(value, dt.datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")
