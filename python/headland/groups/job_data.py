# Generated from the table in `src/api`; change that and run `make generate`.
"""Job data: the yield, as-applied and planting files that field computers produce."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack, cast, overload

from headland.archives import with_options
from headland.argument_hints import LIST, explained
from headland.client.call_group import CallGroup
from headland.client.read_all import ReadAll

if TYPE_CHECKING:
    import datetime as dt
    import os
    from pathlib import Path
    from typing import BinaryIO

    from headland.archives import Limits, ReadOptions
    from headland.client.calls import Calls, Upload
    from headland.client.conversion import Conversion
    from headland.client.pages import Pages
    from headland.layer.layer import Layer
    from headland.layer.table import Table
    from headland.records import Created, JobDataDetail, JobDataItem, PrescriptionMapItem, ProductRow


class JobData(ReadAll, CallGroup):
    """Job data: the yield, as-applied and planting files that field computers produce."""

    __slots__ = ("_calls",)

    def __init__(self, calls: Calls) -> None:
        """Bind the group to its client's calls."""
        self._calls = calls

    @explained(LIST)
    def list(
        self,
        *,
        date: str | dt.date | dt.datetime | None = None,
        page_size: int | None = None,
        page: int | None = None,
        on_error: str = "raise",
    ) -> Pages[JobDataItem]:
        """Lists job data, newest first by the time they were created.

        `GET /jobdata`, specification 4.2, 2.1.

        Args:
            date: Only jobs between this time and now; a date alone means its midnight, UTC.
            page_size: Records per page, 1 to 1000; the client's `page_size` if None.
            page: Zero-based page: that page alone; all pages if None.
            on_error: What a value does that cannot be read: `raise` is a `DecodeError`, `null` gives None in
                its place and a `HeadlandWarning` that names its path.

        Returns:
            A lazy list of dicts, see `records.JobDataItem`; pages are read as it is iterated, each record once. It
            is a table as well: `to_arrow()`, `to_pandas()`.

        Raises:
            AuthenticationError: The service refused the credentials, the signature or the time stamp.
            TransportError: The connection failed.

        Examples:
            >>> names = [job["name"] for job in client.job_data.list(date="2024-01-01")]

        """
        return self._calls.pages("job_data.list", {"date": date}, page_size=page_size, page=page, on_error=on_error)

    def get(self, id: str | int) -> JobDataDetail:
        """Describes one job: its kind, its times, its conversion status, its products.

        `GET /jobdata/{id}`, specification 4.2, 2.6.

        Args:
            id: Id of the job, from the list.

        Returns:
            A job: the fields common to all, those that only a sprayer's job has, and the products as a dict, see
            `records.JobDataDetail`.

        Raises:
            AuthenticationError: The service refused the credentials, the signature or the time stamp.
            TransportError: The connection failed.
            NotFound: There is no such record for this access key.

        Examples:
            >>> job = client.job_data.get(job_id)

        """
        return cast("JobDataDetail", self._calls.detail("job_data.get", {"id": id}))

    @overload
    def download(
        self,
        id: str | int,
        *,
        format: str = "SHP",
        to: None = None,
        overwrite: bool = False,
        limits: Limits | None = None,
    ) -> bytes: ...

    @overload
    def download(
        self,
        id: str | int,
        *,
        format: str = "SHP",
        to: str | os.PathLike[str],
        overwrite: bool = False,
        limits: Limits | None = None,
    ) -> Path: ...

    @overload
    def download(
        self,
        id: str | int,
        *,
        format: str = "SHP",
        to: BinaryIO,
        overwrite: bool = False,
        limits: Limits | None = None,
    ) -> BinaryIO: ...

    def download(
        self,
        id: str | int,
        *,
        format: str = "SHP",
        to: str | os.PathLike[str] | BinaryIO | None = None,
        overwrite: bool = False,
        limits: Limits | None = None,
    ) -> bytes | Path | BinaryIO:
        """Downloads a job's file.

        While the service converts it, this waits as the service asks, until the deadline of the call.

        `GET /jobdata/{id}`, specification 4.2, 4.4.

        Args:
            id: Id of the job, from the list.
            format: `BIN` is the original zip of the field computer, `SHP` a zip of shape files, `FMIS` a zip of
                extended XML and TAB, `XML` the parsed RAD files.
            to: A folder, which takes the file name of the service, a path, or a binary file object; None gives
                bytes.
            overwrite: Whether a file that stands there is replaced.
            limits: Its `bytes` is the most that the file may have: 4 GiB, the default of `Limits`, if None.

        Returns:
            The bytes of the file, the path it was written to, or the file object it was written into.

        Raises:
            AuthenticationError: The service refused the credentials, the signature or the time stamp.
            TransportError: The connection failed.
            NotFound: There is no such record for this access key.
            NoCoverage: The job recorded no coverage.
            ConversionFailed: The service could not convert the job.
            NotReady: The service needs more time than the deadline leaves.

        Examples:
            >>> path = client.job_data.download(job_id, format="SHP", to=folder)

        """
        return self._calls.download(
            "job_data.download",
            {"id": id, "format": format},
            to=to,
            overwrite=overwrite,
            limits=limits,
        )

    def request(self, id: str | int, *, format: str = "SHP") -> Conversion:
        """Asks for a job's file and comes back at once with a handle, so that others can be asked for while the service converts.

        `GET /jobdata/{id}`, specification 4.2, 4.4.

        Args:
            id: Id of the job, from the list.
            format: `BIN` is the original zip of the field computer, `SHP` a zip of shape files, `FMIS` a zip of
                extended XML and TAB, `XML` the parsed RAD files.

        Returns:
            A handle with `ready()`, `wait()` and `result()`; its `id` can be stored and picked up by another
            process.

        Raises:
            AuthenticationError: The service refused the credentials, the signature or the time stamp.
            TransportError: The connection failed.
            NotFound: There is no such record for this access key.
            NoCoverage: The job recorded no coverage.
            ConversionFailed: The service could not convert the job.
            NotReady: The service needs more time than the deadline leaves.

        Examples:
            >>> handle = client.job_data.request(job_id, format="SHP")

        """
        return self._calls.conversion("job_data.request", {"id": id, "format": format})

    @with_options
    def read(
        self,
        id: str | int,
        *,
        format: str = "SHP",
        timeout: float | None = None,
        **options: Unpack[ReadOptions],
    ) -> Layer:
        """Reads a job into a layer: asks, waits for the conversion, downloads, unzips, parses.

        `SHP` and `FMIS` of one job have the same rows, totals and units; a `BIN` is read where it holds one of
        them.

        `GET /jobdata/{id}`, specification 4.2, 4.4.

        Args:
            id: Id of the job, from the list.
            format: `SHP` is a zip of shape files, `FMIS` a zip with a table of each product, `BIN` the original
                zip of the field computer, which is read where it holds either: a display's own files are not. `XML`
                is no table: `headland.read_tree` reads what `job_data.download` fetches.
            timeout: Seconds to wait for the conversion; the client's `timeout.call` if None.
            **options: How to read, as in `headland.read`, which documents each option, such as `layer` and
                `columns`.

        Returns:
            The layer: an Arrow table with geometry, coordinate system, units and diagnostics.

        Raises:
            AuthenticationError: The service refused the credentials, the signature or the time stamp.
            TransportError: The connection failed.
            NotFound: There is no such record for this access key.
            NoCoverage: The job recorded no coverage.
            ConversionFailed: The service could not convert the job.
            NotReady: The service needs more time than the deadline leaves.
            ArchiveError: The archive cannot be read.

        Examples:
            >>> layer = client.job_data.read(job_id)

        """
        return self._calls.layer("job_data.read", {"id": id, "format": format}, timeout, options)

    def products(self, id: str | int) -> Table[ProductRow]:
        """Gives the products of a job as one tidy table.

        A product has a row for each ingredient and for each applied product, or one row where it has neither; the
        product's own columns repeat.

        `GET /jobdata/{id}`, specification 4.2, 2.6.

        Args:
            id: Id of the job, from the list.

        Returns:
            A table of rows as dicts, see `records.ProductRow`, and as Arrow and pandas: `to_arrow()`,
            `to_pandas()`.

        Raises:
            AuthenticationError: The service refused the credentials, the signature or the time stamp.
            TransportError: The connection failed.
            NotFound: There is no such record for this access key.

        Examples:
            >>> products = client.job_data.products(job_id)

        """
        return self._calls.table("job_data.products", {"id": id})

    def prescription_maps(
        self,
        id: str | int,
        *,
        page_size: int | None = None,
        page: int | None = None,
        on_error: str = "raise",
    ) -> Pages[PrescriptionMapItem]:
        """Lists the prescription maps that were used to generate the job.

        `GET /jobdata/{id}/prescriptionmaps`, specification 4.2, 2.1.

        Args:
            id: Id of the job, from the list.
            page_size: Records per page, 1 to 1000; the client's `page_size` if None.
            page: Zero-based page: that page alone; all pages if None.
            on_error: What a value does that cannot be read: `raise` is a `DecodeError`, `null` gives None in
                its place and a `HeadlandWarning` that names its path.

        Returns:
            A lazy list of dicts, see `records.PrescriptionMapItem`; pages are read as it is iterated, each record
            once. It is a table as well: `to_arrow()`, `to_pandas()`.

        Raises:
            AuthenticationError: The service refused the credentials, the signature or the time stamp.
            TransportError: The connection failed.
            NotFound: There is no such record for this access key.

        Examples:
            >>> names = [used["name"] for used in client.job_data.prescription_maps(job_id)]

        """
        return self._calls.pages("job_data.prescription_maps", {"id": id}, page_size=page_size, page=page, on_error=on_error)

    def upload(self, file: Upload) -> Created:
        """Uploads a zip of job data and gives the id and the address of the new record.

        `POST /jobdata`, specification 4.2, 4.3.

        Args:
            file: The zip of job data from a field computer: a path, bytes or a binary file object. A zip with
                several directories is not supported by the service.

        Returns:
            `id` and `uri` of the new record.

        Raises:
            AuthenticationError: The service refused the credentials, the signature or the time stamp.
            TransportError: The connection failed.
            InvalidRequest: The file breaks a rule of the service; the rules known here are checked before it is
                sent.
            UploadOutcomeUnknown: The reply was lost, and the list does not tell whether the upload arrived.

        Examples:
            >>> created = client.job_data.upload(archive)

        """
        return self._calls.upload("job_data.upload", file)
