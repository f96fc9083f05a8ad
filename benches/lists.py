"""The bar of lists as tables: 100,000 locations to Arrow against pandas; exits non-zero when it is missed."""

from __future__ import annotations

import asyncio
import http.client
import json
import statistics
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pandas as pd

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PAGES = 100
SIZE = 1_000
PATH = "/fieldhubs/8140/locations?pageSize={size}&page={page}"
KIND = "DeviceLocation"
# How many times the work of pandas that of headland is, at least.
TIMES = 10.0
ROUNDS = 5
SECRET = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="  # noqa: S105 - nobody's


@dataclass(frozen=True)
class Bar:
    """One figure, what it must be at least, and whether it is."""

    name: str
    value: float
    at_least: float
    told: str

    @property
    def holds(self) -> bool:
        """Whether the bar is met."""
        return self.value >= self.at_least


def body(page: int, size: int = SIZE) -> bytes:
    """Give one page of the list, newest first."""
    first = page * SIZE
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
    envelope = {
        "TotalCount": PAGES * SIZE,
        "PageSize": size,
        "IsPreviousPage": page > 0,
        "IsNextPage": page + 1 < PAGES,
        "PageIndex": page,
        "TotalPages": PAGES,
    }
    return json.dumps({**envelope, KIND: items}, separators=(",", ":")).encode()


def replies() -> dict[bytes, bytes]:
    """Give every reply, whole, by the target of its request."""
    head = (
        "HTTP/1.1 200 OK\r\nDate: Fri, 20 Nov 2026 12:00:00 GMT\r\nContent-Type: application/json\r\nContent-Length: "
    )
    bodies = {PATH.format(size=SIZE, page=page).encode(): body(page) for page in range(PAGES)}
    # A look at the first record and the count, which tells that the list stands still.
    bodies[PATH.format(size=1, page=0).encode()] = body(0, 1)
    return {target: f"{head}{len(page)}\r\n\r\n".encode() + page for target, page in bodies.items()}


class Connection(asyncio.Protocol):
    """Answers request after request by its target; requests have no body."""

    known: dict[bytes, bytes]

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin a connection."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.rest = b""

    def data_received(self, data: bytes) -> None:
        """Answer what has come whole."""
        *heads, self.rest = (self.rest + data).split(b"\r\n\r\n")
        for head in heads:
            self.transport.write(self.known[head.split(b" ", 2)[1]])


async def serve() -> None:
    """Serve on a free port, which is told, until standard input ends."""
    Connection.known = replies()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Connection, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    ended = asyncio.Event()
    loop.add_reader(sys.stdin, ended.set)
    await ended.wait()


@contextmanager
def running() -> Iterator[str]:
    """Run the server in a process of its own, whose work nobody counts; gives its address."""
    command = [sys.executable, str(Path(__file__).resolve()), "--serve"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
        finally:
            process.stdin.close()


def by_headland(client: hl.Client) -> Any:
    """Read the list into an Arrow table: signed, and each record once."""
    return client.field_hubs.locations("8140").to_arrow()


def by_pandas(address: str) -> Any:
    """Read the list the usual way, with the barest of HTTP clients and without a signature."""
    connection = http.client.HTTPConnection(urlsplit(address).netloc)
    records = []
    for page in range(PAGES):
        connection.request("GET", PATH.format(size=SIZE, page=page))
        records += json.loads(connection.getresponse().read())[KIND]
    connection.close()
    frame = pd.json_normalize(records)
    frame["GPSDateTime"] = pd.to_datetime(frame["GPSDateTime"], utc=True)
    return frame


def cost(work: Callable[[], Any]) -> tuple[float, Any]:
    """Give the CPU seconds that this process spends, and what came of them."""
    started = time.process_time()
    outcome = work()
    return time.process_time() - started, outcome


def bars() -> list[Bar]:
    """Measure both in turn, and take the median of the ratios."""
    with running() as address:
        keys = {"api_key": "key", "shared_secret": SECRET, "access_key": "customer"}
        with hl.Client(base_url=address, **keys, rate_limits=(), limiter_state="memory") as client:
            table, frame = by_headland(client), by_pandas(address)
            assert table.num_rows == len(frame) == PAGES * SIZE
            assert table["id"].to_pylist() == frame["ID"].tolist()
            assert table["lat"].to_pylist() == frame["Lat"].tolist()
            assert table["gps_date_time"].to_pandas().tolist() == frame["GPSDateTime"].tolist()
            rounds = []
            for _ in range(ROUNDS):
                ours, _ = cost(lambda: by_headland(client))
                theirs, _ = cost(lambda: by_pandas(address))
                rounds.append((theirs / ours, ours, theirs))
    ratio = statistics.median(ratio for ratio, *_ in rounds)
    _, ours, theirs = min(rounds, key=lambda each: abs(each[0] - ratio))
    told = f"{ours * 1e3:.0f} ms of CPU, json_normalize and to_datetime {theirs * 1e3:.0f} ms"
    return [Bar("100,000 locations to Arrow", ratio, TIMES, told)]


def main() -> int:
    """Measure every bar, print a table, and say whether all hold."""
    if "--serve" in sys.argv:
        # What ends the server is the end of its input, an interrupt too.
        asyncio.run(serve())
        return 0
    measured = bars()
    for bar in measured:
        print(
            f"{'ok  ' if bar.holds else 'MISS'}  {bar.name:30} {bar.value:7.1f}  at least {bar.at_least:g}   {bar.told}"
        )
    return 0 if all(bar.holds for bar in measured) else 1


if __name__ == "__main__":
    sys.exit(main())
