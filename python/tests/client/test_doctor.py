"""The doctor on the service: keys, clock, signature, limit. Each fault is provoked, and its next step checked."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any

import pytest
from doctor_runs import OTHER_SECRET, STEPS, assert_fails, examine, finding
from stub_server import ago, is_signed, record, web

import headland as hl

if TYPE_CHECKING:
    from http.server import BaseHTTPRequestHandler
    from pathlib import Path

    from stub_server import Answer


def test_no_fault(faulty: hl.Sandbox, client: hl.Client) -> None:
    jobs = len(client.job_data.list())
    before = len(faulty.requests)
    checkup = examine(faulty.credentials)
    assert checkup.ok
    assert checkup.error is None
    assert [each.name for each in checkup.findings] == STEPS
    assert {each.next_step for each in checkup.findings} == {None}
    assert finding(checkup, "list call").seen.endswith(f": {jobs} jobs")
    assert checkup.calls == len(faulty.requests) - before == 2
    assert str(checkup).endswith("calls succeed (2 calls were made)")


def test_the_asynchronous_client_has_it_too(faulty: hl.Sandbox) -> None:
    async def ask() -> hl.Checkup:
        async with hl.AsyncClient(**faulty.credentials, limiter_state="memory") as client:
            return await client.doctor()

    assert asyncio.run(ask()).ok


@pytest.mark.parametrize("accept", ["json", "xml"])
def test_every_variant_of_the_service_is_understood(accept: str) -> None:
    with hl.Sandbox(variants=["wild"]) as wild:
        assert examine(wild.credentials, accept=accept).ok


# The keys, specification 5.2 and 5.3: each cause of a 401 is distinguished.
@pytest.mark.parametrize(
    ("wrong", "step", "seen", "next_step"),
    [
        ({"api_key": "an-unknown-api-key"}, "signature", "API key check failed", "copy api_key again"),
        ({"shared_secret": OTHER_SECRET}, "signature", "signature check failed", "copy shared_secret again"),
        (
            {"access_key": "an-unknown-access-key"},
            "access key",
            "access key check failed",
            "copy access_key again",
        ),
    ],
)
def test_a_wrong_key_is_named(faulty: hl.Sandbox, wrong: dict[str, str], step: str, seen: str, next_step: str) -> None:
    assert_fails(examine(faulty.credentials, **wrong), step, seen, next_step, hl.AuthenticationError)


def test_a_revoked_access_key(faulty: hl.Sandbox) -> None:
    checkup = examine(faulty.credentials, access_key=faulty.revoked_access_key)
    assert_fails(checkup, "access key", "revoked", "issue a new access key", hl.AuthenticationError)
    assert checkup.calls == 1
    assert "(contact: " in (checkup.findings[-1].next_step or "")


def test_an_expired_access_key(faulty: hl.Sandbox) -> None:
    when = ago(days=3)
    with web(lambda request: record(request.path, ExpirationDateTime=when)) as host:
        checkup = examine(faulty.credentials, base_url=f"http://{host}")
    assert_fails(checkup, "access key", f"expired at {when[:10]}", "issue a new access key", hl.AuthenticationError)


def test_the_expired_access_key_of_the_local_service(faulty: hl.Sandbox) -> None:
    checkup = examine(faulty.credentials, access_key=faulty.expired_access_key)
    assert_fails(checkup, "access key", "expired at 2025-01-01", "issue a new access key", hl.AuthenticationError)


def test_limited_access_keys_pass_if_they_can_read(faulty: hl.Sandbox) -> None:
    for access_key in (faulty.partial_access_key, faulty.read_only_access_key):
        checkup = examine(faulty.credentials, access_key=access_key)
        assert checkup.ok, str(checkup)


def test_a_401_that_names_no_check(faulty: hl.Sandbox) -> None:
    with web(lambda _: (401, {}, b"Unauthorized")) as host:
        checkup = examine(faulty.credentials, base_url=f"http://{host}")
    assert_fails(checkup, "signature", "Unauthorized", "does not say which check failed", hl.AuthenticationError)


@pytest.mark.parametrize("status", [401, 403, 404, 405])
def test_an_access_key_that_may_not_list_jobs(faulty: hl.Sandbox, status: int) -> None:
    def answer(request: BaseHTTPRequestHandler) -> Answer:
        return record(request.path) if request.path.endswith("/accesskey") else (status, {}, b"not permitted")

    with web(answer) as host:
        checkup = examine(faulty.credentials, base_url=f"http://{host}")
    assert_fails(checkup, "list call", "not permitted", "with job data delegated to you", hl.HeadlandError)


# The clock, specification 5.2: requests live for 120 seconds.
def seconds_behind(clock: hl.Finding) -> int:
    measured = re.search(r"(\d+) s behind the service's", clock.seen)
    assert measured, clock.seen
    return int(measured[1])


@pytest.mark.parametrize(
    ("seconds", "calls", "is_noted"), [(20, 2, False), (90, 2, True), (120, None, True), (240, 3, True)]
)
def test_wrong_clock_is_measured(seconds: int, calls: int | None, *, is_noted: bool) -> None:
    with hl.Sandbox() as service:
        service.advance(seconds)
        checkup = examine(service.credentials)
    clock = finding(checkup, "clock")
    assert checkup.ok
    assert calls in (checkup.calls, None)
    assert abs(seconds_behind(clock) - seconds) <= 3
    assert ("set this machine's clock" in (clock.next_step or "")) == is_noted


def test_an_hour_is_corrected_for_this_client(faulty: hl.Sandbox) -> None:
    faulty.faults.add(endpoint="*", kind="skew", times=3)
    clock = finding(examine(faulty.credentials), "clock")
    assert abs(seconds_behind(clock) - 3600) <= 3
    assert clock.seen.endswith("; corrected for this client")
    assert "network time" in (clock.next_step or "")


def test_a_refused_time_without_a_date(faulty: hl.Sandbox) -> None:
    for kind in ("skew", "no-date"):
        faulty.faults.add(endpoint="*", kind=kind, times=1)
    checkup = examine(faulty.credentials)
    assert_fails(checkup, "clock", "sends no Date", "set this machine's clock", hl.AuthenticationError)


def test_service_without_a_date_passes(faulty: hl.Sandbox) -> None:
    faulty.faults.add(endpoint="*", kind="no-date", times=2)
    assert "not measured" in finding(examine(faulty.credentials), "clock").seen


def test_a_service_whose_date_and_check_do_not_agree(faulty: hl.Sandbox) -> None:
    with web(lambda _: (401, {}, b"timestamp check failed")) as host:
        checkup = examine(faulty.credentials, base_url=f"http://{host}")
    assert_fails(checkup, "clock", "timestamp check failed", "report to the operator", hl.AuthenticationError)


# The signature, specification 5.4: host, path, and known variations of services.
def test_unknown_path_prefix(faulty: hl.Sandbox) -> None:
    checkup = examine(faulty.credentials, base_url=f"{faulty.base_url}/V2")
    assert_fails(checkup, "service", "/V2/accesskey", f"set base_url to {faulty.base_url}:", hl.NotFound)
    with web(lambda _: (404, {}, b"")) as host:
        checkup = examine(faulty.credentials, base_url=f"http://{host}")
    assert_fails(checkup, "service", "nothing at", "the URL from the operator", hl.NotFound)


def test_a_service_that_signs_the_path_as_it_is_written(faulty: hl.Sandbox) -> None:
    def answer(request: BaseHTTPRequestHandler) -> Answer:
        path = request.path.partition("?")[0]
        signed = is_signed(request, faulty.credentials, host=request.headers["Host"], path=path)
        return record(path) if signed else (401, {}, b"signature check failed")

    with web(answer) as host:
        checkup = examine(faulty.credentials, base_url=f"http://{host}/Api/V1")
        next_step = f"set base_url to http://{host}/api/v1"
        assert_fails(checkup, "signature", "`/Api/V1` as it is written", next_step, hl.AuthenticationError)
        assert examine(faulty.credentials, base_url=f"http://{host}/api/v1").ok


def test_a_service_that_does_not_know_the_path_in_lower_case(faulty: hl.Sandbox) -> None:
    def answer(request: BaseHTTPRequestHandler) -> Answer:
        path = request.path.partition("?")[0]
        signed = is_signed(request, faulty.credentials, host=request.headers["Host"], path=path)
        return (404, {}, b"") if signed else (401, {}, b"signature check failed")

    with web(answer) as host:
        checkup = examine(faulty.credentials, base_url=f"http://{host}/Api")
    assert_fails(checkup, "signature", "as it is written", "ask the operator to check", hl.AuthenticationError)


def test_a_service_that_signs_the_host_without_its_port(faulty: hl.Sandbox) -> None:
    def answer(request: BaseHTTPRequestHandler) -> Answer:
        signed = is_signed(request, faulty.credentials, host="127.0.0.1", path=request.path.partition("?")[0])
        return record(request.path) if signed else (401, {}, b"signature check failed")

    with web(answer) as host:
        checkup = examine(faulty.credentials, base_url=f"http://{host}")
    assert_fails(checkup, "signature", "without the port", "a URL without a port", hl.AuthenticationError)


# The limit, specification 8.
def test_limit_used_up_by_other_clients() -> None:
    with hl.Sandbox(rate_limits=[(6, 60.0)]) as service:
        limits = {"rate_limits": [(6, 60.0)]}
        with hl.Client(**service.credentials, rate_limits=()) as other:
            for _ in range(3):
                other.access_key()
        limiter = finding(examine(service.credentials, **limits), "limiter")
        assert "3 of them were made by others" in limiter.seen
        assert "give each machine" in (limiter.next_step or "")
        with hl.Client(**service.credentials, rate_limits=()) as other:
            other.access_key()
        checkup = examine(service.credentials, **limits)
    assert_fails(checkup, "limiter", "HTTP 429", "others have used up the limit", hl.RateLimited)
    assert (checkup.findings[-1].next_step or "").startswith("wait ")
    assert checkup.calls == 1


def test_limit_used_up_by_this_machine(faulty: hl.Sandbox, tmp_path: Path) -> None:
    state: dict[str, Any] = {"limiter_state": tmp_path / "limits", "rate_limits": [(2, 60.0)]}
    with hl.Client(**faulty.credentials, **state) as other:
        other.access_key()
        other.access_key()
    checkup = examine(faulty.credentials, **state)
    assert_fails(checkup, "limiter", "allows the next call in", "s: programs on this machine", hl.RateLimited)
    assert checkup.calls == 0


def test_a_limiter_that_is_turned_off(faulty: hl.Sandbox) -> None:
    assert "turned off" in finding(examine(faulty.credentials, rate_limits=()), "limiter").seen


def test_a_machine_without_a_folder_for_the_budget(faulty: hl.Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name)
    limiter = finding(examine(faulty.credentials, limiter_state=None), "limiter")
    assert "no folder for state" in limiter.seen
    assert "set limiter_state" in (limiter.next_step or "")


def test_a_file_of_the_budget_that_cannot_be_written(faulty: hl.Sandbox, tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file where a folder should be")
    client = hl.Client(**faulty.credentials, limiter_state=tmp_path / "state" / "limits")
    with pytest.warns(hl.HeadlandWarning, match="the rate limit is not shared"):
        client.access_key()
    # The warning is emitted once; the doctor still reports it.
    limiter = finding(client.doctor(), "limiter")
    assert str(tmp_path / "state") in limiter.seen
    assert "writable" in (limiter.next_step or "")
