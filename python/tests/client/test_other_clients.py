"""Clients without headland: one with the standard library alone, and curl with openssl."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from email.message import Message


@pytest.fixture(scope="module")
def announced() -> Iterator[dict[str, str]]:
    """Start ``headland sandbox --json`` and return the line that it prints."""
    command = [sys.executable, "-m", "headland", "sandbox", "--json", "--conversion-time", "0.1", "--rate-limit", "off"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(10) == 0


def signature_text(method: str, url: str, timestamp: int, keys: dict[str, str]) -> bytes:
    parts = urlsplit(url)
    values = (method, parts.netloc.lower(), parts.path.lower(), str(timestamp), keys["api_key"], keys["access_key"])
    return "".join(f"{value}\r\n" for value in values).encode()


def headers(method: str, url: str, keys: dict[str, str], timestamp: int | None = None) -> dict[str, str]:
    timestamp = int(time.time()) if timestamp is None else timestamp
    text = signature_text(method, url, timestamp, keys)
    digest = hmac.new(base64.b64decode(keys["shared_secret"]), text, hashlib.sha1).digest()
    return {
        "X-SS-APIKey": keys["api_key"],
        "X-SS-AccessKey": keys["access_key"],
        "X-SS-TimeStamp": str(timestamp),
        "X-SS-Signature": base64.b64encode(digest).decode(),
        "Accept": "application/json",
    }


def call(
    keys: dict[str, str], path: str, *, method: str = "GET", body: bytes | None = None, **extra: Any
) -> tuple[int, Message, bytes]:
    url = keys["base_url"] + path
    signed = headers(method, url, keys, extra.pop("timestamp", None))
    request = urllib.request.Request(url, body, {**signed, **extra}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=10) as reply:
            return reply.status, reply.headers, reply.read()
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, refused.headers, refused.read()


def test_the_line_has_exactly_the_keys(announced: dict[str, str]) -> None:
    assert set(announced) == {
        "base_url",
        "dispatch_url",
        "legacy_dispatch_url",
        "legacy_orders_url",
        "dispatch_token",
        "api_key",
        "shared_secret",
        "access_key",
        "other_access_key",
        "revoked_access_key",
        "partial_access_key",
        "read_only_access_key",
        "expired_access_key",
    }


def test_a_client_of_the_standard_library_alone(announced: dict[str, str]) -> None:
    status, _, body = call(announced, "/accesskey")
    assert (status, json.loads(body)["AccessKey"], json.loads(body)["IsActive"]) == (200, announced["access_key"], True)

    status, _, body = call(announced, "/jobdata?pagesize=3&page=0")
    index = json.loads(body)
    assert status == 200
    assert len(index["JobData"]) == 3
    assert index["TotalCount"] > 3
    assert index["IsNextPage"] is True

    job = index["JobData"][0]["ID"]
    for _ in range(100):
        status, kind, body = call(announced, f"/jobdata/{job}?format=SHP")
        if body[:2] == b"PK":
            break
        assert json.loads(body)["status"] == "MORE_TIME_NEEDED"
        time.sleep(0.1)
    assert body[:2] == b"PK"
    assert "filename" in kind["Content-Disposition"]

    boundary = "----one-boundary"
    part = f'--{boundary}\r\nContent-Disposition: form-data; name="FileName"; filename="own.jdp.zip"\r\n\r\n'
    sent = part.encode() + body + f"\r\n--{boundary}--\r\n".encode()
    content_type = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
    status, replied, _ = call(announced, "/jobdata", method="POST", body=sent, **content_type)
    assert status == 201
    assert "/jobdata/" in replied["Location"].lower()


def dispatch(
    keys: dict[str, str], method: str, path: str, payload: dict[str, Any] | None = None, address: str = "dispatch_url"
) -> tuple[int, Message, Any]:
    sent = {"Authorization": f"Bearer {keys['dispatch_token']}", "Content-Type": "application/json"}
    url, body = keys[address] + path, None if payload is None else json.dumps(payload).encode()
    request = urllib.request.Request(url, body, sent, method=method)
    try:
        with urllib.request.urlopen(request, timeout=10) as reply:
            return reply.status, reply.headers, json.loads(reply.read() or "null")
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, refused.headers, json.loads(refused.read())


def test_dispatch_by_the_standard_library_alone(announced: dict[str, str]) -> None:
    status, replied, page = dispatch(announced, "GET", "/api/batches/active?$top=10&$skip=0&$count=true")
    assert (status, len(page), replied["x-total-count"]) == (200, 10, "60")
    following = f"{announced['dispatch_url']}/api/batches/active?$top=10&$skip=1&$count=true"
    assert replied["Location"] == following

    # No call lists equipment; the mix for it names it.
    equipment = page[0]["equipmentId"]
    status, replied, operation = dispatch(announced, "POST", "/api/fieldoperations", {"operation": "Planting"})
    assert (status, operation["status"]) == (201, "Pre-Released")
    assert replied["Location"] == f"{announced['dispatch_url']}/api/fieldoperations/{operation['id']}"
    own = f"/api/fieldoperations/{operation['id']}"
    assigned = {"fieldOperationId": operation["id"]}
    assert dispatch(announced, "POST", f"/api/equipment/{equipment}/assignments", assigned)[0] == 201
    assert dispatch(announced, "POST", f"{own}/release")[2]["status"] == "Released"
    assert dispatch(announced, "POST", f"{own}/release")[0] == 409
    assert dispatch(announced, "POST", f"{own}/completions", {"notes": "nothing else"})[0] == 400
    assert dispatch(announced, "DELETE", own)[0] == 204
    assert dispatch(announced, "DELETE", own)[0] == 404

    for address in ("legacy_dispatch_url", "legacy_orders_url"):
        status, replied, orders = dispatch(announced, "GET", "/api/workorders/operator?$top=5", address=address)
        assert (status, len(orders)) == (200, 5)
        assert replied["Location"].startswith(announced[address])
        assert dispatch(announced, "GET", "/api/products", address=address)[0] == 404
    assert dispatch({**announced, "dispatch_token": "other"}, "GET", "/api/products")[0] == 401


def test_each_check_is_named(announced: dict[str, str]) -> None:
    assert call(announced, "/jobdata", timestamp=int(time.time()) - 3600)[0] == 401
    assert call({**announced, "shared_secret": base64.b64encode(b"other").decode()}, "/jobdata")[0] == 401
    assert call({**announced, "access_key": announced["revoked_access_key"]}, "/jobdata")[0] in (401, 403)
    assert call(announced, "/nowhere")[0] == 404
    assert call(announced, "/fieldcomputers", method="DELETE")[0] == 405


def test_curl_with_an_openssl_signature(announced: dict[str, str]) -> None:
    for tool in ("curl", "openssl"):
        if shutil.which(tool) is None:
            pytest.fail(f"this test needs {tool}: install it, or the claim that every client is served goes unproved")
    url = f"{announced['base_url']}/fieldcomputers?pagesize=2"
    timestamp = int(time.time())
    key = base64.b64decode(announced["shared_secret"]).hex()
    digest = subprocess.run(
        ["openssl", "dgst", "-sha1", "-mac", "HMAC", "-macopt", f"hexkey:{key}", "-binary"],
        input=signature_text("GET", url, timestamp, announced),
        check=True,
        capture_output=True,
    ).stdout
    signed = {
        "X-SS-APIKey": announced["api_key"],
        "X-SS-AccessKey": announced["access_key"],
        "X-SS-TimeStamp": str(timestamp),
        "X-SS-Signature": base64.b64encode(digest).decode(),
        "Accept": "application/json",
    }
    lines = [argument for name, value in signed.items() for argument in ("-H", f"{name}: {value}")]
    reply = subprocess.run(["curl", "-sS", "--fail", *lines, url], check=True, capture_output=True).stdout
    assert len(json.loads(reply)["FieldComputer"]) == 2
