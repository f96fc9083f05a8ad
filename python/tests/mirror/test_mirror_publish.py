"""A mirror on an object store: always complete, nothing sent twice, and no credentials in it."""

from __future__ import annotations

import hashlib
import json
import shutil
import threading
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import boto3
import duckdb
import geopandas as gpd
import obstore
import pytest
from mirror_fixtures import Farm, job, published, published_state
from moto.server import DomainDispatcherApplication, create_backend_app
from obstore.fsspec import FsspecStore
from obstore.store import from_url
from werkzeug.serving import WSGIRequestHandler, make_server

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

KEY, SECRET = "AKIAONLYFORTESTS", "never/print+or=store-this-secret"
JOBS = [job("101", year="2025", rows=40), job("102", rows=40, west=-97.0), job("104", "Soil%20Sampling", places=False)]


class _Silent(WSGIRequestHandler):  # type: ignore[misc]
    def log(self, *_: object, **__: object) -> None:
        """Log nothing."""


class Service(NamedTuple):
    """An object store in this process: its address, its requests, and the accepted keys."""

    endpoint: str
    asked: list[tuple[str, str, bool]]
    refuse: list[Callable[[str, str], int | None]]

    @property
    def options(self) -> dict[str, Any]:
        """The options that open it."""
        return {
            "access_key_id": KEY,
            "secret_access_key": SECRET,
            "region": "us-east-1",
            "endpoint": self.endpoint,
            "client_options": {"allow_http": True},
            "retry_config": {"max_retries": 0},
        }

    def writes(self) -> list[str]:
        """Return the writes since the last time; a copy inside the store is not sent."""
        found = [path for method, path, copied in self.asked if method == "PUT" and not copied]
        self.asked.clear()
        return found


@pytest.fixture(scope="module")
def moto() -> Iterator[Service]:
    """Run moto's store in a thread of this process."""
    inner = DomainDispatcherApplication(create_backend_app)
    asked: list[tuple[str, str, bool]] = []
    refuse: list[Callable[[str, str], int | None]] = []

    def app(environ: dict[str, Any], start: Callable[..., Any]) -> Any:
        method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
        status = refuse[0](method, path) if refuse else None
        if status is not None:
            # Unread bytes of a request would be parsed as the next one.
            environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
            body = f"<Error><Code>Refused</Code><Message>not with {KEY} and {SECRET}</Message></Error>".encode()
            start(f"{status} Refused", [("Content-Type", "text/xml"), ("Content-Length", str(len(body)))])
            return [body]
        asked.append((method, path, "HTTP_X_AMZ_COPY_SOURCE" in environ))
        return inner(environ, start)

    server = make_server("127.0.0.1", 0, app, threaded=True, request_handler=_Silent)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield Service(f"http://127.0.0.1:{server.server_port}", asked, refuse)
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def store(moto: Service, request: pytest.FixtureRequest) -> Iterator[tuple[Service, str]]:
    """Return the store and the address of an empty bucket."""
    bucket = "farm-" + hashlib.sha256(request.node.name.encode()).hexdigest()[:12]
    client = boto3.client(
        "s3", endpoint_url=moto.endpoint, aws_access_key_id=KEY, aws_secret_access_key=SECRET, region_name="us-east-1"
    )
    client.create_bucket(Bucket=bucket)
    client.close()
    moto.asked.clear()
    yield moto, f"s3://{bucket}/the farm"
    moto.refuse.clear()


def pointer(service: Service, url: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(bytes(obstore.get(from_url(url, **service.options), "current.json").bytes()))
    return found


def there(service: Service, url: str) -> dict[str, int]:
    return {each["path"]: each["size"] for each in obstore.list(from_url(url, **service.options)).collect()}


def rows(service: Service, url: str) -> dict[str, int]:
    """Read the publication as other packages do: from the pointer, with geopandas."""
    files = FsspecStore("s3", **service.options)
    dataset = f"{url}/{pointer(service, url)['state']}/dataset/job_type=Yield"
    found = [path for path in files.find(dataset) if path.endswith(".parquet")]
    frames = [gpd.read_parquet(path, filesystem=files) for path in found]
    return {name: count for frame in frames for name, count in frame.groupby("job_id").size().items()}


def test_publication_is_read_by_geopandas_and_duckdb(store: tuple[Service, str], tmp_path: Path) -> None:
    service, url = store
    farm = published(tmp_path, JOBS)
    done = farm.publish(url, **service.options)
    assert rows(service, url) == {"101": 40, "102": 40}
    assert done.dataset == f"{url}/{pointer(service, url)['state']}/dataset"
    files = FsspecStore("s3", **service.options)
    [part] = files.find(f"{done.dataset}/job_type=Yield/year=2025")
    box = gpd.read_parquet(part, filesystem=files, bbox=(-97.755, 44, -97.645, 46))
    assert len(box) == 11
    with duckdb.connect() as connection:
        connection.register_filesystem(files)
        counted = connection.execute(f"SELECT count(*) FROM read_parquet('s3://{part.removeprefix('s3://')}')")
        assert counted.fetchall() == [(40,)]
    local = {
        path.relative_to(published_state(tmp_path)).as_posix()
        for path in published_state(tmp_path).rglob("*.*")
        if path.is_file()
    }
    names = there(service, url).keys()
    assert names == {
        "current.json",
        "README.txt",
        *(f"{done.state}/{name}" for name in local),
        *(f"latest/{name}" for name in local),
    }


def test_only_what_changed_is_sent(store: tuple[Service, str], tmp_path: Path) -> None:
    service, url = store
    first = published(tmp_path, JOBS).publish(url, **service.options)
    latest = ["/latest/manifest.json"] * 2
    assert len(service.writes()) == first.sent + 3 + len(latest) == 4 + 3 + 2, "the manifest, the pointer, README.txt"
    again = Farm(tmp_path).publish(url, **service.options)
    assert (again.sent, again.kept, again.bytes_sent) == (0, 4, 0)
    assert service.writes() == []
    changed = published(tmp_path, [*JOBS, job("103", "AsApplied")], number=2)
    second = changed.publish(url, **service.options)
    assert second.kept == 3, "the three parts"
    written = service.writes()
    assert len(written) == second.sent + 2 + len(latest) == 2 + 2 + 2, "new part, catalog; manifest, pointer"
    assert [path for path in written if "/latest/" in path] == [f"/{url.partition('//')[2]}{name}" for name in latest]
    assert rows(service, url) == {"101": 40, "102": 40}


def test_previous_state_stays_and_older_ones_are_removed(store: tuple[Service, str], tmp_path: Path) -> None:
    service, url = store
    obstore.put(from_url(url, **service.options), "generations/of mine/notes.txt", b"not a state")
    states = [
        published(tmp_path, JOBS[: number % 2 + 1], number=number).publish(url, **service.options).state
        for number in (1, 2, 3)
    ]
    kept = {"/".join(name.split("/")[:2]) for name in there(service, url) if name.startswith("generations/")}
    assert kept == {*states[1:], "generations/of mine"}
    assert pointer(service, url) == {"format": 1, "state": states[2], "before": states[1]}


def test_archives_are_sent_once(store: tuple[Service, str], tmp_path: Path) -> None:
    service, url = store
    first = published(tmp_path, JOBS).publish(url, archives=True, **service.options)
    assert first.sent == 4 + 3
    names = {name for name in there(service, url) if name.startswith("archives/")}
    assert names == {f"archives/{each.sha256[:2]}/{each.sha256}.zip" for each in JOBS}
    second = published(tmp_path, [*JOBS, job("103", rows=7)], number=2).publish(url, archives=True, **service.options)
    assert second.kept >= 3
    assert len({name for name in there(service, url) if name.startswith("archives/")}) == 4


@pytest.mark.parametrize("nth", range(1, 8))
def test_failure_of_any_write_leaves_the_publication(store: tuple[Service, str], tmp_path: Path, nth: int) -> None:
    service, url = store
    published(tmp_path, JOBS[:1]).publish(url, archives=True, **service.options)
    before, count = pointer(service, url), iter(range(1, 1000))
    farm = published(tmp_path, [*JOBS[1:], job("103", "AsApplied", rows=7)], number=2)
    service.refuse.append(lambda method, _: 500 if method == "PUT" and next(count) >= nth else None)
    with pytest.raises(hl.TransportError, match=r"cannot write `.*` at `s3://"):
        farm.publish(url, archives=True, **service.options)
    service.refuse.clear()
    assert pointer(service, url) == before
    assert rows(service, url) == {"101": 40}
    service.writes()
    done = farm.publish(url, archives=True, **service.options)
    assert rows(service, url) == {"102": 40}
    # Seven files, sequentially or concurrently: received ones are not sent again.
    assert len(service.writes()) == done.sent + 2 + 2, "the manifest and the pointer; twice the manifest of `latest/`"
    assert done.sent + done.kept == 7


def test_failed_write_of_the_pointer_leaves_the_publication(store: tuple[Service, str], tmp_path: Path) -> None:
    service, url = store
    published(tmp_path, JOBS[:1]).publish(url, **service.options)
    before = pointer(service, url)
    farm = published(tmp_path, JOBS[1:], number=2)
    service.refuse.append(lambda method, path: 500 if method == "PUT" and path.endswith("/current.json") else None)
    with pytest.raises(hl.TransportError, match=r"cannot write `current.json`"):
        farm.publish(url, **service.options)
    assert pointer(service, url) == before
    assert rows(service, url) == {"101": 40}


@pytest.mark.parametrize("nth", range(1, 6))
def test_failure_in_latest_is_repaired(store: tuple[Service, str], tmp_path: Path, nth: int) -> None:
    service, url = store
    published(tmp_path, JOBS[:1]).publish(url, **service.options)
    farm, count = published(tmp_path, JOBS[1:], number=2), iter(range(1, 1000))
    service.refuse.append(lambda _, path: 500 if "/latest/" in path and next(count) >= nth else None)
    with pytest.raises(hl.TransportError):
        farm.publish(url, **service.options)
    service.refuse.clear()
    assert rows(service, url) == {"102": 40}, "the state of the pointer is complete"
    manifest = bytes(obstore.get(from_url(url, **service.options), "latest/manifest.json").bytes())
    assert (manifest == b"{}") == (nth > 2), "after the first write, the manifest lists no file"
    done = farm.publish(url, **service.options)
    assert done.sent == 0
    opened = from_url(url, **service.options)
    content = {name: bytes(obstore.get(opened, name).bytes()) for name in there(service, url)}
    latest, state = (
        {name.removeprefix(prefix): text for name, text in content.items() if name.startswith(prefix)}
        for prefix in ("latest/", f"{done.state}/")
    )
    assert latest == state


def test_file_lost_at_the_target_is_sent_again(store: tuple[Service, str], tmp_path: Path) -> None:
    service, url = store
    farm = published(tmp_path, JOBS)
    done = farm.publish(url, **service.options)
    lost = next(name for name in there(service, url) if "job_type=Yield/year=2025" in name)
    obstore.delete(from_url(url, **service.options), [lost])
    assert farm.publish(url, **service.options).sent == 1
    obstore.put(from_url(url, **service.options), lost, b"cut off")
    later = published(tmp_path, [*JOBS, job("103", "AsApplied")], number=2).publish(url, **service.options)
    assert later.sent == 3, "the damaged file is no source for a copy"
    assert rows(service, url) == {"101": 40, "102": 40}
    assert later.state != done.state


def test_local_damage_is_not_published(store: tuple[Service, str], tmp_path: Path) -> None:
    service, url = store
    published(tmp_path, JOBS[:1]).publish(url, **service.options)
    farm = published(tmp_path, JOBS, number=2)
    [part] = published_state(farm.folder).glob("dataset/job_type=Yield/year=2026/*/*.parquet")
    content = bytearray(part.read_bytes())
    content[100] ^= 1
    part.write_bytes(content)
    with pytest.raises(
        hl.ConfigurationError, match=r"part-0.parquet` differs from the manifest: expected SHA-256 .*run `verify"
    ):
        farm.publish(url, **service.options)
    assert rows(service, url) == {"101": 40}
    part.unlink()
    with pytest.raises(hl.ArchiveError, match=r"part-0.parquet` is missing; run `sync\(\)` to rewrite"):
        farm.publish(url, **service.options)


def test_state_removed_during_its_publication_is_an_error_with_the_next_step(
    store: tuple[Service, str], tmp_path: Path
) -> None:
    service, url = store
    farm = published(tmp_path, JOBS)
    state = published_state(tmp_path)

    def vanish(method: str, _: str) -> None:
        if method == "PUT" and state.exists():
            shutil.rmtree(state)

    service.refuse.append(vanish)
    with pytest.raises(hl.ArchiveError, match=r"\.parquet` was removed, because .* a newer state: publish again"):
        farm.publish(url, **service.options)


def everything_of(error: BaseException) -> str:
    formatted = traceback.TracebackException.from_exception(error, capture_locals=True)
    package = str(Path(hl.__file__).parent)
    own = [f"{frame.line}{frame.locals}" for frame in formatted.stack if frame.filename.startswith(package)]
    assert own
    return "".join(own) + str(error) + repr(error) + repr(error.args) + repr(vars(error))


@pytest.mark.parametrize("status", [401, 403, 500])
def test_no_error_shows_credentials(store: tuple[Service, str], tmp_path: Path, status: int) -> None:
    service, url = store
    farm = published(tmp_path, JOBS[:1])
    service.refuse.append(lambda _, __: status)
    kind = hl.TransportError if status == 500 else hl.PermissionDenied
    with pytest.raises(kind, match=r"cannot read `current.json` at `s3://.*\*\*\*") as caught:
        farm.publish(url, **service.options)
    text = everything_of(caught.value)
    assert KEY not in text
    assert SECRET not in text


@pytest.mark.parametrize(
    ("url", "options"),
    [
        (f"s3://{KEY}:pass@farm/x", {}),
        (f"az://container/x?sig={SECRET}", {}),
        ("nowhere", {"secret_access_key": SECRET}),
        ("s4://farm/x", {"secret_access_key": SECRET}),
        ("s3://farm/x", {"no_such_option": SECRET}),
        ("s3://farm/x", {"secret_access_key": SECRET, "access_key_id": 3}),
    ],
)
def test_invalid_addresses_are_errors_without_credentials(tmp_path: Path, url: str, options: dict[str, Any]) -> None:
    farm = published(tmp_path, JOBS[:1])
    with pytest.raises(ValueError, match="`target`") as caught:
        farm.publish(url, **options)
    # Only the caller has the address in a variable; options passed by name are in no variable any more.
    text = everything_of(caught.value) if options else str(caught.value)
    assert SECRET not in text
    assert KEY not in text


def test_no_published_file_contains_credentials(store: tuple[Service, str], tmp_path: Path) -> None:
    service, url = store
    done = published(tmp_path, JOBS).publish(url, archives=True, **service.options)
    opened = from_url(url, **service.options)
    for name in there(service, url):
        content = bytes(obstore.get(opened, name).bytes())
        assert SECRET.encode() not in content
        assert KEY.encode() not in content
    assert SECRET not in repr(done)
    assert KEY not in repr(done)


def test_missing_bucket_is_an_error(moto: Service, tmp_path: Path) -> None:
    with pytest.raises(hl.TransportError, match=r"cannot list `.*` at `s3://nobucket/farm`: .*NoSuchBucket"):
        published(tmp_path, JOBS).publish("s3://nobucket/farm", **moto.options)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("s3:bucket/farm", "got 's3:bucket/farm'; begin"),
        ("bucket:farm", "got 'bucket:farm'; begin the path of a folder with a colon in its name with '/'$"),
        ("my field: north/x", "got 'my field: north/x'; begin"),
        (Path("s3://bucket/farm"), "got 's3:/bucket/farm'; begin"),
        ("file:work", "got 'file:work'; begin"),
        ("FILE:/work", "got 'FILE:/work'; begin"),
        ("file://data/farm", "got 'file://data/farm'; begin"),
        (f"user:{SECRET}@host/x", "got a string with a colon; begin"),
        (f"user@host:{SECRET}", "got a string with a colon; begin"),
    ],
)
def test_invalid_url_is_an_error_with_an_example(tmp_path: Path, url: str | Path, message: str) -> None:
    farm = published(tmp_path, JOBS[:1])
    example = (
        "^`target`: expected a path such as '/srv/farm', or a URL such as 's3://bucket/farm' or 'file:///srv/farm', "
    )
    with pytest.raises(ValueError, match=example + message) as caught:
        farm.publish(url, secret_access_key=KEY)
    assert SECRET not in str(caught.value)
    assert KEY not in everything_of(caught.value)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("file:///", r"is the root of the file system: pass the address of a folder"),
        ("file:////", r"is the root of the file system"),
        ("memory://", r"is in the memory of this process, which no other process can read"),
        ("memory:///farm", r"is in the memory of this process"),
        ("file:///tmp/a\0b", r"contains a null character"),
        ("file:///tmp/a%00b", r"contains a null character"),
        ("s3://farm/a%00b", r"contains a null character"),
        ("s3://[farm", r"is not a URL: Invalid IPv6 URL"),
    ],
)
def test_url_without_its_own_folder_is_an_error(tmp_path: Path, url: str, message: str) -> None:
    farm = published(tmp_path, JOBS[:1])
    with pytest.raises(ValueError, match=f"`target` {message}") as caught:
        farm.publish(url, secret_access_key=SECRET)
    assert SECRET not in everything_of(caught.value)
