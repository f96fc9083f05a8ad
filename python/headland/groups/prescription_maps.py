# Generated from the table in `src/api`; change that and run `make generate`.
"""Prescription maps: files of target rates that are sent to field computers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack, cast, overload

from headland.archives import with_options
from headland.client.call_group import CallGroup
from headland.client.send_plan import SendPlans

if TYPE_CHECKING:
    import os
    from pathlib import Path
    from typing import BinaryIO

    from headland.archives import Limits, ReadOptions
    from headland.client.calls import Calls
    from headland.client.map_file import MapFile
    from headland.client.pages import Pages
    from headland.layer.layer import Layer
    from headland.records import Created, PrescriptionMapDetail, PrescriptionMapItem


class PrescriptionMaps(SendPlans, CallGroup):
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

    @with_options
    def read(
        self,
        id: str | int,
        *,
        format: str = "shp",
        timeout: float | None = None,
        **options: Unpack[ReadOptions],
    ) -> Layer:
        """Reads a prescription map into a layer: its zones with their rates.

        A map in a format of a display is no layer.

        `GET /prescriptionmaps/{id}`, specification 4.2, 2.5.

        Args:
            id: Id of the prescription map, from the list.
            format: A file type of the map's available files that is a zip with a shapefile. Where the service
                has no `shp`, `bin` is read, which is the file as it was uploaded.
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
            >>> zones = client.prescription_maps.read(map_id)

        """
        return self._calls.layer("prescription_maps.read", {"id": id, "format": format}, timeout, options)

    def upload(self, file: MapFile | BinaryIO, *, file_type: str = "RX", force: bool = False) -> Created:
        """Uploads a prescription map and gives the id and the address of the new record.

        A file that breaks the rules of the service, and a `Prescription` whose diagnostics have errors, is an
        `InvalidRequest` before anything is sent. Errors in the content of other files, which a display may refuse,
        are a `HeadlandWarning`.

        `POST /prescriptionmaps`, specification 4.2, 4.3.

        Args:
            file: The map: a `headland.Prescription`, a path, bytes or a binary file object. `RX` is a zip with
                one shapefile (.shp, .shx, .dbf), not several; a path of a loose .shp is zipped with the files of
                its name. The name of an `AGX` file ends in `.rdp.zip`.
            file_type: `RX` for a zip with a shapefile, `AGX` for a simple or complex file of that kind.
            force: Whether errors of the content are ignored, such as a rate that a display refuses. The rules
                of the service for zips always hold.

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
        return self._calls.upload_map(file, file_type, force=force)

    def send(
        self,
        rx_id: str | int | MapFile,
        field_computer_id: str | int,
        *,
        wait: bool = False,
        timeout: float | None = None,
    ) -> None:
        """Queues a prescription map for a field computer, which fetches it when it is online next.

        It is listed by `field_computers.prescription_maps` with `state="queued"` until then. An empty reply is
        success; after any other reply with a 2XX status that list tells, and then the one of delivered maps. On
        legacy devices a file that is there under the same name is overwritten. A file is sent in steps that may be
        interrupted: the same call again uploads and queues nothing a second time, if the map is uploaded, queued or
        delivered already.

        `PUT /prescriptionmaps/{rxid}/fieldcomputers/{fcid}`, specification 4.2, 4.3, 3.

        Args:
            rx_id: Id of the prescription map, from the upload or the list; or a `headland.Prescription`, a path
                or bytes, which is uploaded first.
            field_computer_id: Id of the field computer.
            wait: Whether to wait until the field computer has fetched the map. A map that is queued already is
                then followed instead of refused. A line on standard error shows the wait.
            timeout: Seconds to wait, at most; the client's `timeout.call` if None. A tractor may be offline for
                days, so `NotReady` has a `handle` for `client.delivery`.

        Returns:
            None.

        Raises:
            AuthenticationError: The service refused the credentials, the signature or the time stamp.
            TransportError: The connection failed.
            NotFound: There is no such record for this access key.
            Conflict: The same map, or another file of its name, is queued for that computer already.
            NotReady: The field computer has not fetched the map within `timeout`.

        Examples:
            >>> client.prescription_maps.send(map_id, computer_id)

        """
        self._calls.send_map(rx_id, field_computer_id, wait=wait, timeout=timeout)
