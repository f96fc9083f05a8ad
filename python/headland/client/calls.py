"""Connects the methods of the groups to the core: a call is the name of an endpoint row and its arguments."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, NotRequired, TypedDict, TypeVar, Unpack, cast

from headland import _core, arguments, errors
from headland.client import map_file
from headland.client.conversion import AsyncConversion, Conversion
from headland.client.delivery import AsyncDelivery, Delivery
from headland.client.link_pages import LinkPages
from headland.client.locations import AsyncLocationPages, LocationPages
from headland.client.pages import AsyncPages, Pages
from headland.files import Download, Target, Upload, read_upload
from headland.layer.layer import Layer
from headland.layer.table import Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import BinaryIO

    from headland.archives import Limits, ReadOptions
    from headland.client.bearer_tokens import TokenSource
    from headland.client.filtered_pages import ListCalls
    from headland.client.map_file import MapFile, PreparedMap
    from headland.client.pages import _Parts
    from headland.records import Created

__all__ = ["PAGE_SIZE", "AsyncCalls", "Calls", "OpenClient", "Upload"]

PAGE_SIZE = (1, 1000)
"""Minimum and maximum page size. 0, the whole list, is deprecated by the interface."""


class Paging(TypedDict):
    """Arguments of a list."""

    page_size: int | None
    page: int | None
    on_error: NotRequired[str]


List = TypeVar("List", bound=Pages[Any] | AsyncPages[Any])
Locations = TypeVar("Locations", bound=LocationPages | AsyncLocationPages)


class OpenClient(Generic[List, Locations]):
    """The client of the core until it is closed. A block with it is a call, after which pending warnings are issued."""

    _list_class: type[List]
    _locations_class: type[Locations]

    def __init__(
        self, core: _core.Client, tokens: Mapping[str, TokenSource], address: str, windows: Sequence[tuple[int, float]]
    ) -> None:
        self._open: _core.Client | None = core
        self._tokens = tokens
        self.address = address
        """The base address, for display; the core has checked that it contains no secret."""
        self._windows = windows

    @property
    def core(self) -> _core.Client:
        """The client of the core; ``RuntimeError`` once it is closed."""
        if self._open is None:
            message = "the client is closed: create another one, or make all calls inside its `with` block"
            raise RuntimeError(message)
        return self._open

    def close(self) -> None:
        """Close the connections that no other client uses."""
        core, self._open = self._open, None
        if core is not None:
            core.close()

    def __repr__(self) -> str:
        """Return the address and the rate limit for display, without keys."""
        limits = ", ".join(f"{calls} calls per {seconds:g} s" for calls, seconds in self._windows)
        return f"{self.address}, {'closed' if self._open is None else limits or 'no rate limit'}"

    def __enter__(self) -> None:
        """Begin a call."""

    def __exit__(self, *_: object) -> None:
        """End a call, failed or not."""
        self.warn_pending()

    def warn_pending(self) -> None:
        """Issue the pending warnings of the core."""
        # A client closed during the call must not hide the result of the call.
        for message in [] if self._open is None else self._open.take_warnings():
            errors.warn(message)

    def _open_pages(
        self, call: str, given: Mapping[str, object], page_size: int | None, page: int | None, on_error: str
    ) -> _core.Pages:
        """Open a list; nothing is read yet."""
        tokens = self._tokens.get(_service_name(call))
        if tokens is None:
            how = arguments.text("on_error", on_error)
            return self.core.pages(call, arguments.texts(call, given), page_size, page, how)
        pages = LinkPages(self.core.link_pages(call, arguments.texts(call, given), page_size, page), tokens)
        # It has the methods of the core's own pages, whose class is final.
        return cast("_core.Pages", pages)

    def pages(self, call: str, given: Mapping[str, object], **paging: Unpack[Paging]) -> List:
        """Return a list that reads its pages on demand."""
        return self._list_class(*self._list_parts(call, given, **paging))

    def locations(self, call: str, given: Mapping[str, object], **paging: Unpack[Paging]) -> Locations:
        """Return a list of locations that reads its pages on demand."""
        return self._locations_class(*self._list_parts(call, given, **paging))

    def _list_parts(
        self,
        call: str,
        given: Mapping[str, object],
        *,
        page_size: int | None,
        page: int | None,
        on_error: str = "raise",
    ) -> _Parts:
        if page_size is not None:
            arguments.whole_number("page_size", page_size, *PAGE_SIZE)
        if page is not None:
            arguments.whole_number("page", page, 0, arguments.MAX_INT)
        own = cast("ListCalls", self)  # Both subclasses have `detail`, the asynchronous one as a coroutine.
        return lambda: self._open_pages(call, given, page_size, page, on_error), own, call, page

    def check_send(
        self, rx: MapFile | str | int, computer: str | int, *, wait: bool, timeout: float | None
    ) -> tuple[str | None, str, bool, float | None]:
        """Return the id of a map (``None`` for a file), that of the field computer, and the wait in seconds."""
        given: dict[str, object] = {"field_computer_id": computer}
        if not map_file.is_map_file(rx):
            map_file.refuse_other_file(rx)
            given["rx_id"] = rx
        texts = arguments.texts("prescription_maps.send", given)
        self.core.check_call("prescription_maps.send", {"rx_id": "1", **texts})
        seconds = None if timeout is None else arguments.seconds("timeout", timeout)
        if seconds is not None and not wait:
            raise ValueError("`timeout` is the longest wait: pass `wait=True` too")
        return texts.get("rx_id"), texts["field_computer_id"], arguments.flag("wait", wait), seconds

    def prepare_payload(self, call: str, given: Mapping[str, object]) -> tuple[dict[str, str], TokenSource]:
        """Return the arguments and the token source; no token is requested before everything else is checked."""
        texts = arguments.texts(call, given)
        self.core.check_call(call, texts)
        return texts, self._tokens[_service_name(call)]


def _service_name(call: str) -> str:
    """Return the first part of a call's name, which is the service for services with tokens."""
    return call.partition(".")[0]


def _warned(prepared: PreparedMap) -> PreparedMap:
    """Issue the warning of a map before it is sent."""
    if prepared.warning is not None:
        errors.warn(prepared.warning)
    return prepared


def _with_findings(plan: dict[str, Any], found: map_file.Findings) -> dict[str, Any]:
    """Add why a map would not be uploaded to the conflicts of a plan, and what a display may refuse to its notes."""
    added = {"conflicts": found.refusal, "notes": found.warning}
    return plan | {name: (text, *plan[name]) for name, text in added.items() if text is not None}


class Calls(OpenClient[Pages[Any], LocationPages]):
    """Synchronous calls."""

    _list_class = Pages
    _locations_class = LocationPages

    def detail(self, call: str, given: Mapping[str, object]) -> Any:
        """Return one record, or None if the service returns an empty list."""
        with self:
            return self.core.detail(call, arguments.texts(call, given))

    def send_command(self, call: str, given: Mapping[str, object]) -> None:
        """Send a command, a call without a result."""
        with self:
            self.core.send_command(call, arguments.texts(call, given))

    def payload(self, call: str, given: Mapping[str, object]) -> Any:
        """Return the reply of the dispatch service or the legacy order service, or None for an empty one."""
        texts, tokens = self.prepare_payload(call, given)
        with self:
            return tokens.call_with_token(lambda token: self.core.payload(call, texts, token))

    def table(self, call: str, given: Mapping[str, object]) -> Table[Any]:
        """Return the parts of a record as rows of a table."""
        texts = arguments.texts(call, given)
        with self:
            return Table(*self.core.rows(call, texts))

    def follow(self, uri: str) -> Any:
        """Return what an address of a record refers to, on the configured base address."""
        call, kind, given, page_size, page = self.core.resolve_link(arguments.text("uri", uri))
        if kind == "file":
            return self.download(call, given, to=None, overwrite=False, limits=None)
        if kind == "record":
            return self.detail(call, given)
        read = self.locations if kind == "locations" else self.pages
        return read(call, given, page_size=page_size, page=page)

    def download(
        self, call: str, given: Mapping[str, object], *, to: Target | None, overwrite: bool, limits: Limits | None
    ) -> bytes | Path | BinaryIO:
        """Download a file."""
        texts, overwrite = arguments.texts(call, given), arguments.flag("overwrite", overwrite)
        with Download(to, overwrite=overwrite) as download:
            with self:
                delivered = self.core.download(call, texts, download.path, overwrite, limits)
            return download.finish(delivered)

    def upload(self, call: str, file: Upload, given: Mapping[str, object] = MappingProxyType({})) -> Created:
        """Upload a file and return id and address of the new record."""
        texts = arguments.texts(call, given)
        name, content = read_upload(call, file)
        with self:
            return self.core.upload(call, texts, name, content)

    def upload_map(self, file: MapFile | BinaryIO, file_type: str, *, force: bool) -> Created:
        """Upload a prescription map and return id and address of the new record."""
        texts = arguments.texts(map_file.CALL, {"file_type": file_type})
        prepared = _warned(map_file.prepare(file, texts["file_type"], force=arguments.flag("force", force)))
        with self:
            return self.core.upload(map_file.CALL, texts, prepared.name, prepared.content)

    def send_map(
        self, rx: MapFile | str | int, computer: str | int, *, wait: bool, timeout: float | None
    ) -> tuple[str, bool, str | None]:
        """Send a prescription map; return its id, whether it is delivered, and what an earlier send had done."""
        map_id, to, is_waiting, seconds = self.check_send(rx, computer, wait=wait, timeout=timeout)
        sent = map_id if map_id is not None else _warned(map_file.prepare(cast("MapFile", rx)))[:2]
        with self:
            return _core.send_map(self.core, sent, to, is_waiting, seconds)

    def plan_send(self, rx: MapFile | str | int, computer: str | int) -> dict[str, Any]:
        """Return the fields of a plan, after two calls."""
        map_id, to, *_ = self.check_send(rx, computer, wait=False, timeout=None)
        name = None if map_id is not None else map_file.file_name(cast("MapFile", rx))
        found = map_file.findings(rx)
        with self:
            return _with_findings(_core.plan_send(self.core, map_id, name, to), found)

    def delivery(self, id: str) -> Delivery:
        """Resume a delivery by the id of its handle; makes no call."""
        return Delivery(_core.Delivery(self.core, arguments.text("id", id)), self)

    def conversion(self, call: str, given: Mapping[str, object]) -> Conversion:
        """Request a file once and return the handle."""
        handle = Conversion(self.core.conversion(call, arguments.texts(call, given)), self)
        handle.ready()
        return handle

    def resume(self, id: str) -> Conversion:
        """Resume a conversion by the id of its handle; makes no call."""
        return Conversion(self.core.resume(arguments.text("id", id)), self)

    def layer(self, call: str, given: Mapping[str, object], timeout: float | None, options: ReadOptions) -> Layer:
        """Request a file, wait for it and read it."""
        wait = None if timeout is None else arguments.seconds("timeout", timeout)
        with self:
            return Layer(self.core.layer(call, arguments.texts(call, given), wait, options))


class AsyncCalls(OpenClient[AsyncPages[Any], AsyncLocationPages]):
    """The same calls as coroutines."""

    _list_class = AsyncPages
    _locations_class = AsyncLocationPages

    async def detail(self, call: str, given: Mapping[str, object]) -> Any:
        """Return one record, or None if the service returns an empty list."""
        with self:
            return await self.core.detail_async(call, arguments.texts(call, given))

    async def send_command(self, call: str, given: Mapping[str, object]) -> None:
        """Send a command, a call without a result."""
        with self:
            await self.core.send_command_async(call, arguments.texts(call, given))

    async def payload(self, call: str, given: Mapping[str, object]) -> Any:
        """Return the reply of the dispatch service or the legacy order service, or None for an empty one."""
        texts, tokens = self.prepare_payload(call, given)
        with self:
            return await tokens.call_with_token_async(lambda token: self.core.payload_async(call, texts, token))

    async def table(self, call: str, given: Mapping[str, object]) -> Table[Any]:
        """Return the parts of a record as rows of a table."""
        texts = arguments.texts(call, given)
        with self:
            return Table(*await self.core.rows_async(call, texts))

    async def follow(self, uri: str) -> Any:
        """Return what an address of a record refers to, on the configured base address."""
        call, kind, given, page_size, page = self.core.resolve_link(arguments.text("uri", uri))
        if kind == "file":
            return await self.download(call, given, to=None, overwrite=False, limits=None)
        if kind == "record":
            return await self.detail(call, given)
        read = self.locations if kind == "locations" else self.pages
        return read(call, given, page_size=page_size, page=page)

    async def download(
        self, call: str, given: Mapping[str, object], *, to: Target | None, overwrite: bool, limits: Limits | None
    ) -> bytes | Path | BinaryIO:
        """Download a file."""
        texts, overwrite = arguments.texts(call, given), arguments.flag("overwrite", overwrite)
        with Download(to, overwrite=overwrite) as download:
            with self:
                delivered = await self.core.download_async(call, texts, download.path, overwrite, limits)
            return download.finish(delivered)

    async def upload(self, call: str, file: Upload, given: Mapping[str, object] = MappingProxyType({})) -> Created:
        """Upload a file and return id and address of the new record."""
        import asyncio

        texts = arguments.texts(call, given)
        # Reading may take long and must not block the event loop.
        name, content = await asyncio.to_thread(read_upload, call, file)
        with self:
            return await self.core.upload_async(call, texts, name, content)

    async def upload_map(self, file: MapFile | BinaryIO, file_type: str, *, force: bool) -> Created:
        """Upload a prescription map and return id and address of the new record."""
        import asyncio

        texts, ignores = arguments.texts(map_file.CALL, {"file_type": file_type}), arguments.flag("force", force)
        prepared = _warned(await asyncio.to_thread(map_file.prepare, file, texts["file_type"], force=ignores))
        with self:
            return await self.core.upload_async(map_file.CALL, texts, prepared.name, prepared.content)

    async def send_map(
        self,
        rx: MapFile | str | int,
        computer: str | int,
        *,
        wait: bool,
        timeout: float | None,
    ) -> tuple[str, bool, str | None]:
        """Send a prescription map; return its id, whether it is delivered, and what an earlier send had done."""
        import asyncio

        map_id, to, is_waiting, seconds = self.check_send(rx, computer, wait=wait, timeout=timeout)
        sent = (
            map_id
            if map_id is not None
            else _warned(await asyncio.to_thread(map_file.prepare, cast("MapFile", rx)))[:2]
        )
        with self:
            return await _core.send_map_async(self.core, sent, to, is_waiting, seconds)

    async def plan_send(self, rx: MapFile | str | int, computer: str | int) -> dict[str, Any]:
        """Return the fields of a plan, after two calls."""
        import asyncio

        map_id, to, *_ = self.check_send(rx, computer, wait=False, timeout=None)
        name = None if map_id is not None else map_file.file_name(cast("MapFile", rx))
        found = await asyncio.to_thread(map_file.findings, rx)
        with self:
            return _with_findings(await _core.plan_send_async(self.core, map_id, name, to), found)

    def delivery(self, id: str) -> AsyncDelivery:
        """Resume a delivery by the id of its handle; makes no call."""
        return AsyncDelivery(_core.Delivery(self.core, arguments.text("id", id)), self)

    async def conversion(self, call: str, given: Mapping[str, object]) -> AsyncConversion:
        """Request a file once and return the handle."""
        handle = AsyncConversion(self.core.conversion(call, arguments.texts(call, given)), self)
        await handle.ready()
        return handle

    def resume(self, id: str) -> AsyncConversion:
        """Resume a conversion by the id of its handle; makes no call."""
        return AsyncConversion(self.core.resume(arguments.text("id", id)), self)

    async def layer(self, call: str, given: Mapping[str, object], timeout: float | None, options: ReadOptions) -> Layer:
        """Request a file, wait for it and read it."""
        wait = None if timeout is None else arguments.seconds("timeout", timeout)
        with self:
            return Layer(await self.core.layer_async(call, arguments.texts(call, given), wait, options))
