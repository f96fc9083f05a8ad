"""Bars on standard error: of tqdm where that is installed, in terminals and notebooks, else lines of text."""

from __future__ import annotations

import importlib.util
import os
import sys
import threading
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TextIO

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DEFAULT_WIDTH = 80
"""Columns of a terminal that does not say how many it has."""

CLEAR = "\r\x1b[K"
"""Goes to the beginning of a line and clears it."""

FORMAT = "{percentage:3.0f}%|{bar:16}| {desc}"


class Display(Protocol):
    """Where several runs show how far they are; their threads may call at the same time."""

    def show(self, name: str, fraction: tuple[int, int], text: str) -> None:
        """Show a run by its name: how much of the whole is done, and what is said of it."""

    def paused(self) -> AbstractContextManager[None]:
        """Make room for what is printed meanwhile."""

    def close(self) -> None:
        """Leave the terminal as it was."""


def choose_display() -> Display | None:
    """Choose what fits where we run; ``None`` where nobody looks."""
    in_notebook = _is_notebook()
    if sys.stderr is None or not (in_notebook or sys.stderr.isatty()):
        return None
    if importlib.util.find_spec("tqdm") is None:
        return Lines(sys.stderr)
    return Bars(_tqdm(in_notebook=in_notebook), sys.stderr)


def _is_notebook() -> bool:
    """Say whether a kernel of Jupyter runs us: nothing is imported for it."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


def _tqdm(*, in_notebook: bool) -> Callable[..., Any]:
    """Give the bars of notebooks where their widgets are installed, else those of text."""
    if in_notebook and importlib.util.find_spec("ipywidgets") is not None:
        from tqdm.notebook import tqdm
    else:
        from tqdm import tqdm
    made: Callable[..., Any] = tqdm
    return made


def _with_name(name: str, text: str) -> str:
    return f"{name}: {text}" if name else text


def _terminal_width(out: TextIO) -> int:
    """Give the width of the terminal, and that of most where it does not say."""
    try:
        return os.get_terminal_size(out.fileno()).columns or DEFAULT_WIDTH
    except OSError:
        return DEFAULT_WIDTH


class Bars:
    """A bar for each run."""

    def __init__(self, make: Callable[..., Any], out: TextIO) -> None:
        self._make, self._out = make, out
        self._bars: dict[str, Any] = {}
        self._lock = threading.Lock()

    def show(self, name: str, fraction: tuple[int, int], text: str) -> None:
        """Show a run by its name."""
        with self._lock:
            bar = self._bars.get(name)
            if bar is None:
                place = len(self._bars)
                bar = self._bars[name] = self._make(
                    total=1, file=self._out, leave=False, bar_format=FORMAT, position=place, dynamic_ncols=True
                )
            done, whole = fraction
            bar.n, bar.total = done, max(whole, 1)
            bar.set_description_str(_with_name(name, text), refresh=False)
            bar.refresh()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Make room for what is printed meanwhile."""
        with self._lock:
            for bar in self._bars.values():
                bar.clear()
            yield
            for bar in self._bars.values():
                bar.refresh()

    def close(self) -> None:
        """Take the bars away."""
        with self._lock:
            for bar in reversed(self._bars.values()):
                bar.close()
            self._bars.clear()


class Lines:
    """One line of text for all runs, written over and over."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._texts: dict[str, str] = {}
        self._lock = threading.Lock()

    def show(self, name: str, fraction: tuple[int, int], text: str) -> None:
        """Show a run by its name."""
        done, whole = fraction
        with self._lock:
            self._texts[name] = _with_name(name, f"{done * 100 // max(whole, 1)}% {text}")
            shown = " | ".join(self._texts.values())
            # A longer line would break, and could not be written over.
            self._out.write(CLEAR + shown[: _terminal_width(self._out) - 1])
            self._out.flush()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Make room for what is printed meanwhile; the line comes back when it changes."""
        with self._lock:
            self._clear()
            yield

    def close(self) -> None:
        """Take the line away."""
        with self._lock:
            self._clear()
            self._texts.clear()

    def _clear(self) -> None:
        if self._texts:
            self._out.write(CLEAR)
            self._out.flush()
