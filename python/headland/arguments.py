"""Checks values from users before any call is made."""

from __future__ import annotations

import contextlib
import datetime as dt
import math
import numbers
import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeGuard

from headland import _core

sendable = _core.sendable

MAX_INT = sys.maxsize
"""The largest integer that the core accepts."""


def is_whole(value: object) -> TypeGuard[numbers.Integral]:
    """Return whether it is an integer of Python or numpy."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def texts(call: str, given: Mapping[str, object]) -> dict[str, str]:
    """Convert the arguments of a call to texts; integers may be numpy's, as in a column of ids."""
    try:
        return _core.texts(call, {name: int(value) if is_whole(value) else value for name, value in given.items()})
    except (TypeError, ValueError) as error:
        raise type(error)(_explained(error, given)) from None


def _explained(error: Exception, given: Mapping[str, object]) -> str:
    """Return a message about arguments that also explains a record instead of its id, and a missing time of pandas."""
    message = str(error)
    for name, value in given.items():
        if message.startswith(f"`{name}`: expected a str or an int") and isinstance(value, Mapping) and "id" in value:
            return f'{message}; pass the id of the record, `record["id"]`'
        if isinstance(error, ValueError) and isinstance(value, dt.datetime) and value != value:  # noqa: PLR0124 -- only NaT differs from itself
            return f"`{name}`: expected a date or a time, got NaT, a missing time of pandas"
    return message


def text_for(name: str, call: str, parameter: str, value: object) -> str:
    """Convert a value to the text of a call's parameter; errors name the argument instead."""
    try:
        return texts(call, {parameter: value})[parameter]
    except (TypeError, ValueError) as error:
        raise type(error)(str(error).replace(f"`{parameter}`", f"`{name}`", 1)) from None


def whole_number(name: str, value: object, least: int, most: int | None = None) -> int:
    """Check a whole number and its range."""
    if not is_whole(value):
        message = f"`{name}`: expected an int, got {type(value).__name__}"
        raise TypeError(message)
    value = int(value)
    if value < least or (most is not None and value > most):
        reach = f">= {least}" if most is None else f"from {least} to {most}"
        message = f"`{name}`: expected a number {reach}, got {value}"
        raise ValueError(message)
    return value


def text(name: str, value: object, example: str = "") -> str:
    """Check a text; an `example` is shown in the error."""
    if not isinstance(value, str):
        raise TypeError(f"`{name}`: expected a str{example and f' such as {example}'}, got {type(value).__name__}")
    return sendable(name, value)


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
    if not isinstance(value, str | bytes | bool):
        with contextlib.suppress(OverflowError, TypeError, ValueError):
            return float(value)
    raise TypeError(f"`{name}`: expected a number, got {value!r}")


def finite_number(name: str, value: object) -> float:
    """Check a number that is finite."""
    checked = number(name, value)
    if not math.isfinite(checked):
        raise ValueError(f"`{name}`: expected a finite number, got {value}")
    return checked


def flag(name: str, value: object) -> bool:
    """Check a boolean; other truthy values are refused, because they often mean the opposite."""
    if not isinstance(value, bool):
        raise TypeError(f"`{name}`: expected True or False, got {value!r}")
    return value


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


def path(name: str, value: object) -> Path:
    """Check a path and expand ``~``; an empty one is refused, because it would mean the working folder."""
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
    return Path(os.path.expanduser(written))  # noqa: PTH111


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
