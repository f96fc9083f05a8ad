"""Progress bars on standard error: tqdm in terminals and notebooks if installed, else lines of text."""

from __future__ import annotations

import importlib.util
import sys
import threading
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TextIO

from headland.display.terminal import has_display, is_notebook, terminal_width

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CLEAR = "\r\x1b[K"
"""Control sequence that clears the current line."""

FORMAT = "{percentage:3.0f}%|{bar:16}| {desc}"


class Display(Protocol):
    """A display of several runs, whose threads may call it concurrently."""

    def show(self, name: str, fraction: tuple[int, int], text: str) -> None:
        """Show a run by its name: finished and total calls, and a text."""

    def paused(self) -> AbstractContextManager[None]:
        """Hide the display while the block prints."""

    def close(self) -> None:
        """Restore the terminal."""


def choose_display() -> Display | None:
    """Return the display for this environment; ``None`` without a terminal or notebook."""
    if not has_display():
        return None
    in_notebook = is_notebook()
    if importlib.util.find_spec("tqdm") is None:
        return Lines(sys.stderr)
    return Bars(_tqdm(in_notebook=in_notebook), sys.stderr)


def _tqdm(*, in_notebook: bool) -> Callable[..., Any]:
    """Return tqdm's class for notebooks if their widgets are installed, else for text."""
    if in_notebook and importlib.util.find_spec("ipywidgets") is not None:
        from tqdm.notebook import tqdm
    else:
        from tqdm import tqdm
    made: Callable[..., Any] = tqdm
    return made


def _with_name(name: str, text: str) -> str:
    return f"{name}: {text}" if name else text


class Bars:
    """A progress bar for each run."""

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
        """Hide the display while the block prints."""
        with self._lock:
            for bar in self._bars.values():
                bar.clear()
            yield
            for bar in self._bars.values():
                bar.refresh()

    def close(self) -> None:
        """Remove the bars."""
        with self._lock:
            for bar in reversed(self._bars.values()):
                bar.close()
            self._bars.clear()


class Lines:
    """One line of text for all runs, overwritten repeatedly."""

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
            # A longer line would wrap and could not be overwritten.
            self._out.write(CLEAR + shown[: terminal_width(self._out) - 1])
            self._out.flush()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Hide the line while the block prints; it returns with the next change."""
        with self._lock:
            self._clear()
            yield

    def close(self) -> None:
        """Remove the line."""
        with self._lock:
            self._clear()
            self._texts.clear()

    def _clear(self) -> None:
        if self._texts:
            self._out.write(CLEAR)
            self._out.flush()
