"""Selects the newest upload of each file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

Record = TypeVar("Record", bound=Mapping[str, Any])


def newest(records: Iterable[Record]) -> list[Record]:
    """Keep the newest record of each name: the one with the highest id, as a number.

    A grain cart's device uploads a growing file repeatedly, each time under a new, higher id. Records keep their order;
    all records without a name are kept.

    Raises:
        TypeError: An item is no record.
        ValueError: Records have the same name, and the id of one is not a number.

    >>> files = headland.newest(client.grain_carts.list())
    """
    kept = list(records)
    best: dict[str, int] = {}
    for position, record in enumerate(kept):
        if not isinstance(record, Mapping):
            raise TypeError(
                f"`records`: expected records, such as `client.grain_carts.list()`, got {type(record).__name__}"
            )
        name = record.get("name")
        if isinstance(name, str) and name:
            known = best.get(name)
            if known is None or _number(record) > _number(kept[known]):
                best[name] = position
    winners = set(best.values())
    return [
        record
        for position, record in enumerate(kept)
        if position in winners or not isinstance(record.get("name"), str) or not record["name"]
    ]


def _number(record: Mapping[str, Any]) -> int:
    number = str(record["id"])
    if not (number.isascii() and number.isdecimal()):
        raise ValueError(f"cannot find the newest `{record['name']}`: the id `{number}` is not a number")
    return int(number)
