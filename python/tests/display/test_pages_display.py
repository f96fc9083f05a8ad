"""Display, indices, cursors and filters of lists; the display of groups and clients."""

from __future__ import annotations

import asyncio
import datetime as dt
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from stub_server import web

import headland as hl
from headland.display import page_display

if TYPE_CHECKING:
    from collections.abc import Callable
    from http.server import BaseHTTPRequestHandler

UNREAD = "not read yet: iterate, or take `[:5]`>"
PLAIN = f"<Pages job_data.list, {UNREAD}"
HOSTILE = '<script>alert("x")</script>\x1b[31m\u202ename'
LONG: Any = "long"


@pytest.fixture
def pages(client: hl.Client) -> hl.Pages[Any]:
    """Return a list with several pages."""
    return client.job_data.list(page_size=10)


def assert_shown(pages: Any, total: int, service: hl.Sandbox) -> None:
    """Check that the list shows its first five records without a call."""
    before = len(service.requests)
    text, html = repr(pages), pages._repr_html_()
    assert len(service.requests) == before
    title, head, *rows = text.splitlines()
    assert title == f"{total} job data, first 5:"
    assert head.split() == ["id", "name", "sub_type", "create_date", "update_date"]
    assert len(rows) == 5
    assert html.count("<tr>") == 6
    assert title in html
    assert all(row.split()[0] in html for row in rows)


def test_list_before_any_call_shows_its_name(service: hl.Sandbox, pages: hl.Pages[Any], client: hl.Client) -> None:
    before = len(service.requests)
    assert (repr(pages), str(pages)) == (PLAIN, PLAIN)
    assert pages._repr_html_() == f"<p>{PLAIN.replace('<', '&lt;').replace('>', '&gt;')}</p>"
    assert repr(client.field_hubs.current_locations()) == f"<LocationPages field_hubs.current_locations, {UNREAD}"
    for shown in (pages, client, client.job_data, client.dispatch, pages.filter(job_type="Yield")):
        assert dir(shown)
        assert repr(shown)
        for name in ("_ipython_canary_method_should_not_exist_", "_repr_png_", "_ipython_key_completions_"):
            assert not hasattr(shown, name)
    assert len(service.requests) == before


READS: dict[str, Callable[[hl.Pages[Any]], object]] = {
    "len": len,
    "first": lambda pages: pages.first(),
    "bool": bool,
    "index": lambda pages: pages[0],
    "slice": lambda pages: pages[:15],
    "next": next,
    "iter": lambda pages: next(iter(pages)),
    "list": list,
}


@pytest.mark.parametrize("read", READS)
def test_list_after_the_first_page_shows_five_records(service: hl.Sandbox, pages: hl.Pages[Any], read: str) -> None:
    READS[read](pages)
    assert_shown(pages, len(pages), service)


def test_display_loses_no_record(service: hl.Sandbox, client: hl.Client) -> None:
    expected = [record["id"] for record in client.job_data.list()]
    readers: list[Callable[[hl.Pages[Any]], list[str]]] = [
        lambda pages: [record["id"] for record in pages],
        lambda pages: pages.to_arrow()["id"].to_pylist(),
        lambda pages: [record["id"] for record in pages[:]],
        lambda pages: [pages[index]["id"] for index in range(len(pages))],
        lambda pages: [next(pages)["id"] for _ in expected],
        lambda pages: [record["id"] for record in pages.filter(lambda _: True)],
    ]
    for read in readers:
        pages = client.job_data.list(page_size=10)
        assert len(pages) == len(expected)
        assert_shown(pages, len(expected), service)
        first = pages.first()
        assert first is not None
        assert first["id"] == expected[0]
        assert read(pages) == expected
        assert_shown(pages, len(expected), service)


def test_display_of_one_page_and_of_an_empty_list(client: hl.Client) -> None:
    page = client.job_data.list(page=2, page_size=4)
    assert len(page) > 4
    assert repr(page).splitlines()[0] == f"{len(page)} job data, first 4 of page 2:"
    other = client.job_data.list(page=2, page_size=4)
    assert other[3] == page[3]
    assert repr(other).splitlines()[0] == "job data, first 4 of page 2:"
    assert len(other) == len(page)
    empty = client.job_data.list(date="2099-01-01")
    assert not empty
    assert (repr(empty), empty._repr_html_()) == ("0 job data", "<div><p>0 job data</p></div>")
    hubs = client.field_hubs.list()
    assert repr(hubs[:]) != repr(hubs).splitlines()[0] == "3 field hubs:"


def test_list_of_the_dispatch_service_shows_its_records(service: hl.Sandbox) -> None:
    tokens: list[str] = []

    def request_token() -> str:
        tokens.append("requested")
        return str(service.credentials["dispatch_token"])

    with hl.Client(**{**service.credentials, "dispatch_token": request_token}, rate_limits=()) as client:  # type: ignore[arg-type]
        for read in (len, hl.Pages.first, next, list):
            products: hl.Pages[Any] = client.dispatch.products.list()
            assert repr(products) == f"<Pages dispatch.products.list, {UNREAD}"
            read(products)
            before = len(tokens), len(service.requests)
            assert repr(products).startswith("170 dispatch products, first 5:\n  id")
            assert products._repr_html_().count("<tr>") == 6
            assert (len(tokens), len(service.requests)) == before
            assert len(list(products)) == 170


def test_texts_of_the_service_are_escaped_and_cut() -> None:
    record = {"id": "1", "name": HOSTILE, HOSTILE: 5, "uri": "https://x", "report": {"a": 1}, "note": "n" * 200}
    head = page_display.Head([record, {"id": "2", "when": dt.datetime(2026, 9, 1, tzinfo=dt.UTC)}], 7)
    text, html = (show("job_data.list", None, head) for show in (page_display.text, page_display.html))
    for shown in (text, html):
        assert "\x1b" not in shown
        assert "\u202e" not in shown
        assert "\\u001b" in shown
        assert "https://x" not in shown
        assert "2026-09-01T00:00:00Z" in shown
        assert "n" * 41 not in shown
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert text.splitlines()[1].split()[:3] == ["id", "name", "when"]


def test_table_has_at_most_six_columns_that_fit() -> None:
    for length in (1, 39, 100):
        record = {"id": "1", **{f"column_{number}": "v" * length for number in range(10)}}
        lines = page_display.text("x", None, page_display.Head([record], 1)).splitlines()
        assert 2 <= len(lines[1].split()) <= page_display.MAX_COLUMNS
        assert max(map(len, lines)) <= page_display.MAX_WIDTH
    assert page_display.text("x", None, page_display.Head([{"a": {}}], 1)) == "1 x:"
    assert page_display.text("x.list", None, page_display.Head([], 9)) == "9 x, no record in the first page"


def test_index_reads_the_pages_that_it_needs(service: hl.Sandbox, pages: hl.Pages[Any]) -> None:
    before = len(service.requests)
    newest = pages[0]
    assert isinstance(newest, dict)
    assert len(service.requests) == before + 1
    assert pages[:5][0] is newest
    assert (pages[np.int64(9)], pages[9:20:20]) == (pages[9], [pages[9]])
    assert pages[5:2] == pages[3:3] == pages[100:50] == []
    assert len(service.requests) == before + 2
    records = list(pages)
    assert pages[:] == records
    assert pages[12:40:5] == records[12:40:5]
    assert pages[: 10**9] == pages[0:None:1] == records
    assert pages[10**9 :] == []
    assert (pages[len(records) - 1], pages[0]) == (records[-1], newest)
    read = len(service.requests)
    with pytest.raises(IndexError, match=f"index `{len(records)}` of job_data.list: the list has {len(records)} rec"):
        pages[len(records)]
    assert len(service.requests) == read, "the records are kept"


@pytest.mark.parametrize(
    ("error", "message", "index"),
    [
        (IndexError, r"index `-1` of .* is negative: use `list\(pages\)\[-1\]`", -1),
        (IndexError, "use `list", np.int8(-3)),
        (ValueError, r"slice `-5:` of .* is negative: use `list\(pages\)\[-5:\]`", slice(-5, None)),
        (ValueError, r"use `list\(pages\)\[:-1\]`", slice(-1)),
        (ValueError, r"use `list\(pages\)\[::-1\]`", slice(None, None, -1)),
        (ValueError, "the step of a slice of job_data.list is 0", slice(0, 5, 0)),
        *((TypeError, "an index is an int", wrong) for wrong in (True, np.True_, 1.0, "id", None, (0, 1), b"0", [0])),
        *((TypeError, "an index is an int", slice(*wrong)) for wrong in ((1.5,), (True, 2), (0, 5, "1"))),
    ],
)
def test_wrong_index_is_an_error_without_a_call(
    service: hl.Sandbox, pages: hl.Pages[Any], error: type[Exception], message: str, index: Any
) -> None:
    before = len(service.requests)
    for indexed in (pages, pages.filter(job_type="Yield")):
        with pytest.raises(error, match=message.replace("of job_data", "of .*job_data")):
            indexed[index]
    assert len(service.requests) == before


def test_index_beyond_the_kept_records_is_an_error(pages: hl.Pages[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headland.client.page_buffer.MAX_KEPT", 20)
    assert len(pages[:20]) == 20
    for index in (20, slice(None), slice(0, 21)):
        with pytest.raises(ValueError, match=r"only the first 20 records of job_data\.list .* use `list"):
            pages[index]
    assert len(list(pages)) > 20


def test_next_has_a_cursor_of_its_own(service: hl.Sandbox, pages: hl.Pages[Any]) -> None:
    records = list(pages)
    assert [next(pages) for _ in range(12)] == records[:12]
    assert next(iter(pages)) == records[0]
    assert pages[0] == records[0]
    assert list(pages) == records
    assert next(pages) == records[12]
    rest = []
    while (record := next(pages, None)) is not None:
        rest.append(record)
    assert rest == records[13:]
    before = len(service.requests)
    with pytest.raises(StopIteration):
        next(pages)
    assert len(service.requests) == before


def test_failed_page_is_read_again_by_next_and_by_an_index() -> None:
    with hl.Sandbox.demo() as service, hl.Client(**service.credentials, rate_limits=()) as client:
        records = list(client.job_data.list())
        by_next, by_index = (client.job_data.list(page_size=10) for _ in range(2))
        assert ([next(by_next) for _ in range(10)], by_index[:10]) == (records[:10], records[:10])
        reads: list[Callable[[], object]] = [lambda: next(by_next), lambda: by_index[10]]
        for read in reads:
            service.faults.add(endpoint="*", kind="forbidden", times=1)
            with pytest.raises(hl.PermissionDenied):
                read()
            assert read() == records[10]


def test_filter_keeps_matching_records(service: hl.Sandbox, pages: hl.Pages[Any]) -> None:
    records = list(pages)
    kinds = sorted({record["sub_type"] for record in records})
    assert len(kinds) > 1
    for kind in kinds:
        labels = {"As Applied": ("As Applied", "Sprayer")}.get(kind, (kind,))
        expected = [record for record in records if record["sub_type"] in labels]
        for written in (kind, kind.upper(), f" {kind.lower()} "):
            found = pages.filter(job_type=written)
            assert list(found) == list(found) == expected
            assert (found.first(), found[0], found[:2], found[:]) == (*expected[:1] * 2, expected[:2], expected)
    north = pages.filter(lambda record: "Hill" in record["name"], job_type="Yield")
    assert list(north) == [each for each in records if "Hill" in each["name"] and each["sub_type"] == "Yield"]
    assert list(pages.filter(job_type="harvest")) == list(pages.filter(job_type="Yields"))
    unknown = pages.filter(job_type="no such kind")
    for read in (unknown.first, lambda: list(unknown), lambda: unknown[0]):
        with pytest.raises(ValueError, match=r"^`job_type`: unknown type `no such kind`; known: AsApplied, "):
            read()
    before = len(service.requests)
    assert pages.filter(job_type=kinds[0])[0]
    assert len(service.requests) <= before + 2, "pages are read on demand"
    assert repr(pages.filter(job_type="Yield")) == f"<FilteredPages job_data.list, job_type='Yield', {UNREAD}"


def test_filtered_list_shows_its_first_records_once_they_were_read(client: hl.Client, service: hl.Sandbox) -> None:
    found = client.job_data.list().filter(job_type="yield")
    assert UNREAD.removesuffix(">") in found._repr_html_()
    assert bool(found)
    for reading in (lambda: found[0], lambda: list(found)):
        reading()
        before = len(service.requests)
        assert repr(found).startswith("filtered job data, first 5")
        assert found._repr_html_().count("<tr>") == 6
        assert len(service.requests) == before
    two = client.job_data.list().filter(lambda record: record["id"] in {found[0]["id"], found[1]["id"]})
    assert (len(list(two)), len(two[:5]), two._repr_html_().count("<tr>")) == (2, 2, 3)


def test_filter_ignores_records_without_a_kind(client: hl.Client) -> None:
    assert list(client.field_hubs.list().filter(job_type="None")) == []


@pytest.mark.parametrize(
    ("message", "arguments"),
    [
        ("needs `predicate` or `job_type`", {}),
        ("`predicate`: expected a function of a record, got str", {"predicate": "Yield"}),
        ("`predicate`: expected a function of a record, got int", {"predicate": 7}),
        *(("`job_type`: expected a str", {"job_type": wrong}) for wrong in (7, True, b"Yield", ["Yield", 7])),
        ("`sub_type`: expected a str", {"sub_type": 7}),
    ],
)
def test_wrong_argument_of_filter_is_an_error_without_a_call(
    service: hl.Sandbox, pages: hl.Pages[Any], message: str, arguments: dict[str, Any]
) -> None:
    before = len(service.requests)
    with pytest.raises(TypeError, match=message):
        pages.filter(**arguments)
    with pytest.raises(TypeError, match=message):
        hl.AsyncClient(**service.credentials).job_data.list().filter(**arguments)
    assert len(service.requests) == before


def test_asynchronous_list(service: hl.Sandbox, client: hl.Client) -> None:
    records = list(client.job_data.list())

    async def read() -> None:
        async with hl.AsyncClient(**service.credentials, rate_limits=()) as own:
            for use in ("total", "first", "iterate"):
                pages = own.job_data.list(page_size=10)
                assert repr(pages) == "<AsyncPages job_data.list, not read yet: `async for` reads it>"
                if use == "iterate":
                    assert [record async for record in pages] == records
                else:
                    assert await getattr(pages, use)()
                assert_shown(pages, len(records), service)
                assert await pages.first() == records[0]
                assert [record async for record in pages] == records
                assert (await pages.to_arrow())["id"].to_pylist() == [record["id"] for record in records]
            for index in (0, -1, slice(5)):
                with pytest.raises(TypeError, match=r"read by `async for`, or `await pages\.first"):
                    pages[index]
            spraying = pages.filter(job_type="sprayer")
            expected = [record for record in records if record["sub_type"] == "Sprayer"]
            assert [record async for record in spraying] == expected
            assert await spraying.first() == expected[0]
            assert await pages.filter(lambda _: False).first() is None
            with pytest.raises(ValueError, match=r"^`job_type`: unknown type `Yeild`; known: AsApplied, "):
                await pages.filter(job_type="Yeild").first()
            assert repr(spraying) == "<AsyncFilteredPages job_data.list, job_type='sprayer': `async for` reads it>"
            with pytest.raises(TypeError, match=r"use `await pages.total\(\)`"):
                len(pages)
            reads: tuple[Any, ...] = (len, list)
            for read_all in reads:
                with pytest.raises(TypeError, match=r"`\[record async for record in filtered\]`"):
                    read_all(spraying)
            with pytest.raises(TypeError, match="opened by `async with`"), own:
                pytest.fail("`with` does not close an `AsyncClient`")
            handle = own.conversion("job_data.request/1/SHP")
            with pytest.raises(TypeError, match=r"`timeout`: `wait\(timeout=...\)` limits the wait"):
                await handle.result(timeout=0)  # type: ignore[call-overload]
            products = own.dispatch.products.list()
            assert await products.total() == 170
            assert repr(products).startswith("170 dispatch products, first 5:\n")
            assert len([product async for product in products]) == 170

    asyncio.run(read())


def _answer(_: BaseHTTPRequestHandler) -> tuple[int, dict[str, str], bytes]:
    job = {"ID": "1", "Name": HOSTILE, "SubType": "Yield", "CreateDate": "soon"}
    body = {"TotalCount": 1, "IsNextPage": False, "JobData": [job]}
    return 200, {"Content-Type": "application/json"}, json.dumps(body).encode()


def test_unreadable_page_is_shown_by_name() -> None:
    with web(_answer) as host:
        keys: dict[str, Any] = {"api_key": "a-key", "shared_secret": "AAEC", "access_key": "b-key"}
        pages = hl.Client(base_url=f"http://{host}", **keys, rate_limits=()).job_data.list()
        assert len(pages) == 1
        assert repr(pages) == PLAIN
        with pytest.raises(hl.DecodeError):
            pages.first()
        assert repr(pages) == PLAIN


KINDS: list[Any] = [hl.Client, hl.AsyncClient]


@pytest.fixture(params=KINDS, ids=["sync", "async"])
def offline(request: pytest.FixtureRequest) -> Callable[..., Any]:
    return lambda **settings: request.param(
        base_url="https://fields.example/api", api_key="key-1", shared_secret="c2VjcmV0", access_key="key-2", **settings
    )


def test_client_shows_address_and_limit_without_keys(offline: Callable[..., Any]) -> None:
    client = offline()
    name = f"headland.{type(client).__name__}"
    assert repr(client) == f"<{name} of https://fields.example/api, 30 calls per 60 s, 15 calls per 30 s>"
    assert repr(offline(rate_limits=((5, 0.5),))) == f"<{name} of https://fields.example/api, 5 calls per 0.5 s>"
    assert repr(offline(rate_limits=())) == f"<{name} of https://fields.example/api, no rate limit>"
    client._calls.close()
    assert repr(client) == f"<{name} of https://fields.example/api, closed>"
    assert repr(client.job_data) == "<job_data of https://fields.example/api>"


def test_group_shows_name_and_address_without_keys(offline: Callable[..., Any]) -> None:
    client = offline()
    names = [name for name in vars(client) if not name.startswith("_")]
    assert len(names) == 7
    for name in names:
        assert repr(getattr(client, name)).startswith(f"<{name} of https://fields.example/api")
    dispatch = "batches, equipment, field_operations, products"
    assert repr(client.dispatch) == f"<dispatch of https://fields.example/api: {dispatch}>"
    assert repr(client.dispatch.products) == "<dispatch.products of https://fields.example/api: list>"
    assert repr(client.dispatch.field_operations).startswith("<dispatch.field_operations of https://")
    shown = "".join(map(repr, (client, *(getattr(client, name) for name in names))))
    assert not any(secret in shown for secret in ("key-1", "key-2", "c2VjcmV0"))
