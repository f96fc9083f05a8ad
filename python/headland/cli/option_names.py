"""Names of arguments in messages of the package, as options of the command line."""

from __future__ import annotations

import re

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
