"""Bounds of a download: its time, its length, the memory, and its leftovers."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
from typing import TYPE_CHECKING, Any

import pytest
from stub_server import web

import headland as hl
from headland.client import settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from http.server import BaseHTTPRequestHandler
    from pathlib import Path

KEYS: dict[str, Any] = {"api_key": "key", "shared_secret": "c2VjcmV0", "access_key": "key", "limiter_state": "memory"}
GIVEN = 64 << 20
"""Memory in bytes that a child may allocate in addition to its own at the start."""


@pytest.fixture
def endless() -> Iterator[str]:
    """Yield the address of a service whose files never end."""

    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.end_headers()
        try:
            request.wfile.write(b"PK\x03\x04")
            while True:
                request.wfile.write(bytes(1 << 16))
        except OSError:
            return

    with web(answer) as host:
        yield f"http://{host}"


@pytest.mark.skipif(sys.platform != "linux", reason="the system bounds the memory of a process on Linux alone")
@pytest.mark.parametrize("call", ["job_data.download", "job_data.read"])
def test_a_file_too_large_for_the_memory_is_an_error(endless: str, call: str) -> None:
    program = f"""
        import resource, sys
        import headland as hl
        client = hl.Client(base_url=sys.argv[1], rate_limits=(), **{KEYS})
        try:
            client.access_key()
        except hl.HeadlandError:
            pass
        with open("/proc/self/statm") as sizes:
            most = int(next(sizes).split()[0]) * resource.getpagesize() + {GIVEN}
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        try:
            client.{call}("1")
        except hl.ArchiveError as error:
            print(isinstance(error, OSError) and error.errno, error)
    """
    child = [sys.executable, "-c", textwrap.dedent(program), endless]
    environment = {**os.environ, "MIMALLOC_ARENA_RESERVE": "16MiB"}
    done = subprocess.run(child, check=False, capture_output=True, text=True, timeout=100, env=environment)
    assert done.returncode == 0, f"the process ended with {done.returncode}: {done.stderr[-500:]}"
    assert done.stdout.startswith("12 cannot allocate "), done.stdout
    assert "`to`" in done.stdout


def test_endless_file_is_an_error_at_its_limit(endless: str, tmp_path: Path) -> None:
    few = hl.Limits(bytes=100_000)
    with hl.Client(base_url=endless, rate_limits=(), **KEYS) as client:
        for call in (
            lambda: client.job_data.download("1", limits=few),
            lambda: client.job_data.download("1", to=tmp_path, limits=few),
            lambda: client.job_data.read("1", limits=few),
        ):
            with pytest.raises(hl.ArchiveError, match=r"limit of 100000 bytes; if you trust it, raise Limits\(bytes="):
                call()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="an open file keeps its name on Windows")
def test_a_conversion_that_waits_leaves_no_temporary_file(
    client: hl.Client, small_job: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    whole = client.job_data.download(small_job)
    handle = client.job_data.request(small_job).wait()
    assert list(tmp_path.iterdir()) == [], "a kill now would leave nothing"
    assert handle.result() == handle.result() == whole
    assert len(client.job_data.read(small_job)) == len(hl.read(whole))


def test_slow_record_ends_at_the_deadline() -> None:
    ended = threading.Event()

    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.send_header("Content-Length", "10000")
        request.end_headers()
        try:
            for byte in b"{".ljust(10_000):
                request.wfile.write(bytes([byte]))
                if ended.wait(0.02):
                    return
        except OSError:
            return

    with (
        web(answer) as host,
        hl.Client(base_url=f"http://{host}", rate_limits=(), timeout=hl.Timeout(1, 1, 0.3), **KEYS) as client,
    ):
        # The record takes 200 s, and no pause between its bytes is as long as a bound of its own.
        with pytest.raises(hl.TransportError, match=r"the call exceeded its timeout of 0\.3 s"):
            client.job_data.get("1")
        ended.set()


def test_time_outs_have_three_parts_or_four() -> None:
    assert hl.Timeout() == (10, 60, 600, 1024)
    assert settings.timeout((1, 2, 3)) == hl.Timeout(1, 2, 3)
    assert settings.timeout([1, 2, 3, 0]) == hl.Timeout(1, 2, 3, min_throughput=0)


@pytest.mark.parametrize(("text", "least"), [("5,6,7", 1024), ("5,6,7,99", 99)])
def test_time_outs_come_from_the_environment(monkeypatch: pytest.MonkeyPatch, text: str, least: int) -> None:
    for name in ("base_url", "api_key", "shared_secret", "access_key"):
        monkeypatch.setenv(f"HEADLAND_{name.upper()}", "x")
    monkeypatch.setenv("HEADLAND_TIMEOUT", text)
    assert settings.from_env()["timeout"] == hl.Timeout(5, 6, 7, least)
    for wrong in ("5,6", "5,6,7,8,9", "5,6,7,0.5"):
        monkeypatch.setenv("HEADLAND_TIMEOUT", wrong)
        with pytest.raises(hl.ConfigurationError, match="10,60,600"):
            settings.from_env()
