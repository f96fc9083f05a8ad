"""Ctrl-C while one large reply is decoded: the call ends."""

from __future__ import annotations

import json
import signal
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from stub_server import web

import headland as hl

if TYPE_CHECKING:
    from http.server import BaseHTTPRequestHandler


def unread_bytes(request: BaseHTTPRequestHandler) -> int:
    """Return the bytes that the client has received on the connection of this request, but not read yet."""
    client, server = (f":{end[1]:04X}" for end in (request.client_address, request.connection.getsockname()))
    rows = [row.split() for row in Path("/proc/self/net/tcp").read_text(encoding="ascii").splitlines()[1:]]
    ours = [row for row in rows if row[1].endswith(client) and row[2].endswith(server)]
    return sum(int(row[4].partition(":")[2], 16) for row in ours)


@pytest.mark.skipif(sys.platform != "linux", reason="received bytes are looked for in /proc")
def test_ctrl_c_during_the_decoding_of_one_large_page_ends_the_call() -> None:
    # Nearly as many values as a page may have. Those that no shape names take longest.
    jobs = [{"ID": number, **{f"Extra{column}": number for column in range(99)}} for number in range(2_400)]
    page = {"TotalCount": len(jobs), "IsNextPage": False, "JobData": jobs}
    *most, last = json.dumps(page, separators=(",", ":")).encode()
    requests: list[str] = []
    signalled = threading.Event()

    def reply(request: BaseHTTPRequestHandler) -> None:
        requests.append(request.path)
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(most) + 1}\r\n\r\n"
        request.wfile.write(head.encode() + bytes(most))
        while unread_bytes(request):
            pass
        # The client decodes as soon as it has read the last byte, in the thread that waits for the call.
        request.wfile.write(bytes([last]))
        while unread_bytes(request):
            pass
        signal.raise_signal(signal.SIGINT)
        signalled.set()

    def read(client: hl.Client) -> None:
        list(client.job_data.list())
        # On a slow machine the signal may follow the decoding.
        signalled.wait(60)

    keys: dict[str, Any] = {"api_key": "key", "shared_secret": "c2VjcmV0", "access_key": "customer"}
    with (
        web(reply) as host,
        hl.Client(base_url=f"http://{host}", **keys, rate_limits=()) as client,
        pytest.raises(KeyboardInterrupt),
    ):
        read(client)
    assert len(requests) == 1, "the call ended at the signal and not with a later page"
