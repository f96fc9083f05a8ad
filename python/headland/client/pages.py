"""Lists that read their pages on demand."""

from __future__ import annotations

from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any, Generic, NoReturn, SupportsIndex, TypeVar, cast, overload

from headland import extras
from headland.argument_hints import FILTER, explained
from headland.client.filtered_pages import AsyncFilteredPages, Condition, FilteredPages
from headland.client.link_pages import LinkPages
from headland.client.page_buffer import PageBuffer
from headland.display import page_display
from headland.suggestions import missing_attribute

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Iterator

    from headland import _core
    from headland.client.filtered_pages import ListCalls

    _Parts = tuple[Callable[[], _core.Pages], ListCalls, str, int | None]

Record = TypeVar("Record")

_LOCATION_ATTRIBUTES = ("__geo_interface__", "to_geopandas")
"""Attributes that only lists of locations have."""


class _Reading(Generic[Record]):
    """One pass over a list."""

    __slots__ = ("core", "first_page", "is_probed", "is_shown", "is_started")

    def __init__(self, core: _core.Pages) -> None:
        self.core = core
        self.is_started = False
        self.is_probed = False
        """Whether the core has read the first page and keeps it."""
        self.first_page: list[Record] | None = None
        """The first page, if it was displayed before it was returned."""
        self.is_shown = False


class _Pages(Generic[Record]):
    """Opens a list and keeps its latest reading and its first records, for both kinds of list."""

    __slots__ = ("_calls", "_head", "_name", "_open", "_page", "_reading")

    def __init__(
        self,
        open_pages: Callable[[], _core.Pages],
        calls: ListCalls,
        name: str,
        page: int | None,
    ) -> None:
        self._open = open_pages
        self._calls = calls
        self._name = name
        self._page = page
        self._head: page_display.Head | None = None
        # Opened now, so that wrong arguments are reported immediately, although nothing is read yet.
        self._reading: _Reading[Record] = _Reading(open_pages())

    def _unread(self) -> _Reading[Record]:
        """Return the reading of ``len()`` and ``first()``, or a new one if iteration has used it."""
        if self._reading.is_started:
            self._reading = _Reading(self._open())
        return self._reading

    def _counted(self) -> _Reading[Record]:
        """Return a reading with the total count; the core keeps none once a list of one page was iterated."""
        is_unknown = self._page is not None and self._head is not None and self._head.total is None
        return self._unread() if is_unknown else self._reading

    def _start(self) -> _Reading[Record]:
        """Return an unused reading, which continues from the page read by ``len()`` or ``first()``."""
        reading = self._unread()
        reading.is_started = True
        return reading

    def _start_table(self) -> _core.Pages:
        """Return an unused reading of the core; a list whose first page was displayed is read again."""
        if self._reading.first_page is not None:
            self._reading.is_started = True
        return self._start().core

    def _keep_head(self, reading: _Reading[Record], page: list[Record] | None) -> None:
        """Keep the first records of a reading for display."""
        if not reading.is_shown:
            reading.is_shown = True
            core = reading.core
            total = core.known_total() if isinstance(core, LinkPages) else core.total()
            self._head = page_display.Head((page or [])[: page_display.SHOWN], total)

    def _shown_head(self) -> page_display.Head | None:
        """Return the first records if a page was read; makes no call."""
        reading = self._reading
        if reading.is_probed and not reading.is_started and reading.first_page is None:
            try:
                reading.first_page = cast("list[Record]", reading.core.next_page() or [])
                self._keep_head(reading, reading.first_page)
            except Exception:  # noqa: BLE001 - a display raises nothing; the next reading reports the error
                reading.is_started = True
        return self._head

    def __repr__(self) -> str:
        """Return the name of the list, or its first records once a page was read; makes no call."""
        head = self._shown_head()
        return (
            page_display.unread(self, self._name) if head is None else page_display.text(self._name, self._page, head)
        )

    def _repr_html_(self) -> str:
        """Return the same as HTML, for notebooks; makes no call."""
        head = self._shown_head()
        if head is None:
            return f"<p>{escape(repr(self))}</p>"
        return page_display.html(self._name, self._page, head)

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled: a list is read through its client, which contains secrets."""
        raise TypeError("a list cannot be pickled, because its client contains secrets: pickle `list(pages)`")

    def __arrow_c_schema__(self) -> object:
        """Export the schema of the columns by the Arrow C data interface; makes no call."""
        return self._reading.core.__arrow_c_schema__()

    def __await__(self) -> NoReturn:
        """Refuse: a list reads nothing before it is iterated."""
        loop = "async for" if isinstance(self, AsyncPages) else "for"
        raise TypeError(f"{self._name} is a list, which is not awaited: read it by `{loop}`")

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            """Raise an error that explains why this list has no map, or suggests a similar name."""
            why = ": only lists of locations have it" if name in _LOCATION_ATTRIBUTES else ""
            raise missing_attribute(self, name, hint=why)


class Pages(_Pages[Record]):
    """A lazy list of records, read page by page during iteration.

    Iterating again reads the list again, so it has what is new. ``len()`` is the total count of the service; it reads
    the first page, which iteration then uses. ``pages[0]`` and ``pages[:5]`` read as many pages as needed, and
    ``next(pages)`` has a cursor of its own. Once a page was read, the list is displayed with its count and first
    records; a display makes no call.

    A list is also a table: ``to_arrow()``, ``to_pandas()`` and every package that reads Arrow streams (``pyarrow``,
    ``polars``, ``duckdb``) return a column for each field of the specification. Ids and texts are strings, times are
    microseconds in UTC, and nested records are structs; ``unit`` and ``documentation`` are metadata of the field.
    Fields that are not in the specification are in the last column, ``unknown_fields``, as the text of a JSON object.
    """

    __slots__ = ("_buffer", "_buffered", "_next_reading", "_next_records")

    def __init__(self, *parts: *_Parts) -> None:
        super().__init__(*parts)
        self._buffer: PageBuffer[Record] = PageBuffer(self._name)
        self._buffered: _Reading[Record] | None = None
        self._next_reading: _Reading[Record] | None = None
        self._next_records: Iterator[Record] = iter(())

    def __iter__(self) -> Iterator[Record]:
        """Iterate over the records."""
        reading = self._start()
        while (page := self._read(reading)) is not None:
            yield from page

    def __next__(self) -> Record:
        """Return the next record of a cursor that is independent of iteration; a failed page is requested again."""
        self._next_reading = self._next_reading or self._start()
        while True:
            for record in self._next_records:
                return record
            page = self._read(self._next_reading)
            if page is None:
                raise StopIteration
            self._next_records = iter(page)

    def __aiter__(self) -> NoReturn:
        """Refuse: the pages of a `Client` are not awaited."""
        raise TypeError(f"{self._name} of a `Client` is read by `for`; lists of `headland.AsyncClient` by `async for`")

    @overload
    def __getitem__(self, index: SupportsIndex) -> Record: ...
    @overload
    def __getitem__(self, index: slice) -> list[Record]: ...

    def __getitem__(self, index: SupportsIndex | slice) -> Record | list[Record]:
        """Return one record, or the list of records of a slice.

        Pages are read as far as needed. The first 100,000 records are kept for the next access, as they were read.

        Args:
            index: An integer or a slice that is not negative.

        Raises:
            IndexError: The index is negative or beyond the end.
            ValueError: A slice is negative, or the list is longer than the records that are kept.
            TypeError: It is neither an integer nor a slice.

        >>> newest = client.job_data.list()[0]
        """
        return self._buffer.get(index, self._read_indexed)

    @explained(FILTER)
    def filter(
        self,
        predicate: Callable[[Record], object] | None = None,
        *,
        job_type: str | Iterable[str] | None = None,
        sub_type: str | None = None,
    ) -> FilteredPages[Record]:
        """Return the records that meet a condition as a lazy list; the client filters, so all pages are read.

        Args:
            predicate: A function of a record; the record is kept if the result is true.
            job_type: One kind of jobs or several, as in ``read_all``, such as ``"Yield"``. The detail of a job is
                requested if its label leaves the kind open, as ``Planter/Sprayer`` does.
            sub_type: The former name of `job_type`.

        Raises:
            TypeError: Neither is given, or one is of another type.
            ValueError: After the last record: `job_type` is an unknown word that no record has.

        >>> harvests = list(client.job_data.list().filter(job_type="Yield"))
        """
        condition = Condition(self._name, predicate, job_type, sub_type)
        return FilteredPages(self, self._calls, self._name, self._start_reading, condition)

    def _read_indexed(self) -> list[Record] | None:
        self._buffered = self._buffered or self._start()
        return self._read(self._buffered)

    def _start_reading(self) -> Callable[[], list[Record] | None]:
        """Return a function that returns the next page of a new pass over the list, ``None`` after the last."""
        return partial(self._read, self._start())

    def __len__(self) -> int:
        """Return the total count; raises ``TypeError`` if the service does not count this list."""
        reading = self._counted()
        with self._calls:
            total = reading.core.total()
            reading.is_probed = True
        if total is None:
            message = "the service returns no total count for this list: use `len(list(pages))`"
            raise TypeError(message)
        return total

    def __bool__(self) -> bool:
        """Return whether there is a record; requests no total count."""
        return self.first() is not None

    def first(self) -> Record | None:
        """Return the first record, or ``None`` if the list is empty."""
        reading = self._unread()
        if reading.first_page is not None:
            return next(iter(reading.first_page), None)
        with self._calls:
            record = reading.core.first()
            reading.is_probed = True
            return cast("Record | None", record)

    def to_arrow(self) -> Any:
        """Read the whole list into a ``pyarrow.Table``; an empty list has all columns and no row.

        Each record occurs once, as in iteration.

        >>> table = client.field_hubs.locations(hub_id).to_arrow()
        """
        extras.require("geo", "pyarrow")
        import pyarrow as pa

        with self._calls:
            table = self._start_table().table()
        return pa.table(table)

    def to_pandas(self, dtype_backend: str = "numpy_nullable") -> Any:
        """Read the whole list into a ``pandas.DataFrame``; ``frame.attrs["units"]`` maps columns to their known units.

        Args:
            dtype_backend: ``"numpy_nullable"`` keeps integers with nulls as integers, ``"pyarrow"`` keeps the Arrow
                types, ``"numpy"`` uses the classic dtypes of pandas.
        """
        extras.require("geo", "pandas", "pyarrow")
        from headland.layer.frames import pandas_options, to_frame

        options = pandas_options(dtype_backend)
        return to_frame(self.to_arrow(), options)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Export the list by the Arrow C stream interface: a batch is a page, which is read on request.

        Pages are not kept; at most 4 MiB of a long list are fetched ahead. An error of a call reaches the consumer only
        as text, because the interface has no other form; ``to_arrow()`` raises the original error.
        """
        del requested_schema
        return self._start_table().stream(self._calls.warn_pending)

    def _read(self, reading: _Reading[Record]) -> list[Record] | None:
        """Return the records of the next page, ``None`` after the last."""
        if reading.first_page is not None:
            page, reading.first_page = reading.first_page, None
            return page
        with self._calls:
            read = reading.core.next_page()
        self._keep_head(reading, cast("list[Record] | None", read))
        return cast("list[Record] | None", read)


class AsyncPages(_Pages[Record]):
    """A lazy list of records for ``async for``; ``await pages.total()`` is its total count.

    ``await pages.to_arrow()`` and ``await pages.to_pandas()`` return it as a table, see ``Pages``.
    """

    __slots__ = ()

    async def __aiter__(self) -> AsyncIterator[Record]:
        """Iterate over the records."""
        reading = self._start()
        while (page := await self._read(reading)) is not None:
            for record in page:
                yield record

    def __len__(self) -> NoReturn:
        """Refuse: a length cannot be awaited."""
        raise TypeError(f"{self._name} has no `len()`, because its pages are awaited: use `await pages.total()`")

    def __bool__(self) -> bool:
        """Return true: whether there is a record is `await pages.first()`."""
        return True

    def __getitem__(self, index: object) -> NoReturn:
        """Refuse: an index cannot be awaited, and a plain `for` reads by indexes."""
        raise TypeError(f"{self._name} of an `AsyncClient` is read by `async for`, or `await pages.first()`")

    @explained(FILTER)
    def filter(
        self,
        predicate: Callable[[Record], object] | None = None,
        *,
        job_type: str | Iterable[str] | None = None,
        sub_type: str | None = None,
    ) -> AsyncFilteredPages[Record]:
        """Return the records that meet a condition, for ``async for``; see ``Pages.filter``."""
        condition = Condition(self._name, predicate, job_type, sub_type)
        return AsyncFilteredPages(self, self._calls, self._name, condition)

    async def total(self) -> int:
        """Return the total count; raises ``TypeError`` if the service does not count this list."""
        reading = self._counted()
        with self._calls:
            total = await reading.core.total_async()
            reading.is_probed = True
        if total is None:
            raise TypeError("the service returns no total count for this list")
        return total

    async def first(self) -> Record | None:
        """Return the first record, or ``None`` if the list is empty."""
        reading = self._unread()
        if reading.first_page is not None:
            return next(iter(reading.first_page), None)
        with self._calls:
            record = await reading.core.first_async()
            reading.is_probed = True
            return cast("Record | None", record)

    async def to_arrow(self) -> Any:
        """Read the whole list into a ``pyarrow.Table``; an empty list has all columns and no row."""
        extras.require("geo", "pyarrow")
        import pyarrow as pa

        with self._calls:
            table = await self._start_table().table_async()
        return pa.table(table)

    async def to_pandas(self, dtype_backend: str = "numpy_nullable") -> Any:
        """Read the whole list into a ``pandas.DataFrame``; `dtype_backend` as in ``Pages.to_pandas``."""
        extras.require("geo", "pandas", "pyarrow")
        from headland.layer.frames import pandas_options, to_frame

        options = pandas_options(dtype_backend)
        return to_frame(await self.to_arrow(), options)

    async def _read(self, reading: _Reading[Record]) -> list[Record] | None:
        """Return the records of the next page, ``None`` after the last."""
        if reading.first_page is not None:
            page, reading.first_page = reading.first_page, None
            return page
        with self._calls:
            read = await reading.core.next_page_async()
        self._keep_head(reading, cast("list[Record] | None", read))
        return cast("list[Record] | None", read)
