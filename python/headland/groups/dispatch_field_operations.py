# Generated from the table in `src/api`; change that and run `make generate`.
"""Field operations: work orders of the dispatch service, their mixes, targets and completions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headland.client.call_group import CallGroup

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from headland.client.calls import Calls


class DispatchFieldOperations(CallGroup):
    """Field operations: work orders of the dispatch service, their mixes, targets and completions."""

    __slots__ = ("_calls",)

    def __init__(self, calls: Calls) -> None:
        """Bind the group to its client's calls."""
        self._calls = calls

    def create(self, body: Mapping[str, object]) -> Any:
        """Creates a field operation, a work order that starts as Pre-Released.

        `POST /api/fieldoperations`, specification 4.6, 3.

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
            >>> operation = client.dispatch.field_operations.create({"name": "North 40", "operation": "Planting"})

        """
        return self._calls.payload("dispatch.field_operations.create", {"body": body})

    def release(self, id: str | int) -> Any:
        """Releases a field operation: from Pre-Released to Released.

        `POST /api/fieldoperations/{fieldOperationId}/release`, specification 4.6, 3.

        Args:
            id: Id of the field operation, a GUID.

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
            UploadOutcomeUnknown: The reply was lost; it was not sent again, since that might do it twice.

        Examples:
            >>> client.dispatch.field_operations.release(operation_id)

        """
        return self._calls.payload("dispatch.field_operations.release", {"id": id})

    def set_mix(self, id: str | int, body: Mapping[str, object]) -> Any:
        """Sets the mix of products of a field operation.

        `PUT /api/fieldoperations/{id}/mix`, specification 4.6.

        Args:
            id: Id of the field operation, a GUID.
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

        Examples:
            >>> client.dispatch.field_operations.set_mix(operation_id, {"products": [{"name": "Water", "rate": 90}]})

        """
        return self._calls.payload("dispatch.field_operations.set_mix", {"id": id, "body": body})

    def set_mixes(self, id: str | int, body: Mapping[str, object] | Sequence[object]) -> Any:
        """Sets all mixes of a field operation at once.

        `PUT /api/fieldoperations/{id}/mixes`, specification 4.6.

        Args:
            id: Id of the field operation, a GUID.
            body: The payload, a mapping or a list of mixes, sent as it is: which of the two a service expects
                is not shown.

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

        Examples:
            >>> client.dispatch.field_operations.set_mixes(operation_id, {"mixes": []})

        """
        return self._calls.payload("dispatch.field_operations.set_mixes", {"id": id, "body": body})

    def set_target(self, id: str | int, body: Mapping[str, object]) -> Any:
        """Sets the target of a field operation, such as the field and the rate.

        `PUT /api/fieldoperations/{id}/target`, specification 4.6.

        Args:
            id: Id of the field operation, a GUID.
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

        Examples:
            >>> client.dispatch.field_operations.set_target(operation_id, {"field": "North 40"})

        """
        return self._calls.payload("dispatch.field_operations.set_target", {"id": id, "body": body})

    def delete(self, id: str | int) -> Any:
        """Deletes a field operation.

        `DELETE /api/fieldoperations/{id}`, specification 4.6.

        Args:
            id: Id of the field operation, a GUID.

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
            >>> client.dispatch.field_operations.delete(operation_id)

        """
        return self._calls.payload("dispatch.field_operations.delete", {"id": id})

    def requirements(self, operation: str | int) -> Any:
        """Gives what a completion of an operation type must hold: what was set for that type, else the default requirements.

        `GET /api/fieldoperations/completions/requirements/{operation}`, specification 4.6.

        Args:
            operation: The operation type, such as `Planting`.

        Returns:
            What the service answers, None where that is nothing; where it only names a new record, that one's `id`
            and `uri`. Its fields are not specified: their names become snake_case and ids str, and all else is as
            it came.

        Raises:
            ConfigurationError: The service's address or its token is not configured.
            AuthenticationError: The service refused the token.
            TransportError: The connection failed.
            NotFound: There is no such record for this token.

        Examples:
            >>> requirements = client.dispatch.field_operations.requirements("Planting")

        """
        return self._calls.payload("dispatch.field_operations.requirements", {"operation": operation})

    def set_requirements(self, operation: str | int, body: Mapping[str, object]) -> Any:
        """Sets what a completion of an operation type must hold, custom requirement fields included.

        `PUT /api/fieldoperations/completions/requirements/{operation}`, specification 4.6.

        Args:
            operation: The operation type, such as `Planting`.
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

        Examples:
            >>> client.dispatch.field_operations.set_requirements("Planting", {"requirements": [{"name": "Seed lot", "required": True}]})

        """
        return self._calls.payload("dispatch.field_operations.set_requirements", {"operation": operation, "body": body})

    def complete(self, id: str | int, body: Mapping[str, object]) -> Any:
        """Sends a completion of a field operation.

        The service checks it against the requirements of the operation type.

        `POST /api/fieldoperations/{id}/completions`, specification 4.6.

        Args:
            id: Id of the field operation, a GUID.
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
            >>> completion = client.dispatch.field_operations.complete(operation_id, completion_body)

        """
        return self._calls.payload("dispatch.field_operations.complete", {"id": id, "body": body})

    def modify_completion(self, id: str | int, completion_id: str | int, body: Mapping[str, object]) -> Any:
        """Changes a completion.

        `PUT /api/fieldoperations/{id}/completions/{completionId}`, specification 4.6.

        Args:
            id: Id of the field operation, a GUID.
            completion_id: Id of the completion, a GUID.
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

        Examples:
            >>> client.dispatch.field_operations.modify_completion(operation_id, completion_id, completion_body)

        """
        return self._calls.payload("dispatch.field_operations.modify_completion", {"id": id, "completion_id": completion_id, "body": body})

    def delete_completion(self, id: str | int, completion_id: str | int) -> Any:
        """Deletes a completion.

        `DELETE /api/fieldoperations/{id}/completions/{completionId}`, specification 4.6.

        Args:
            id: Id of the field operation, a GUID.
            completion_id: Id of the completion, a GUID.

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
            >>> client.dispatch.field_operations.delete_completion(operation_id, completion_id)

        """
        return self._calls.payload("dispatch.field_operations.delete_completion", {"id": id, "completion_id": completion_id})
