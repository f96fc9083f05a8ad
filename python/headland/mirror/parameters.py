"""The values of a query's parameters as DuckDB takes them: what it would refuse or change is told by its name."""

from __future__ import annotations

import datetime as dt
import math
import sys
import uuid
from collections.abc import KeysView, Mapping, ValuesView
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
from duckdb import Value

from headland.payloads import sendable

PLAIN = (str, int, float, bytes, bytearray, memoryview, dt.date, dt.time, dt.timedelta, Decimal, uuid.UUID, Value)
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


def bound(name: str, value: Any) -> Any:
    """Give a value as DuckDB takes it; of lists and dicts, all that is in them.

    Raises:
        TypeError: It is nothing that a parameter can be.
        ValueError: It would be another value there.
    """
    value = _scalar(name, value)
    if value is None or isinstance(value, PLAIN):
        return value
    if isinstance(value, Mapping):
        return {key: bound(name, each) for key, each in value.items()}
    cells = value if isinstance(value, SEVERAL) else _cells(value)
    if cells is None:
        raise TypeError(f"`{name}` takes {TAKES}, not {type(value).__name__}{_hint(name, value)}")
    return [bound(name, each) for each in cells]


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
    if isinstance(value, int) and not LEAST <= value <= MOST:
        raise ValueError(f"`{name}` takes whole numbers of 128 bits, not {value}")
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
        # Arrow keeps nanoseconds, so that they are told.
        return value.to_arrow().to_pylist()
    if pandas is not None and isinstance(value, pandas.Series | pandas.Index | pandas.api.extensions.ExtensionArray):
        # What is missing in a column of texts is a number that is none.
        return [None if gone else cell for cell, gone in zip(value.tolist(), pandas.isna(value), strict=True)]
    return None


def _hint(name: str, value: object) -> str:
    """Say what would do instead."""
    if hasattr(value, "__arrow_c_stream__"):
        return f": a table is a view, `FROM {name}` without the `$`"
    if hasattr(value, "__geo_interface__"):
        return f": write `ST_GeomFromWKB(${name})` and give `{name}=geometry.wkb`"
    return ""
