"""Lists filtered by the client while they are read."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, Generic, NoReturn, SupportsIndex, TypeVar, overload

from headland import arguments
from headland.client.job_selection import TypeCondition
from headland.client.page_buffer import PageBuffer
from headland.display import page_display
from headland.suggestions import Suggesting

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator, Mapping
    from typing import Protocol

    class ListCalls(Protocol):
        """The calls of a list: a block with them is a call, after which pending warnings are issued."""

        def __enter__(self) -> None: ...
        def __exit__(self, *_: object) -> None: ...
        def warn_pending(self) -> None:
            """Issue the pending warnings."""

        def detail(self, call: str, given: Mapping[str, object]) -> Any:
            """Return the detail of a record, or an awaitable of it."""


Record = TypeVar("Record")


DETAIL = "job_data.get"

JOB_LISTS = ("job_data.list", "field_computers.job_data")
"""Lists of jobs; the records of others have no detail with a kind."""


class Condition:
    """The condition that records of a filtered list meet."""

    __slots__ = ("_is_job_list", "_predicate", "_types")

    def __init__(
        self, name: str, predicate: Callable[[Any], object] | None, job_type: object, sub_type: object
    ) -> None:
        """Check the arguments; `name` is that of the list."""
        words = arguments.job_types(job_type, sub_type=sub_type)
        if predicate is None and words is None:
            raise TypeError("a filter needs `predicate` or `job_type`")
        if predicate is not None and not callable(predicate):
            raise TypeError(
                f"`predicate`: expected a function of a record, got {type(predicate).__name__}; a kind is `job_type=`"
            )
        self._predicate = predicate
        self._types = None if words is None else TypeCondition(words)
        self._is_job_list = name in JOB_LISTS

    def match(self, record: Any) -> bool | None:
        """Return whether a record meets the condition, ``None`` if the detail of the job decides."""
        found = True if self._types is None else self._types.match(record)
        if found is False or (found is None and not self._is_job_list):
            return False
        return found if self._predicate is None or self._predicate(record) else False

    def decide(self, record: Any, detail: Any) -> bool:
        """Return whether a job with its detail meets the condition."""
        return self._types is None or self._types.decide(record, detail)

    def check(self) -> None:
        """Raise an error after the last record if a type is an unknown word that no record has."""
        if self._types is not None:
            self._types.check()

    def __repr__(self) -> str:
        """Return the condition for display."""
        parts = [] if self._types is None else [repr(self._types)]
        return ", ".join(parts if self._predicate is None else ["predicate", *parts])


_LIST = "`list(filtered)` reads the records, for `pandas.DataFrame(list(filtered))`"
_ASYNC_LIST = "`[record async for record in filtered]` reads the records"

TABLE = ("to_pandas", "to_arrow", "total", "to_polars")
"""Attributes of lists that filtered ones do not have."""


class FilteredPages(Suggesting, Generic[Record]):
    """The records of a ``Pages`` that meet a condition, read page by page as the list itself.

    >>> harvests = client.job_data.list().filter(job_type="Yield")
    >>> newest = harvests[0]
    """

    __slots__ = ("_buffer", "_calls", "_condition", "_head", "_name", "_pages", "_read_page", "_start_reading")

    _instead = dict.fromkeys(TABLE, _LIST)

    def __init__(
        self,
        pages: Iterable[Record],
        calls: ListCalls,
        name: str,
        start_reading: Callable[[], Callable[[], list[Record] | None]],
        condition: Condition,
    ) -> None:
        self._pages = pages
        self._calls = calls
        self._name = name
        self._start_reading = start_reading
        self._condition = condition
        self._buffer: PageBuffer[Record] = PageBuffer(f"the filtered {name}")
        self._read_page: Callable[[], list[Record] | None] | None = None
        self._head: list[Record] = []
        """The first records of the last iteration."""

    def __iter__(self) -> Iterator[Record]:
        """Iterate over the records from the start of the list."""
        head: list[Record] = []
        for record in filter(self._keeps, self._pages):
            if len(head) < page_display.SHOWN:
                head.append(record)
                self._head = head
            yield record
        self._condition.check()

    def __len__(self) -> NoReturn:
        """Refuse: the service counts only the whole list."""
        raise TypeError("a filtered list is counted by reading it: use `len(list(filtered))`")

    def __bool__(self) -> bool:
        """Return whether a record meets the condition."""
        return self.first() is not None

    @overload
    def __getitem__(self, index: SupportsIndex) -> Record: ...
    @overload
    def __getitem__(self, index: slice) -> list[Record]: ...

    def __getitem__(self, index: SupportsIndex | slice) -> Record | list[Record]:
        """Return a record or a list of records, as ``Pages`` does."""
        return self._buffer.get(index, self._read)

    def __repr__(self) -> str:
        """Return the list and the condition, or its first records once they were read; makes no call."""
        if not (head := self._known()):
            return page_display.unread(self, f"{self._name}, {self._condition!r}")
        return page_display.text(f"filtered {self._name}", None, page_display.Head(head, None))

    def _repr_html_(self) -> str:
        """Return the same as HTML, for notebooks; makes no call."""
        if not (head := self._known()):
            return f"<p>{escape(repr(self))}</p>"
        return page_display.html(f"filtered {self._name}", None, page_display.Head(head, None))

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
        return list(filter(self._keeps, page))

    def _known(self) -> list[Record]:
        """Return the first records, as far as an iteration or an index has read them."""
        return max(self._head, self._buffer.start(page_display.SHOWN), key=len)

    def _keeps(self, record: Any) -> bool:
        """Return whether a record meets the condition; requests the detail of a job if it decides."""
        found = self._condition.match(record)
        if found is None:
            found = self._condition.decide(record, self._calls.detail(DETAIL, {"id": record["id"]}))
        return found


class AsyncFilteredPages(Suggesting, Generic[Record]):
    """The records of an ``AsyncPages`` that meet a condition, for ``async for``."""

    __slots__ = ("_calls", "_condition", "_name", "_pages")

    _instead = dict.fromkeys(TABLE, _ASYNC_LIST)

    def __init__(self, pages: AsyncIterable[Record], calls: ListCalls, name: str, condition: Condition) -> None:
        self._pages = pages
        self._calls = calls
        self._name = name
        self._condition = condition

    async def __aiter__(self) -> AsyncIterator[Record]:
        """Iterate over the records from the start of the list."""
        async for record in self._pages:
            if await self._keeps(record):
                yield record
        self._condition.check()

    def __getitem__(self, index: object) -> NoReturn:
        """Refuse: an index cannot be awaited."""
        raise TypeError(f"a filtered list of an `AsyncClient` has neither index nor length: {_ASYNC_LIST}")

    def __len__(self) -> NoReturn:
        """Refuse: a length cannot be awaited."""
        raise TypeError(f"a filtered list of an `AsyncClient` has neither index nor length: {_ASYNC_LIST}")

    def __bool__(self) -> bool:
        """Return true: whether there is a record is `await filtered.first()`."""
        return True

    def __repr__(self) -> str:
        """Return the list and the condition; makes no call."""
        return f"<{type(self).__name__} {self._name}, {self._condition!r}: `async for` reads it>"

    async def first(self) -> Record | None:
        """Return the first record, or ``None`` if no record meets the condition."""
        async for record in self:
            return record
        return None

    async def _keeps(self, record: Any) -> bool:
        """Return whether a record meets the condition; requests the detail of a job if it decides."""
        found = self._condition.match(record)
        if found is None:
            found = self._condition.decide(record, await self._calls.detail(DETAIL, {"id": record["id"]}))
        return found
