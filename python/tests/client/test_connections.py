"""Connections: shared by all clients of one host, closed with the last of them; proxies and certificates in errors."""

from __future__ import annotations

import asyncio
import socket
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import headland as hl

HOST = "https://fields.invalid"
# A label of more than 63 characters: no name, which is known without a question to a server of names.
NO_NAME = f"{'x' * 64}.invalid"

# Clients with equal settings share connections, also with those that other tests of this process have left open.
OWN = hl.Timeout(connect=9.5)

linux_only = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc, or certificates from files")


def connections(service: hl.Sandbox) -> int:
    """Return the number of this process's connections to the service, without those that end."""
    port = f"{int(service.base_url.rsplit(':', 1)[1].split('/')[0]):04X}"
    rows = [row.split() for row in Path("/proc/self/net/tcp").read_text().splitlines()[1:]]
    return sum(row[2].endswith(f":{port}") and row[3] == "01" for row in rows)


def all_end(service: hl.Sandbox) -> bool:
    """Return whether no connection is left, also of those that were being opened, after at most some seconds."""
    deadline = time.monotonic() + 20
    while connections(service) and time.monotonic() < deadline:
        time.sleep(0.01)
    return connections(service) == 0


async def asynchronous_call(service: hl.Sandbox) -> None:
    async with hl.AsyncClient(**service.credentials, rate_limits=(), timeout=OWN) as client:
        await client.access_key()


def call_all(clients: list[hl.Client], calls: int) -> None:
    with ThreadPoolExecutor(16) as threads:
        list(threads.map(lambda number: clients[number % len(clients)].access_key(), range(calls)))


@linux_only
@pytest.mark.parametrize("is_asynchronous", [False, True])
def test_clients_of_one_host_share_idle_connections_and_the_last_one_closes_them(
    service: hl.Sandbox, is_asynchronous: bool
) -> None:
    if is_asynchronous:
        # The first asynchronous call starts the thread that ends connections from then on.
        asyncio.run(asynchronous_call(service))
    clients = [hl.Client(**service.credentials, rate_limits=(), timeout=OWN) for _ in range(12)]
    for client in clients:
        client.access_key()
    # A call that begins before the connection of the one before is back opens another.
    assert 1 <= connections(service) <= len(clients) // 2, "clients share connections"
    call_all(clients, 192)
    shared = connections(service)
    assert 1 <= shared < 192 // 2, "calls share connections"
    for client in clients[:-1]:
        client.close()
    clients[-1].access_key()
    assert connections(service) >= shared, "the last client still uses them"
    clients[-1].close()
    assert all_end(service)


@linux_only
def test_close_ends_connections_although_lists_and_mirrors_of_the_client_remain(
    service: hl.Sandbox, tmp_path: Path
) -> None:
    client = hl.Client(**service.credentials, rate_limits=(), timeout=OWN)
    jobs = client.job_data.list()
    mirror = hl.Mirror(tmp_path / "farm", client)
    assert jobs.first() is not None
    assert connections(service) >= 1
    client.close()
    assert all_end(service)
    assert mirror.folder == tmp_path / "farm"
    with pytest.raises(RuntimeError, match="closed"):
        client.access_key()


def test_refused_proxy_is_named(service: hl.Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        proxy = f"127.0.0.1:{bound.getsockname()[1]}"
    for value in (f"http://joe:hunter2@{proxy}", f"http://{NO_NAME}:3128"):
        monkeypatch.setenv("HTTPS_PROXY", value)
        timeout = hl.Timeout(connect=2, read=2, call=0.5)
        credentials: dict[str, Any] = {**service.credentials, "base_url": HOST}
        with (
            hl.Client(**credentials, timeout=timeout) as client,
            pytest.raises(hl.TransportError) as caught,
        ):
            client.access_key()
        assert f"through the proxy `{value.rpartition('@')[2].removeprefix('http://')}`" in str(caught.value)
        assert "HTTPS_PROXY" in str(caught.value)
        assert "hunter2" not in str(caught.value)


@linux_only
def test_empty_certificate_file_counts_as_unset_and_a_stale_one_is_named(
    service: hl.Sandbox, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    credentials: dict[str, Any] = {**service.credentials, "base_url": HOST}
    monkeypatch.delenv("SSL_CERT_DIR", raising=False)
    monkeypatch.setenv("SSL_CERT_FILE", "")
    hl.Client(**credentials).close()
    empty = tmp_path / "empty.pem"
    empty.touch()
    for file, reason in ((tmp_path / "gone.pem", "cannot be read: No such file"), (empty, "contains no certificates")):
        monkeypatch.setenv("SSL_CERT_FILE", str(file))
        with pytest.raises(hl.ConfigurationError) as caught:
            hl.Client(**credentials)
        assert f"SSL_CERT_FILE is `{file}`, which {reason}" in str(caught.value)
        assert "correct or unset it" in str(caught.value)
