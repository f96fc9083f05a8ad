"""Wrong values and types: told by the name of the argument, what it takes and what it got, before any call."""

from __future__ import annotations

import io
import tempfile
import zipfile
from typing import TYPE_CHECKING, Any

import pytest

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


LONG: dict[str, Any] = {"conversion_time": "long"}


@pytest.mark.parametrize(
    ("error", "options", "told"),
    [
        (TypeError, {"layer": 3}, r"`layer` takes a str, not int"),
        (TypeError, {"encoding": 3}, r"`encoding` takes a str .*, not int"),
        (TypeError, {"to_crs": 4326}, r"`to_crs` takes a str such as \"EPSG:4326\", not int"),
        (TypeError, {"strict": "no"}, r"`strict` takes True or False, not 'no'"),
        (TypeError, {"threads": "2"}, r"`threads` takes an int, not str"),
        (ValueError, {"threads": -1}, r"`threads` takes a number from 1 .*, not -1"),
        (TypeError, {"limits": 3}, r"`limits` takes a `headland.Limits`, not int"),
        (TypeError, {"columns": 3}, r"`columns` takes a list of names, not one int"),
        (TypeError, {"columns": ["YIELD", 3]}, r"`columns` takes a str, not int"),
    ],
)
def test_how_to_read(
    service: hl.Sandbox, client: hl.Client, error: type[Exception], options: dict[str, Any], told: str
) -> None:
    with pytest.raises(error, match=told):
        hl.read(b"", **options)
    before = len(service.requests)
    with pytest.raises(error, match=told):
        client.job_data.read("1", **options)
    assert len(service.requests) == before


@pytest.mark.parametrize(
    ("error", "settings", "told"),
    [
        (TypeError, {"base_url": None}, r"`base_url` takes a str, not NoneType"),
        (TypeError, {"ca_file": 3}, r"`ca_file` takes a path, not int"),
        (TypeError, {"limiter_state": 3}, r"`limiter_state` takes a path, not int"),
        (TypeError, {"rate_limits": "30/60"}, r"`rate_limits` takes pairs of calls and seconds.*, not '30/60'"),
        (TypeError, {"rate_limits": (30, 60.0)}, r"`rate_limits` takes pairs"),
        (ValueError, {"rate_limits": [(30,)]}, r"`rate_limits` takes pairs"),
        (TypeError, {"rate_limits": [(30, "60")]}, r"`rate_limits` takes seconds as a number, not str"),
        (TypeError, {"timeout": 5}, r"`timeout` takes a `headland.Timeout.* or a tuple of those three, not 5"),
        (ValueError, {"timeout": (1, 2)}, r"`timeout` takes .*, not \(1, 2\)"),
        (TypeError, {"timeout": (1, 2, "3")}, r"`timeout.call` takes seconds as a number, not str"),
        (ValueError, {"timeout": (1, -2, 3)}, r"`timeout.read` takes seconds from 0 up, not -2"),
        (ValueError, {"timeout": (1, 10**400, 3)}, r"`timeout.read` takes seconds from 0 up"),
    ],
)
def test_how_to_set_a_client_up(
    service: hl.Sandbox, error: type[Exception], settings: dict[str, Any], told: str
) -> None:
    with pytest.raises(error, match=told):
        hl.Client(**{**service.credentials, **settings})


def test_a_timeout_may_be_a_plain_tuple_of_three(service: hl.Sandbox) -> None:
    plain: Any = (1, 2.5, 60)
    with hl.Client(**service.credentials, rate_limits=(), timeout=plain) as client:
        assert client.access_key()["is_active"]


@pytest.mark.parametrize(
    ("error", "attempt"),
    [
        (ValueError, lambda _, client: client.job_data.list(page=10**20)),
        (ValueError, lambda service, _: service.faults.add(endpoint="*", kind="503", times=-1)),
        (ValueError, lambda service, _: service.faults.add(endpoint="*", kind="503", times=10**20)),
        (ValueError, lambda service, _: service.advance(-1)),
        (TypeError, lambda service, _: service.faults.add(endpoint=3, kind="503")),
        (ValueError, lambda *_: hl.Sandbox(port=70_000)),
        (ValueError, lambda *_: hl.Sandbox(seed=-1)),
        (ValueError, lambda *_: hl.Sandbox(seed=10**20)),
        (TypeError, lambda *_: hl.Sandbox(**LONG)),
        (TypeError, lambda _, client: client.job_data.download("1", overwrite="no")),
        (ValueError, lambda _, client: client.job_data.read("1", timeout=float("nan"))),
    ],
)
def test_numbers_out_of_their_range(
    service: hl.Sandbox, client: hl.Client, error: type[Exception], attempt: Callable[[hl.Sandbox, hl.Client], object]
) -> None:
    before = len(service.requests)
    with pytest.raises(error, match=r"`\w+` takes .*, not "):
        attempt(service, client)
    assert len(service.requests) == before


@pytest.mark.parametrize("width", [-1, 0, 10**20])
def test_the_width_of_a_picture(client: hl.Client, small_job: str, width: int) -> None:
    archive = client.job_data.download(small_job)
    layer = hl.read(archive, layer=hl.layers(archive)[0])
    with pytest.raises(ValueError, match=r"`width` takes a number from 1 to 4294967295, not"):
        layer.picture(width=width)


def closed(folder: Path) -> Any:
    file = (folder / "closed").open("wb")
    file.close()
    return file


def for_reading(folder: Path) -> Any:
    (folder / "there").write_bytes(b"old")
    return (folder / "there").open("rb")


def wrapped_text(folder: Path) -> Any:
    return tempfile.NamedTemporaryFile("w", dir=folder)


@pytest.mark.parametrize(
    ("error", "target", "told"),
    [
        (ValueError, closed, "`to` is a file object that is closed"),
        (ValueError, for_reading, "`to` is a file object that is open for reading alone"),
        (TypeError, lambda folder: (folder / "text").open("w"), "`to` is a file object that takes text"),
        (TypeError, wrapped_text, "`to` is a file object that takes text"),
        (ValueError, lambda _: "", "`to` takes a path, not an empty text"),
        (TypeError, lambda _: 7, "`to` takes a folder, a path or a binary file object, not int"),
        (FileNotFoundError, lambda folder: f"{folder}/missing/", "there is no folder"),
    ],
)
def test_a_target_that_cannot_take_the_file(
    service: hl.Sandbox,
    client: hl.Client,
    small_job: str,
    tmp_path: Path,
    error: type[Exception],
    target: Callable[[Path], Any],
    told: str,
) -> None:
    to = target(tmp_path)
    arrived = len(service.requests)
    try:
        with pytest.raises(error, match=told):
            client.job_data.download(small_job, to=to)
        handle = client.conversion(f"job_data.request/{small_job}/SHP")
        with pytest.raises(error, match=told):
            handle.result(to)
    finally:
        if hasattr(to, "close"):
            to.close()
    assert len(service.requests) == arrived
    # Whatever is there was there before, as it was.
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir() if file.stat().st_size} in (
        {},
        {"there": b"old"},
    )


@pytest.mark.parametrize("to", [io.BytesIO, tempfile.TemporaryFile, tempfile.NamedTemporaryFile])
def test_every_binary_file_object_takes_the_file(client: hl.Client, small_job: str, to: Callable[[], Any]) -> None:
    with to() as file:
        assert client.job_data.download(small_job, to=file) is file
        file.seek(0)
        assert file.read(2) == b"PK"


def test_an_empty_source_is_not_the_working_folder(client: hl.Client, service: hl.Sandbox) -> None:
    before = len(service.requests)
    with pytest.raises(ValueError, match="`source` takes a path, not an empty text"):
        hl.read("")
    with pytest.raises(ValueError, match="`source` takes a path, not an empty text"):
        hl.layers("")
    with pytest.raises(ValueError, match="`file` takes a path, not an empty text"):
        client.job_data.upload("")
    assert len(service.requests) == before


@pytest.mark.parametrize(
    ("attempt", "told"),
    [
        (lambda client: client.job_data.get("\ud800"), "`id` holds half of a surrogate pair"),
        (lambda client: client.job_data.list(date="\ud800"), "`date` holds half of a surrogate pair"),
        (lambda client: client.job_data.read("1", encoding="\ud800"), "`encoding` holds half of a surrogate pair"),
        (lambda client: client.job_data.get("x" * 70_000), "70000 characters"),
        (lambda client: client.dispatch.field_operations.complete("x" * 70_000, {"a": 1}), "70000 characters"),
        (lambda client: client.job_data.get("   "), "only blanks"),
        (lambda client: client.job_data.get("7 "), "begins or ends with a blank"),
        (lambda client: client.job_data.read("1", encoding="10000-01-01"), "`encoding` takes the name of an encoding"),
        (
            lambda client: client.job_data.read("1", encoding="utf-16le"),
            "`utf-8`, `cp1252`, .* and others, not `utf-16le`",
        ),
        (lambda client: client.job_data.read("1", format="GML"), "`format` of job_data.read is `GML`"),
        (lambda client: client.job_data.read("1", format="XML"), "`headland.read_tree` reads what"),
        (lambda client: client.job_data.upload(named(" lead.zip")), "begins or ends with a blank"),
        (lambda client: client.job_data.upload(named("\udcff.zip")), "`file` holds half of a surrogate pair"),
        (lambda client: client.job_data.upload(b"hello world"), "not a zip that can be read"),
    ],
)
def test_what_cannot_be_asked_for_is_told_before_any_call(
    client: hl.Client, service: hl.Sandbox, attempt: Callable[[hl.Client], object], told: str
) -> None:
    before = len(service.requests)
    with pytest.raises((ValueError, hl.InvalidRequest), match=told):
        attempt(client)
    assert len(service.requests) == before


def named(name: str) -> io.BytesIO:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("job.log", "text")
    content.seek(0)
    content.name = name
    return content


@pytest.mark.parametrize("name", ['a"b.zip', "50%22 off?.zip", ".hidden.zip"])
def test_an_upload_keeps_the_name_that_it_is_given(name: str) -> None:
    with hl.Sandbox.demo() as fresh, hl.Client(**fresh.credentials, rate_limits=()) as client:
        created = client.job_data.upload(named(name))
        assert client.job_data.get(created["id"])["device_file_name"] == name


def test_a_path_with_a_null_character_is_told(client: hl.Client, service: hl.Sandbox, tmp_path: Path) -> None:
    before = len(service.requests)
    with pytest.raises(ValueError, match=r"`folder` takes a path, and 'farm\\x00' has a null character"):
        hl.Mirror("farm\0", client)
    with pytest.raises(ValueError, match=r"`source` takes a path, and 'job\\x00.zip' has a null character"):
        hl.read("job\0.zip")
    with pytest.raises(ValueError, match=r"`to` takes a path, and '.*\\x00' has a null character"):
        client.job_data.download("1", to=f"{tmp_path}/job\0")
    assert len(service.requests) == before
