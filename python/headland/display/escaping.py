"""Escapes control characters in texts, so that no service can control the terminal."""

from __future__ import annotations

_BIDIRECTIONAL = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_LINES = (0x2028, 0x2029)
_INVISIBLE = (0x200B, 0x2060, 0xFEFF)
_CONTROL = (*range(0x20), *range(0x7F, 0xA0))
_ESCAPES = {code: f"\\u{code:04x}" for code in (*_CONTROL, *_BIDIRECTIONAL, *_LINES, *_INVISIBLE)}
_ESCAPES_IN_LINES = {code: escape for code, escape in _ESCAPES.items() if chr(code) not in "\n\t"}


def printable(text: str, *, lines: bool = False) -> str:
    r"""Escape control characters, bidirectional marks and invisible characters as ``\u001b``, which JSON also reads.

    Args:
        text: A text that a service or a file may have written.
        lines: Keep line ends and tabs, for texts laid out by headland.
    """
    return text.translate(_ESCAPES_IN_LINES if lines else _ESCAPES)


def shortened(text: str, most: int) -> str:
    """Return a text of at most `most` characters, then escaped, so that no escape is cut."""
    return printable(text if len(text) <= most else f"{text[: most - 1]}…")
