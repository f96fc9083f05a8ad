"""What bounds a download: its time."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest
from standins import web

import headland as hl
from headland import settings

if TYPE_CHECKING:
    from http.server import BaseHTTPRequestHandler

KEYS: dict[str, Any] = {"api_key": "key", "shared_secret": "c2VjcmV0", "access_key": "key", "limiter_state": "memory"}


def test_a_record_that_drips_ends_at_the_deadline() -> None:
    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.send_header("Content-Length", "1000")
        request.end_headers()
        try:
            for byte in b"{".ljust(1000):
                request.wfile.write(bytes([byte]))
                time.sleep(0.02)
        except OSError:
            return

    with (
        web(answer) as host,
        hl.Client(base_url=f"http://{host}", rate_limits=(), timeout=hl.Timeout(1, 1, 0.3), **KEYS) as client,
    ):
        begun = time.monotonic()
        with pytest.raises(hl.TransportError, match=r"the 0\.3 s that this call may take are over"):
            client.job_data.get("1")
        assert time.monotonic() - begun < 2


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
