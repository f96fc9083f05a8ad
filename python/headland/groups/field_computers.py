# Generated from the table in `src/api`; change that and run `make generate`.
"""Field computers: the in-cab displays that record job data."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from headland.calls import Calls
    from headland.pages import Pages
    from headland.records import FieldComputerDetail, FieldComputerItem


class FieldComputers:
    """Field computers: the in-cab displays that record job data."""

    __slots__ = ("_calls",)

    def __init__(self, calls: Calls) -> None:
        """Bind the group to its client's calls."""
        self._calls = calls

    def list(self, *, page_size: int | None = None, page: int | None = None) -> Pages[FieldComputerItem]:
        """Lists the field computers that the API key and the access key can see.

        `GET /fieldcomputers`, specification 4.2, 2.1.

        Args:
            page_size: Records per page, 1 to 1000; the client's `page_size` if None.
            page: Zero-based page: that page alone; all pages if None.

        Returns:
            A lazy list of dicts, see `records.FieldComputerItem`; pages are read as it is iterated, each record
            once.

        Raises:
            AuthenticationError: The service refused the credentials, the signature or the time stamp.
            TransportError: The connection failed.

        Examples:
            >>> names = [computer["name"] for computer in client.field_computers.list()]

        """
        return self._calls.pages("field_computers.list", {}, page_size=page_size, page=page)

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
