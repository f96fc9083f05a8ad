# Generated from the table in `src/api`; change that and run `make generate`.
"""Prescription maps: files of target rates that are sent to field computers."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast, overload

from headland.call_group import CallGroup

if TYPE_CHECKING:
    import os
    from pathlib import Path
    from typing import BinaryIO

    from headland.archives import Limits
    from headland.calls import Calls, Upload
    from headland.pages import Pages
    from headland.records import Created, PrescriptionMapDetail, PrescriptionMapItem


class PrescriptionMaps(CallGroup):
    """Prescription maps: files of target rates that are sent to field computers."""

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
    ) -> Pages[PrescriptionMapItem]:
        """Lists the prescription maps.

        `GET /prescriptionmaps`, specification 4.2, 2.1.

        Args:
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

        Examples:
            >>> names = [map["name"] for map in client.prescription_maps.list()]

        """
        return self._calls.pages("prescription_maps.list", {}, page_size=page_size, page=page, on_error=on_error)

    def get(self, id: str | int) -> PrescriptionMapDetail:
        """Describes one prescription map: its times, its delivery, the files that can be downloaded.

        `GET /prescriptionmaps/{id}`, specification 4.2, 2.5.

        Args:
            id: Id of the prescription map, from the list.

        Returns:
            A prescription map as a dict, see `records.PrescriptionMapDetail`.

        Raises:
            AuthenticationError: The service refused the credentials, the signature or the time stamp.
            TransportError: The connection failed.
            NotFound: There is no such record for this access key.

        Examples:
            >>> map = client.prescription_maps.get(map_id)

        """
        return cast("PrescriptionMapDetail", self._calls.detail("prescription_maps.get", {"id": id}))

    @overload
    def download(
        self,
        id: str | int,
        *,
        format: str = "bin",
        to: None = None,
        overwrite: bool = False,
        limits: Limits | None = None,
    ) -> bytes: ...

    @overload
    def download(
        self,
        id: str | int,
        *,
        format: str = "bin",
        to: str | os.PathLike[str],
        overwrite: bool = False,
        limits: Limits | None = None,
    ) -> Path: ...

    @overload
    def download(
        self,
        id: str | int,
        *,
        format: str = "bin",
        to: BinaryIO,
        overwrite: bool = False,
        limits: Limits | None = None,
    ) -> BinaryIO: ...

    def download(
        self,
        id: str | int,
        *,
        format: str = "bin",
        to: str | os.PathLike[str] | BinaryIO | None = None,
        overwrite: bool = False,
        limits: Limits | None = None,
    ) -> bytes | Path | BinaryIO:
        """Downloads a prescription map as a zip in a format.

        `GET /prescriptionmaps/{id}`, specification 4.2, 2.5.

        Args:
            id: Id of the prescription map, from the list.
            format: One of the file types of the map's available files, for example `bin`. The service has no
                `AGX` and does not give `RAD` away.
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
            InvalidRequest: The service has no such format.

        Examples:
            >>> path = client.prescription_maps.download(map_id, to=folder)

        """
        return self._calls.download(
            "prescription_maps.download",
            {"id": id, "format": format},
            to=to,
            overwrite=overwrite,
            limits=limits,
        )

    def upload(self, file: Upload, *, file_type: str = "RX") -> Created:
        """Uploads a prescription map and gives the id and the address of the new record.

        A file that breaks the rules of the service is an `InvalidRequest` before anything is sent.

        `POST /prescriptionmaps`, specification 4.2, 4.3.

        Args:
            file: The map: a path, bytes or a binary file object. `RX` is a zip with one shapefile (.shp, .shx,
                .dbf), not several; the name of an `AGX` file ends in `.rdp.zip`.
            file_type: `RX` for a zip with a shapefile, `AGX` for a simple or complex file of that kind.

        Returns:
            `id` and `uri` of the new record.

        Raises:
            AuthenticationError: The service refused the credentials, the signature or the time stamp.
            TransportError: The connection failed.
            InvalidRequest: The file breaks a rule of the service; the rules known here are checked before it is
                sent.
            UploadOutcomeUnknown: The reply was lost, and the list does not tell whether the upload arrived.

        Examples:
            >>> created = client.prescription_maps.upload(shapefile)

        """
        return self._calls.upload("prescription_maps.upload", file, {"file_type": file_type})

    def send(self, rx_id: str | int, field_computer_id: str | int) -> None:
        """Queues a prescription map for a field computer, which fetches it when it is online next.

        It is listed by `field_computers.prescription_maps` with `state="queued"` until then. An empty reply is
        success; after any other reply with a 2XX status that list tells, and then the one of delivered maps. On
        legacy devices a file that is there under the same name is overwritten.

        `PUT /prescriptionmaps/{rxid}/fieldcomputers/{fcid}`, specification 4.2, 4.3, 3.

        Args:
            rx_id: Id of the prescription map, from the upload or the list.
            field_computer_id: Id of the field computer.

        Returns:
            None.

        Raises:
            AuthenticationError: The service refused the credentials, the signature or the time stamp.
            TransportError: The connection failed.
            NotFound: There is no such record for this access key.
            Conflict: The same map, or another file of its name, is queued for that computer already.

        Examples:
            >>> client.prescription_maps.send(map_id, computer_id)

        """
        self._calls.send_command("prescription_maps.send", {"rx_id": rx_id, "field_computer_id": field_computer_id})
