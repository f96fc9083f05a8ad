"""Checks values from users before any call is made."""

from __future__ import annotations

import contextlib
import math
import numbers
import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeGuard

from headland import _core

flag = _core.flag
sendable = _core.sendable
text = _core.text
text_for = _core.text_for
texts = _core.texts
whole_number = _core.whole_number

MAX_INT = sys.maxsize
"""The largest integer that the core accepts."""


def is_whole(value: object) -> TypeGuard[numbers.Integral]:
    """Return whether it is an integer of Python or numpy."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def job_ids(ids: object) -> list[str]:
    """Convert the ids of several jobs to texts."""
    if is_single(ids) or isinstance(ids, Mapping):
        raise TypeError(f"`ids`: expected several ids, got {type(ids).__name__}; pass a list")
    return [text_for("ids", "job_data.get", "id", each, "an id") for each in as_list(ids)]


def job_types(job_type: object, **former: object) -> list[str] | None:
    """Convert one or several job types to a list of texts; `former` are earlier names of the argument."""
    given = {name: value for name, value in {"job_type": job_type, **former}.items() if value is not None}
    if len(given) > 1:
        raise TypeError(f"{' and '.join(f'`{name}`' for name in given)} are the same argument: pass `job_type`")
    for name, value in given.items():
        # This former name never took several.
        words = [value] if name == "sub_type" else as_list(value)
        return [text(name, each, "'Yield', or several") for each in words]
    return None


def job_date(name: str, value: object) -> str:
    """Convert a date to the text by which jobs are listed."""
    return text_for(name, "job_data.list", "date", value)


def is_single(value: object) -> bool:
    """Return whether it is a single value: a text, bytes, a number, an array without dimensions."""
    is_text = isinstance(value, str | bytes | bytearray | memoryview)
    return is_text or not isinstance(value, Iterable) or getattr(value, "shape", None) == ()


def as_list(value: Any) -> list[Any]:
    """Return one value or several as a list; of an array without dimensions, its item."""
    if not is_single(value):
        return [*value]
    # A numpy string has no dimensions either, but is a single value already.
    is_array = getattr(value, "shape", None) == () and not isinstance(value, str | bytes)
    return [value[()] if is_array else value]


def number(name: str, value: Any) -> float:
    """Check a number, also of numpy."""
    # Flags of numpy are no `bool`, and the number of one is 1.
    if not isinstance(value, str | bytes | bool) and str(getattr(value, "dtype", "")) != "bool":
        with contextlib.suppress(OverflowError, TypeError, ValueError):
            return float(value)
    raise TypeError(f"`{name}`: expected a number, got {value!r}")


def finite_number(name: str, value: object) -> float:
    """Check a number that is finite."""
    checked = number(name, value)
    if not math.isfinite(checked):
        raise ValueError(f"`{name}`: expected a finite number, got {value}")
    return checked


def seconds(name: str, value: object) -> float:
    """Check a duration in seconds."""
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        raise TypeError(f"`{name}`: expected a number of seconds, got {type(value).__name__}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not 0 <= number < math.inf:
        raise ValueError(f"`{name}`: expected finite seconds >= 0, got {value}")
    return number


def path(name: str, value: object, *endings: str) -> Path:
    """Check a path and expand ``~``; an empty one is refused, because it would mean the working folder.

    `endings` are those of a file to write, in lower case; without them, the path may have any.
    """
    if not isinstance(value, str | os.PathLike):
        raise TypeError(f"`{name}`: expected a path, got {type(value).__name__}")
    written = os.fspath(value)
    if not isinstance(written, str):
        raise TypeError(f"`{name}`: expected a path of str, got one of {type(written).__name__}")
    if not written:
        raise ValueError(f"`{name}`: expected a path, got an empty string")
    if "\0" in written:
        raise ValueError(f"`{name}`: {written!r} contains a null character, which paths cannot contain")
    # Unlike that of `Path`, this leaves a name of no user, such as `~$job.zip`, unchanged.
    checked = Path(os.path.expanduser(written))  # noqa: PTH111
    if endings and checked.suffix.lower() not in endings:
        known = ", ".join(endings[:-1]) + (" or " if endings[1:] else "") + endings[-1]
        raise ValueError(f"`{name}`: expected a name that ends in {known}, got `{checked.name}`")
    return checked


def windows(pairs: object) -> list[tuple[int, float]]:
    """Check windows of a rate limit, which are pairs of calls and seconds."""
    takes = "`rate_limits`: expected pairs of calls and seconds, such as ((30, 60.0), (15, 30.0)), got"
    if not isinstance(pairs, list | tuple):
        raise TypeError(f"{takes} {pairs!r}")
    checked = []
    for pair in pairs:
        if not isinstance(pair, list | tuple):
            raise TypeError(f"{takes} {pairs!r}")
        try:
            calls, period = pair
        except ValueError:
            raise ValueError(f"{takes} {pairs!r}") from None
        checked.append((whole_number("rate_limits", calls, 1, 2**32 - 1), seconds("rate_limits", period)))
    return checked
