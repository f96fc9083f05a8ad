# Generated from the table in `src/api`; change that and run `make generate`.
"""Equipment of the dispatch service, and the work that is assigned to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headland.client.call_group import CallGroup

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from headland.client.calls import Calls
    from headland.client.pages import Pages


class DispatchEquipment(CallGroup):
    """Equipment of the dispatch service, and the work that is assigned to it."""

    __slots__ = ("_calls",)

    def __init__(self, calls: Calls) -> None:
        """Bind the group to its client's calls."""
        self._calls = calls

    def operations(
        self,
        id: str | int,
        *,
        page_size: int | None = None,
        page: int | None = None,
    ) -> Pages[dict[str, Any]]:
        """Lists the field operations that are assigned to a piece of equipment.

        `GET /api/equipment/{equipmentId}/operations`, specification 4.6, 4.7.

        Args:
            id: Id of the equipment, a GUID.
            page_size: Records per page, 1 to 1000; the client's `page_size` if None.
            page: Zero-based page: that page alone; all pages if None.

        Returns:
            A lazy list of field operations as dicts, whose fields are not specified: their names become snake_case
            and ids str, and all else is as it came; pages are read as it is iterated.

        Raises:
            ConfigurationError: The service's address or its token is not configured.
            AuthenticationError: The service refused the token.
            TransportError: The connection failed.
            NotFound: There is no such record for this token.

        Examples:
            >>> ids = [operation["id"] for operation in client.dispatch.equipment.operations(equipment_id)]

        """
        return self._calls.pages("dispatch.equipment.operations", {"id": id}, page_size=page_size, page=page)

    def assign(self, id: str | int, body: Mapping[str, object]) -> Any:
        """Assigns work to a piece of equipment.

        `POST /api/equipment/{id}/assignments`, specification 4.6.

        Args:
            id: Id of the equipment, a GUID.
            body: The payload, a mapping that is sent as it is.

        Returns:
            What the service answers, None where that is nothing; where it only names a new record, that one's `id`
            and `uri`. Its fields are not specified: their names become snake_case and ids str, and all else is as
            it came.

        Raises:
            ConfigurationError: The service's address or its token is not configured.
            AuthenticationError: The service refused the token.
            TransportError: The connection failed.
            NotFound: There is no such record for this token.
            InvalidRequest: The service refused the payload; the message has its words.
            Conflict: The state of the record does not allow it.
            UploadOutcomeUnknown: The reply was lost; it was not sent again, since that might do it twice.

        Examples:
            >>> assignment = client.dispatch.equipment.assign(equipment_id, {"fieldOperationId": operation_id})

        """
        return self._calls.payload("dispatch.equipment.assign", {"id": id, "body": body})
