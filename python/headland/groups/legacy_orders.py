# Generated from the table in `src/api`; change that and run `make generate`.
"""Work orders of the legacy order service, which the dispatch service replaces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headland.client.call_group import CallGroup

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from headland.client.calls import Calls
    from headland.client.pages import Pages


class LegacyOrders(CallGroup):
    """Work orders of the legacy order service, which the dispatch service replaces."""

    __slots__ = ("_calls",)

    def __init__(self, calls: Calls) -> None:
        """Bind the group to its client's calls."""
        self._calls = calls

    def work_orders(self, *, page_size: int | None = None, page: int | None = None) -> Pages[dict[str, Any]]:
        """Lists the work orders of the operator whose token is sent.

        The dispatch service's `dispatch.equipment.operations` replaces it.

        `GET /api/workorders/operator`, specification 4.6, 4.7.

        Args:
            page_size: Records per page, 1 to 1000; the client's `page_size` if None.
            page: Zero-based page: that page alone; all pages if None.

        Returns:
            A lazy list of work orders as dicts, whose fields are not specified: their names become snake_case and
            ids str, and all else is as it came; pages are read as it is iterated.

        Raises:
            ConfigurationError: The service's address or its token is not configured.
            AuthenticationError: The service refused the token.
            TransportError: The connection failed.

        Examples:
            >>> ids = [order["id"] for order in client.legacy_orders.work_orders()]

        """
        return self._calls.pages("legacy_orders.work_orders", {}, page_size=page_size, page=page)

    def create_order(self, body: Mapping[str, object]) -> Any:
        """Creates a work order.

        The dispatch service's `dispatch.field_operations.create` replaces it.

        `POST /api/order`, specification 4.6.

        Args:
            body: The payload, a mapping that is sent as it is.

        Returns:
            What the service answers, None where that is nothing; where it only names a new record, that one's `id`
            and `uri`. Its fields are not specified: their names become snake_case and ids str, and all else is as
            it came.

        Raises:
            ConfigurationError: The service's address or its token is not configured.
            AuthenticationError: The service refused the token.
            TransportError: The connection failed.
            InvalidRequest: The service refused the payload; the message has its words.
            Conflict: The state of the record does not allow it.
            UploadOutcomeUnknown: The reply was lost; it was not sent again, since that might do it twice.

        Examples:
            >>> order = client.legacy_orders.create_order({"name": "North 40"})

        """
        return self._calls.payload("legacy_orders.create_order", {"body": body})

    def update_order(self, body: Mapping[str, object]) -> Any:
        """Changes a work order; its id stands in the payload.

        The dispatch service's `dispatch.field_operations.set_target` replaces it.

        `PUT /api/order`, specification 4.6.

        Args:
            body: The payload, a mapping that is sent as it is.

        Returns:
            What the service answers, None where that is nothing; where it only names a new record, that one's `id`
            and `uri`. Its fields are not specified: their names become snake_case and ids str, and all else is as
            it came.

        Raises:
            ConfigurationError: The service's address or its token is not configured.
            AuthenticationError: The service refused the token.
            TransportError: The connection failed.
            InvalidRequest: The service refused the payload; the message has its words.
            Conflict: The state of the record does not allow it.

        Examples:
            >>> client.legacy_orders.update_order({"id": order_id, "name": "South 40"})

        """
        return self._calls.payload("legacy_orders.update_order", {"body": body})

    def delete_order(self, id: str | int) -> Any:
        """Deletes a work order.

        The dispatch service's `dispatch.field_operations.delete` replaces it.

        `DELETE /api/order/{id}`, specification 4.6.

        Args:
            id: Id of the work order.

        Returns:
            What the service answers, None where that is nothing; where it only names a new record, that one's `id`
            and `uri`. Its fields are not specified: their names become snake_case and ids str, and all else is as
            it came.

        Raises:
            ConfigurationError: The service's address or its token is not configured.
            AuthenticationError: The service refused the token.
            TransportError: The connection failed.
            NotFound: There is no such record for this token.
            Conflict: The state of the record does not allow it.

        Examples:
            >>> client.legacy_orders.delete_order(order_id)

        """
        return self._calls.payload("legacy_orders.delete_order", {"id": id})

    def reassign(self, body: Mapping[str, object]) -> Any:
        """Gives work orders to another user or operator.

        The dispatch service's `dispatch.equipment.assign` replaces it.

        `POST /api/workorders/reassign`, specification 4.6.

        Args:
            body: The payload, a mapping that is sent as it is.

        Returns:
            What the service answers, None where that is nothing; where it only names a new record, that one's `id`
            and `uri`. Its fields are not specified: their names become snake_case and ids str, and all else is as
            it came.

        Raises:
            ConfigurationError: The service's address or its token is not configured.
            AuthenticationError: The service refused the token.
            TransportError: The connection failed.
            InvalidRequest: The service refused the payload; the message has its words.
            Conflict: The state of the record does not allow it.
            UploadOutcomeUnknown: The reply was lost; it was not sent again, since that might do it twice.

        Examples:
            >>> client.legacy_orders.reassign({"orderId": order_id, "operator": "operator-2"})

        """
        return self._calls.payload("legacy_orders.reassign", {"body": body})

    def completion_requirements(self) -> Any:
        """Gives what a completion must hold.

        The dispatch service's `dispatch.field_operations.requirements` replaces it.

        `GET /api/completion/requirements`, specification 4.6.

        Returns:
            What the service answers, None where that is nothing; where it only names a new record, that one's `id`
            and `uri`. Its fields are not specified: their names become snake_case and ids str, and all else is as
            it came.

        Raises:
            ConfigurationError: The service's address or its token is not configured.
            AuthenticationError: The service refused the token.
            TransportError: The connection failed.

        Examples:
            >>> requirements = client.legacy_orders.completion_requirements()

        """
        return self._calls.payload("legacy_orders.completion_requirements", {})

    def create_completion(self, body: Mapping[str, object]) -> Any:
        """Sends a completion of a work order; the order's id stands in the payload.

        The dispatch service's `dispatch.field_operations.complete` replaces it.

        `POST /api/completion`, specification 4.6.

        Args:
            body: The payload, a mapping that is sent as it is.

        Returns:
            What the service answers, None where that is nothing; where it only names a new record, that one's `id`
            and `uri`. Its fields are not specified: their names become snake_case and ids str, and all else is as
            it came.

        Raises:
            ConfigurationError: The service's address or its token is not configured.
            AuthenticationError: The service refused the token.
            TransportError: The connection failed.
            InvalidRequest: The service refused the payload; the message has its words.
            Conflict: The state of the record does not allow it.
            UploadOutcomeUnknown: The reply was lost; it was not sent again, since that might do it twice.

        Examples:
            >>> completion = client.legacy_orders.create_completion({"orderId": order_id, **completion_body})

        """
        return self._calls.payload("legacy_orders.create_completion", {"body": body})

    def update_completion(self, body: Mapping[str, object]) -> Any:
        """Changes the completion of a work order; the order's id stands in the payload.

        The dispatch service's `dispatch.field_operations.modify_completion` replaces it.

        `PUT /api/completion`, specification 4.6.

        Args:
            body: The payload, a mapping that is sent as it is.

        Returns:
            What the service answers, None where that is nothing; where it only names a new record, that one's `id`
            and `uri`. Its fields are not specified: their names become snake_case and ids str, and all else is as
            it came.

        Raises:
            ConfigurationError: The service's address or its token is not configured.
            AuthenticationError: The service refused the token.
            TransportError: The connection failed.
            InvalidRequest: The service refused the payload; the message has its words.
            Conflict: The state of the record does not allow it.

        Examples:
            >>> client.legacy_orders.update_completion({"orderId": order_id, **completion_body})

        """
        return self._calls.payload("legacy_orders.update_completion", {"body": body})

    def delete_completion(self, order_id: str | int) -> Any:
        """Deletes the completion of a work order.

        The dispatch service's `dispatch.field_operations.delete_completion` replaces it.

        `DELETE /api/workorder/{orderId}/completion`, specification 4.6.

        Args:
            order_id: Id of the work order.

        Returns:
            What the service answers, None where that is nothing; where it only names a new record, that one's `id`
            and `uri`. Its fields are not specified: their names become snake_case and ids str, and all else is as
            it came.

        Raises:
            ConfigurationError: The service's address or its token is not configured.
            AuthenticationError: The service refused the token.
            TransportError: The connection failed.
            NotFound: There is no such record for this token.
            Conflict: The state of the record does not allow it.

        Examples:
            >>> client.legacy_orders.delete_completion(order_id)

        """
        return self._calls.payload("legacy_orders.delete_completion", {"order_id": order_id})

    def products(
        self,
        account_id: str | int,
        *,
        page_size: int | None = None,
        page: int | None = None,
    ) -> Pages[dict[str, Any]]:
        """Lists the products of an account.

        The dispatch service's `dispatch.products.list` replaces it.

        `GET /api/accounts/{accountId}/products`, specification 4.6, 4.7.

        Args:
            account_id: Id of the account; it is required.
            page_size: Records per page, 1 to 1000; the client's `page_size` if None.
            page: Zero-based page: that page alone; all pages if None.

        Returns:
            A lazy list of products as dicts, whose fields are not specified: their names become snake_case and ids
            str, and all else is as it came; pages are read as it is iterated.

        Raises:
            ConfigurationError: The service's address or its token is not configured.
            AuthenticationError: The service refused the token.
            TransportError: The connection failed.
            NotFound: There is no such record for this token.

        Examples:
            >>> ids = [product["id"] for product in client.legacy_orders.products(account_id)]

        """
        return self._calls.pages("legacy_orders.products", {"account_id": account_id}, page_size=page_size, page=page)

    def blends(self, *, page_size: int | None = None, page: int | None = None) -> Pages[dict[str, Any]]:
        """Lists blends.

        The dispatch service's `dispatch.batches.active` replaces it.

        `GET /api/blends`, specification 4.6, 4.7.

        Args:
            page_size: Records per page, 1 to 1000; the client's `page_size` if None.
            page: Zero-based page: that page alone; all pages if None.

        Returns:
            A lazy list of blends as dicts, whose fields are not specified: their names become snake_case and ids
            str, and all else is as it came; pages are read as it is iterated.

        Raises:
            ConfigurationError: The service's address or its token is not configured.
            AuthenticationError: The service refused the token.
            TransportError: The connection failed.

        Examples:
            >>> ids = [blend["id"] for blend in client.legacy_orders.blends()]

        """
        return self._calls.pages("legacy_orders.blends", {}, page_size=page_size, page=page)
