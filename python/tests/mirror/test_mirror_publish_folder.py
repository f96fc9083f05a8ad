"""A mirror published to a path: without extras, read from `latest/` by other packages, and complete after any kill."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import duckdb
import geopandas as gpd
import pyarrow.dataset as pads
import pytest
from checkout import TESTS
from mirror_fixtures import Farm, job, published, published_state

import headland as hl
from headland import _core
from headland.mirror import readme

JOBS = [job("101", year="2025", rows=40), job("102", rows=40, west=-97.0), job("104", "Soil%20Sampling", places=False)]
CHANGED = [*JOBS[1:], job("103", "AsApplied", rows=7)]


def files_of(folder: Path) -> dict[str, str]:
    """Return the digest of each file in a folder."""
    found = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in found}


def state_of(farm: Farm) -> dict[str, str]:
    return files_of(published_state(farm.folder))


@pytest.fixture
def without_obstore(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("obstore", "obstore.store", "obstore.exceptions"):
        monkeypatch.setitem(sys.modules, name, None)


@pytest.mark.usefixtures("without_obstore")
def test_path_needs_no_extra_and_latest_is_read_by_other_packages(tmp_path: Path) -> None:
    farm = published(tmp_path / "farm", JOBS)
    target = tmp_path / "shared disk"
    done = farm.publish(target, archives=True)
    assert (done.sent, done.kept, done.url) == (7, 0, str(target))
    assert done.latest == str(target / "latest")
    assert done.dataset == str(target / done.state / "dataset")
    assert {path.name for path in target.iterdir()} == {
        "README.txt", "archives", "current.json", "generations", "latest"
    }  # fmt: skip
    assert files_of(target / "latest") == files_of(target / done.state) == state_of(farm)
    query = f"FROM read_parquet('{done.latest}/dataset/**/*.parquet', union_by_name = true)"
    with duckdb.connect() as connection:
        counted = connection.execute(f"SELECT job_id, count(*), sum(MOISTURE) {query} GROUP BY ALL ORDER BY ALL")
        own = "SELECT job_id, count(*), sum(MOISTURE) FROM dataset GROUP BY ALL ORDER BY ALL"
        assert counted.fetchall() == farm.sql(own).fetchall()
    assert pads.dataset(f"{done.latest}/dataset/job_type=Yield", format="parquet").count_rows() == 80
    [part] = (target / "latest").glob("dataset/job_type=Yield/year=2025/*/*.parquet")
    assert len(gpd.read_parquet(part, bbox=(-97.755, 44, -97.645, 46))) == 11
    again = farm.publish(f"{target}/", archives=True)
    assert (again.sent, again.kept, again.url) == (0, 7, str(target))


def test_latest_has_exactly_the_files_of_the_newest_state(tmp_path: Path) -> None:
    target = tmp_path / "out"
    for number, jobs in enumerate([JOBS, CHANGED, JOBS[:1], CHANGED], start=1):
        farm = published(tmp_path / "farm", jobs, number=number)
        done = farm.publish(target)
        assert files_of(target / "latest") == files_of(target / done.state) == state_of(farm)
    assert len(list((target / "generations").iterdir())) == 2
    assert {path.name for path in target.iterdir()} == {"README.txt", "current.json", "generations", "latest"}
    assert [each for each in target.rglob("*") if each.is_dir() and not any(each.iterdir())] == []


def test_path_and_file_url_are_the_same_publication(tmp_path: Path) -> None:
    farm, target = published(tmp_path / "farm", JOBS), tmp_path / "out"
    assert farm.publish(target).sent == 4
    assert farm.publish(target.as_uri()).kept == 4
    newer = published(tmp_path / "farm", CHANGED, number=2)
    done = newer.publish(target.as_uri())
    assert done.latest == f"{target.as_uri()}/latest"
    assert files_of(target / "latest") == state_of(newer)
    assert newer.publish(target).sent == 0


def test_home_and_relative_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    farm = published(tmp_path / "farm", JOBS[:1])
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    assert farm.publish("~/shared").url == str(tmp_path / "home" / "shared")
    assert farm.publish("shared/farm").url == str(tmp_path / "shared" / "farm")


@pytest.mark.parametrize(
    ("target", "options", "kind", "message"),
    [
        ("", {}, ValueError, "`target`: expected a path, got an empty string"),
        ("/tmp/a\0b", {}, ValueError, "`target`: .* contains a null character"),
        ("/", {}, ValueError, "`target` is the root of the file system: pass"),
        (Path("/"), {}, ValueError, "`target` is the root of the file system"),
        (3, {}, TypeError, "`target`: expected a path or a URL, got int"),
        (None, {}, TypeError, "`target`: expected a path or a URL, got NoneType"),
        (b"/tmp/x", {}, TypeError, "`target`: expected a path or a URL, got bytes"),
        ("out", {"region": "x"}, ValueError, "`region` is an option of object stores, but `target` is a path: pass a"),
        (Path("s3://b/x"), {}, ValueError, "`target`: expected a path .*, got 's3:/b/x'"),
        ("notes.txt", {}, ValueError, "`target` is at or below the file `.*notes.txt`"),
        ("notes.txt/below", {}, ValueError, "`target` is at or below the file `.*notes.txt`"),
        ("farm", {}, ValueError, "`target` is inside a mirror, that in `.*farm`, .* pass the address of a folder out"),
        ("farm/out", {}, ValueError, "`target` is inside a mirror"),
        ("link/out", {}, ValueError, "`target` is inside a mirror"),
        ("south/../south/out", {}, ValueError, "`target` is inside a mirror, that in `.*south`"),
    ],
)
def test_wrong_target_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: Any, options: dict[str, Any], kind: type, message: str
) -> None:
    farm = published(tmp_path / "farm", JOBS[:1])
    monkeypatch.chdir(tmp_path)
    (tmp_path / "south").mkdir()
    (tmp_path / "south" / "journal.sqlite").write_bytes(b"a journal")
    (tmp_path / "link").symlink_to(tmp_path / "farm")
    (tmp_path / "notes.txt").write_text("mine")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(kind, match=message):
        farm.publish(target, **options)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("name", ["latest", "generations", "current.json"])
def test_file_or_folder_in_the_way_is_named(tmp_path: Path, name: str) -> None:
    farm, target = published(tmp_path / "farm", JOBS[:1]), tmp_path / "out"
    target.mkdir()
    if name == "current.json":
        (target / name).mkdir()
    else:
        (target / name).write_text("mine")
    with pytest.raises(hl.HeadlandError, match=rf"`[^`]*{name}[^`]*`.*move it away"):
        farm.publish(target)
    assert (target / name).is_dir() or (target / name).read_text() == "mine"


def test_folder_latest_with_files_of_others_is_kept(tmp_path: Path) -> None:
    farm, target = published(tmp_path / "farm", JOBS[:1]), tmp_path / "out"
    (target / "latest").mkdir(parents=True)
    (target / "latest" / "thesis.docx").write_text("mine")
    for address in (target, target.as_uri()):
        with pytest.raises(hl.ConfigurationError, match=r"`latest` at `.*out` was not written by a publication.*move"):
            farm.publish(address)
    assert files_of(target / "latest").keys() == {"thesis.docx"}


@pytest.mark.parametrize(
    ("number", "advice"),
    [
        (errno.ENOSPC, "No space left on device; free space there and publish again, which resumes"),
        (errno.EACCES, "Permission denied; permit this user to write there, or pass another folder"),
    ],
)
@pytest.mark.parametrize("call", ["os.mkdir", "os.fsync", "os.replace"])
def test_error_of_the_system_has_the_path_and_advice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, advice: str, call: str
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise OSError(number, os.strerror(number))

    farm, target = published(tmp_path / "farm", JOBS[:1]), tmp_path / "out"
    with monkeypatch.context() as patch:
        patch.setattr(call, fail)
        with pytest.raises(hl.HeadlandError, match=rf"cannot \w+ `{target}.*`: {advice}$") as caught:
            farm.publish(target)
    assert isinstance(caught.value, OSError)
    assert caught.value.errno == number
    assert not list(target.glob(".headland-*"))
    farm.publish(target)
    assert files_of(target / "latest") == state_of(farm)


def test_file_system_without_hard_links_has_copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(errno.EOPNOTSUPP, "no links")

    monkeypatch.setattr("os.link", refuse)
    for number, jobs in enumerate([JOBS, CHANGED], start=1):
        farm = published(tmp_path / "farm", jobs, number=number)
        done = farm.publish(tmp_path / "out")
        assert files_of(tmp_path / "out" / "latest") == files_of(tmp_path / "out" / done.state) == state_of(farm)


def test_lost_or_cut_file_of_latest_is_restored(tmp_path: Path) -> None:
    farm, target = published(tmp_path / "farm", JOBS), tmp_path / "out"
    farm.publish(target)
    (target / "latest" / "catalog" / "jobs.parquet").unlink()
    farm.publish(target)
    assert files_of(target / "latest") == state_of(farm)
    (target / "latest" / "manifest.json").write_text("{}")
    farm.publish(target)
    assert files_of(target / "latest") == state_of(farm)
    shutil.rmtree(target / "latest")
    farm.publish(target)
    assert files_of(target / "latest") == state_of(farm)


def test_incomplete_files_of_killed_processes_are_removed_after_a_day(tmp_path: Path) -> None:
    farm, target = published(tmp_path / "farm", JOBS[:1]), tmp_path / "out"
    target.mkdir()
    old, new = target / ".headland-1.part", target / ".headland-2.part"
    for path in (old, new):
        path.write_bytes(b"so far")
    os.utime(old, (0, 0))
    farm.publish(target)
    assert not old.exists()
    assert new.exists()


KILLED = """
    import os, signal, sys, threading
    from pathlib import Path
    sys.path.insert(0, sys.argv[4])
    import headland.mirror
    from mirror_fixtures import Farm
    lock, left = threading.Lock(), [int(sys.argv[3])]
    def counted(name):
        real = getattr(os, name)
        def call(*given, **named):
            with lock:
                if left[0] == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
                left[0] -= 1
            return real(*given, **named)
        setattr(os, name, call)
    # Several threads make the folders of their files, and repeat the call if another one was first: its number differs.
    for name in ("link", "replace", "rename", "unlink", "rmdir"):
        counted(name)
    Farm(Path(sys.argv[1])).publish(sys.argv[2])
    print(int(sys.argv[3]) - left[0])
"""


def test_kill_at_any_step_leaves_one_state_and_is_repaired(tmp_path: Path) -> None:
    farm, begun, target = published(tmp_path / "farm", JOBS[:1]), tmp_path / "begun", tmp_path / "out"
    farm.publish(begun)
    old = state_of(farm)
    new = state_of(published(tmp_path / "farm", JOBS[1:2], number=2))
    tests = str(TESTS)
    seen = set()

    def run(steps: int) -> tuple[int, str, Path]:
        place = target / str(steps)
        shutil.copytree(begun, place)
        command = [sys.executable, "-c", textwrap.dedent(KILLED), str(farm.folder), str(place), str(steps), tests]
        done = subprocess.run(command, check=False, timeout=100, stdout=subprocess.PIPE, text=True)
        return done.returncode, done.stdout, place

    _, counted, _ = run(1_000)
    with ThreadPoolExecutor(2) as pool:
        for steps, (code, _, place) in enumerate(pool.map(run, range(int(counted) + 1))):
            found = files_of(place / "latest")
            assert found in (old, new), steps
            seen.add((code, found == new))
            farm.publish(place)
            assert files_of(place / "latest") == new, steps
            left = {path.name for path in place.iterdir() if not path.name.startswith(".headland-")}
            assert left == {"README.txt", "current.json", "generations", "latest"}, steps
    # The steps of the core that replace `latest/` are those of a mirror's folders, and tested there.
    assert seen == {(-9, False), (0, True)}


@pytest.mark.parametrize("copy", ["whole", "links followed", "links left"])
def test_copy_of_a_mirror_publishes_a_state_that_the_original_accepts(tmp_path: Path, copy: str) -> None:
    farm, target = published(tmp_path / "farm", JOBS), tmp_path / "out"
    if copy != "whole":
        # As in a mirror of an earlier version.
        (farm.folder / "current").symlink_to(published_state(farm.folder).relative_to(farm.folder))
        (farm.folder / "current.json").unlink()
    shutil.copytree(farm.folder, tmp_path / "copy")
    if copy == "links left":
        shutil.rmtree(tmp_path / "copy" / "generations")
    done = Farm(tmp_path / "copy").publish(target)
    assert done.state.startswith("generations/000001-")
    assert farm.publish(target)[1:] == (done.state, 0, done.sent, 0)
    assert Farm(tmp_path / "copy").publish(target).sent == 0
    assert len(Farm(target).to_geopandas(job_type="Yield")) == 80


def test_concurrent_publications_to_a_path_end_with_the_newest_state(tmp_path: Path) -> None:
    farms = [published(tmp_path / f"farm{number}", [job(str(number))], number) for number in range(1, 5)]
    target = tmp_path / "out"
    for _ in range(5):
        with ThreadPoolExecutor(4) as pool:
            for done in [pool.submit(farm.publish, target) for farm in farms]:
                done.result()
        assert {path.name for path in target.iterdir()} == {"README.txt", "current.json", "generations", "latest"}
        newest = json.loads((target / "current.json").read_bytes())["state"]
        assert files_of(target / "latest") == files_of(target / newest)
        assert files_of(target / newest) in [state_of(farm) for farm in farms]


def test_manifest_of_the_target_cannot_name_files_outside_of_it(tmp_path: Path) -> None:
    state = _core.Dataset(published(tmp_path, JOBS).folder)
    assert _core.manifest_files(state.manifest) == state.files
    manifest = json.loads(state.manifest)
    for path in ("../secret", "a/../../secret", "/etc/passwd"):
        manifest["parts"][0]["path"] = path
        with pytest.raises(ValueError, match="it lists"):
            _core.manifest_files(json.dumps(manifest).encode())


@pytest.mark.parametrize("content", [None, b"Field data published by headland\nof an earlier version", b"my notes"])
def test_readme_is_written_unless_it_is_of_others(tmp_path: Path, content: bytes | None) -> None:
    target, farm = tmp_path / "out", published(tmp_path / "farm", JOBS)
    target.mkdir()
    if content is not None:
        (target / "README.txt").write_bytes(content)
    farm.publish(target)
    expected = content if content == b"my notes" else readme.TEXT.encode()
    assert (target / "README.txt").read_bytes() == expected
    time = (target / "README.txt").stat().st_mtime_ns
    farm.publish(target)
    assert (target / "README.txt").stat().st_mtime_ns == time
