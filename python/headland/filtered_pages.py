"""Lists filtered by the client while they are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, SupportsIndex, TypeVar, overload

from headland import _core, arguments
from headland.page_buffer import PageBuffer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from headland.pages import AsyncPages, Pages

Record = TypeVar("Record")


class Condition:
    """The condition that records of a filtered list meet."""

    __slots__ = ("_listed", "_predicate", "_sub_type")

    def __init__(self, predicate: Callable[[Any], object] | None, sub_type: str | None) -> None:
        """Check the arguments."""
        if predicate is None and sub_type is None:
            raise TypeError("a filter needs `predicate` or `sub_type`")
        if predicate is not None and not callable(predicate):
            raise TypeError(
                f"`predicate`: expected a function of a record, got {type(predicate).__name__}; a kind is `sub_type=`"
            )
        self._predicate = predicate
        self._sub_type = None if sub_type is None else arguments.text("sub_type", sub_type, '"Yield"')
        self._listed: set[str] = set()
        """The kinds of the records so far."""

    def __call__(self, record: Any) -> bool:
        """Return whether a record meets the condition; a record without a kind has no `sub_type`."""
        if self._sub_type is not None:
            listed = str(record.get("sub_type") or "")
            self._listed.add(listed)
            if not _core.is_asked_type(self._sub_type, listed):
                return False
        return self._predicate is None or bool(self._predicate(record))

    def check(self, what: str = "record") -> None:
        """Raise an error after the last record if the kind is an unknown word that no record has."""
        word, listed = self._sub_type, sorted(filter(None, self._listed))
        if word is None or not listed or _core.is_job_type(word):
            return
        if not any(_core.is_asked_type(word, each) for each in listed):
            raise ValueError(f"`sub_type`: no {what} has `{word}`; the list has: {', '.join(listed)}")

    def __repr__(self) -> str:
        """Return the condition for display."""
        parts = [] if self._sub_type is None else [f"sub_type={self._sub_type!r}"]
        return ", ".join(parts if self._predicate is None else ["predicate", *parts])


class FilteredPages(Generic[Record]):
    """The records of a ``Pages`` that meet a condition, read page by page as the list itself.

    >>> harvests = client.job_data.list().filter(sub_type="Yield")
    >>> newest = harvests[0]
    """

    __slots__ = ("_buffer", "_condition", "_name", "_pages", "_read_page", "_start_reading")

    def __init__(
        self,
        pages: Pages[Record],
        name: str,
        start_reading: Callable[[], Callable[[], list[Record] | None]],
        condition: Condition,
    ) -> None:
        self._pages = pages
        self._name = name
        self._start_reading = start_reading
        self._condition = condition
        self._buffer: PageBuffer[Record] = PageBuffer(f"the filtered {name}")
        self._read_page: Callable[[], list[Record] | None] | None = None

    def __iter__(self) -> Iterator[Record]:
        """Iterate over the records from the start of the list."""
        yield from filter(self._condition, self._pages)
        self._condition.check()

    @overload
    def __getitem__(self, index: SupportsIndex) -> Record: ...
    @overload
    def __getitem__(self, index: slice) -> list[Record]: ...

    def __getitem__(self, index: SupportsIndex | slice) -> Record | list[Record]:
        """Return a record or a list of records, as ``Pages`` does."""
        return self._buffer.get(index, self._read)

    def __repr__(self) -> str:
        """Return the list and the condition; makes no call."""
        return f"<{type(self).__name__} {self._name}, {self._condition!r}>"

    def first(self) -> Record | None:
        """Return the first record, or ``None`` if no record meets the condition."""
        return next(iter(self), None)

    def _read(self) -> list[Record] | None:
        if self._read_page is None:
            self._read_page = self._start_reading()
        page = self._read_page()
        if page is None:
            self._condition.check()
            return None
        return list(filter(self._condition, page))


class AsyncFilteredPages(Generic[Record]):
    """The records of an ``AsyncPages`` that meet a condition, for ``async for``."""

    __slots__ = ("_condition", "_name", "_pages")

    def __init__(self, pages: AsyncPages[Record], name: str, condition: Condition) -> None:
        self._pages = pages
        self._name = name
        self._condition = condition

    async def __aiter__(self) -> AsyncIterator[Record]:
        """Iterate over the records from the start of the list."""
        async for record in self._pages:
            if self._condition(record):
                yield record
        self._condition.check()

    def __repr__(self) -> str:
        """Return the list and the condition; makes no call."""
        return f"<{type(self).__name__} {self._name}, {self._condition!r}>"

    async def first(self) -> Record | None:
        """Return the first record, or ``None`` if no record meets the condition."""
        async for record in self:
            return record
        return None
