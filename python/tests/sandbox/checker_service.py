"""HTTP client of the checker: its own signature, a few lines of HTTP, and checks of the form of replies."""

from __future__ import annotations

import base64
import email.utils
import hashlib
import hmac
import http.client
import json
import math
import time
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, urlsplit
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from email.message import Message

JSON, XML = "application/json", "text/xml"

LISTS = {
    "/fieldcomputers": "FieldComputer",
    "/prescriptionmaps": "PrescriptionMap",
    "/jobdata": "JobData",
    "/fieldhubs": "FieldHub",
    "/graincart": "GrainCart",
}
"""The lists of records with ids, and the kind of their items (2.1, 4.2)."""

METHODS = ("GET", "POST", "PUT", "DELETE", "PATCH")

ALL_LISTS = {
    **LISTS,
    "/fieldcomputers/all/currentlocation": "DeviceLocation",
    "/fieldhubs/all": "FieldHubDetail",
    "/fieldhubs/all/currentlocation": "DeviceLocation",
    "/fieldcomputers/{fieldcomputers}/prescriptionmaps": "PrescriptionMap",
    "/fieldcomputers/{fieldcomputers}/jobdata": "JobData",
    "/fieldcomputers/{fieldcomputers}/currentlocation": "DeviceLocation",
    "/fieldcomputers/{fieldcomputers}/locations": "DeviceLocation",
    "/jobdata/{jobdata}/prescriptionmaps": "PrescriptionMap",
    "/fieldhubs/{fieldhubs}/currentlocation": "DeviceLocation",
    "/fieldhubs/{fieldhubs}/locations": "DeviceLocation",
}
"""Every list of table 4.2 that pages."""

DETAILS = tuple(f"{path}/{{{path[1:]}}}" for path in LISTS)
FILES = (
    *(f"/jobdata/{{jobdata}}?format={word}" for word in ("BIN", "SHP", "FMIS", "XML")),
    "/prescriptionmaps/{prescriptionmaps}?format=bin",
    "/graincart/{graincart}?format=BIN",
)
PUT = "/prescriptionmaps/{prescriptionmaps}/fieldcomputers/{fieldcomputers}"
TAKES = {
    "/accesskey": ("GET",),
    **dict.fromkeys((*ALL_LISTS, *DETAILS), ("GET",)),
    **dict.fromkeys(("/prescriptionmaps", "/jobdata", "/graincart"), ("GET", "POST")),
    PUT: ("PUT",),
}
"""The methods of every path of table 4.2."""


class Reply(NamedTuple):
    """A raw reply."""

    status: int
    headers: Message
    body: bytes

    @property
    def date(self) -> int:
        """The service's time in seconds since 1970."""
        return int(email.utils.parsedate_to_datetime(self.headers["Date"]).timestamp())

    def fields(self) -> dict[str, Any]:
        """Return the members of a JSON object, or the children of an XML root: texts, and lists of records."""
        if self.headers.get_content_type() == JSON:
            return dict(json.loads(self.body))
        return _children(ET.fromstring(self.body))


def _children(element: ET.Element) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for child in element:
        name = child.tag.rpartition("}")[2]
        if len(child):
            found.setdefault(name, []).append(_children(child))
        else:
            found[name] = child.text or ""
    return found


def signature(secret: str, values: tuple[str, ...]) -> str:
    """Sign the unchanged method, host, path, time stamp, API key and access key (5.4)."""
    text = "".join(f"{value}\r\n" for value in values)
    return base64.b64encode(hmac.new(base64.b64decode(secret), text.encode(), hashlib.sha1).digest()).decode()


class Service:
    """A service, with the keys of two of its customers."""

    def __init__(self, keys: Mapping[str, str], pause: Callable[[float], None] = time.sleep) -> None:
        self.base = urlsplit(keys["base_url"])
        self.api_key, self.secret = keys["api_key"], keys["shared_secret"]
        self.own, self.other = keys["access_key"], keys["other_access_key"]
        self.pause = pause
        self.ahead = 0.0
        self.call("/accesskey")

    def call(self, path: str, *, method: str = "GET", again: bool = True, **given: Any) -> Reply:
        """Call, and wait after a 429 unless the caller expects it. `given` is passed to `once`."""
        while True:
            reply = self.once(method, path, **given)
            if "Date" in reply.headers:
                self.ahead = reply.date - time.time()
            if reply.status != http.client.TOO_MANY_REQUESTS or not again:
                return reply
            self.pause(float(reply.headers["X-RateLimit-Reset"]))

    def once(
        self,
        method: str,
        path: str,
        *,
        key: str | None = None,
        accept: str | None = JSON,
        at: int | None = None,
        host: str | None = None,
        headers: Mapping[str, str | None] | None = None,
        signed: Callable[[list[str]], None] = lambda _: None,
    ) -> Reply:
        """Send one request. `signed` may change the signed values; a header of None is omitted."""
        key = key or self.own
        timestamp = str(int(time.time() + self.ahead) if at is None else at)
        bare = path.partition("?")[0].lower()
        values = [method, (host or self.base.netloc).lower(), bare, timestamp, self.api_key, key]
        signed(values)
        sent = {
            "X-SS-APIKey": self.api_key,
            "X-SS-AccessKey": key,
            "X-SS-TimeStamp": timestamp,
            "X-SS-Signature": signature(self.secret, tuple(values)),
            "Accept": accept,
            **(headers or {}),
        }
        kind = http.client.HTTPSConnection if self.base.scheme == "https" else http.client.HTTPConnection
        connection = kind(self.base.netloc, timeout=60)
        try:
            connection.putrequest(method, self.base.path.rstrip("/") + path, skip_accept_encoding=True)
            for name, value in sent.items():
                if value is not None:
                    connection.putheader(name, value)
            connection.endheaders()
            came = connection.getresponse()
            return Reply(came.status, came.headers, came.read())
        finally:
            connection.close()

    def items(self, path: str, kind: str, **given: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """Return the envelope and the items of a page."""
        reply = self.call(path, **given)
        assert reply.status == http.client.OK, f"{path} answers {reply.status}: {reply.body[:200]!r}"
        fields = reply.fields()
        items = fields.pop(kind, [])
        return fields, items if isinstance(items, list) else [items]

    def ids(self, key: str | None = None) -> dict[str, str]:
        """Return the first id of each list, ready for a path."""
        found = {}
        for path, kind in LISTS.items():
            _, items = self.items(f"{path}?pagesize=1", kind, key=key)
            assert items, f"{path} is empty: a checker needs a record of every kind"
            found[path[1:]] = quote(str(items[0]["ID"]), safe="")
        return found


def is_status(reply: Reply, *expected: int) -> None:
    """Assert a status; the failure shows the reply."""
    assert reply.status in expected, f"{reply.status} for {expected}: {reply.body[:160]!r}"


def is_service_response(reply: Reply, *expected: int) -> None:
    """Assert an error with a ServiceResponse (2.1, 7)."""
    is_status(reply, *expected)
    fields = reply.fields()
    assert fields["status"] == "INVALID_REQUEST", fields
    assert fields["errorInfo"], fields


def integer(fields: dict[str, Any], name: str) -> int:
    """Read an integer of an envelope."""
    return int(fields[name])


def truth(fields: dict[str, Any], name: str) -> bool:
    """Read a boolean of an envelope."""
    return str(fields[name]).lower() == "true"


def is_page(fields: dict[str, Any], items: list[Any], total: int, size: int, page: int) -> None:
    """Assert the arithmetic of an envelope (2.1)."""
    pages = math.ceil(total / size) if total else 0
    held = max(0, min(size, total - page * size))
    where = f"page {page} of size {size} of {total}"
    assert len(items) == held, f"{where} holds {len(items)}"
    expected: dict[str, object] = {"TotalCount": total, "PageSize": held, "TotalPages": pages}
    if page < pages:
        expected["PageIndex"] = page
    found: dict[str, object] = {name: integer(fields, name) for name in expected}
    expected |= {"IsPreviousPage": page > 0 and pages > 0, "IsNextPage": page + 1 < pages}
    found |= {name: truth(fields, name) for name in ("IsPreviousPage", "IsNextPage")}
    assert found == expected, f"{where} says {found}, not {expected}"
