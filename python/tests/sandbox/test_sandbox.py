"""The sandbox as an object."""

from __future__ import annotations

import datetime as dt
import inspect
import json
import os
import pydoc
import urllib.request
import warnings

import pytest

import headland as hl


def test_credentials_are_the_arguments_of_a_client() -> None:
    with hl.Sandbox.demo() as service:
        names = set(inspect.signature(hl.Client).parameters)
        assert set(service.credentials) <= names
        given: dict[str, object] = {**service.credentials}
        addresses = ("base_url", "dispatch_url", "legacy_dispatch_url", "legacy_orders_url")
        for name in addresses:
            assert given[name] == getattr(service, name)
        assert len({given[name] for name in addresses}) == 4
        assert service.credentials["legacy_token"] == service.credentials["dispatch_token"]
        assert service.credentials["dispatch_token"] != service.other_dispatch_token
        hl.Client(**service.credentials).close()


def test_equipment_and_accounts_are_attributes_since_no_call_lists_them() -> None:
    with hl.Sandbox(seed=3, rate_limits=()) as service, hl.Sandbox(seed=3) as same, hl.Sandbox(seed=4) as other:
        assert service.equipment == same.equipment
        assert service.accounts == same.accounts
        assert {place.id for place in service.equipment + service.accounts}.isdisjoint(
            place.id for place in other.equipment + other.accounts
        )
        assert all(place.name for place in service.equipment + service.accounts)
        token = service.credentials["dispatch_token"]
        for place, path in (
            (service.equipment[0], f"{service.dispatch_url}/api/equipment/{{}}/operations"),
            (service.accounts[0], f"{service.legacy_orders_url}/api/accounts/{{}}/products"),
        ):
            request = urllib.request.Request(path.format(place.id), headers={"Authorization": f"Bearer {token}"})
            with urllib.request.urlopen(request, timeout=10) as reply:
                assert len(json.load(reply)) > 1
        service.close()
        with pytest.raises(RuntimeError, match="closed"):
            _ = service.equipment


def test_limited_access_keys() -> None:
    with hl.Sandbox.demo() as service:

        def client(access_key: str) -> hl.Client:
            credentials = service.credentials
            credentials["access_key"] = access_key
            return hl.Client(**credentials, rate_limits=())

        with client(service.partial_access_key) as partial:
            computers = list(partial.field_computers.list())
            jobs = {job["id"] for job in partial.job_data.list()}
        assert len(computers) == 1
        hidden = next(job["job_id"] for job in service.truth if job["job_id"] not in jobs)
        with client(service.partial_access_key) as partial, pytest.raises(hl.PermissionDenied, match="does not permit"):
            partial.job_data.get(hidden)
        with client(service.read_only_access_key) as reader:
            assert len(list(reader.job_data.list())) > len(jobs)
            with pytest.raises(hl.PermissionDenied, match="read but not write"):
                reader.prescription_maps.send(next(iter(reader.prescription_maps.list()))["id"], computers[0]["id"])
        with client(service.expired_access_key) as expired:
            summary = expired.access_key()
            assert summary["is_active"]
            assert summary["expiration_date_time"] == dt.datetime(2025, 1, 1, tzinfo=dt.UTC)
            with pytest.raises(hl.AuthenticationError, match="expired on 2025-01-01"):
                expired.job_data.list().first()


def test_one_seed_makes_one_account() -> None:
    with hl.Sandbox(seed=3) as first, hl.Sandbox(seed=3) as second, hl.Sandbox(seed=4) as other:
        assert first.truth == second.truth != other.truth
        assert first.credentials["api_key"] == second.credentials["api_key"]


def test_truth_has_the_documented_fields() -> None:
    with hl.Sandbox.demo() as service:
        truth = service.truth
    assert len({job["field"] for job in truth}) >= 6
    assert max(job["rows"] for job in truth) >= 100_000


def test_closed_sandbox_is_an_error() -> None:
    service = hl.Sandbox.demo()
    service.close()
    service.close()
    with pytest.raises(RuntimeError, match="closed"):
        service.advance(1)


def test_faults_are_shown_and_have_a_code_and_a_number_of_calls(service: hl.Sandbox, client: hl.Client) -> None:
    faults = service.faults
    faults.clear()
    assert repr(faults) == "<Faults, as added: none>"
    faults.add(endpoint="job_data.list", kind=503, times=2)
    assert len(list(client.job_data.list())) == 61
    faults.add(endpoint="job_data.get", kind=403, times=None)
    shown = "<Faults, as added: 503 of job_data.list for 2 calls; 403 of job_data.get for all calls>"
    assert repr(faults) == shown
    for _ in range(3):
        with pytest.raises(hl.PermissionDenied):
            client.job_data.get("1")
    faults.clear()
    with pytest.raises(hl.NotFound):
        client.job_data.get("1")
    text = pydoc.plain(pydoc.render_doc(faults.add))
    assert "times: The number of calls, by default one; ``None`` is all" in text


def test_unknown_faults_are_errors_and_all_known_ones_are_documented(service: hl.Sandbox) -> None:
    with pytest.raises(ValueError, match="nonsense") as caught:
        service.faults.add(endpoint="job_data.list", kind="nonsense")
    known = str(caught.value).split("use one of ")[1].split(", ")
    documentation = type(service.faults).__doc__
    assert documentation is not None
    assert len(known) > 20
    assert [kind for kind in known if f"``{kind}``" not in documentation] == []
    with pytest.raises(ValueError, match=r"job_data\.lists"):
        service.faults.add(endpoint="job_data.lists", kind="503")


def test_the_child_of_a_fork_leaves_the_service_to_its_parent() -> None:
    service = hl.Sandbox.demo()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            service.close()
            del service
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    with hl.Client(**service.credentials, rate_limits=()) as client:
        assert client.access_key()["is_active"]
    service.close()
