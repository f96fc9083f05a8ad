"""Lists of the dispatch service and the legacy order service; each page is requested with a token."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from headland import _core

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from headland.client.bearer_tokens import TokenSource

Outcome = TypeVar("Outcome")

NO_TOKEN = _core.Secret(None)
"""No token."""


class LinkPages:
    """Pages with the methods of the core's `Pages`, requested with tokens."""

    __slots__ = ("_core", "_peeked", "_tokens")

    def __init__(self, core: _core.LinkPages, tokens: TokenSource) -> None:
        self._core = core
        self._tokens = tokens
        self._peeked: list[dict[str, Any]] | None = None

    def next_page(self) -> list[dict[str, Any]] | None:
        """Return the records of the next page, ``None`` after the last."""
        head, self._peeked = self._peeked, None
        return self._call(self._core.next_page) if head is None else head

    async def next_page_async(self) -> list[dict[str, Any]] | None:
        """Return the records of the next page, ``None`` after the last."""
        head, self._peeked = self._peeked, None
        return await self._call_async(self._core.next_page_async) if head is None else head

    def first(self) -> dict[str, Any] | None:
        """Return the first record; iteration continues with the same page."""
        self._peeked = self.next_page()
        return self._peeked[0] if self._peeked else None

    async def first_async(self) -> dict[str, Any] | None:
        """Return the first record; iteration continues with the same page."""
        self._peeked = await self.next_page_async()
        return self._peeked[0] if self._peeked else None

    def table(self) -> Any:
        """Return the remaining records as a ``pyarrow.Table``."""
        records: list[dict[str, Any]] = []
        while (page := self.next_page()) is not None:
            records += page
        return _to_table(records)

    async def table_async(self) -> Any:
        """Return the remaining records as a ``pyarrow.Table``."""
        records: list[dict[str, Any]] = []
        while (page := await self.next_page_async()) is not None:
            records += page
        return _to_table(records)

    def stream(self, after_page: Callable[[], None]) -> object:
        """Export the remaining records by the Arrow C stream interface, as one table."""
        try:
            return self.table().__arrow_c_stream__()
        finally:
            after_page()

    def __arrow_c_schema__(self) -> NoReturn:
        """Refuse: the columns depend on the records."""
        raise TypeError("the columns of this list are unknown before it is read, because its fields are not specified")

    def total(self) -> int | None:
        """Return the total count, ``None`` if the service states none."""
        return self._call(self._core.total)

    async def total_async(self) -> int | None:
        """Return the total count, ``None`` if the service states none."""
        return await self._call_async(self._core.total_async)

    def known_total(self) -> int | None:
        """Return the total count after a page was read; requests neither a page nor a token."""
        return self._core.total(NO_TOKEN)

    def _call(self, call: Callable[[_core.Secret], Outcome]) -> Outcome:
        # No token is requested if no request is made.
        return self._tokens.call_with_token(call) if self._core.needs_request() else call(NO_TOKEN)

    async def _call_async(self, call: Callable[[_core.Secret], Awaitable[Outcome]]) -> Outcome:
        return await (self._tokens.call_with_token_async(call) if self._core.needs_request() else call(NO_TOKEN))


def _to_table(records: list[dict[str, Any]]) -> Any:
    """Return one column per name; a column with values of several types holds JSON."""
    import pyarrow as pa

    columns = {}
    for name in dict.fromkeys(name for record in records for name in record):
        values = [record.get(name) for record in records]
        try:
            columns[name] = pa.array(values)
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            columns[name] = pa.array([None if value is None else json.dumps(value) for value in values])
    return pa.table(columns)
