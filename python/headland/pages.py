"""Lists that read their pages on demand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar, cast

from headland import extras

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from headland import _core

Record = TypeVar("Record")

_LOCATION_ATTRIBUTES = ("__geo_interface__", "to_geopandas")
"""Attributes that only lists of locations have."""


class _Reading:
    """One pass over a list."""

    __slots__ = ("core", "is_started")

    def __init__(self, core: _core.Pages) -> None:
        self.core = core
        self.is_started = False


class _Pages(Generic[Record]):
    """Opens a list and keeps its latest reading, for both kinds of list."""

    __slots__ = ("_open", "_reading", "_warn_pending")

    def __init__(self, open_pages: Callable[[], _core.Pages], warn_pending: Callable[[], None]) -> None:
        self._open = open_pages
        self._warn_pending = warn_pending
        # Opened now, so that wrong arguments are reported immediately, although nothing is read yet.
        self._reading = _Reading(open_pages())

    def _current_reading(self, *, unread: bool) -> _core.Pages:
        """Return the reading of ``len()`` and ``first()``, or a new one if iteration has used it."""
        if unread and self._reading.is_started:
            self._reading = _Reading(self._open())
        return self._reading.core

    def _start(self) -> _core.Pages:
        """Return an unused reading, which continues from the page read by ``len()`` or ``first()``."""
        core = self._current_reading(unread=True)
        self._reading.is_started = True
        return core

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled: a list is read through its client, which contains secrets."""
        raise TypeError("a list cannot be pickled, because its client contains secrets: pickle `list(pages)`")

    def __arrow_c_schema__(self) -> object:
        """Export the schema of the columns by the Arrow C data interface; makes no call."""
        return self._reading.core.__arrow_c_schema__()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            """Raise an error that explains why this list has no map."""
            why = ": only lists of locations have it" if name in _LOCATION_ATTRIBUTES else ""
            raise AttributeError(f"a list of these records has no `{name}`{why}", name=name, obj=self)


class Pages(_Pages[Record]):
    """A lazy list of records, read page by page during iteration.

    Iterating again reads the list again. ``len()`` is the total count of the service; it reads the first page, which
    iteration then uses.

    It is also a table. ``to_arrow()``, ``to_pandas()`` and every package that reads Arrow streams (``pyarrow``,
    ``polars``, ``duckdb``) return a column for each field of the specification. Ids and texts are strings, times are
    microseconds in UTC, and nested records are structs; ``unit`` and ``documentation`` are metadata of the field.
    Fields that are not in the specification are in the last column, ``unknown_fields``, as the text of a JSON object.
    """

    __slots__ = ()

    def __iter__(self) -> Iterator[Record]:
        """Iterate over the records."""
        core = self._start()
        while (page := self._read(core)) is not None:
            yield from page

    def __len__(self) -> int:
        """Return the total count; raises ``TypeError`` if the service does not count this list."""
        try:
            total = self._current_reading(unread=False).total()
        finally:
            self._warn_pending()
        if total is None:
            message = "the service returns no total count for this list: use `len(list(pages))`"
            raise TypeError(message)
        return total

    def __bool__(self) -> bool:
        """Return whether there is a record; requests no total count."""
        return self.first() is not None

    def first(self) -> Record | None:
        """Return the first record, or ``None`` if the list is empty."""
        try:
            return cast("Record | None", self._current_reading(unread=True).first())
        finally:
            self._warn_pending()

    def to_arrow(self) -> Any:
        """Read the whole list into a ``pyarrow.Table``; an empty list has all columns and no row.

        Each record occurs once, as in iteration.

        >>> table = client.field_hubs.locations(hub_id).to_arrow()
        """
        extras.require("geo", "pyarrow")
        import pyarrow as pa

        try:
            table = self._start().table()
        finally:
            self._warn_pending()
        return pa.table(table)

    def to_pandas(self, dtype_backend: str = "numpy_nullable") -> Any:
        """Read the whole list into a ``pandas.DataFrame``; ``frame.attrs["units"]`` maps columns to their known units.

        Args:
            dtype_backend: ``"numpy_nullable"`` keeps integers with nulls as integers, ``"pyarrow"`` keeps the Arrow
                types, ``"numpy"`` uses the classic dtypes of pandas.
        """
        extras.require("geo", "pandas", "pyarrow")
        from headland.frames import pandas_options, to_frame

        options = pandas_options(dtype_backend)
        return to_frame(self.to_arrow(), options)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Export the list by the Arrow C stream interface: a batch is a page, which is read on request.

        Pages are not kept; at most 4 MiB of a long list are fetched ahead. An error of a call reaches the consumer only
        as text, because the interface has no other form; ``to_arrow()`` raises the original error.
        """
        del requested_schema
        return self._start().stream(self._warn_pending)

    def _read(self, core: _core.Pages) -> list[Record] | None:
        try:
            return cast("list[Record] | None", core.next_page())
        finally:
            self._warn_pending()


class AsyncPages(_Pages[Record]):
    """A lazy list of records for ``async for``; ``await pages.total()`` is its total count.

    ``await pages.to_arrow()`` and ``await pages.to_pandas()`` return it as a table, see ``Pages``.
    """

    __slots__ = ()

    async def __aiter__(self) -> AsyncIterator[Record]:
        """Iterate over the records."""
        core = self._start()
        while (page := await self._read(core)) is not None:
            for record in page:
                yield record

    async def total(self) -> int:
        """Return the total count; raises ``TypeError`` if the service does not count this list."""
        try:
            total = await self._current_reading(unread=False).total_async()
        finally:
            self._warn_pending()
        if total is None:
            message = "the service returns no total count for this list"
            raise TypeError(message)
        return total

    async def first(self) -> Record | None:
        """Return the first record, or ``None`` if the list is empty."""
        try:
            return cast("Record | None", await self._current_reading(unread=True).first_async())
        finally:
            self._warn_pending()

    async def to_arrow(self) -> Any:
        """Read the whole list into a ``pyarrow.Table``; an empty list has all columns and no row."""
        extras.require("geo", "pyarrow")
        import pyarrow as pa

        try:
            table = await self._start().table_async()
        finally:
            self._warn_pending()
        return pa.table(table)

    async def to_pandas(self, dtype_backend: str = "numpy_nullable") -> Any:
        """Read the whole list into a ``pandas.DataFrame``; `dtype_backend` as in ``Pages.to_pandas``."""
        extras.require("geo", "pandas", "pyarrow")
        from headland.frames import pandas_options, to_frame

        options = pandas_options(dtype_backend)
        return to_frame(await self.to_arrow(), options)

    async def _read(self, core: _core.Pages) -> list[Record] | None:
        try:
            return cast("list[Record] | None", await core.next_page_async())
        finally:
            self._warn_pending()
