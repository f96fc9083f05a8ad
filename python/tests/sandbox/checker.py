"""Checks a field data service independently of headland, from the specification and with the standard library alone.

It reads, and sends maps only where that must be rejected: ``python checker.py BASE_URL KEY SECRET ACCESS_KEY
OTHER_ACCESS_KEY``. The last two are keys of two customers who have data of every kind. It prints a line for each rule
with its section, and exits with 1 if one is broken. It waits if the service's rate limit requires that.
"""

from __future__ import annotations

import base64
import datetime as dt
import gzip
import http.client
import math
import sys
import zlib
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from checker_ids import check_ids
from checker_service import (
    ALL_LISTS,
    DETAILS,
    FILES,
    JSON,
    LISTS,
    METHODS,
    PUT,
    TAKES,
    XML,
    Reply,
    Service,
    integer,
    is_page,
    is_service_response,
    is_status,
    signature,
    truth,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
REFUSED = (401, 403, 404)

VECTORS = (
    ("GET", "host.example.com", "/absolute/path", "4E01Xug8xUuv7g007yDeA+uEF7A="),
    ("GET", "host.example.com", "/FieldComputers/460/PrescriptionMaps", "NFuX+AipWftjKzmiX7BNGT4lp5A="),
    ("put", "HOST.example.com", "/prescriptionmaps/11/fieldcomputers/460", "6cp8lu3hgBbzFdWM+sTeLI8ZGfA="),
    ("GET", "localhost:8080", "/jobdata/11", "SiODYCk3zi4FQoNP/djZEewg6Cs="),
    ("GET", "localhost", "/jobdata/11", "luBGCwUWCT+ORvocXbCahFwSJrc="),
)
"""Signatures computed by another implementation (field notes, Signature)."""

RULES: list[tuple[str, str, Callable[[Service], str | None]]] = []


def rule(section: str, text: str) -> Callable[[Callable[[Service], str | None]], None]:
    """Register a rule; its function asserts, and may return a detail to print."""
    return lambda check: RULES.append((section, text, check))


@rule("5.4", "the signatures of the field notes come out")
def _(_service: Service) -> None:
    secret = base64.b64encode(bytes(range(32))).decode()
    for method, host, path, expected in VECTORS:
        found = signature(
            secret, (method.upper(), host.lower(), path.lower(), "1234567890", "ApiKeyAbC123", "AccessKeyXyZ789")
        )
        assert found == expected, f"{method} {host} {path}: {found}"


@rule("5.4", "a right signature is accepted, in any letter case of the path, with and without the port, for any query")
def _(service: Service) -> None:
    for path in ("/accesskey", "/AccessKey", "/ACCESSKEY?anything=x"):
        is_status(service.call(path), 200)
    is_status(service.call("/accesskey", host=service.base.hostname), 200)


@rule("5.4, 5.2", "each signed value protects the request: another one is 401")
def _(service: Service) -> None:
    for place, name in enumerate(("method", "host", "path", "time stamp", "API key", "access key")):

        def spoil(values: list[str], place: int = place) -> None:
            values[place] += "1"

        reply = service.call("/accesskey", signed=spoil)
        assert reply.status == 401, f"{name}: {reply.status}"
    is_status(service.call("/AccessKey", signed=lambda values: values.__setitem__(2, "/AccessKey")), 401)
    is_status(service.call("/accesskey", headers={"X-SS-APIKey": "unknown"}), 401)
    is_status(service.call("/accesskey", key="unknown"), 401)


@rule("5.1", "all four headers are required")
def _(service: Service) -> None:
    for name in ("X-SS-APIKey", "X-SS-Signature", "X-SS-AccessKey", "X-SS-TimeStamp"):
        is_service_response(service.call("/accesskey", headers={name: None}), 401)


@rule("5.2, 8", "a request lives for 120 seconds: 119 and 120 are taken, 121 is 401 and says so")
def _(service: Service) -> None:
    for age, expected in ((0, 200), (119, 200), (120, 200), (121, 401), (3600, 401)):
        for _attempt in range(10):
            began = service.call("/accesskey").date
            reply = service.call("/accesskey", at=began - age)
            if reply.date == began:
                break
        else:
            raise AssertionError("the second was over each time")
        is_status(reply, expected)
        if expected != 200:
            assert b"timestamp" in reply.body.lower(), reply.body


@rule("2.7", "the access key describes itself")
def _(service: Service) -> None:
    for key in (service.own, service.other):
        fields = service.call("/accesskey", key=key).fields()
        assert fields["AccessKey"] == key, fields
        assert truth(fields, "IsActive"), fields
        assert {"ID", "FriendlyName", "Description", "Contact", "ExpirationDateTime"} <= fields.keys(), fields


def assert_rejected(service: Service, method: str, path: str, key: str) -> None:
    """Assert that a request is rejected, and was not executed."""
    reply = service.call(path, method=method, key=key)
    assert reply.status in REFUSED, f"{method} {path}: {reply.status}"


@rule("5.3", "two customers share no record")
def _(service: Service) -> str:
    seen = 0
    for path, kind in LISTS.items():
        own, other = (
            {str(item["ID"]) for item in service.items(f"{path}?pagesize=1000", kind, key=key)[1]}
            for key in (service.own, service.other)
        )
        assert own, f"{path} is empty"
        assert own.isdisjoint(other), f"{path}: {sorted(own & other)[:3]}"
        seen += len(own) + len(other)
    return f"{seen} records"


@rule("5.3, 4.2", "what belongs to one customer is refused to the other, on every path with an id and every method")
def _(service: Service) -> str:
    count = 0
    for owner, stranger in ((service.own, service.other), (service.other, service.own)):
        ids, own = service.ids(owner), service.ids(stranger)
        queue = f"/fieldcomputers/{ids['fieldcomputers']}/prescriptionmaps?state=queued"
        before = service.items(queue, "PrescriptionMap", key=owner)
        patterns = [path for path in (*DETAILS, *FILES, *ALL_LISTS) if "{" in path]
        for pattern in patterns:
            path = pattern.format(**ids)
            assert service.call(path, key=owner).status not in REFUSED, f"{path} is refused to its owner"
            assert_rejected(service, "GET", path, stranger)
            for method in METHODS[1:]:
                reply = service.call(path, method=method, key=stranger)
                assert reply.status in (*REFUSED, 405), f"{method} {path}: {reply.status}"
            count += len(METHODS)
        for mixed in (
            ids,
            {**ids, "prescriptionmaps": own["prescriptionmaps"]},
            {**own, "prescriptionmaps": ids["prescriptionmaps"]},
        ):
            assert_rejected(service, "PUT", PUT.format(**mixed), stranger)
            count += 1
        assert service.items(queue, "PrescriptionMap", key=owner) == before, "a stranger queued a map"
    return f"{count} requests"


@rule("2.1, 4.1", "pages of any size add up, the last page and those beyond the end included")
def _(service: Service) -> None:
    for path, kind in (("/jobdata", "JobData"), ("/fieldcomputers", "FieldComputer")):
        whole = [str(item["ID"]) for item in service.items(f"{path}?pagesize=1000", kind)[1]]
        total = len(whole)
        for size in sorted({1, 2, 7, max(1, total - 1), total, total + 1, 1000}):
            pages = math.ceil(total / size)
            for page in sorted({0, 1, pages // 2, pages - 1, pages, pages + 5}):
                for accept in (JSON, XML):
                    fields, items = service.items(f"{path}?pagesize={size}&page={page}", kind, accept=accept)
                    is_page(fields, items, total, size, page)
                    assert [str(item["ID"]) for item in items] == whole[page * size : (page + 1) * size]


@rule("4.1, 8", "the default page is the first 20 records")
def _(service: Service) -> None:
    fields, items = service.items("/jobdata", "JobData")
    is_page(fields, items, integer(fields, "TotalCount"), 20, 0)


@rule("4.1", "pageSize 0 is the complete set")
def _(service: Service) -> None:
    for path, kind in LISTS.items():
        fields, items = service.items(f"{path}?pageSize=0", kind)
        is_page(fields, items, len(items), max(1, len(items)), 0)
        assert len(service.items(f"{path}?pagesize=1", kind)[1]) == 1


@rule("4.1, 4.2", "every list of the table takes pagesize and page")
def _(service: Service) -> str:
    ids = service.ids()
    for pattern, kind in ALL_LISTS.items():
        path = pattern.format(**ids)
        for page in (0, 1):
            fields, items = service.items(f"{path}?pagesize=1&page={page}", kind)
            is_page(fields, items, integer(fields, "TotalCount"), 1, page)
    return f"{len(ALL_LISTS)} lists"


@rule("4.2", "job data come in descending order of their creation, each once")
def _(service: Service) -> None:
    _, items = service.items("/jobdata?pagesize=1000", "JobData")
    created = [dt.datetime.fromisoformat(item["CreateDate"]) for item in items]
    assert created == sorted(created, reverse=True)
    assert len({item["ID"] for item in items}) == len(items)
    middle = created[len(created) // 2]
    _, since = service.items(f"/jobdata?pagesize=1000&date={middle:%Y-%m-%dT%H:%M:%SZ}", "JobData")
    assert [item["ID"] for item in since] == [
        item["ID"] for item, at in zip(items, created, strict=True) if at >= middle
    ]


@rule("4.2, 2.3", "locations of a hub come in descending order")
def _(service: Service) -> None:
    _, items = service.items(f"/fieldhubs/{service.ids()['fieldhubs']}/locations?pagesize=1000", "DeviceLocation")
    ids = [int(item["ID"]) for item in items]
    assert ids == sorted(ids, reverse=True)
    times = [item["GPSDateTime"] for item in items if not item["GPSDateTime"].startswith("0")]
    assert len(times) > 1
    assert times == sorted(times, reverse=True)


@rule("4.1, 4.2", "paths, names of the query and values of format and state are taken in any letter case")
def _(service: Service) -> None:
    ids = service.ids()
    for path in ("/jobdata?pagesize=3&page=1", "/JobData?pageSize=3&Page=1", "/JOBDATA?PAGESIZE=3&PAGE=1"):
        assert service.items(path, "JobData") == service.items("/jobdata?pagesize=3&page=1", "JobData"), path
    for path in ("/FieldHubs/All/CurrentLocation", "/FIELDCOMPUTERS/ALL/CURRENTLOCATION"):
        is_status(service.call(path), 200)
    for word in ("BIN", "bin", "Bin"):
        assert service.call(f"/JobData/{ids['jobdata']}?FORMAT={word}").body.startswith(b"PK"), word
    for state in ("queued", "Queued", "VALIDATED"):
        is_status(service.call(f"/fieldcomputers/{ids['fieldcomputers']}/prescriptionmaps?State={state}"), 200)


@rule("4.5", "Accept decides on the content type of records and of errors, by its weights too")
def _(service: Service) -> None:
    expected = {
        JSON: JSON,
        XML: XML,
        f"{XML}, {JSON};q=0.5": XML,
        f"{XML};q=0.1, {JSON}": JSON,
        f"{JSON};q=0.4, {XML};q=0.6": XML,
        f"{JSON};q=0, {XML}": XML,
    }
    for path, status in (("/jobdata?pagesize=2", 200), ("/accesskey", 200), ("/nowhere", 404)):
        for accept, content_type in expected.items():
            reply = service.call(path, accept=accept)
            is_status(reply, status)
            assert reply.headers.get_content_type() == content_type, f"{accept}: {reply.headers.get_content_type()}"
            assert reply.fields(), accept


@rule("4.5", "a request without Accept, and one of a browser, are answered in one of the two")
def _(service: Service) -> None:
    for accept in (None, BROWSER, "*/*"):
        reply = service.call("/jobdata?pagesize=2", accept=accept)
        is_status(reply, 200)
        assert reply.headers.get_content_subtype() in {"json", "xml"}, reply.headers.get_content_type()
        assert int(reply.fields()["TotalCount"]) > 0


@rule("2.1, 4.5", "XML and JSON hold the same records")
def _(service: Service) -> None:
    for path, kind in LISTS.items():
        ours, theirs = (service.items(f"{path}?pagesize=5", kind, accept=accept)[1] for accept in (JSON, XML))
        texts = [{name: "" if value is None else str(value) for name, value in item.items()} for item in ours]
        assert texts == theirs, f"{path}: {texts[:1]} {theirs[:1]}"


@rule("2.1 to 2.7", "ids are integers in JSON where their tables say so, and strings elsewhere")
def _(service: Service) -> str:
    return check_ids(service)


@rule("4.5", "gzip and deflate compress what is asked for in them")
def _(service: Service) -> None:
    unpack: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.decompress, "deflate": zlib.decompress}
    for accept in (JSON, XML):
        plain = service.call("/jobdata?pagesize=20", accept=accept)
        assert plain.headers["Content-Encoding"] is None
        for encoding, undo in unpack.items():
            reply = service.call("/jobdata?pagesize=20", accept=accept, headers={"Accept-Encoding": encoding})
            assert reply.headers["Content-Encoding"] == encoding
            assert undo(reply.body) == plain.body


@rule("5.3, 7", "every path of the table refuses every other method with 405")
def _(service: Service) -> str:
    ids, count = service.ids(), 0
    for pattern, methods in TAKES.items():
        for method in METHODS:
            if method not in methods:
                is_service_response(service.call(pattern.format(**ids), method=method), 405)
                count += 1
    return f"{count} requests"


@rule("7, 9", "what does not exist is 404 with a ServiceResponse")
def _(service: Service) -> None:
    ids = service.ids()
    for path in (
        "/",
        "/nowhere",
        f"/jobdata/{ids['jobdata']}/nothing",
        "/jobdata/999999999999999",
        "/fieldhubs/unknown",
    ):
        for accept in (JSON, XML):
            is_service_response(service.call(path, accept=accept), 404)


@rule("4.2", "what is not implemented or not supported says so")
def _(service: Service) -> None:
    is_status(service.call("/fieldcomputers/all/locations"), 404, 501)
    for word in ("AgX", "RAD"):
        is_service_response(service.call(f"/prescriptionmaps/{service.ids()['prescriptionmaps']}?format={word}"), 400)


@rule("7", "wrong values of the query are 4XX with a ServiceResponse")
def _(service: Service) -> None:
    for query in ("pagesize=ten", "page=-1", "date=soon"):
        is_service_response(service.call(f"/jobdata?{query}"), 400)


@rule(
    "8, 7", "the call after the last permitted one is 429 until the window resets, and every reply tells the standing"
)
def _(service: Service) -> str:
    names = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")

    def state_of(reply: Reply) -> tuple[int, int, int]:
        limit, remaining, reset = (int(reply.headers[name]) for name in names)
        return limit, remaining, reset

    _, _, reset = state_of(service.call("/accesskey"))
    service.pause(reset)
    limit, remaining, reset = first = state_of(service.call("/accesskey"))
    assert remaining == limit - 1, first
    for left in reversed(range(remaining)):
        reply = service.call("/accesskey", again=False)
        is_status(reply, 200)
        assert state_of(reply)[:2] == (limit, left)
    for _attempt in range(2):
        refused = service.call("/jobdata", again=False)
        is_status(refused, 429)
        assert state_of(refused)[:2] == (limit, 0)
        assert 0 < state_of(refused)[2] <= reset
    service.pause(state_of(refused)[2])
    is_status(service.call("/jobdata", again=False), 200)
    return f"{limit} calls in {reset} s"


def results(service: Service) -> Iterator[tuple[str, str, str, str]]:
    """Check every rule; yield its section, its text, the failure, and a detail."""
    for section, text, check in RULES:
        try:
            yield section, text, "", check(service) or ""
        except (
            AssertionError,
            TypeError,
            KeyError,
            ValueError,
            OSError,
            http.client.HTTPException,
            ET.ParseError,
        ) as wrong:
            yield section, text, f"{type(wrong).__name__}: {wrong}", ""


def main(given: list[str]) -> int:
    """Check the service of the command line."""
    names = ("base_url", "api_key", "shared_secret", "access_key", "other_access_key")
    if len(given) != len(names):
        print(__doc__, file=sys.stderr)
        return 2
    broken = 0
    for section, text, wrong, detail in results(Service(dict(zip(names, given, strict=True)))):
        broken += bool(wrong)
        more = f": {wrong}" if wrong else f" ({detail})" if detail else ""
        print(f"{'BROKEN' if wrong else 'ok':6}  {section:9}  {text}{more}", flush=True)
    print(f"{len(RULES) - broken} of {len(RULES)} rules hold")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
