# Generated from the table in `src/api`; change that and run `make generate`.
"""Batches of the dispatch service."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headland.client.call_group import CallGroup

if TYPE_CHECKING:
    from typing import Any

    from headland.client.calls import Calls
    from headland.client.pages import Pages


class DispatchBatches(CallGroup):
    """Batches of the dispatch service."""

    __slots__ = ("_calls",)

    def __init__(self, calls: Calls) -> None:
        """Bind the group to its client's calls."""
        self._calls = calls

    def active(self, *, page_size: int | None = None, page: int | None = None) -> Pages[dict[str, Any]]:
        """Lists the active batches.

        `GET /api/batches/active`, specification 4.6, 4.7.

        Args:
            page_size: Records per page, 1 to 1000; the client's `page_size` if None.
            page: Zero-based page: that page alone; all pages if None.

        Returns:
            A lazy list of batches as dicts, whose fields are not specified: their names become snake_case and ids
            str, and all else is as it came; pages are read as it is iterated.

        Raises:
            ConfigurationError: The service's address or its token is not configured.
            AuthenticationError: The service refused the token.
            TransportError: The connection failed.

        Examples:
            >>> ids = [batch["id"] for batch in client.dispatch.batches.active()]

        """
        return self._calls.pages("dispatch.batches.active", {}, page_size=page_size, page=page)
