"""Indices and slices of lists that are read page by page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from headland import arguments

if TYPE_CHECKING:
    from collections.abc import Callable

Record = TypeVar("Record")

MAX_KEPT = 100_000
"""Records that have an index, counted from the start of the list; they are kept for the next access."""


class PageBuffer(Generic[Record]):
    """The records from the start of a list, as far as they were needed."""

    __slots__ = ("_is_complete", "_name", "_records")

    def __init__(self, name: str) -> None:
        self._name = name
        self._records: list[Record] = []
        self._is_complete = False

    def start(self, count: int) -> list[Record]:
        """Return the first records that are kept."""
        return self._records[:count]

    def get(self, index: object, read: Callable[[], list[Record] | None]) -> Record | list[Record]:
        """Return one record, or a list of records for a slice.

        Args:
            index: An integer or a slice, neither of them negative.
            read: Returns the records of the next page, ``None`` after the last.

        Raises:
            IndexError: The index is negative or beyond the end.
            ValueError: A bound or the step of the slice is negative, or too many records would be kept.
            TypeError: It is neither an integer nor a slice.
        """
        if isinstance(index, slice):
            return self._slice(index, read)
        position = self._whole(index)
        if position < 0:
            raise IndexError(f"index `{position}` of {self._name} is negative: use `list(pages)[{position}]`")
        self._fill(position + 1, read)
        if position >= len(self._records):
            raise IndexError(f"index `{position}` of {self._name}: the list has {len(self._records)} records")
        return self._records[position]

    def _slice(self, index: slice, read: Callable[[], list[Record] | None]) -> list[Record]:
        bounds = [None if part is None else self._whole(part) for part in (index.start, index.stop, index.step)]
        start, stop, step = bounds
        if step == 0:
            raise ValueError(f"the step of a slice of {self._name} is 0: expected a number >= 1")
        if any(part is not None and part < 0 for part in bounds):
            shown = ":".join("" if part is None else str(part) for part in (bounds if step is not None else bounds[:2]))
            raise ValueError(f"slice `{shown}` of {self._name} is negative: use `list(pages)[{shown}]`")
        if stop is None or stop > (start or 0):
            self._fill(stop, read)
        return self._records[start:stop:step]

    def _whole(self, value: object) -> int:
        if not arguments.is_whole(value):
            raise TypeError(
                f"{self._name}: an index is an int and a slice has ints, got {type(value).__name__}; "
                "`list(pages)` has all records"
            )
        return int(value)

    def _fill(self, count: int | None, read: Callable[[], list[Record] | None]) -> None:
        """Read until `count` records are present, or to the end; a page that fails is read again by the next access."""
        while not self._is_complete and (count is None or len(self._records) < count):
            # Only the records that are asked for count: a short list has no index that large.
            if len(self._records) >= MAX_KEPT:
                raise ValueError(
                    f"only the first {MAX_KEPT:,} records of {self._name} have an index: use `list(pages)`"
                )
            page = read()
            if page is None:
                self._is_complete = True
            else:
                self._records += page
