"""Runs a server of fixed replies in its own process, so that a benchmark measures only the client's work."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGES = 1_000
SMALL_PAGE = 10
LARGE_PAGE = 1_000
LARGE_PAGES = 100

ACCESS_KEY = {
    "AccessKey": "6c1b2f9e-0d53-4a7e-9f0a-2f6f2f1d7b11",
    "ID": "4711",
    "FriendlyName": "North farm",
    "Description": "Agronomy partner",
    "IsActive": True,
    "Contact": "office@example.com",
    "ExpirationDateTime": "2027-03-01T00:00:00Z",
}


def jobs(page: int, size: int, pages: int) -> bytes:
    """Return one page of a list of job data."""
    first = page * size
    items = [
        {
            "ID": number,
            "Name": f"North field {number}",
            "Uri": f"https://host.example.com/V1/jobdata/{number}",
            "SubType": "Yield",
            "CreateDate": f"2026-09-{1 + number % 28:02}T12:{number % 60:02}:{number % 59:02}.000Z",
            "UpdateDate": f"2026-10-{1 + number % 28:02}T12:{number % 60:02}:{number % 59:02}.000Z",
        }
        for number in range(first, first + size)
    ]
    return index("JobData", items, page, size, pages)


def locations(page: int, size: int, pages: int) -> bytes:
    """Return one page of a list of locations, newest first."""
    first = page * size
    items = [
        {
            "ID": str(9_000_000_000 - 64 * number),
            "DeviceId": "8140",
            "SubType": "Field Hub",
            "Lat": round(41.5 + number % 7_919 / 79_190, 6),
            "Lon": round(-93.25 - number % 7_907 / 79_070, 6),
            "Alt": 250 + number % 40,
            "Speed": number % 23,
            "Direction": number % 360,
            "Valid": True,
            "GPSDateTime": f"2026-09-{1 + number % 28:02}T{number % 24:02}:{number % 60:02}:{number % 59:02}Z",
        }
        for number in range(first, first + size)
    ]
    return index("DeviceLocation", items, page, size, pages)


def index(kind: str, items: list[dict[str, object]], page: int, size: int, pages: int) -> bytes:
    """Wrap items in the envelope of every list."""
    envelope = {
        "TotalCount": size * pages,
        "PageSize": size,
        "IsPreviousPage": page > 0,
        "IsNextPage": page + 1 < pages,
        "PageIndex": page,
        "TotalPages": pages,
        kind: items,
    }
    return json.dumps(envelope, separators=(",", ":")).encode()


def replies() -> dict[bytes, bytes]:
    """Return every complete reply by the target of its request."""
    bodies = {"/accesskey": json.dumps(ACCESS_KEY, separators=(",", ":")).encode()}
    for page in range(PAGES):
        bodies[f"/jobdata?pageSize={SMALL_PAGE}&page={page}"] = jobs(page, SMALL_PAGE, PAGES)
    # A request for the first record alone, here and below, with which a client detects a changed list.
    bodies["/jobdata?pageSize=1&page=0"] = jobs(0, 1, PAGES * SMALL_PAGE)
    bodies[f"/jobdata?pageSize={LARGE_PAGE}&page=0"] = jobs(0, LARGE_PAGE, 1)
    bodies[f"/fieldcomputers/8140/locations?pageSize={LARGE_PAGE}&page=0"] = locations(0, LARGE_PAGE, 1)
    for page in range(LARGE_PAGES):
        bodies[f"/fieldhubs/8140/locations?pageSize={LARGE_PAGE}&page={page}"] = locations(
            page, LARGE_PAGE, LARGE_PAGES
        )
    bodies["/fieldhubs/8140/locations?pageSize=1&page=0"] = locations(0, 1, LARGE_PAGES * LARGE_PAGE)
    head = (
        "HTTP/1.1 200 OK\r\nDate: Fri, 20 Nov 2026 12:00:00 GMT\r\nContent-Type: application/json\r\nContent-Length: "
    )
    return {target.encode(): f"{head}{len(body)}\r\n\r\n".encode() + body for target, body in bodies.items()}


class Connection(asyncio.Protocol):
    """Replies to requests in order, by target; requests have no body."""

    known: dict[bytes, bytes]

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start a connection."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.rest = b""

    def data_received(self, data: bytes) -> None:
        """Reply to complete requests."""
        *heads, self.rest = (self.rest + data).split(b"\r\n\r\n")
        for head in heads:
            self.transport.write(self.known[head.split(b" ", 2)[1]])


async def serve() -> None:
    """Serve on a free port, which is printed, until standard input ends."""
    Connection.known = replies()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Connection, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    ended = asyncio.Event()
    loop.add_reader(sys.stdin, ended.set)
    await ended.wait()


@contextmanager
def running() -> Iterator[str]:
    """Run the server in its own process; yields its address."""
    command = [sys.executable, __file__]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
        finally:
            process.stdin.close()


if __name__ == "__main__":
    asyncio.run(serve())
