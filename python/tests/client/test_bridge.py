"""Blocking and asynchronous calls: signals, forks, threads, event loops."""

from __future__ import annotations

import asyncio
import concurrent.futures
import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import pytest
from forks import in_child
from stub_server import web

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Iterator
    from http.server import BaseHTTPRequestHandler

SOON = 30
"""Seconds within which Ctrl-C must work, half of the shortest wait of these tests."""


@pytest.fixture
def slow_conversions() -> Iterator[hl.Sandbox]:
    """Return a service whose conversions take longer than any test."""
    with hl.Sandbox(conversion_time=300, rate_limits=()) as running:
        yield running


def run(program: str, service: hl.Sandbox, *arguments: str) -> subprocess.Popen[str]:
    """Start a program that reads the keys from its environment."""
    keys = {f"HEADLAND_{name.upper()}": str(value) for name, value in service.credentials.items()}
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program), *arguments],
        env={**os.environ, **keys, "HEADLAND_RATE_LIMITS": ""},
        stdout=subprocess.PIPE,
        text=True,
    )


WAITS = {
    "a conversion": "client.job_data.request(job).wait()",
    "a download": "client.job_data.download(job)",
    "a layer": "client.job_data.read(job)",
    "a limiter": "[limited.access_key() for _ in range(2)]",
}


@pytest.mark.parametrize("wait", WAITS.values(), ids=WAITS.keys())
def test_ctrl_c_ends_a_wait(slow_conversions: hl.Sandbox, small_job: str, wait: str) -> None:
    program = f"""
        import os, sys, time
        import headland as hl
        client = hl.Client.from_env()
        os.environ.update(HEADLAND_RATE_LIMITS="1/60", HEADLAND_LIMITER_STATE="memory")
        limited = hl.Client.from_env()
        job = sys.argv[1]
        print("waiting", flush=True)
        try:
            {wait}
        except KeyboardInterrupt:
            print("stopped", flush=True)
            # What was interrupted leaves the client as it was.
            print(client.access_key()["is_active"], flush=True)
    """
    with run(program, slow_conversions, small_job) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "waiting\n"
        time.sleep(0.5)
        sent = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "stopped\n"
        assert time.monotonic() - sent < SOON
        assert process.stdout.readline() == "True\n"
        assert process.wait(10) == 0


def test_signal_handler_may_call_the_client(client: hl.Client, service: hl.Sandbox) -> None:
    answers = []
    before = signal.signal(signal.SIGALRM, lambda *_: answers.append(client.access_key()["is_active"]))
    try:
        with hl.Client(**service.credentials, rate_limits=[(1, 0.5)], limiter_state="memory") as waiting:
            waiting.access_key()
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            waiting.access_key()
    finally:
        signal.signal(signal.SIGALRM, before)
    assert answers == [True]


def test_signal_handler_may_call_the_client_that_it_interrupts(service: hl.Sandbox) -> None:
    answers = []
    timeout = hl.Timeout(5, 5, 20)
    with hl.Client(**service.credentials, rate_limits=[(1, 0.5)], limiter_state="memory", timeout=timeout) as waiting:
        before = signal.signal(signal.SIGALRM, lambda *_: answers.append(waiting.access_key()["is_active"]))
        try:
            waiting.access_key()
            # The call of the handler waits behind the interrupted one, which is not polled until the handler ends.
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            waiting.access_key()
        finally:
            signal.signal(signal.SIGALRM, before)
    assert answers == [True]


def test_a_call_after_a_fork(client: hl.Client, service: hl.Sandbox) -> None:
    assert client.access_key()["is_active"]
    limited = hl.Client(**service.credentials, rate_limits=[(1000, 60.0)])
    assert limited.access_key()["is_active"]

    def calls() -> None:
        for _ in range(3):
            assert client.access_key()["is_active"]
            assert limited.access_key()["is_active"]
            assert len(list(client.field_computers.list())) > 0

    in_child(calls)
    calls()
    assert limited.budget().windows[0].used == 7


def test_a_call_after_a_fork_while_other_threads_call(client: hl.Client) -> None:
    over = threading.Event()

    def busy() -> None:
        while not over.is_set():
            client.access_key()

    threads = [threading.Thread(target=busy) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(20):
            in_child(client.access_key)
    finally:
        over.set()
        for thread in threads:
            thread.join()


def test_a_call_after_a_fork_of_a_process_with_a_driver_thread(client: hl.Client, service: hl.Sandbox) -> None:
    async def call() -> bool | None:
        twin = hl.AsyncClient(**service.credentials, rate_limits=())
        return (await twin.access_key())["is_active"]

    assert asyncio.run(call())

    def calls() -> None:
        assert client.access_key()["is_active"]
        assert asyncio.run(call())

    in_child(calls)
    calls()


def test_list_opened_before_a_fork_is_an_error(client: hl.Client) -> None:
    pages = client.job_data.list()
    assert pages.first() is not None

    def read_on() -> None:
        with pytest.raises(RuntimeError, match="before a fork"):
            list(pages)

    in_child(read_on)
    assert len(list(pages)) == len(pages)


def test_a_call_under_a_running_loop(client: hl.Client) -> None:
    async def cell() -> bool | None:
        return client.access_key()["is_active"]

    assert asyncio.run(cell())


def test_threads_share_one_client(client: hl.Client) -> None:
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        # The service returns no detail of the middle one, a legacy device.
        computers = list(client.field_computers.list())[::2]
        details = list(pool.map(lambda computer: client.field_computers.get(computer["id"]), computers * 5))
    assert [detail["id"] for detail in details] == [computer["id"] for computer in computers] * 5


def test_threads_and_loops_share_one_budget(service: hl.Sandbox) -> None:
    with hl.Client(**service.credentials, rate_limits=[(100, 60.0)]) as client:

        async def call() -> None:
            twin = hl.AsyncClient(**service.credentials, rate_limits=[(100, 60.0)])
            await asyncio.gather(*(twin.access_key() for _ in range(10)))

        asyncio.run(call())
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda _: client.access_key(), range(10)))
        assert client.budget().windows[0].used == 20


def threads() -> int:
    return len(list(Path("/proc/self/task").iterdir()))


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="only Linux counts threads in /proc")
def test_concurrent_calls_add_at_most_two_threads(service: hl.Sandbox) -> None:
    program = """
        import asyncio, os
        import headland as hl

        async def main():
            client = hl.AsyncClient.from_env()
            before = most = len(os.listdir("/proc/self/task"))
            calls = [asyncio.ensure_future(client.access_key()) for _ in range(200)]
            while not all(call.done() for call in calls):
                most = max(most, len(os.listdir("/proc/self/task")))
                await asyncio.sleep(0)
            assert all(call.result()["is_active"] for call in calls)
            print(most - before)

        asyncio.run(main())
    """
    with run(program, service) as process:
        assert process.stdout is not None
        added = int(process.stdout.read())
    assert added <= 2


def test_cancelling_one_call_leaves_the_rest(slow_conversions: hl.Sandbox, small_job: str) -> None:
    async def main() -> None:
        async with hl.AsyncClient(**slow_conversions.credentials, rate_limits=()) as client:
            waiting = [asyncio.ensure_future(client.job_data.download(small_job)) for _ in range(3)]
            others = [asyncio.ensure_future(client.access_key()) for _ in range(50)]
            await asyncio.sleep(0.2)
            waiting[0].cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting[0]
            assert all(key["is_active"] for key in await asyncio.gather(*others))
            assert not waiting[1].done()
            sent = len(slow_conversions.requests)
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(client.job_data.download(small_job), 0.2)
            for other in waiting[1:]:
                other.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)
            await asyncio.sleep(0.2)
            assert len(slow_conversions.requests) <= sent + 1
            assert (await client.access_key())["is_active"]

    asyncio.run(main())


def test_event_loop_may_close_during_a_call(slow_conversions: hl.Sandbox, client: hl.Client, small_job: str) -> None:
    twin = hl.AsyncClient(**slow_conversions.credentials, rate_limits=())

    async def leave() -> None:
        asyncio.ensure_future(twin.job_data.download(small_job))  # noqa: RUF006 - left behind on purpose
        asyncio.ensure_future(twin.access_key())  # noqa: RUF006 - as above
        await asyncio.sleep(0)

    asyncio.run(leave())
    assert client.access_key()["is_active"]


SERIES = int(os.environ.get("HEADLAND_SERIES", "1"))

LEAVES = {
    "tasks": """
        loop = asyncio.new_event_loop()
        async def leave():
            global waiting
            twin = hl.AsyncClient.from_env()
            waiting = [asyncio.ensure_future(twin.job_data.download(job)) for _ in range(5)]
            waiting += [asyncio.ensure_future(twin.access_key()) for _ in range(200)]
            await asyncio.sleep(delay)
        loop.run_until_complete(leave())
        logging.disable()  # the loop's complaint about tasks that are left behind is not what this is about
    """,
    "threads": """
        client = hl.Client.from_env()
        def call():
            while True:
                client.access_key()
        for work in (call, call, lambda: client.job_data.download(job)):
            threading.Thread(target=work, daemon=True).start()
        time.sleep(delay)
    """,
}


@pytest.mark.parametrize("left", LEAVES.values(), ids=LEAVES.keys())
def test_interpreter_exits_cleanly_with_open_objects(slow_conversions: hl.Sandbox, small_job: str, left: str) -> None:
    start = """
        import asyncio, logging, sys, threading, time
        import headland as hl
        job, delay = sys.argv[1], float(sys.argv[2])
    """
    for step in range(0, 8, 3 if SERIES == 1 else 1):
        with run(
            textwrap.dedent(start) + textwrap.dedent(left), slow_conversions, small_job, str(step * 0.02)
        ) as process:
            assert process.wait(20) == 0, f"after {step * 0.02} s"


def test_connection_closed_by_the_service_is_replaced(client: hl.Client, service: hl.Sandbox) -> None:
    assert client.access_key()["is_active"]
    service.faults.add(endpoint="field_computers.list", kind="reset")
    assert client.field_computers.list().first() is not None
    assert client.access_key()["is_active"]


def test_closed_client_is_an_error(service: hl.Sandbox) -> None:
    with hl.Client(**service.credentials, rate_limits=()) as client:
        pass
    for attempt in (client.access_key, client.job_data.list, client.budget):
        with pytest.raises(RuntimeError, match="closed"):
            attempt()
    assert "closed" in repr(client)


def test_asynchronous_call_outside_a_loop_is_an_error(service: hl.Sandbox) -> None:
    twin = hl.AsyncClient(**service.credentials, rate_limits=())
    call = twin.access_key()
    with pytest.raises(RuntimeError, match="no running event loop"):
        call.send(None)


def test_signal_check_during_concurrent_calls_loses_none_of_them() -> None:
    # 4.4: pages of a stable list are fetched concurrently. Reading them takes longer than the interval between two
    # checks for signals (at least in a debug build), so intervals end just after the next calls have started.
    pages, size = 60, 1_000

    def answer(request: BaseHTTPRequestHandler) -> tuple[int, dict[str, str], bytes]:
        asked = parse_qs(urlsplit(request.path).query)
        count, page = int(asked["pageSize"][0]), int(asked["page"][0])
        jobs = [
            {"ID": pages * size - number, "Name": f"North field {number}", "CreateDate": "2026-09-01T12:00:00.000Z"}
            for number in range(page * count, (page + 1) * count)
        ]
        body = {"TotalCount": pages * size, "IsNextPage": (page + 1) * count < pages * size, "JobData": jobs}
        return 200, {"Content-Type": "application/json"}, json.dumps(body).encode()

    keys: dict[str, Any] = {"api_key": "key", "shared_secret": "c2VjcmV0", "access_key": "customer"}
    with (
        web(answer) as host,
        hl.Client(base_url=f"http://{host}", **keys, rate_limits=(), timeout=hl.Timeout(5, 20, 20)) as client,
    ):
        assert client.job_data.list(page_size=size).to_arrow().num_rows == pages * size
