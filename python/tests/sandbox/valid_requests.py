"""Requests that succeed: ids of records, files and payloads by the rules, which no generator can derive from the
document."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING, Any, NamedTuple

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SIGNED = ("field_computers", "field_hubs", "prescription_maps", "job_data", "grain_carts")

MANY = 12
"""Number of records for a request that succeeds once for each."""

VALUES = {"text": "dry", "number": 12.5, "boolean": True, "dateTime": "2026-09-01T12:00:00Z"}
"""A value of each type that the requirements of a completion name."""


class Fitting(NamedTuple):
    """The parts of a request that are not random."""

    path_parameters: dict[str, str] = {}  # noqa: RUF012 - never changed
    body: dict[str, Any] | None = None
    files: dict[str, Any] | None = None


def fitting_requests(service: hl.Sandbox, operations: Mapping[str, tuple[str, str]]) -> dict[str, list[Fitting]]:
    """Return requests by the names of their operations; operations that accept random values are not among them."""
    with hl.Client(**service.credentials, rate_limits=()) as client:
        return {
            **of_field_data(client, operations),
            **of_dispatch(client, service),
            **of_legacy_orders(client, service),
        }


def zip_of(*names: str) -> bytes:
    """Return a zip with files of these names."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in names:
            archive.writestr(name, "content")
    return buffer.getvalue()


def of_field_data(client: hl.Client, operations: Mapping[str, tuple[str, str]]) -> dict[str, list[Fitting]]:
    """Return those of the field data API: every listed record, and a file for each upload."""
    ids = {group: [record["id"] for record in getattr(client, group).list()] for group in SIGNED}
    found = {}
    for name, (_, path) in operations.items():
        group = name.partition(".")[0]
        if name == "prescription_maps.send":
            pairs = [{"rxid": rx, "fcid": fc} for rx in ids[group] for fc in ids["field_computers"]]
            found[name] = [Fitting(pair) for pair in pairs]
        elif "{id}" in path and group in ids:
            found[name] = [Fitting({"id": each}) for each in ids[group]]
    rx = {"FileName": ("a.zip", zip_of("a.shp", "a.shx", "a.dbf")), "FileType": (None, "RX")}
    found["prescription_maps.upload"] = [Fitting(files=rx)]
    found["job_data.upload"] = [Fitting(files={"FileName": ("a.jdp.zip", zip_of("a.shp"))})]
    found["grain_carts.upload"] = [Fitting(files={"FileName": ("a.grc", b"GrcVersion,1.6,\r\n")})]
    return found


def completion(requirements: Mapping[str, Any]) -> dict[str, Any]:
    """Return a completion with the required fields."""
    return {each["name"]: VALUES[each["type"]] for each in requirements["requirements"]}


def of_dispatch(client: hl.Client, service: hl.Sandbox) -> dict[str, list[Fitting]]:
    """Return those of the dispatch service, for records that are created for them."""
    operations = client.dispatch.field_operations
    done = completion(operations.requirements("Planting"))
    order = {"name": "North 40", "operation": "Planting"}

    def created() -> Iterator[str]:
        for _ in range(MANY):
            yield operations.create(order)["id"]

    def completed() -> Iterator[dict[str, str]]:
        for each in created():
            yield {"id": each, "completionId": operations.complete(each, done)["id"]}

    equipment = [each.id for each in service.equipment]
    named = {
        "create": [Fitting(body=order)],
        "release": [Fitting({"fieldOperationId": each}) for each in created()],
        "set_mix": [Fitting({"id": each}, {"products": []}) for each in created()],
        "set_mixes": [Fitting({"id": each}, {"mixes": [{"products": []}]}) for each in created()],
        "set_target": [Fitting({"id": each}, {"field": "North 40"}) for each in created()],
        "delete": [Fitting({"id": each}) for each in created()],
        "requirements": [Fitting({"operation": "Planting"})],
        "set_requirements": [
            Fitting({"operation": "Spraying"}, {"requirements": [{"name": "Seed lot", "required": True}]})
        ],
        "complete": [Fitting({"id": each}, done) for each in created()],
        "modify_completion": [Fitting(each, done) for each in completed()],
        "delete_completion": [Fitting(each) for each in completed()],
    }
    found = {f"dispatch.field_operations.{name}": requests for name, requests in named.items()}
    found["dispatch.equipment.operations"] = [Fitting({"equipmentId": each}) for each in equipment]
    found["dispatch.equipment.assign"] = [
        Fitting({"id": one}, {"fieldOperationId": each}) for one in equipment for each in created()
    ]
    return found


def of_legacy_orders(client: hl.Client, service: hl.Sandbox) -> dict[str, list[Fitting]]:
    """Return those of the legacy order service, for records that are created for them."""
    orders = client.legacy_orders
    done = completion(orders.completion_requirements())

    def created() -> list[str]:
        return [orders.create_order({"name": "North 40"})["id"] for _ in range(MANY)]

    def completed() -> list[str]:
        made = created()
        for each in made:
            orders.create_completion({"orderId": each, **done})
        return made

    named = {
        "create_order": [Fitting(body={"name": "North 40"})],
        "update_order": [Fitting(body={"id": each, "name": "South 40"}) for each in created()],
        "delete_order": [Fitting({"id": each}) for each in created()],
        "reassign": [Fitting(body={"orderId": each, "operator": "operator-2"}) for each in created()],
        "create_completion": [Fitting(body={"orderId": each, **done}) for each in created()],
        "update_completion": [Fitting(body={"orderId": each, **done}) for each in completed()],
        "delete_completion": [Fitting({"orderId": each}) for each in completed()],
        "products": [Fitting({"accountId": each.id}) for each in service.accounts],
    }
    return {f"legacy_orders.{name}": requests for name, requests in named.items()}
