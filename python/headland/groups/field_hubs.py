# Generated from the table in `src/api`; change that and run `make generate`.
"""Field hubs: the modems that report where machines are and how their inputs stand."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from headland.client.call_group import CallGroup

if TYPE_CHECKING:
    import datetime as dt

    from headland.client.calls import Calls
    from headland.client.locations import LocationPages
    from headland.client.pages import Pages
    from headland.records import DeviceLocation, FieldHubDetail, FieldHubItem


class FieldHubs(CallGroup):
    """Field hubs: the modems that report where machines are and how their inputs stand."""

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
    ) -> Pages[FieldHubItem]:
        """Lists the field hubs that the access key can see.

        `GET /fieldhubs`, specification 4.2, 2.1.

        Args:
            page_size: Records per page, 1 to 1000; the client's `page_size` if None.
            page: Zero-based page: that page alone; all pages if None.
            on_error: What a value does that cannot be read: `raise` is a `DecodeError`, `null` gives None in
                its place and a `HeadlandWarning` that names its path.

        Returns:
            A lazy list of dicts, see `records.FieldHubItem`; pages are read as it is iterated, each record once. It
            is a table as well: `to_arrow()`, `to_pandas()`.

        Raises:
            AuthenticationError: The service refused the credentials, the signature or the time stamp.
            TransportError: The connection failed.

        Examples:
            >>> names = [hub["name"] for hub in client.field_hubs.list()]

        """
        return self._calls.pages("field_hubs.list", {}, page_size=page_size, page=page, on_error=on_error)

    def get(self, id: str | int) -> FieldHubDetail | None:
        """Describes one field hub, with its latest report.

        `GET /fieldhubs/{id}`, specification 4.2, 2.4.

        Args:
            id: Id of the field hub, from the list.

        Returns:
            A field hub with its latest report as a dict, see `records.FieldHubDetail`; None where the service has
            none.

        Raises:
            AuthenticationError: The service refused the credentials, the signature or the time stamp.
            TransportError: The connection failed.
            NotFound: There is no such record for this access key.

        Examples:
            >>> hub = client.field_hubs.get(hub_id)

        """
        return cast("FieldHubDetail | None", self._calls.detail("field_hubs.get", {"id": id}))

    def reports(
        self,
        *,
        page_size: int | None = None,
        page: int | None = None,
        on_error: str = "raise",
    ) -> Pages[FieldHubDetail]:
        """Gives the last report of every visible field hub.

        `GET /fieldhubs/all`, specification 4.2, 2.4.

        Args:
            page_size: Records per page, 1 to 1000; the client's `page_size` if None.
            page: Zero-based page: that page alone; all pages if None.
            on_error: What a value does that cannot be read: `raise` is a `DecodeError`, `null` gives None in
                its place and a `HeadlandWarning` that names its path.

        Returns:
            A lazy list of dicts, see `records.FieldHubDetail`; pages are read as it is iterated, each record once.
            It is a table as well: `to_arrow()`, `to_pandas()`.

        Raises:
            AuthenticationError: The service refused the credentials, the signature or the time stamp.
            TransportError: The connection failed.

        Examples:
            >>> bars = [hub["report"]["rssi_bars"] for hub in client.field_hubs.reports()]

        """
        return self._calls.pages("field_hubs.reports", {}, page_size=page_size, page=page, on_error=on_error)

    def current_locations(
        self,
        *,
        page_size: int | None = None,
        page: int | None = None,
        on_error: str = "raise",
    ) -> LocationPages:
        """Gives the most recent location of every visible field hub.

        A hub reports every 30 seconds.

        `GET /fieldhubs/all/currentlocation`, specification 4.2, 2.3.

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
            >>> places = [(place["lat"], place["lon"]) for place in client.field_hubs.current_locations()]

        """
        return self._calls.locations("field_hubs.current_locations", {}, page_size=page_size, page=page, on_error=on_error)

    def current_location(self, id: str | int) -> DeviceLocation | None:
        """Gives the most recent location of a field hub.

        `GET /fieldhubs/{id}/currentlocation`, specification 4.2, 2.3.

        Args:
            id: Id of the field hub, from the list.

        Returns:
            Where a device was; units are those that the specification states for a hub's report (2.4) as a dict,
            see `records.DeviceLocation`; None where the service has none.

        Raises:
            AuthenticationError: The service refused the credentials, the signature or the time stamp.
            TransportError: The connection failed.
            NotFound: There is no such record for this access key.

        Examples:
            >>> place = client.field_hubs.current_location(hub_id)

        """
        return cast("DeviceLocation | None", self._calls.detail("field_hubs.current_location", {"id": id}))

    def locations(
        self,
        id: str | int,
        *,
        date: str | dt.date | dt.datetime | None = None,
        page_size: int | None = None,
        page: int | None = None,
        on_error: str = "raise",
    ) -> LocationPages:
        """Lists the locations of a field hub, newest first.

        `GET /fieldhubs/{id}/locations`, specification 4.2, 2.3.

        Args:
            id: Id of the field hub, from the list.
            date: Only locations from this time to the end of its calendar month, UTC; a date alone means its
                midnight.
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
            >>> latest = client.field_hubs.locations(hub_id, page_size=10, page=0)

        """
        return self._calls.locations("field_hubs.locations", {"id": id, "date": date}, page_size=page_size, page=page, on_error=on_error)
