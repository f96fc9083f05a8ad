"""Reading jobs: columns by the names of a layer, errors that name the job, files read outside the event loop."""

from __future__ import annotations

import asyncio
import io
import threading
import warnings
import zipfile
from typing import TYPE_CHECKING, Any

import pytest

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def archive(service: hl.Sandbox) -> bytes:
    """Return an archive of one layer with geometry."""
    with hl.Client(**service.credentials, rate_limits=()) as client:
        contents = (client.job_data.download(truth["job_id"]) for truth in service.truth)
        return next(content for content in contents if len(hl.layers(content)) == 1)


def of_two_layers(client: hl.Client, archive: bytes) -> str:
    """Upload the layer of an archive twice, under two names, and return the id of the job."""
    both = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as source, zipfile.ZipFile(both, "w") as target:
        for name in source.namelist():
            for stem in ("one", "two"):
                target.writestr(f"{stem}.{name.rpartition('.')[2]}", source.read(name))
    return client.job_data.upload(both.getvalue())["id"]


def test_columns_of_a_layer_are_valid_selections(archive: bytes) -> None:
    layer = hl.read(archive)
    assert "geometry" in layer.columns
    assert hl.read(archive, columns=layer.columns).columns == layer.columns
    assert hl.read(archive, columns=["geometry"]).columns == ["geometry"]
    for wrong in (["geometry", "nothing"], ["nothing", "geometry"], ["geometry_nothing"]):
        with pytest.raises(ValueError, match=r"no column `(geometry_)?nothing`"):
            hl.read(archive, columns=wrong)


def test_unknown_column_is_the_same_error_everywhere(archive: bytes) -> None:
    layer = hl.read(archive)
    attempts: list[Callable[[], object]] = [
        lambda: layer.values("nothing"),
        lambda: layer.picture(column="nothing"),
        lambda: hl.read(archive, columns=["nothing"]),
    ]
    for attempt in attempts:
        with pytest.raises(ValueError, match=f"there is no column `nothing`; there are: {layer.columns[0]}, "):
            attempt()


def test_an_error_of_reading_names_the_job(service: hl.Sandbox, client: hl.Client, archive: bytes) -> None:
    job = of_two_layers(client, archive)
    with pytest.raises(hl.ArchiveError, match=rf"job_data\.read/{job}/SHP.*choose one with `layer`") as several:
        client.job_data.read(job)
    assert several.value.endpoint == "job_data.read"
    with pytest.raises(ValueError, match=rf"`job_data\.read/{job}/SHP` has no layer `nothing`"):
        client.job_data.read(job, layer="nothing")

    async def read() -> None:
        async with hl.AsyncClient(**service.credentials, rate_limits=()) as other:
            await other.job_data.read(job)

    with pytest.raises(hl.ArchiveError, match=rf"job_data\.read/{job}/SHP") as in_a_loop:
        asyncio.run(read())
    assert in_a_loop.value.endpoint == "job_data.read"


def test_a_system_without_a_number_is_shown_by_its_name(archive: bytes, tmp_path: Path) -> None:
    wkt = (
        'PROJCS["A_System_Of_Ours",GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,'
        '298.257223563]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]],'
        'PROJECTION["Transverse_Mercator"],PARAMETER["False_Easting",512345.0],PARAMETER["False_Northing",0.0],'
        'PARAMETER["Central_Meridian",9.5],PARAMETER["Scale_Factor",0.9996],PARAMETER["Latitude_Of_Origin",0.0],'
        'UNIT["Meter",1.0]]'
    )
    changed = tmp_path / "job.zip"
    with zipfile.ZipFile(io.BytesIO(archive)) as source, zipfile.ZipFile(changed, "w") as target:
        for name in source.namelist():
            target.writestr(name, wkt if name.lower().endswith(".prj") else source.read(name))
    layer = hl.read(changed)
    assert layer.crs is not None
    assert layer.crs.startswith("PROJCS")
    assert repr(layer).endswith(", A_System_Of_Ours>")


@pytest.mark.parametrize("kind", ["path", "file object"])
def test_upload_file_is_read_outside_the_event_loop(service: hl.Sandbox, tmp_path: Path, kind: str) -> None:
    readers = []

    class Watched(io.BytesIO):
        name = "watched.jdp.zip"

        def read(self, *size: Any) -> bytes:
            readers.append(threading.current_thread())
            return super().read(*size)

    class WatchedPath:
        def __fspath__(self) -> str:
            readers.append(threading.current_thread())
            return str(tmp_path / "watched.jdp.zip")

    with hl.Client(**service.credentials, rate_limits=()) as client:
        content = client.job_data.download(service.truth[0]["job_id"], format="BIN")
    (tmp_path / "watched.jdp.zip").write_bytes(content)

    async def upload() -> str:
        async with hl.AsyncClient(**service.credentials, rate_limits=()) as client:
            created = await client.job_data.upload(WatchedPath() if kind == "path" else Watched(content))
            return created["id"]

    assert asyncio.run(upload())
    assert readers
    assert threading.main_thread() not in readers


@pytest.fixture(scope="module")
def rejecting_service() -> Iterator[dict[str, Any]]:
    """Return the keys of a service whose clock is wrong and that rejects them: each first call has both to report."""
    with hl.Sandbox.demo() as running:
        running.advance(3600)
        yield {**running.credentials, "access_key": running.revoked_access_key, "rate_limits": ()}


def line_of(attempt: Any) -> int:
    line: int = attempt.__code__.co_firstlineno
    return line


def something_else() -> bytes:
    """Return a zip that can be uploaded and contains nothing that can be converted."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("job.log", "no shapes")
    return content.getvalue()


SOMETHING_ELSE = something_else()

FAILING: dict[str, Callable[[hl.Client], object]] = {
    "detail": lambda client: client.job_data.get("12345678901"),
    "download": lambda client: client.job_data.download("12345678901"),
    "request": lambda client: client.job_data.request("12345678901"),
    "read": lambda client: client.job_data.read("12345678901"),
    "wait": lambda client: client.conversion("job_data.request/12345678901/SHP").wait(),
    "result": lambda client: client.conversion("job_data.request/12345678901/SHP").result(),
    "ready": lambda client: client.conversion("job_data.request/12345678901/SHP").ready(),
    "upload": lambda client: client.job_data.upload(SOMETHING_ELSE),
    "first": lambda client: client.job_data.list().first(),
    "iterate": lambda client: next(iter(client.job_data.list())),
    "count": lambda client: len(client.job_data.list()),
}


@pytest.mark.parametrize("call", FAILING.values(), ids=FAILING.keys())
def test_failed_call_emits_its_warnings(rejecting_service: dict[str, Any], call: Callable[[hl.Client], object]) -> None:
    with hl.Client(**rejecting_service) as client, warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        with pytest.raises(hl.HeadlandError):
            call(client)
    (warned,) = [warning for warning in seen if warning.category is hl.HeadlandWarning]
    assert "3600" in str(warned.message) or "3599" in str(warned.message)
    assert (warned.filename, warned.lineno) == (__file__, line_of(call))


FAILING_IN_A_LOOP: dict[str, Callable[[hl.AsyncClient], Any]] = {
    "detail": lambda client: client.job_data.get("12345678901"),
    "download": lambda client: client.job_data.download("12345678901"),
    "request": lambda client: client.job_data.request("12345678901"),
    "read": lambda client: client.job_data.read("12345678901"),
    "wait": lambda client: client.conversion("job_data.request/12345678901/SHP").wait(),
    "result": lambda client: client.conversion("job_data.request/12345678901/SHP").result(),
    "upload": lambda client: client.job_data.upload(SOMETHING_ELSE),
    "first": lambda client: client.job_data.list().first(),
    "count": lambda client: client.job_data.list().total(),
}


@pytest.mark.parametrize("call", FAILING_IN_A_LOOP.values(), ids=FAILING_IN_A_LOOP.keys())
def test_failed_coroutine_emits_its_warnings(
    rejecting_service: dict[str, Any], call: Callable[[hl.AsyncClient], Any]
) -> None:

    async def make() -> None:
        async with hl.AsyncClient(**rejecting_service) as client:
            with pytest.raises(hl.HeadlandError):
                await call(client)

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        asyncio.run(make())
    (warned,) = [warning for warning in seen if warning.category is hl.HeadlandWarning]
    assert warned.filename == __file__
