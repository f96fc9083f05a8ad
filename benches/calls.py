"""Bars of calls: the client's CPU time against other Python clients that do the same work with fixed replies."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import socket
import sys
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import aiohttp
import replies
import requests
from report import Bar, medians, report
from yarl import URL

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Callable

API_KEY = "ApiKeyAbC123"
SECRET = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="  # noqa: S105 - of nobody
ACCESS_KEY = "AccessKeyXyZ789"

CALLS = 1_000
IN_FLIGHT = 32
LARGE_PAGES = 40


def signed(host: str, path: str) -> dict[str, str]:
    """Sign a request as the interface asks."""
    now = str(int(time.time()))
    text = f"GET\r\n{host}\r\n{path}\r\n{now}\r\n{API_KEY}\r\n{ACCESS_KEY}\r\n"
    mac = hmac.digest(base64.b64decode(SECRET), text.encode(), hashlib.sha1)
    return {
        "X-SS-APIKey": API_KEY,
        "X-SS-AccessKey": ACCESS_KEY,
        "X-SS-TimeStamp": now,
        "X-SS-Signature": base64.b64encode(mac).decode(),
        "Accept": "application/json",
        "Accept-Encoding": "gzip, deflate",
    }


def cpu(work: Callable[[], object]) -> float:
    """Give the CPU time of this process, all its threads, in seconds."""
    started = time.process_time()
    work()
    return time.process_time() - started


def timed(record: dict[str, Any], *names: str) -> dict[str, Any]:
    """Make aware datetimes of the times of a record."""
    for name in names:
        record[name] = datetime.fromisoformat(record[name])
    return record


def sequential(base: str, client: hl.Client) -> Bar:
    """Signed calls one after the other, against requests."""
    host = base.removeprefix("http://")

    def ours() -> None:
        for _ in range(CALLS):
            assert client.access_key()["is_active"]

    def theirs() -> None:
        with requests.Session() as session:
            for _ in range(CALLS // 4):
                reply = session.get(f"{base}/accesskey", headers=signed(host, "/accesskey"), timeout=60)
                reply.raise_for_status()
                assert timed(reply.json(), "ExpirationDateTime")["IsActive"]

    mine, other = cpu(ours) / CALLS, cpu(theirs) / (CALLS // 4)
    return Bar.ratio("sequential calls, requests", other, mine, 20)


def in_flight(base: str, client: hl.Client) -> Bar:
    """A paged list whose pages are fetched together, against aiohttp."""
    host = base.removeprefix("http://")

    def ours() -> None:
        assert len({job["id"] for job in client.job_data.list(page_size=replies.SMALL_PAGE)}) == replies.PAGES * replies.SMALL_PAGE

    async def page(session: aiohttp.ClientSession, number: int) -> list[dict[str, Any]]:
        url = URL(f"{base}/jobdata?pageSize={replies.SMALL_PAGE}&page={number}", encoded=True)
        async with session.get(url, headers=signed(host, "/jobdata")) as reply:
            reply.raise_for_status()
            items = json.loads(await reply.read())["JobData"]
        return [timed({**item, "ID": str(item["ID"])}, "CreateDate", "UpdateDate") for item in items]

    async def fetch() -> None:
        numbers = iter(range(replies.PAGES))
        ids = set()

        async def worker(session: aiohttp.ClientSession) -> None:
            for number in numbers:
                ids.update(job["ID"] for job in await page(session, number))

        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=IN_FLIGHT)) as session:
            await asyncio.gather(*(worker(session) for _ in range(IN_FLIGHT)))
        assert len(ids) == replies.PAGES * replies.SMALL_PAGE

    mine, other = cpu(ours) / replies.PAGES, cpu(lambda: asyncio.run(fetch())) / replies.PAGES
    return Bar.ratio("32 in flight, aiohttp", other, mine, 3)


def large_page(base: str, client: hl.Client, kind: str) -> Bar:
    """A page of 1,000 records, against `json.loads` and `datetime.fromisoformat` of what a bare socket gives."""
    host, port = base.removeprefix("http://").split(":")
    path, times = {
        "JobData": ("/jobdata", ("CreateDate", "UpdateDate")),
        "DeviceLocation": ("/fieldcomputers/8140/locations", ("GPSDateTime",)),
    }[kind]
    request = f"GET {path}?pageSize={replies.LARGE_PAGE}&page=0 HTTP/1.1\r\n\r\n".encode()

    def ours() -> None:
        for _ in range(LARGE_PAGES):
            if kind == "JobData":
                records = list(client.job_data.list(page_size=replies.LARGE_PAGE))
            else:
                records = list(client.field_computers.locations("8140", page_size=replies.LARGE_PAGE))
            assert len(records) == replies.LARGE_PAGE

    def theirs() -> None:
        with socket.create_connection((host, int(port))) as connection:
            stream = connection.makefile("rb", buffering=1 << 16)
            for _ in range(LARGE_PAGES):
                connection.sendall(request)
                length = 0
                while (line := stream.readline()) != b"\r\n":
                    if line.startswith(b"Content-Length"):
                        length = int(line.split(b":")[1])
                items = json.loads(stream.read(length))[kind]
                assert len([timed(item, *times) for item in items]) == replies.LARGE_PAGE

    mine, other = cpu(ours) / LARGE_PAGES, cpu(theirs) / LARGE_PAGES
    return Bar.ratio(f"page of 1,000 {kind}, json", other, mine, 1.3)


def main() -> int:
    """Measure every bar, print a table, and say whether all hold."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with replies.running() as base:
        client = hl.Client(
            base_url=base, api_key=API_KEY, shared_secret=SECRET, access_key=ACCESS_KEY, rate_limits=(), limiter_state="memory"
        )
        work = [
            lambda: sequential(base, client),
            lambda: in_flight(base, client),
            lambda: large_page(base, client, "JobData"),
            lambda: large_page(base, client, "DeviceLocation"),
        ]
        bars = medians(lambda: [measure() for measure in work], runs)
    return report(bars, runs)


if __name__ == "__main__":
    sys.exit(main())
