"""Names options of the command line in messages of the package, in place of arguments of Python."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from headland.display.escaping import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ADVICE = (
    (r"pass (`columns=` and )?`kind=`: .*", "it is in no table; `--originals` writes its own columns"),
    (r"raise Limits\(\w+=\.\.\.\)", "unpack it"),
    (r" \(`Limits\(\w+=\.\.\.\)`\)", ""),
    (r'`units=\{"(.*?)": \.\.\.\}`', r"`--units \1=UNIT`"),
    (r'`units=\{"(.*?)": "(.*?)"\}`', r"`--units \1=\2`"),
    (r'`crop="(\w+)"`', r"`--crop \1`"),
    (r"`(units|crop|timezone)=?`", r"`--\1`"),
    (r"`(field|year)s`", r"`--\1`"),
    (r"`((columns|job|market_moisture)(=[^`]*)?)`", r"`\1` in Python"),
)
"""Arguments of the Python package as messages name them, and what the command line has instead."""


def in_options(message: str) -> str:
    """Return a message of the package with the options of the command line for its arguments."""
    for pattern, option in ADVICE:
        message = re.sub(pattern, option, message)
    return message


def replace_arguments(message: str, options: Mapping[str, str]) -> str:
    """Return a message with the options that set some arguments, in place of the arguments."""
    for argument, option in options.items():
        message = message.replace(f"`{argument}`", f"`{option}`")
    return message


@contextmanager
def named_by_options(options: Mapping[str, str]) -> Iterator[None]:
    """Name the option that sets an argument in errors of the block, in place of the argument."""
    try:
        yield
    except ValueError as error:
        error.args = (replace_arguments(str(error), options),)
        raise


def error_text(error: BaseException) -> str:
    """Return the message of an error, with options of the command line if the core has such a message."""
    with_options = getattr(error, "_with_options", None)
    return str(error) if with_options is None else printable(with_options)
