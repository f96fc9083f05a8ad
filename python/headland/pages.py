"""Lists that read their pages when they are wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from headland import _core

Record = TypeVar("Record")


class _Opened(Generic[Record]):
    """A list from its first page on, and what was looked at before anybody iterated."""

    __slots__ = ("begun", "core", "head")

    def __init__(self, core: _core.Pages) -> None:
        self.core = core
        self.head: list[Record] | None = None
        self.begun = False

    def begin(self) -> list[Record]:
        """Give the records that ``first()`` has read already."""
        self.begun = True
        head, self.head = self.head or [], None
        return head


class _Pages(Generic[Record]):
    """What both kinds of list share: how to open it, and which reading is the newest."""

    __slots__ = ("_open", "_opened", "_tell")

    def __init__(self, open_pages: Callable[[], _core.Pages], tell: Callable[[], None]) -> None:
        self._open = open_pages
        self._tell = tell
        # Opened now, though nothing is read before it is wanted, so that wrong arguments are told now.
        self._opened: _Opened[Record] = _Opened(open_pages())

    def _newest(self, *, untouched: bool) -> _Opened[Record]:
        """Give the reading that ``len()`` and ``first()`` look at, or a new one where iteration has used it."""
        if untouched and self._opened.begun:
            self._opened = _Opened(self._open())
        return self._opened


class Pages(_Pages[Record]):
    """A lazy list of records: nothing is read before you iterate, and then page by page.

    Iterating again reads the list again. ``len()`` is the total count of the service; it reads the first page, which
    iteration then uses.
    """

    __slots__ = ()

    def __iter__(self) -> Iterator[Record]:
        """Read record by record."""
        opened = self._newest(untouched=True)
        yield from opened.begin()
        while (page := self._read(opened)) is not None:
            yield from page

    def __len__(self) -> int:
        """Give the total count; ``TypeError`` where the service does not count this list."""
        try:
            total = self._newest(untouched=False).core.total()
        finally:
            self._tell()
        if total is None:
            message = "the service gives no total count for this list: use `len(list(pages))`"
            raise TypeError(message)
        return total

    def __bool__(self) -> bool:
        """Whether there is a record; asks for no total count."""
        return self.first() is not None

    def first(self) -> Record | None:
        """Give the first record, or ``None`` where the list is empty."""
        opened = self._newest(untouched=True)
        if opened.head is None:
            opened.head = self._read(opened) or []
        return opened.head[0] if opened.head else None

    def _read(self, opened: _Opened[Record]) -> list[Record] | None:
        try:
            return cast("list[Record] | None", opened.core.next_page())
        finally:
            self._tell()


class AsyncPages(_Pages[Record]):
    """A lazy list of records for ``async for``; ``await pages.total()`` is its total count."""

    __slots__ = ()

    async def __aiter__(self) -> AsyncIterator[Record]:
        """Read record by record."""
        opened = self._newest(untouched=True)
        for record in opened.begin():
            yield record
        while (page := await self._read(opened)) is not None:
            for record in page:
                yield record

    async def total(self) -> int:
        """Give the total count; ``TypeError`` where the service does not count this list."""
        try:
            total = await self._newest(untouched=False).core.total_async()
        finally:
            self._tell()
        if total is None:
            message = "the service gives no total count for this list"
            raise TypeError(message)
        return total

    async def first(self) -> Record | None:
        """Give the first record, or ``None`` where the list is empty."""
        opened = self._newest(untouched=True)
        if opened.head is None:
            opened.head = await self._read(opened) or []
        return opened.head[0] if opened.head else None

    async def _read(self, opened: _Opened[Record]) -> list[Record] | None:
        try:
            return cast("list[Record] | None", await opened.core.next_page_async())
        finally:
            self._tell()
