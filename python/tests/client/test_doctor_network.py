"""The doctor on the network between a client and its service: names, ports, TLS, proxies, pages of other servers."""

from __future__ import annotations

import contextlib
import socket
import threading
from typing import TYPE_CHECKING, Any

import pytest
from doctor_runs import assert_fails, examine, finding
from stub_server import certificate, closed_port, pass_on, silent, tls_in_front, web

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Iterator
    from http.server import BaseHTTPRequestHandler
    from pathlib import Path

UNKNOWN = f"{'x' * 64}.invalid"
"""A name that is too long: it is rejected on this machine, and no name server is queried."""


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return a self-signed certificate, and its key."""
    return certificate(tmp_path_factory.mktemp("own"))


@pytest.fixture(autouse=True)
def _no_proxy_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def test_unknown_host_name(service: hl.Sandbox) -> None:
    checkup = examine(service.credentials, base_url=f"https://{UNKNOWN}")
    assert_fails(checkup, "name", "cannot resolve host", f"spelling of `{UNKNOWN}` in base_url", hl.TransportError)


def test_nothing_listens(service: hl.Sandbox) -> None:
    port = closed_port()
    checkup = examine(service.credentials, base_url=f"http://127.0.0.1:{port}")
    assert_fails(checkup, "connection", "refused", f"nothing listens on port {port}", hl.TransportError)
    assert finding(checkup, "name").ok


@pytest.fixture
def blocked() -> Iterator[str]:
    """Yield a port whose connection queue is full: further connections get no reply, as behind a firewall that drops
    them."""
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        for _ in range(3):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(server.getsockname())
        yield f"127.0.0.1:{server.getsockname()[1]}"


def test_a_port_that_is_blocked(service: hl.Sandbox, blocked: str) -> None:
    checkup = examine(service.credentials, base_url=f"http://{blocked}", timeout=(0.3, 5, 5))
    assert_fails(checkup, "connection", "cannot connect", "the network blocks port", hl.TransportError)


def test_a_port_that_never_answers(service: hl.Sandbox) -> None:
    with silent() as host:
        checkup = examine(service.credentials, base_url=f"http://{host}", timeout=(0.2, 0.2, 0.2))
    assert_fails(
        checkup, "service", "no data was received for 0.4 s", "does not answer like the service", hl.TransportError
    )


@pytest.mark.parametrize(
    ("kind", "seen", "next_step", "error"),
    [
        ("reset", "closed before a reply was received", "does not answer like the service", hl.TransportError),
        ("truncated", "is incomplete", "does not answer like the service", hl.TransportError),
        ("redirect", "redirects to `127.0.0.1`", "check base_url", hl.TransportError),
        ("unavailable", "Resources exhausted", "try again in a few minutes", hl.ServiceUnavailable),
        ("more-time", "more time", "try again in a few minutes", hl.NotReady),
    ],
)
def test_a_service_in_trouble(
    service: hl.Sandbox, kind: str, seen: str, next_step: str, error: type[Exception]
) -> None:
    service.faults.add(endpoint="*", kind=kind)
    assert_fails(examine(service.credentials), "service", seen, next_step, error)


@pytest.mark.parametrize(("status", "error"), [(200, hl.DecodeError), (403, hl.PermissionDenied)])
def test_a_web_page_in_place_of_the_service(service: hl.Sandbox, status: int, error: type[Exception]) -> None:
    page = f"<!DOCTYPE html><html>{service.credentials['api_key']}, please sign in</html>".encode()
    with web(lambda _: (status, {"Content-Type": "text/html"}, page)) as host:
        checkup = examine(service.credentials, base_url=f"http://{host}")
    assert_fails(checkup, "service", "text/html", "the sign-in page of a network", error)


# TLS, specification 5.5.
def test_certificate_without_a_known_authority(service: hl.Sandbox, own: tuple[Path, Path]) -> None:
    with tls_in_front(service.base_url.removeprefix("http://"), *own) as host:
        checkup = examine(service.credentials, base_url=f"https://{host}")
        assert_fails(checkup, "TLS", "UnknownIssuer", "set ca_file (HEADLAND_CA_FILE)", hl.TransportError)
        assert finding(checkup, "connection").ok


def test_calls_over_tls_go_through_with_ca_file(service: hl.Sandbox, own: tuple[Path, Path]) -> None:
    with tls_in_front(service.base_url.removeprefix("http://"), *own) as host:
        keys: dict[str, Any] = {**service.credentials, "base_url": f"https://{host}", "ca_file": own[0]}
        with hl.Client(**keys, rate_limits=()) as client:
            assert client.access_key()["access_key"] == service.credentials["access_key"]
        checkup = examine(service.credentials, base_url=f"https://{host}", ca_file=own[0])
    assert checkup.ok
    assert finding(checkup, "TLS").seen == "the certificate is trusted"


def test_certificate_without_basic_constraints_is_one_of_a_server(service: hl.Sandbox, tmp_path: Path) -> None:
    cert, key = certificate(tmp_path, is_authority=None)
    with tls_in_front(service.base_url.removeprefix("http://"), cert, key) as host:
        keys: dict[str, Any] = {**service.credentials, "base_url": f"https://{host}", "ca_file": cert}
        with hl.Client(**keys, rate_limits=()) as client:
            assert client.access_key()["is_active"]


def assert_rejected(service: hl.Sandbox, host: str, cert: Path, says: str) -> None:
    """Check the error of a call, and that the call is not sent again."""
    keys: dict[str, Any] = {**service.credentials, "base_url": f"https://{host}", "ca_file": cert}
    with hl.Client(**keys, rate_limits=()) as client, pytest.raises(hl.TransportError, match=says) as caught:
        client.access_key()
    assert caught.value.attempts == 1


def test_a_certificate_for_another_name(service: hl.Sandbox, tmp_path: Path) -> None:
    cert, key = certificate(tmp_path, "DNS:fields.example")
    with tls_in_front(service.base_url.removeprefix("http://"), cert, key) as host:
        checkup = examine(service.credentials, base_url=f"https://{host}", ca_file=cert)
        assert_fails(checkup, "TLS", "the TLS connection", "the certificate is for another host", hl.TransportError)
        assert_rejected(service, host, cert, "for another host: use the name in its subjectAltName")


def test_a_certificate_of_an_authority_in_place_of_a_server(service: hl.Sandbox, tmp_path: Path) -> None:
    cert, key = certificate(tmp_path, is_authority=True)
    with tls_in_front(service.base_url.removeprefix("http://"), cert, key) as host:
        checkup = examine(service.credentials, base_url=f"https://{host}", ca_file=cert)
        assert_fails(checkup, "TLS", "CaUsedAsEndEntity", "CA:FALSE", hl.TransportError)
        says = "authority .basicConstraints CA:TRUE.* even if ca_file contains it: make one .* CA:FALSE"
        assert_rejected(service, host, cert, says)


def test_a_port_that_does_not_speak_tls(service: hl.Sandbox) -> None:
    base_url = service.base_url.replace("http://", "https://")
    checkup = examine(service.credentials, base_url=base_url)
    assert_fails(checkup, "TLS", "the TLS connection", "does not use TLS", hl.TransportError)


# Proxies: `https` to another host uses the one in the environment, and nothing leaves this machine.
@pytest.mark.parametrize("status", [403, 407, 502])
def test_proxy_that_rejects_every_tunnel(service: hl.Sandbox, monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    with web(lambda _: (status, {"Content-Type": "text/html"}, b"<html>ask the administrator</html>")) as host:
        monkeypatch.setenv("HTTPS_PROXY", f"http://joe:hunter2@{host}")
        checkup = examine(service.credentials, base_url="https://fields.invalid")
    next_step = f"calls go through the proxy `{host}` because HTTPS_PROXY is set"
    assert_fails(checkup, "connection", "cannot connect", next_step, hl.TransportError)
    assert "NO_PROXY=fields.invalid" in (checkup.findings[-1].next_step or "")
    assert "hunter2" not in str(checkup)


def test_proxy_that_does_not_listen(service: hl.Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{closed_port()}")
    checkup = examine(service.credentials, base_url="https://fields.invalid")
    assert_fails(checkup, "connection", "refused", "because HTTPS_PROXY is set", hl.TransportError)


def test_proxy_with_an_unknown_host_name(service: hl.Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", f"http://{UNKNOWN}:3128")
    checkup = examine(service.credentials, base_url="https://fields.invalid")
    next_step = f"check the spelling of the proxy `{UNKNOWN}:3128` in HTTPS_PROXY"
    assert_fails(checkup, "name", "cannot resolve host", next_step, hl.TransportError)


@pytest.mark.parametrize(
    "malformed", ["http//joe:hunter2@proxy:8080", "ftp://joe:hunter2@proxy", "http://", "my proxy"]
)
def test_proxy_that_calls_ignore(service: hl.Sandbox, monkeypatch: pytest.MonkeyPatch, malformed: str) -> None:
    monkeypatch.setenv("HTTPS_PROXY", malformed)
    checkup = examine(service.credentials, base_url=f"https://{UNKNOWN}")
    next_step = "calls ignore HTTPS_PROXY, because it is not the address of a proxy, such as `http://proxy:3128`"
    assert_fails(checkup, "name", "cannot resolve host", next_step, hl.TransportError)
    assert f"`{UNKNOWN}` in base_url" in (checkup.findings[-1].next_step or "")
    assert "hunter2" not in str(checkup)


@pytest.mark.parametrize("form", ["{}", "{}:3128", "http://{}", "HTTPS://{}:3128/", "socks5://joe:hunter2@{}:1080"])
def test_proxy_that_calls_use(service: hl.Sandbox, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    monkeypatch.setenv("HTTPS_PROXY", form.format(UNKNOWN))
    checkup = examine(service.credentials, base_url="https://fields.invalid")
    assert not checkup.ok
    assert "calls ignore" not in str(checkup)
    assert f"`{UNKNOWN}" in str(checkup)


@contextlib.contextmanager
def tunnel(to: str) -> Iterator[str]:
    """Run a proxy that forwards every call to one server."""
    stop = threading.Event()

    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.end_headers()
        host, port = to.split(":")
        with contextlib.suppress(OSError), socket.create_connection((host, int(port))) as inside:
            pass_on(request.connection, inside, stop)

    with web(answer) as host:
        try:
            yield host
        finally:
            stop.set()


def test_a_proxy_that_opens_tls(service: hl.Sandbox, own: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    with tls_in_front(service.base_url.removeprefix("http://"), *own) as far, tunnel(far) as host:
        monkeypatch.setenv("HTTPS_PROXY", f"http://{host}")
        checkup = examine(service.credentials, base_url="https://fields.invalid")
    assert finding(checkup, "connection").seen == f"port 443 accepts connections, through the proxy `{host}`"
    assert_fails(checkup, "TLS", "the TLS connection", "a proxy that decrypts TLS", hl.TransportError)


def test_a_page_of_a_proxy(service: hl.Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cert, key = certificate(tmp_path, "DNS:fields.invalid")
    page: Any = (200, {"Content-Type": "text/html"}, b"<html>blocked by policy</html>")
    with web(lambda _: page) as far, tls_in_front(far, cert, key) as inside, tunnel(inside) as host:
        monkeypatch.setenv("HTTPS_PROXY", f"http://{host}")
        checkup = examine(service.credentials, base_url="https://fields.invalid", ca_file=cert)
    next_step = f"HTTPS_PROXY sends calls through `{host}`: set NO_PROXY=fields.invalid"
    assert_fails(checkup, "service", "web page", next_step, hl.DecodeError)
