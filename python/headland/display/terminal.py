"""Detects terminals and notebooks, and the width of a terminal."""

from __future__ import annotations

import os
import sys
from typing import TextIO

DEFAULT_WIDTH = 80
"""Default width of a terminal of unknown width, in columns."""


def is_notebook() -> bool:
    """Return whether the process is a Jupyter kernel, without an import."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


def has_display() -> bool:
    """Return whether standard error is a terminal or the output of a notebook."""
    try:
        return sys.stderr is not None and (is_notebook() or bool(sys.stderr.isatty()))
    except Exception:  # noqa: BLE001 - programs replace standard error by objects of their own
        return False


def terminal_width(out: TextIO) -> int:
    """Return the width of the terminal, or a default if it is unknown."""
    try:
        return os.get_terminal_size(out.fileno()).columns or DEFAULT_WIDTH
    except (AttributeError, OSError, ValueError):
        return DEFAULT_WIDTH
