"""Mappings as JSON texts: the payloads of the dispatch service, which are sent as they are."""

from __future__ import annotations

import datetime as dt
import json
import math
from collections.abc import Mapping

DEEPEST = 100
"""A payload that is nested deeper is a mistake, such as one that holds itself."""


def payload(name: str, value: object, *, may_be_list: bool = False) -> str:
    """Give the JSON of a mapping or a list: the order of its keys and every digit of its numbers stay.

    Aware datetimes and dates become ISO 8601 texts. What JSON cannot say is an error that names its path.
    """
    if may_be_list and isinstance(value, list | tuple):
        value = list(value)
    elif not isinstance(value, Mapping):
        takes = "a mapping such as a dict, or a list" if may_be_list else "a mapping such as a dict"
        raise TypeError(f"`{name}` takes {takes}, not {type(value).__name__}")
    return json.dumps(_plain(name, value, 0), ensure_ascii=False, separators=(",", ":"))


def _plain(path: str, value: object, depth: int) -> object:
    if depth > DEEPEST:
        raise ValueError(f"`{path[:80]}...` is nested deeper than {DEEPEST}")
    if isinstance(value, Mapping):
        return {_key(path, key): _plain(f"{path}.{key}", inner, depth + 1) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(f"{path}[{index}]", inner, depth + 1) for index, inner in enumerate(value)]
    return _scalar(path, value)


def _scalar(path: str, value: object) -> object:
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return _finite(path, value)
    if isinstance(value, str):
        return sendable(path, value)
    if isinstance(value, dt.datetime):
        return _moment(path, value)
    if isinstance(value, dt.date):
        return value.isoformat()
    raise TypeError(f"`{path}` is {_article(type(value).__name__)}, which JSON cannot say")


def _finite(path: str, value: float) -> float:
    if not math.isfinite(value):
        raise ValueError(f"`{path}` is {value}, which JSON cannot say: leave it out, or write None")
    return value


def _key(path: str, key: object) -> str:
    if not isinstance(key, str):
        raise TypeError(f"`{path}` has the key {key!r}: names in JSON are str, not {type(key).__name__}")
    return sendable(path, key)


def sendable(path: str, text: str) -> str:
    """Give a text that can be sent; half of a surrogate pair cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"`{path}` holds half of a surrogate pair, which is no character") from None
    return text


def _moment(path: str, value: dt.datetime) -> str:
    if value.utcoffset() is None:
        raise ValueError(f"`{path}` is a datetime without a time zone: add one, such as `tzinfo=datetime.UTC`")
    return value.isoformat().replace("+00:00", "Z")


def _article(name: str) -> str:
    return f"an {name}" if name[:1].lower() in tuple("aeiou") else f"a {name}"
