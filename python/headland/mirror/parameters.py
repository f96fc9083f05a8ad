"""The values of a query's parameters as DuckDB takes them: what it would refuse or change is told by its name."""

from __future__ import annotations

import datetime as dt
import math
import sys
import uuid
from collections.abc import Iterator, KeysView, Mapping, ValuesView
from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from headland.payloads import sendable

PLAIN = (
    str,
    int,
    float,
    bytes,
    bytearray,
    memoryview,
    dt.date,
    dt.time,
    dt.timedelta,
    Decimal,
    uuid.UUID,
    duckdb.Value,
)
"""What DuckDB takes as it is."""

SEVERAL = (list, tuple, set, frozenset, range, KeysView, ValuesView, np.ndarray)
"""What becomes a list of DuckDB."""

TAKES = "numbers, texts, bytes, dates, times, UUIDs, None, and lists, columns and dicts of these"
"""What parameters may be, for whoever gave something else."""

LEAST, MOST = -(2**127), 2**128 - 1
"""The whole numbers that DuckDB has."""

FINER = {"ns", "ps", "fs", "as"}
"""Units of numpy that are finer than the microseconds of DuckDB's parameters."""

ROUND = "and a parameter has microseconds, so that its nanoseconds would be lost: round it"
"""What is wrong with a time that has nanoseconds, and what to do."""

BEYOND = "which is beyond what Python's datetime and timedelta hold"
"""What is wrong with a time that is too far away."""

NUMBERS = (int, float, Decimal)
"""What is compared exactly, whatever the one and the other is."""

DEEPEST = 64
"""How many lists may be inside one another: one that contains itself is never at its end."""

MOST_OFFSET = dt.timedelta(hours=16)
"""Below this is every offset from UTC that DuckDB has."""

MOST_SHOWN = 60
"""How much of a value an error shows."""


def bound(connection: duckdb.DuckDBPyConnection, name: str, value: Any) -> Any:
    """Give a value as DuckDB takes it; of lists and dicts, all that is in them.

    Raises:
        TypeError: It is nothing that a parameter can be.
        ValueError: It would be another value there.
    """
    value = _plain(name, value, 0)
    if not _may_change(value):
        return value
    try:
        [(taken,)] = connection.execute("SELECT $value", {"value": value}).fetchall()
    except duckdb.Error as reason:
        raise ValueError(f"`{name}` is a value that DuckDB does not take: {str(reason).splitlines()[0]}") from None
    for given, made in _changed(value, taken):
        raise ValueError(
            f"`{name}` has {str(given)[:MOST_SHOWN]}, which would be {made}: a Decimal has at most 38 digits, and the "
            "numbers of a list become of one kind; give fewer digits or one kind, or texts and CAST them in the query"
        )
    return value


def _may_change(value: Any) -> bool:
    """Say whether DuckDB might refuse or change numbers: it does those of many digits or of several kinds."""
    if isinstance(value, list):
        kinds = {type(each) for each in value}
        return len(kinds) > 1 or any(issubclass(kind, int | Decimal | list | dict) for kind in kinds)
    return isinstance(value, Decimal | dict)


def _changed(given: Any, taken: Any) -> Iterator[tuple[Any, Any]]:
    """Give the numbers that are not as they were, and what they are instead; as a text, a number is what it was."""
    if isinstance(given, list) and isinstance(taken, list):
        for each, made in zip(given, taken, strict=True):
            yield from _changed(each, made)
    elif isinstance(given, dict) and isinstance(taken, dict):
        for key, each in given.items():
            yield from _changed(each, taken.get(str(key)))
    elif isinstance(given, NUMBERS) and isinstance(taken, NUMBERS) and given != taken and not math.isnan(given):
        yield given, taken


def _plain(name: str, value: Any, depth: int) -> Any:
    """Give a value of Python's own types."""
    if depth > DEEPEST:
        raise ValueError(f"`{name}` contains itself, or lists and dicts that are more than {DEEPEST} deep")
    value = _scalar(name, value)
    if value is None or isinstance(value, PLAIN):
        return value
    if isinstance(value, Mapping):
        return {key: _plain(name, each, depth + 1) for key, each in value.items()}
    cells = value if isinstance(value, SEVERAL) else _cells(value)
    if cells is None:
        raise TypeError(f"`{name}` takes {TAKES}, not {type(value).__name__}{_hint(name, value)}")
    return [_plain(name, each, depth + 1) for each in cells]


def _scalar(name: str, value: Any) -> Any:
    """Give a single value as one of Python, and all others as they are."""
    if isinstance(value, pa.Scalar):
        value = value.as_py()
    elif isinstance(value, np.ndarray) and not value.ndim:
        value = value[()]
    if _is_missing(value):
        return None
    if isinstance(value, np.generic):
        value = _of_numpy(name, value)
    if isinstance(value, dt.datetime | dt.timedelta):
        return _of_pandas(name, value)
    if isinstance(value, dt.time):
        return _time_of_day(name, value)
    if isinstance(value, int) and not LEAST <= value <= MOST:
        raise ValueError(f"`{name}` takes whole numbers of 128 bits, not one of {value.bit_length() + (value < 0)}")
    return sendable(name, value) if isinstance(value, str) else value


def _is_missing(value: object) -> bool:
    """Say whether it is what numpy or pandas has for no value; who has one of pandas has imported it."""
    pandas = sys.modules.get("pandas")
    return value is np.ma.masked or (pandas is not None and (value is pandas.NaT or value is pandas.NA))


def _of_numpy(name: str, value: np.generic) -> Any:
    """Give a scalar of numpy as one of Python."""
    if isinstance(value, np.datetime64 | np.timedelta64):
        return None if np.isnat(value) else _time_of_numpy(name, value)
    if not isinstance(value, np.longdouble):
        return value.item()
    # What numpy has beyond the digits of a double is rounded, as it would be by `float`.
    with np.errstate(over="ignore"):
        number = float(value)
    if math.isinf(number) and not np.isinf(value):
        raise ValueError(f"`{name}` takes floats of 64 bits, not {value!s}")
    return number


def _time_of_numpy(name: str, value: np.datetime64 | np.timedelta64) -> Any:
    unit, kind = np.datetime_data(value.dtype)[0], value.dtype.name.partition("[")[0]
    if isinstance(value, np.timedelta64) and unit in {"Y", "M", "generic"}:
        raise TypeError(
            f"`{name}` is a {kind} of years, months or no unit, which is no length of time: give it in days, or write "
            "an INTERVAL into the query"
        )
    made = value
    if unit in FINER:
        made = value.astype(f"{kind}[us]")
        if made.astype(value.dtype) != value:
            raise ValueError(f"`{name}` is {value}, {ROUND}, such as with `.astype('{kind}[us]')`")
    given = made.item()
    if isinstance(given, int):
        # It is what numpy gives for times that Python does not have.
        raise ValueError(f"`{name}` is {value}, {BEYOND}")  # noqa: TRY004 - the type is right
    return given


def _time_of_day(name: str, value: dt.time) -> dt.time:
    offset = value.utcoffset()
    if value.tzinfo is not None and (offset is None or abs(offset) >= MOST_OFFSET):
        raise ValueError(
            f"`{name}` is the time of day {value} in the zone {value.tzinfo}, and DuckDB has such times with an offset "
            "from UTC alone, of less than 16 hours: give a datetime, or a time without a zone"
        )
    return value


def _of_pandas(name: str, value: Any) -> Any:
    """Give a time as Python has it, of which pandas has kinds of its own."""
    if getattr(value, "nanosecond", 0) or getattr(value, "nanoseconds", 0):
        raise ValueError(f"`{name}` is {value}, {ROUND}, such as with `.round('us')`")
    made = getattr(value, "to_pydatetime", None) or getattr(value, "to_pytimedelta", None)
    try:
        return value if made is None else made()
    except (ValueError, OverflowError):
        raise ValueError(f"`{name}` is {value}, {BEYOND}") from None


def _cells(value: Any) -> Any:
    """Give the cells of a column of pandas, polars or pyarrow; None where it is none."""
    pandas, polars = sys.modules.get("pandas"), sys.modules.get("polars")
    if isinstance(value, pa.Array | pa.ChunkedArray):
        return value.to_pylist()
    if polars is not None and isinstance(value, polars.Series):
        # Arrow keeps nanoseconds, so that they are told. Of objects of Python it would have the addresses.
        return value.to_list() if value.dtype == polars.Object else value.to_arrow().to_pylist()
    if pandas is None or isinstance(value, pandas.MultiIndex):
        return None
    if isinstance(value, pandas.Series | pandas.Index | pandas.api.extensions.ExtensionArray):
        # What is missing in a column of texts is a number that is none.
        return [None if gone else cell for cell, gone in zip(value.tolist(), pandas.isna(value), strict=True)]
    return None


def _hint(name: str, value: object) -> str:
    """Say what would do instead."""
    if hasattr(value, "__arrow_c_stream__"):
        return f": a table is a view, `FROM {name}` without the `$`"
    if hasattr(value, "__geo_interface__"):
        return f": write `ST_GeomFromWKB(${name})` and give `{name}=geometry.wkb`"
    if hasattr(value, "get_level_values"):
        return ": give one of its levels, such as `.get_level_values(0)`"
    return ""
