"""The groups of calls. Generated from the table."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO, cast, overload

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence
    from pathlib import Path

    from headland.archives import Limits
    from headland.arguments import Moment
    from headland.calls import AsyncCalls, Calls
    from headland.conversion import AsyncConversion, Conversion
    from headland.files import Target, Upload
    from headland.layer import Layer
    from headland.pages import AsyncPages, Pages
    from headland.records import (
        AccessKeyDetail,
        Created,
        FieldComputerDetail,
        FieldComputerItem,
        JobDataDetail,
        JobDataItem,
    )


class FieldComputers:
    """Field computers: the in-cab displays that record job data."""

    __slots__ = ("_calls",)

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def list(self, *, page_size: int | None = None, page: int | None = None) -> Pages[FieldComputerItem]:
        """Lists the field computers that the API key and the access key can see."""
        return self._calls.pages("field_computers.list", {}, page_size=page_size, page=page)

    def get(self, id: str | int) -> FieldComputerDetail:
        """Describes one field computer."""
        return cast("FieldComputerDetail", self._calls.detail("field_computers.get", {"id": id}))


class JobData:
    """Job data: the yield, as-applied and planting files that field computers produce."""

    __slots__ = ("_calls",)

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def list(
        self, *, date: Moment | None = None, page_size: int | None = None, page: int | None = None
    ) -> Pages[JobDataItem]:
        """Lists job data, newest first by the time they were created."""
        return self._calls.pages("job_data.list", {"date": date}, page_size=page_size, page=page)

    def get(self, id: str | int) -> JobDataDetail:
        """Describes one job."""
        return cast("JobDataDetail", self._calls.detail("job_data.get", {"id": id}))

    @overload
    def download(
        self, id: str | int, *, format: str = "SHP", to: None = None, overwrite: bool = False
    ) -> bytes: ...
    @overload
    def download(
        self, id: str | int, *, format: str = "SHP", to: str | os.PathLike[str], overwrite: bool = False
    ) -> Path: ...
    @overload
    def download(
        self, id: str | int, *, format: str = "SHP", to: BinaryIO, overwrite: bool = False
    ) -> BinaryIO: ...
    def download(
        self, id: str | int, *, format: str = "SHP", to: Target | None = None, overwrite: bool = False
    ) -> bytes | Path | BinaryIO:
        """Downloads a job's file."""
        return self._calls.download("job_data.download", {"id": id, "format": format}, to=to, overwrite=overwrite)

    def request(self, id: str | int, *, format: str = "SHP") -> Conversion:
        """Asks for a job's file and comes back at once with a handle."""
        return self._calls.conversion("job_data.request", {"id": id, "format": format})

    def read(
        self,
        id: str | int,
        *,
        format: str = "SHP",
        timeout: float | None = None,
        layer: str | None = None,
        columns: Sequence[str] | None = None,
        encoding: str | None = None,
        strict: bool = True,
        threads: int | None = None,
        limits: Limits | None = None,
        to_crs: str | None = None,
    ) -> Layer:
        """Reads a job into a layer: asks, waits for the conversion, downloads, unzips, parses."""
        return self._calls.layer(
            "job_data.read",
            {"id": id, "format": format},
            timeout=timeout,
            layer=layer,
            columns=columns,
            encoding=encoding,
            strict=strict,
            threads=threads,
            limits=limits,
            to_crs=to_crs,
        )

    def upload(self, file: Upload) -> Created:
        """Uploads a zip of job data and gives the id and the address of the new record."""
        return self._calls.upload("job_data.upload", file)


class ClientRows:
    """The groups, and the calls that belong to none."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self.field_computers = FieldComputers(calls)
        self.job_data = JobData(calls)

    def access_key(self) -> AccessKeyDetail:
        """Describes the access key that signs the requests."""
        return cast("AccessKeyDetail", self._calls.detail("access_key", {}))


class AsyncFieldComputers:
    """Field computers: the in-cab displays that record job data."""

    __slots__ = ("_calls",)

    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    def list(self, *, page_size: int | None = None, page: int | None = None) -> AsyncPages[FieldComputerItem]:
        """Lists the field computers that the API key and the access key can see."""
        return self._calls.pages("field_computers.list", {}, page_size=page_size, page=page)

    async def get(self, id: str | int) -> FieldComputerDetail:
        """Describes one field computer."""
        return cast("FieldComputerDetail", await self._calls.detail("field_computers.get", {"id": id}))


class AsyncJobData:
    """Job data: the yield, as-applied and planting files that field computers produce."""

    __slots__ = ("_calls",)

    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    def list(
        self, *, date: Moment | None = None, page_size: int | None = None, page: int | None = None
    ) -> AsyncPages[JobDataItem]:
        """Lists job data, newest first by the time they were created."""
        return self._calls.pages("job_data.list", {"date": date}, page_size=page_size, page=page)

    async def get(self, id: str | int) -> JobDataDetail:
        """Describes one job."""
        return cast("JobDataDetail", await self._calls.detail("job_data.get", {"id": id}))

    @overload
    async def download(
        self, id: str | int, *, format: str = "SHP", to: None = None, overwrite: bool = False
    ) -> bytes: ...
    @overload
    async def download(
        self, id: str | int, *, format: str = "SHP", to: str | os.PathLike[str], overwrite: bool = False
    ) -> Path: ...
    @overload
    async def download(
        self, id: str | int, *, format: str = "SHP", to: BinaryIO, overwrite: bool = False
    ) -> BinaryIO: ...
    async def download(
        self, id: str | int, *, format: str = "SHP", to: Target | None = None, overwrite: bool = False
    ) -> bytes | Path | BinaryIO:
        """Downloads a job's file."""
        return await self._calls.download("job_data.download", {"id": id, "format": format}, to=to, overwrite=overwrite)

    async def request(self, id: str | int, *, format: str = "SHP") -> AsyncConversion:
        """Asks for a job's file and comes back at once with a handle."""
        return await self._calls.conversion("job_data.request", {"id": id, "format": format})

    async def read(
        self,
        id: str | int,
        *,
        format: str = "SHP",
        timeout: float | None = None,
        layer: str | None = None,
        columns: Sequence[str] | None = None,
        encoding: str | None = None,
        strict: bool = True,
        threads: int | None = None,
        limits: Limits | None = None,
        to_crs: str | None = None,
    ) -> Layer:
        """Reads a job into a layer: asks, waits for the conversion, downloads, unzips, parses."""
        return await self._calls.layer(
            "job_data.read",
            {"id": id, "format": format},
            timeout=timeout,
            layer=layer,
            columns=columns,
            encoding=encoding,
            strict=strict,
            threads=threads,
            limits=limits,
            to_crs=to_crs,
        )

    async def upload(self, file: Upload) -> Created:
        """Uploads a zip of job data and gives the id and the address of the new record."""
        return await self._calls.upload("job_data.upload", file)


class AsyncClientRows:
    """The groups, and the calls that belong to none."""

    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls
        self.field_computers = AsyncFieldComputers(calls)
        self.job_data = AsyncJobData(calls)

    async def access_key(self) -> AccessKeyDetail:
        """Describes the access key that signs the requests."""
        return cast("AccessKeyDetail", await self._calls.detail("access_key", {}))
