# Generated from the table in `src/api`; change that and run `make generate`.
"""Grain carts: the files of loads that carts weigh in the field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack, cast, overload

from headland.archives import with_options
from headland.client.call_group import CallGroup

if TYPE_CHECKING:
    import os
    from pathlib import Path
    from typing import BinaryIO

    from headland.archives import Limits, ReadOptions
    from headland.client.calls import Calls, Upload
    from headland.client.pages import Pages
    from headland.layer.layer import Layer
    from headland.records import Created, GrainCart


class GrainCarts(CallGroup):
    """Grain carts: the files of loads that carts weigh in the field."""

    __slots__ = ("_calls",)

    def __init__(self, calls: Calls) -> None:
        """Bind the group to its client's calls."""
        self._calls = calls

    def list(
        self,
        *,
        page_size: int | None = None,
        page: int | None = None,
        on_error: str = "raise",
    ) -> Pages[GrainCart]:
        """Lists grain cart files.

        A device uploads a growing file again and again, each time under a new, higher id: `headland.newest` keeps
        the newest of each name.

        `GET /graincart`, specification 4.2, 2.8.

        Args:
            page_size: Records per page, 1 to 1000; the client's `page_size` if None.
            page: Zero-based page: that page alone; all pages if None.
            on_error: What a value does that cannot be read: `raise` is a `DecodeError`, `null` gives None in
                its place and a `HeadlandWarning` that names its path.

        Returns:
            A lazy list of dicts, see `records.GrainCart`; pages are read as it is iterated, each record once. It is
            a table as well: `to_arrow()`, `to_pandas()`.

        Raises:
            AuthenticationError: The service refused the credentials, the signature or the time stamp.
            TransportError: The connection failed.

        Examples:
            >>> names = [file["name"] for file in client.grain_carts.list()]

        """
        return self._calls.pages("grain_carts.list", {}, page_size=page_size, page=page, on_error=on_error)

    def get(self, id: str | int) -> GrainCart | None:
        """Describes one grain cart file.

        `GET /graincart/{id}`, specification 4.2, 2.8.

        Args:
            id: Id of the grain cart file, from the list.

        Returns:
            A grain cart file as a dict, see `records.GrainCart`; None where the service has none.

        Raises:
            AuthenticationError: The service refused the credentials, the signature or the time stamp.
            TransportError: The connection failed.
            NotFound: There is no such record for this access key.

        Examples:
            >>> file = client.grain_carts.get(cart_id)

        """
        return cast("GrainCart | None", self._calls.detail("grain_carts.get", {"id": id}))

    @overload
    def download(
        self,
        id: str | int,
        *,
        to: None = None,
        overwrite: bool = False,
        limits: Limits | None = None,
    ) -> bytes: ...

    @overload
    def download(
        self,
        id: str | int,
        *,
        to: str | os.PathLike[str],
        overwrite: bool = False,
        limits: Limits | None = None,
    ) -> Path: ...

    @overload
    def download(
        self,
        id: str | int,
        *,
        to: BinaryIO,
        overwrite: bool = False,
        limits: Limits | None = None,
    ) -> BinaryIO: ...

    def download(
        self,
        id: str | int,
        *,
        to: str | os.PathLike[str] | BinaryIO | None = None,
        overwrite: bool = False,
        limits: Limits | None = None,
    ) -> bytes | Path | BinaryIO:
        """Downloads the original GRC file, a text with one row a load.

        `GET /graincart/{id}`, specification 4.2, 2.8.

        Args:
            id: Id of the grain cart file, from the list.
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

        Examples:
            >>> path = client.grain_carts.download(cart_id, to=folder)

        """
        return self._calls.download(
            "grain_carts.download",
            {"id": id},
            to=to,
            overwrite=overwrite,
            limits=limits,
        )

    @with_options
    def read(self, id: str | int, *, timeout: float | None = None, **options: Unpack[ReadOptions]) -> Layer:
        """Reads a grain cart file into a layer: one row a load, points where the cart knew its position, units from the file, its header as `metadata`.

        Dates and times stay the texts that they are: columns labelled UTC may hold local time, which a diagnostic
        tells, and no zone is guessed. To get points in time, join `LocalDate` and `LocalTime`, parse them, and name
        the zone of the farm yourself.

        `GET /graincart/{id}`, specification 4.2, 2.8.

        Args:
            id: Id of the grain cart file, from the list.
            timeout: Seconds to wait for the file; the client's `timeout.call` if None.
            **options: How to read, as in `headland.read`, which documents each option, such as `layer` and
                `columns`.

        Returns:
            The layer: an Arrow table with geometry, coordinate system, units and diagnostics.

        Raises:
            AuthenticationError: The service refused the credentials, the signature or the time stamp.
            TransportError: The connection failed.
            NotFound: There is no such record for this access key.
            ArchiveError: The archive cannot be read.

        Examples:
            >>> loads = client.grain_carts.read(cart_id)

        """
        return self._calls.layer("grain_carts.read", {"id": id}, timeout, options)

    def upload(self, file: Upload) -> Created:
        """Uploads a GRC file and gives the id and the address of the new record.

        `POST /graincart`, specification 4.2.

        Args:
            file: The GRC file of a grain cart, with a name that ends in `.grc`: a path, bytes or a binary file
                object.

        Returns:
            `id` and `uri` of the new record.

        Raises:
            AuthenticationError: The service refused the credentials, the signature or the time stamp.
            TransportError: The connection failed.
            InvalidRequest: The file breaks a rule of the service; the rules known here are checked before it is
                sent.
            UploadOutcomeUnknown: The reply was lost, and the list does not tell whether the upload arrived.

        Examples:
            >>> created = client.grain_carts.upload(cart)

        """
        return self._calls.upload("grain_carts.upload", file)
