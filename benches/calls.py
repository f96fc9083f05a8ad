"""Compares the client's CPU time for calls with that of peers that do the same work on fixed replies."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import socket
import statistics
import sys
import time
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

import aiohttp
import requests
import stub_server
from target_report import Target, medians, report, share_a_core
from yarl import URL

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Callable

API_KEY = "ApiKeyAbC123"
SECRET = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="  # noqa: S105 - a test secret
ACCESS_KEY = "AccessKeyXyZ789"
SIGNING_KEY = base64.b64decode(SECRET)

IN_FLIGHT = 32
# Work is done in many short slices, ours and theirs in turn, so that other load slows both. The median omits the slices
# that it slowed most.
SLICES = 11
CALLS = 400
# The service allows a call in two seconds: 0.005 % of that.
CALL_BOUND = 100
# A page of 1,000 records, in times of `json.loads`.
PAGE_BOUND = 1.5
LARGE_PAGES = 10


def signed(host: str, path: str) -> dict[str, str]:
    """Sign a request as the interface requires."""
    now = str(int(time.time()))
    text = f"GET\r\n{host}\r\n{path}\r\n{now}\r\n{API_KEY}\r\n{ACCESS_KEY}\r\n"
    mac = hmac.digest(SIGNING_KEY, text.encode(), hashlib.sha1)
    return {
        "X-SS-APIKey": API_KEY,
        "X-SS-AccessKey": ACCESS_KEY,
        "X-SS-TimeStamp": now,
        "X-SS-Signature": base64.b64encode(mac).decode(),
        "Accept": "application/json",
        "Accept-Encoding": "gzip, deflate",
    }


def compare(ours: Callable[[], object], theirs: Callable[[], object], slices: int = SLICES) -> tuple[float, float]:
    """Return the CPU time of this process with all its threads, in seconds for one slice of each side."""
    spent: tuple[list[float], list[float]] = ([], [])
    for _ in range(slices):
        for side, work in zip(spent, (theirs, ours), strict=True):
            started = time.process_time()
            work()
            side.append(time.process_time() - started)
    return statistics.median(spent[0]), statistics.median(spent[1])


def timed(record: dict[str, Any], *names: str) -> dict[str, Any]:
    """Convert the times of a record to aware datetimes."""
    for name in names:
        record[name] = datetime.fromisoformat(record[name])
    return record


def sequential(base: str, client: hl.Client, session: requests.Session) -> Target:
    """Sequential signed calls."""
    host = base.removeprefix("http://")

    def ours() -> None:
        for _ in range(CALLS):
            assert client.access_key()["is_active"]

    def theirs() -> None:
        for _ in range(CALLS):
            reply = session.get(f"{base}/accesskey", headers=signed(host, "/accesskey"), timeout=60)
            reply.raise_for_status()
            assert timed(reply.json(), "ExpirationDateTime")["IsActive"]

    other, mine = compare(ours, theirs)
    theirs_each = f"requests takes {other / CALLS * 1e6:.1f}"
    return Target("sequential calls, µs of CPU each", mine / CALLS * 1e6, CALL_BOUND, theirs_each)


def in_flight(base: str, client: hl.Client) -> Target:
    """A list with 32 page requests in flight, compared with aiohttp."""
    host, count = base.removeprefix("http://"), stub_server.PAGES * stub_server.SMALL_PAGE

    def ours() -> None:
        assert sum(1 for _ in client.job_data.list(page_size=stub_server.SMALL_PAGE)) == count

    async def page(session: aiohttp.ClientSession, number: int) -> list[dict[str, Any]]:
        url = URL(f"{base}/jobdata?pageSize={stub_server.SMALL_PAGE}&page={number}", encoded=True)
        async with session.get(url, headers=signed(host, "/jobdata")) as reply:
            reply.raise_for_status()
            items = json.loads(await reply.read())["JobData"]
        return [timed({**item, "ID": str(item["ID"])}, "CreateDate", "UpdateDate") for item in items]

    async def fetch() -> None:
        numbers, ids = iter(range(stub_server.PAGES)), set()

        async def worker(session: aiohttp.ClientSession) -> None:
            for number in numbers:
                ids.update([job["ID"] for job in await page(session, number)])

        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=IN_FLIGHT)) as session:
            await asyncio.gather(*(worker(session) for _ in range(IN_FLIGHT)))
        assert len(ids) == count

    other, mine = compare(ours, lambda: asyncio.run(fetch()), 3)
    theirs_each = f"aiohttp takes {other / stub_server.PAGES * 1e6:.1f}"
    return Target("32 in flight, µs of CPU each", mine / stub_server.PAGES * 1e6, CALL_BOUND, theirs_each)


def large_page(base: str, client: hl.Client, kind: str, path: str, *times: str) -> Target:
    """A page of 1,000 records, compared with `json.loads` and `datetime.fromisoformat` on the bytes of a raw socket."""
    host, port = base.removeprefix("http://").split(":")
    request = f"GET {path}?pageSize={stub_server.LARGE_PAGE}&page=0 HTTP/1.1\r\n\r\n".encode()
    pages = {
        "JobData": partial(client.job_data.list, page_size=stub_server.LARGE_PAGE),
        "DeviceLocation": partial(client.field_computers.locations, "8140", page_size=stub_server.LARGE_PAGE),
    }[kind]

    def ours() -> None:
        for _ in range(LARGE_PAGES):
            assert len(list(pages())) == stub_server.LARGE_PAGE

    with socket.create_connection((host, int(port))) as connection, connection.makefile("rb") as stream:

        def theirs() -> None:
            for _ in range(LARGE_PAGES):
                connection.sendall(request)
                length = 0
                while (line := stream.readline()) != b"\r\n":
                    if line.startswith(b"Content-Length"):
                        length = int(line.split(b":")[1])
                records = [timed(item, *times) for item in json.loads(stream.read(length))[kind]]
                assert len(records) == stub_server.LARGE_PAGE

        other, mine = compare(ours, theirs)
    each = f"times json.loads; ms of CPU: {mine / LARGE_PAGES * 1e3:.1f} and {other / LARGE_PAGES * 1e3:.1f}"
    return Target(f"1,000 {kind}", mine / other, PAGE_BOUND, each)


def main() -> int:
    """Measure every target and print a table; 0 if all are met."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    share_a_core()
    keys = {"api_key": API_KEY, "shared_secret": SECRET, "access_key": ACCESS_KEY}
    with (
        stub_server.running() as base,
        requests.Session() as session,
        hl.Client(base_url=base, **keys, rate_limits=(), limiter_state="memory") as client,
    ):
        work = [
            partial(sequential, base, client, session),
            partial(in_flight, base, client),
            partial(large_page, base, client, "JobData", "/jobdata", "CreateDate", "UpdateDate"),
            partial(large_page, base, client, "DeviceLocation", "/fieldcomputers/8140/locations", "GPSDateTime"),
        ]
        targets = medians(lambda: [measure() for measure in work], runs)
    return report(targets, runs)


if __name__ == "__main__":
    sys.exit(main())
