# Generated from the table in `src/api`; change that and run `make generate`.
"""Field computers: the in-cab displays that record job data."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from headland.argument_hints import LIST, explained
from headland.client.call_group import CallGroup

if TYPE_CHECKING:
    from headland.client.calls import Calls
    from headland.client.locations import LocationPages
    from headland.client.pages import Pages
    from headland.records import (
        DeviceLocation,
        FieldComputerDetail,
        FieldComputerItem,
        JobDataItem,
        PrescriptionMapItem,
    )


class FieldComputers(CallGroup):
    """Field computers: the in-cab displays that record job data."""

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
    ) -> Pages[FieldComputerItem]:
        """Lists the field computers that the API key and the access key can see.

        `GET /fieldcomputers`, specification 4.2, 2.1.

        Args:
            page_size: Records per page, 1 to 1000; the client's `page_size` if None.
            page: Zero-based page: that page alone; all pages if None.
            on_error: What a value does that cannot be read: `raise` is a `DecodeError`, `null` gives None in
                its place and a `HeadlandWarning` that names its path.

        Returns:
            A lazy list of dicts, see `records.FieldComputerItem`; pages are read as it is iterated, each record
            once. It is a table as well: `to_arrow()`, `to_pandas()`.

        Raises:
            AuthenticationError: The service refused the credentials, the signature or the time stamp.
            TransportError: The connection failed.

        Examples:
            >>> names = [computer["name"] for computer in client.field_computers.list()]

        """
        return self._calls.pages("field_computers.list", {}, page_size=page_size, page=page, on_error=on_error)

    def get(self, id: str | int) -> FieldComputerDetail:
        """Describes one field computer.

        Some legacy device types are not supported by the service.

        `GET /fieldcomputers/{id}`, specification 4.2, 2.2.

        Args:
            id: Id of the field computer, from the list.

        Returns:
            A field computer as a dict, see `records.FieldComputerDetail`.

        Raises:
            AuthenticationError: The service refused the credentials, the signature or the time stamp.
            TransportError: The connection failed.
            NotFound: There is no such record for this access key.

        Examples:
            >>> computer = client.field_computers.get(computer_id)

        """
        return cast("FieldComputerDetail", self._calls.detail("field_computers.get", {"id": id}))

    def prescription_maps(
        self,
        id: str | int,
        *,
        state: str = "validated",
        page_size: int | None = None,
        page: int | None = None,
        on_error: str = "raise",
    ) -> Pages[PrescriptionMapItem]:
        """Lists the prescription maps that were sent to a field computer.

        Maps that are queued and not delivered yet are listed with `state="queued"` alone.

        `GET /fieldcomputers/{id}/prescriptionmaps`, specification 4.2, 2.1, 3.

        Args:
            id: Id of the field computer, from the list.
            state: `queued` for maps that wait for the computer to come online, `validated` for those delivered.
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
            >>> waiting = [sent["name"] for sent in client.field_computers.prescription_maps(computer_id)]

        """
        return self._calls.pages("field_computers.prescription_maps", {"id": id, "state": state}, page_size=page_size, page=page, on_error=on_error)

    @explained(LIST)
    def job_data(
        self,
        id: str | int,
        *,
        min_id: str | int | None = None,
        page_size: int | None = None,
        page: int | None = None,
        on_error: str = "raise",
    ) -> Pages[JobDataItem]:
        """Lists the job data that a field computer made.

        Unlike `job_data.list`, the items carry no dates.

        `GET /fieldcomputers/{id}/jobdata`, specification 4.2, 2.1.

        Args:
            id: Id of the field computer, from the list.
            min_id: Only jobs whose id is at least this number.
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
            NotFound: There is no such record for this access key.

        Examples:
            >>> names = [job["name"] for job in client.field_computers.job_data(computer_id)]

        """
        return self._calls.pages("field_computers.job_data", {"id": id, "min_id": min_id}, page_size=page_size, page=page, on_error=on_error)

    def current_locations(
        self,
        *,
        page_size: int | None = None,
        page: int | None = None,
        on_error: str = "raise",
    ) -> LocationPages:
        """Gives the most recent location of every visible field computer.

        A computer registers its location every five minutes; where the service knows its field hub, the records are
        the hub's.

        `GET /fieldcomputers/all/currentlocation`, specification 4.2, 2.3.

        Args:
            page_size: Records per page, 1 to 1000; the client's `page_size` if None.
            page: Zero-based page: that page alone; all pages if None.
            on_error: What a value does that cannot be read: `raise` is a `DecodeError`, `null` gives None in
                its place and a `HeadlandWarning` that names its path.

        Returns:
            A lazy list of dicts, see `records.DeviceLocation`; pages are read as it is iterated, each record once.
            It is a table as well: `to_arrow()`, `to_pandas()`, and a map: `to_geopandas()`.

        Raises:
            AuthenticationError: The service refused the credentials, the signature or the time stamp.
            TransportError: The connection failed.

        Examples:
            >>> places = [(place["lat"], place["lon"]) for place in client.field_computers.current_locations()]

        """
        return self._calls.locations("field_computers.current_locations", {}, page_size=page_size, page=page, on_error=on_error)

    def current_location(self, id: str | int) -> DeviceLocation | None:
        """Gives the most recent location of a field computer.

        Where the service knows its field hub, the record is the hub's (`sub_type` is `Field Hub`).

        `GET /fieldcomputers/{id}/currentlocation`, specification 4.2, 2.3.

        Args:
            id: Id of the field computer, from the list.

        Returns:
            Where a device was; units are those that the specification states for a hub's report (2.4) as a dict,
            see `records.DeviceLocation`; None where the service has none.

        Raises:
            AuthenticationError: The service refused the credentials, the signature or the time stamp.
            TransportError: The connection failed.
            NotFound: There is no such record for this access key.

        Examples:
            >>> place = client.field_computers.current_location(computer_id)

        """
        return cast("DeviceLocation | None", self._calls.detail("field_computers.current_location", {"id": id}))

    def locations(
        self,
        id: str | int,
        *,
        page_size: int | None = None,
        page: int | None = None,
        on_error: str = "raise",
    ) -> LocationPages:
        """Lists all locations of a field computer.

        Where the service knows its field hub, the records are the hub's (`sub_type` is `Field Hub`).

        `GET /fieldcomputers/{id}/locations`, specification 4.2, 2.3.

        Args:
            id: Id of the field computer, from the list.
            page_size: Records per page, 1 to 1000; the client's `page_size` if None.
            page: Zero-based page: that page alone; all pages if None.
            on_error: What a value does that cannot be read: `raise` is a `DecodeError`, `null` gives None in
                its place and a `HeadlandWarning` that names its path.

        Returns:
            A lazy list of dicts, see `records.DeviceLocation`; pages are read as it is iterated, each record once.
            It is a table as well: `to_arrow()`, `to_pandas()`, and a map: `to_geopandas()`.

        Raises:
            AuthenticationError: The service refused the credentials, the signature or the time stamp.
            TransportError: The connection failed.
            NotFound: There is no such record for this access key.

        Examples:
            >>> latest = client.field_computers.locations(computer_id, page_size=10, page=0)

        """
        return self._calls.locations("field_computers.locations", {"id": id}, page_size=page_size, page=page, on_error=on_error)
