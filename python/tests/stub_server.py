"""Runs small servers on loopback that cause the failures between a client and its service."""

from __future__ import annotations

import base64
import contextlib
import datetime as dt
import hashlib
import hmac
import json
import select
import socket
import ssl
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    Answer = tuple[int, Mapping[str, str], bytes]


@contextlib.contextmanager
def web(answer: Callable[[BaseHTTPRequestHandler], Answer | None]) -> Iterator[str]:
    """Serve the reply of `answer` for each request, and yield the host and port; None: `answer` has sent it itself."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            given = answer(self)
            if given is None:
                return
            status, headers, body = given
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def do_CONNECT(self) -> None:
            self.do_GET()

        def log_message(self, format: str, *args: Any) -> None:
            """Log nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def record(path: str, **access_key: Any) -> Answer:
    """Answer for the access key, or with an empty list."""
    detail = {"AccessKey": "k", "ID": "7", "IsActive": True, "ExpirationDateTime": "2050-01-01T00:00:00Z", **access_key}
    index = {"TotalCount": 0, "PageSize": 1, "IsNextPage": False, "PageIndex": 0, "TotalPages": 0, "JobData": []}
    body = detail if path.lower().endswith("/accesskey") else index
    return 200, {"Content-Type": "application/json"}, json.dumps(body).encode()


def is_signed(request: BaseHTTPRequestHandler, keys: Mapping[str, Any], *, host: str, path: str) -> bool:
    """Check the signature over this host and this path, which may differ from the specification's."""
    sent = request.headers
    values = (request.command, host, path, sent["X-SS-TimeStamp"], keys["api_key"], keys["access_key"])
    text = "".join(f"{value}\r\n" for value in values).encode()
    digest = hmac.new(base64.b64decode(keys["shared_secret"]), text, hashlib.sha1).digest()
    return hmac.compare_digest(base64.b64encode(digest).decode(), sent["X-SS-Signature"])


@contextlib.contextmanager
def silent() -> Iterator[str]:
    """Accept connections and never reply."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


def closed_port() -> int:
    """Return a port without a listener."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
    return port


def certificate(folder: Path, names: str = "IP:127.0.0.1", *, is_authority: bool | None = False) -> tuple[Path, Path]:
    """Make a self-signed certificate for these names, and its key, with openssl; None: without names."""
    config, cert, key = (folder / f"own.{kind}" for kind in ("cnf", "pem", "key"))
    config.write_text(
        "[req]\ndistinguished_name = dn\nx509_extensions = ext\nprompt = no\n"
        f"[dn]\nCN = made for a test of headland\n[ext]\nsubjectAltName = {names}\n"
        + ("" if is_authority is None else f"basicConstraints = CA:{str(is_authority).upper()}\n")
    )
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-days",
        "2",
    ]
    files = ["-config", str(config), "-keyout", str(key), "-out", str(cert)]
    subprocess.run([*command, *files], check=True, capture_output=True)
    return cert, key


@contextlib.contextmanager
def tls_in_front(of: str, cert: Path, key: Path) -> Iterator[str]:
    """Terminate TLS with this certificate, and forward the bytes to the host and port of a plain service."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    stop = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    plain, _ = server.accept()
                except OSError:
                    return
                with contextlib.suppress(OSError), context.wrap_socket(plain, server_side=True) as outside:
                    host, port = of.split(":")
                    with socket.create_connection((host, int(port))) as inside:
                        pass_on(outside, inside, stop)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"127.0.0.1:{server.getsockname()[1]}"
        finally:
            stop.set()
            with contextlib.suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)
            thread.join()


def pass_on(outside: socket.socket, inside: socket.socket, stop: threading.Event) -> None:
    """Forward bytes between both sides until one of them ends or `stop` is set."""
    other = {outside: inside, inside: outside}
    while not stop.is_set():
        for source in select.select(list(other), [], [], 0.02)[0]:
            received = source.recv(65_536)
            if not received:
                return
            other[source].sendall(received)


def ago(**span: float) -> str:
    """Return a past time in the service's format."""
    return (dt.datetime.now(dt.UTC) - dt.timedelta(**span)).strftime("%Y-%m-%dT%H:%M:%SZ")
