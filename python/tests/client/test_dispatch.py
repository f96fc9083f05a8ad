"""The dispatch service and the legacy order service from end to end (specification 4.6, 4.7, 3), with both clients."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Callable

UNKNOWN_ID = "00000000-0000-4000-8000-000000000000"
DONE = {"startTime": "2026-05-01T06:00:00Z", "endTime": "2026-05-01T09:30:00Z"}
LOCATIONS = ("location-get", "location-no-question", "location-no-dollar", "location-last")


def client_of(service: hl.Sandbox, **other: Any) -> hl.Client:
    return hl.Client(**{**service.credentials, "rate_limits": (), **other})


def sent(service: hl.Sandbox, method: str) -> int:
    return sum(request.method == method for request in service.requests)


def test_the_whole_life_of_a_field_operation_4_6_3(fresh: hl.Sandbox) -> None:
    with client_of(fresh) as client:
        operations, equipment = client.dispatch.field_operations, client.dispatch.equipment
        machine = fresh.equipment[-1].id
        assert list(equipment.operations(machine)) == []

        made = operations.create({"name": "North 40", "operation": "Planting", "crewSize": 2})
        assert (made["status"], made["name"], made["crew_size"]) == ("Pre-Released", "North 40", 2)
        made_id = made["id"]
        assert operations.set_target(made_id, {"field": "North 40", "rateUnit": "kg"})["target"]["rate_unit"] == "kg"
        mix = {"products": [{"name": "Water", "rate": 90.1}]}
        assert operations.set_mix(made_id, mix)["mix"] == mix
        assert operations.set_mixes(made_id, {"mixes": [mix, mix]})["mixes"] == [mix, mix]
        assert operations.set_mixes(made_id, [mix])["mixes"] == [mix]
        assert operations.set_mixes(made_id, (mix, mix))["mixes"] == [mix, mix]

        assignment = equipment.assign(machine, {"fieldOperationId": made_id})
        assert (assignment["field_operation_id"], assignment["equipment_id"]) == (made_id, machine)
        with pytest.raises(hl.Conflict) as twice:
            equipment.assign(machine, {"fieldOperationId": made_id})
        assert (twice.value.status, twice.value.endpoint) == (409, "dispatch.equipment.assign")
        assert operations.release(made_id)["status"] == "Released"
        with pytest.raises(hl.Conflict, match="Released already"):
            operations.release(made_id)
        (listed,) = equipment.operations(machine)
        assert (listed["id"], listed["status"]) == (made_id, "Released")

        complete_it(operations, made_id)
        assert operations.delete(made_id) is None
        assert list(equipment.operations(machine)) == []
        with pytest.raises(hl.NotFound, match=made_id):
            operations.delete(made_id)


def complete_it(operations: Any, id: str) -> None:
    default = operations.requirements("Planting")
    assert default["is_default"] is True
    assert {one["name"] for one in default["requirements"] if one["required"]} == set(DONE)
    with pytest.raises(hl.InvalidRequest, match="endTime") as lacking:
        operations.complete(id, {"startTime": DONE["startTime"]})
    assert lacking.value.status == 400
    custom = {"requirements": [{"name": "Seed lot", "type": "text", "required": True}]}
    assert operations.set_requirements("Planting", custom)["requirements"][0]["custom"] is True
    assert operations.requirements("planting")["is_default"] is False
    with pytest.raises(hl.InvalidRequest, match="Seed lot"):
        operations.complete(id, DONE)

    completion = operations.complete(id, {"Seed lot": "A-17", "weight": 1250.5})
    assert (completion["seed_lot"], completion["weight"]) == ("A-17", 1250.5)
    changed = operations.modify_completion(id, completion["id"], {"Seed lot": "B-18"})
    assert (changed["seed_lot"], changed["id"]) == ("B-18", completion["id"])
    with pytest.raises(hl.InvalidRequest, match="Seed lot"):
        operations.modify_completion(id, completion["id"], {"weight": 1})
    assert operations.delete_completion(id, completion["id"]) is None
    with pytest.raises(hl.NotFound):
        operations.delete_completion(id, completion["id"])


def test_lists_are_complete_for_any_limit_of_the_service_4_7(fresh: hl.Sandbox) -> None:
    with client_of(fresh) as client:
        batches = client.dispatch.batches.active()
        assert len(batches) == 60
        first = batches.first()
        assert first is not None
        ids = [batch["id"] for batch in batches]
        assert (len(ids), len(set(ids)), ids[0]) == (60, 60, first["id"])
        for size in (7, 25, 26, 60, 1000):
            assert [batch["id"] for batch in client.dispatch.batches.active(page_size=size)] == ids
        assert [batch["id"] for batch in client.dispatch.batches.active(page_size=7, page=2)] == ids[14:21]
        busy = fresh.equipment[0].id
        assert len({operation["id"] for operation in client.dispatch.equipment.operations(busy)}) == 120
        assert len({product["id"] for product in client.dispatch.products.list(page_size=9)}) == 170
        with pytest.raises(hl.NotFound):
            list(client.dispatch.equipment.operations(UNKNOWN_ID))
    queries = [request.query for request in fresh.requests if "batches" in request.path]
    assert queries[0] == "$top=1000&$skip=0&$count=true"


@pytest.mark.parametrize("variants", [[name] for name in LOCATIONS] + [[*LOCATIONS], ["no-content", "problem-json"]])
def test_every_variant_of_paging_and_of_errors_4_7(variants: list[str]) -> None:
    with hl.Sandbox(variants=variants, rate_limits=()) as service, client_of(service) as client:
        for size in (7, 1000):
            assert len({batch["id"] for batch in client.dispatch.batches.active(page_size=size)}) == 60
            assert len({order["id"] for order in client.legacy_orders.work_orders(page_size=size)}) == 95
        assert client.dispatch.field_operations.create({})["status"] == "Pre-Released"
        with pytest.raises(hl.NotFound, match=UNKNOWN_ID):
            client.dispatch.field_operations.release(UNKNOWN_ID)


def test_a_list_without_a_count_has_no_length() -> None:
    with hl.Sandbox(variants=["no-total-count"], rate_limits=()) as service, client_of(service) as client:
        batches = client.dispatch.batches.active()
        with pytest.raises(TypeError, match="no total count"):
            len(batches)
        assert sum(1 for _ in batches) == 60

        async def count() -> int:
            async with hl.AsyncClient(**service.credentials, rate_limits=()) as twin:
                with pytest.raises(TypeError, match="no total count"):
                    await twin.dispatch.batches.active().total()
                return sum([1 async for _ in twin.dispatch.batches.active()])

        assert asyncio.run(count()) == 60


@pytest.mark.parametrize(
    ("kind", "message"),
    [("foreign-location", "elsewhere"), ("looping-location", "circles"), ("repeated-page", "circles")],
)
def test_foreign_or_looping_location_is_an_error_4_7(fresh: hl.Sandbox, kind: str, message: str) -> None:
    fresh.faults.add(endpoint="dispatch.batches.active", kind=kind)
    with client_of(fresh) as client, pytest.raises(hl.DecodeError, match=message):
        list(client.dispatch.batches.active())


@pytest.mark.parametrize("address", ["legacy_orders_url", "legacy_dispatch_url"])
def test_every_legacy_row_at_both_addresses_4_6(fresh: hl.Sandbox, address: str) -> None:
    other = {"legacy_orders_url": "legacy_dispatch_url", "legacy_dispatch_url": "legacy_orders_url"}[address]
    with client_of(fresh, **{other: None}) as client:
        orders = client.legacy_orders
        before = {order["id"] for order in orders.work_orders()}
        order = orders.create_order({"name": "North 40"})
        assert {found["id"] for found in orders.work_orders()} == before | {order["id"]}
        assert orders.update_order({"id": order["id"], "name": "South 40"})["name"] == "South 40"
        assert {one["name"] for one in orders.completion_requirements()["requirements"] if one["required"]} == set(DONE)
        with pytest.raises(hl.InvalidRequest, match="startTime"):
            orders.create_completion({"orderId": order["id"]})
        assert orders.create_completion({"orderId": order["id"], **DONE})["order_id"] == order["id"]
        assert orders.update_completion({"orderId": order["id"], **DONE, "notes": "wet"})["notes"] == "wet"
        assert orders.delete_completion(order["id"]) is None
        assert orders.reassign({"orderId": order["id"], "operator": "operator-2"})["operator"] == "operator-2"
        assert order["id"] not in {found["id"] for found in orders.work_orders()}
        assert orders.delete_order(order["id"]) is None
        with pytest.raises(hl.NotFound):
            orders.delete_order(order["id"])
        assert len({product["id"] for product in orders.products(fresh.accounts[0].id)}) == 130
        assert len(orders.blends()) == 70
    root = fresh.credentials[address].removeprefix(fresh.base_url)  # type: ignore[literal-required]
    assert all(request.path.startswith(f"{root}/api/") for request in fresh.requests)


def test_orders_address_precedes_the_other(fresh: hl.Sandbox) -> None:
    with client_of(fresh) as client:
        assert client.legacy_orders.completion_requirements()["is_default"]
    assert fresh.requests[-1].path.startswith("/legacy-orders/")


def test_the_asynchronous_client_does_the_same(fresh: hl.Sandbox) -> None:
    asked = 0

    async def token() -> str:
        nonlocal asked
        asked += 1
        await asyncio.sleep(0)
        return fresh.credentials["dispatch_token"]

    async def life() -> None:
        credentials: dict[str, Any] = {**fresh.credentials, "dispatch_token": token}
        async with hl.AsyncClient(**credentials, rate_limits=()) as client:
            operations = client.dispatch.field_operations
            made = await operations.create({"operation": "Planting"})
            await client.dispatch.equipment.assign(fresh.equipment[-1].id, {"fieldOperationId": made["id"]})
            assert (await operations.release(made["id"]))["status"] == "Released"
            listed = [one["id"] async for one in client.dispatch.equipment.operations(fresh.equipment[-1].id)]
            assert listed == [made["id"]]
            assert await operations.delete(made["id"]) is None
            assert await client.dispatch.batches.active().total() == 60
            first = await client.legacy_orders.work_orders().first()
            assert first is not None
            pages = [batch["id"] async for batch in client.dispatch.batches.active(page_size=20)]
            assert len(pages) == 60

    asyncio.run(life())
    assert asked == 1


def test_expired_token_is_requested_once_more_5_6(fresh: hl.Sandbox) -> None:
    given: list[str] = []
    good = fresh.credentials["dispatch_token"]

    def turns() -> str:
        given.append("expired" if len(given) % 2 == 0 else good)
        return given[-1]

    with client_of(fresh, dispatch_token=turns) as client:
        assert client.dispatch.field_operations.create({})["status"] == "Pre-Released"
        assert len(given) == 2
        assert len(list(client.dispatch.batches.active(page_size=30))) == 60
    assert [request.status for request in fresh.requests[:2]] == [401, 201]

    def wrong() -> str:
        given.append("never-right")
        return given[-1]

    given.clear()
    with client_of(fresh, dispatch_token=wrong) as client:
        with pytest.raises(hl.AuthenticationError) as refused:
            client.dispatch.field_operations.create({})
        assert (refused.value.status, len(given)) == (401, 2)
    with client_of(fresh, dispatch_token="never-right") as client:
        before = len(fresh.requests)
        with pytest.raises(hl.AuthenticationError, match="token") as fixed:
            list(client.dispatch.products.list())
        assert len(fresh.requests) == before + 1
        assert fixed.value.check
    asyncio.run(once_more(fresh))


def test_callable_is_called_once_for_all_threads_until_the_service_refuses_its_token(fresh: hl.Sandbox) -> None:
    given: list[str] = []
    refused = threading.Barrier(8)

    def turns() -> str:
        given.append("expired" if not given else fresh.credentials["dispatch_token"])
        return given[-1]

    def read(_: int) -> int:
        refused.wait()
        return len(client.dispatch.products.list())

    with client_of(fresh, dispatch_token=turns) as client, ThreadPoolExecutor(8) as threads:
        assert list(threads.map(read, range(8))) == [170] * 8
        assert len(given) == 2
        list(client.dispatch.batches.active(page_size=10))
        client.dispatch.field_operations.create({})
        assert len(given) == 2
    asyncio.run(ask_once(fresh))


async def ask_once(service: hl.Sandbox) -> None:
    given: list[str] = []

    async def turns() -> str:
        given.append("expired" if not given else service.credentials["dispatch_token"])
        token = given[-1]
        await asyncio.sleep(0)
        return token

    credentials: dict[str, Any] = {**service.credentials, "dispatch_token": turns}
    async with hl.AsyncClient(**credentials, rate_limits=()) as client:
        totals = await asyncio.gather(*(client.dispatch.products.list().total() for _ in range(8)))
        assert (totals, len(given)) == ([170] * 8, 2)


async def once_more(service: hl.Sandbox) -> None:
    given: list[str] = []

    async def turns() -> str:
        given.append("expired" if not given else service.credentials["dispatch_token"])
        return given[-1]

    credentials: dict[str, Any] = {**service.credentials, "dispatch_token": turns, "legacy_token": "never-right"}
    async with hl.AsyncClient(**credentials, rate_limits=()) as client:
        assert await client.dispatch.batches.active().total() == 60
        assert len(given) == 2
        with pytest.raises(hl.AuthenticationError):
            await client.legacy_orders.completion_requirements()


def test_each_customer_sees_their_own(fresh: hl.Sandbox) -> None:
    with client_of(fresh) as client, client_of(fresh, dispatch_token=fresh.other_dispatch_token) as other:
        made = client.dispatch.field_operations.create({})
        with pytest.raises(hl.NotFound):
            other.dispatch.field_operations.release(made["id"])
        mine = {batch["id"] for batch in client.dispatch.batches.active()}
        assert mine.isdisjoint(batch["id"] for batch in other.dispatch.batches.active())


@pytest.mark.parametrize("kind", ["503", "500", "429"])
def test_failing_service(fresh: hl.Sandbox, kind: str) -> None:
    with client_of(fresh, timeout=hl.Timeout(call=20)) as client:
        made = client.dispatch.field_operations.create({})
        fresh.faults.add(endpoint="dispatch.field_operations.set_target", kind=kind)
        assert client.dispatch.field_operations.set_target(made["id"], {"a": 1})["target"] == {"a": 1}
        assert sent(fresh, "PUT") == 2
        before = sent(fresh, "POST")
        fresh.faults.add(endpoint="dispatch.field_operations.create", kind=kind)
        if kind == "429":
            assert client.dispatch.field_operations.create({})["id"]
        else:
            with pytest.raises(hl.UploadOutcomeUnknown, match="not sent again"):
                client.dispatch.field_operations.create({})
            assert sent(fresh, "POST") == before + 1


def test_a_post_whose_reply_is_lost_is_not_sent_again(fresh: hl.Sandbox) -> None:
    fresh.faults.add(endpoint="dispatch.field_operations.create", kind="reset", times=5)
    with client_of(fresh) as client, pytest.raises(hl.UploadOutcomeUnknown, match="create"):
        client.dispatch.field_operations.create({})
    assert sent(fresh, "POST") == 1


@pytest.mark.parametrize(
    ("missing", "call"),
    [
        ("dispatch_url", lambda client: client.dispatch.products.list()),
        ("dispatch_token", lambda client: client.dispatch.products.list()),
        ("dispatch_url", lambda client: client.dispatch.field_operations.create({})),
        ("dispatch_token", lambda client: client.dispatch.field_operations.create({})),
        ("legacy_token", lambda client: client.legacy_orders.blends()),
        ("legacy_token", lambda client: client.legacy_orders.create_order({})),
    ],
)
def test_missing_configuration_is_an_error_that_names_it(
    service: hl.Sandbox, missing: str, call: Callable[[hl.Client], object]
) -> None:
    before = len(service.requests)
    with client_of(service, **{missing: None}) as client, pytest.raises(hl.ConfigurationError, match=f"`{missing}`"):
        call(client)
    assert len(service.requests) == before


def test_missing_legacy_address_is_an_error_with_both_names(service: hl.Sandbox) -> None:
    with (
        client_of(service, legacy_dispatch_url=None, legacy_orders_url=None) as client,
        pytest.raises(hl.ConfigurationError, match="`legacy_orders_url` or `legacy_dispatch_url`"),
    ):
        client.legacy_orders.blends()
