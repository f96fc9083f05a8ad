"""The mirror as an object: plan, sync, status, verify, and their results."""

from __future__ import annotations

import datetime as dt
import json
import pickle
import shutil
import signal
import threading
from typing import TYPE_CHECKING, Any

import pytest
from mirror_fixtures import published_state

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

JOBS = 8


@pytest.fixture
def farm() -> Iterator[hl.Sandbox]:
    with hl.Sandbox(small_jobs=JOBS, rate_limits=(), conversion_time=0.3) as service:
        yield service


@pytest.fixture
def static_account() -> Iterator[hl.Sandbox]:
    """Serve an account that does not change by itself: no hub reports meanwhile."""
    with hl.Sandbox(small_jobs=JOBS, rate_limits=(), conversion_time=0, clock="moved") as service:
        yield service


def client_of(service: hl.Sandbox, **more: Any) -> hl.Client:
    return hl.Client(**{**service.credentials, "rate_limits": (), "limiter_state": "memory", **more})


def mirror_of(service: hl.Sandbox, folder: Path, **more: Any) -> hl.Mirror:
    return hl.Mirror(folder, client_of(service), **{"locations": False, **more})


def test_a_pull_is_planned_watched_repeated_and_verified(static_account: hl.Sandbox, tmp_path: Path) -> None:
    mirror = mirror_of(static_account, tmp_path / "farm")
    plan = mirror.plan()
    assert plan.new >= JOBS
    assert plan.is_relist
    assert str(plan).startswith(plan.text)
    least, most = plan.calls
    snapshots: list[dict[str, Any]] = []
    threads = set()

    def tell(snapshot: dict[str, Any]) -> None:
        threads.add(threading.get_ident())
        snapshots.append(snapshot)

    outcome = mirror.sync(tell)
    assert least <= len(static_account.requests) <= most
    assert threads == {threading.get_ident()}, "the callback is called from the waiting thread"
    assert snapshots[-1]["phase"] == "done"
    assert snapshots[-1]["calls_left"] == snapshots[-1]["jobs_left"] == 0
    assert all(set(snapshot) == set(snapshots[0]) for snapshot in snapshots)
    assert outcome.new == plan.new
    assert outcome.generation == 1
    assert outcome.bytes > 0
    status = mirror.status()
    assert status.jobs == {"stored": JOBS}
    assert status.is_published
    assert not status.relist_due
    assert status.relisted_at is not None
    assert status.relisted_at.tzinfo is dt.UTC
    assert status.unfinished_since is None
    again = mirror.sync(progress=False)
    assert (again.calls, again.new, again.generation) == (1, 0, None)
    assert mirror.plan(offline=True).calls == (0, 0)
    assert mirror.verify().ok
    assert mirror.verify(deep=True).ok
    assert str(mirror.verify()).endswith("are intact")


def test_the_dataset_has_the_rows_of_the_archives(farm: hl.Sandbox, tmp_path: Path) -> None:
    mirror = mirror_of(farm, tmp_path / "farm")
    outcome = mirror.sync()
    frame = mirror.to_geopandas(columns=["job_id"])
    assert len(frame) == outcome.rows
    client = client_of(farm)
    for job in client.job_data.list():
        rows = len(client.job_data.read(job["id"]))
        assert (frame["job_id"] == job["id"]).sum() == rows
    names = {job["name"] for job in client.job_data.list()}
    jobs = mirror.sql("SELECT name, file, archive FROM jobs").fetchall()
    assert {name for name, *_ in jobs} == names
    assert all(file == "stored" and archive for _, file, archive in jobs)
    products = mirror.sql("SELECT count(DISTINCT job_id) FROM products").fetchall()
    assert products == [(JOBS,)]


def test_changed_added_and_removed_records_are_reported(farm: hl.Sandbox, tmp_path: Path) -> None:
    mirror = mirror_of(farm, tmp_path / "farm", relist=dt.timedelta(0))
    mirror.sync()
    ids = [job["id"] for job in client_of(farm).job_data.list()]
    farm.change_job(ids[0])
    farm.remove_job(ids[1])
    added = farm.add_job()
    outcome = mirror.sync()
    assert (outcome.new, outcome.changed, outcome.gone) == (1, 1, 1)
    found = {job for (job,) in mirror.sql("SELECT DISTINCT job_id FROM dataset").fetchall()}
    assert added in found
    assert ids[1] not in found
    assert mirror.status().jobs == {"stored": JOBS, "gone": 1}


def test_a_damaged_archive_is_found_and_fetched_again(farm: hl.Sandbox, tmp_path: Path) -> None:
    mirror = mirror_of(farm, tmp_path / "farm")
    mirror.sync()
    archive = next((tmp_path / "farm" / "archives").rglob("*.zip"))
    archive.chmod(0o644)
    archive.write_bytes(archive.read_bytes()[:-1] + b"x")
    found = mirror.verify()
    assert not found.ok
    assert archive.name in str(found)
    mirror.sync()
    assert mirror.verify(deep=True).ok


def test_ctrl_c_leaves_a_consistent_state(farm: hl.Sandbox, tmp_path: Path) -> None:
    mirror = mirror_of(farm, tmp_path / "farm")
    done = 0

    def interrupt(snapshot: dict[str, Any]) -> None:
        nonlocal done
        if snapshot["calls_done"] > done + 5:
            done = snapshot["calls_done"]
            signal.raise_signal(signal.SIGINT)

    interrupted = 0
    while True:
        done = 0
        try:
            mirror.sync(interrupt)
            break
        except KeyboardInterrupt:
            interrupted += 1
            status = mirror.status()
            assert status.unfinished_since is not None
            interrupt = mirror_stop(interrupted, interrupt)
    assert interrupted > 0
    assert mirror.status().jobs == {"stored": JOBS}
    assert mirror.verify(deep=True).ok
    files = [request for request in farm.requests if "format" in request.query]
    # A cart or a ready file once, a conversion twice, and each interruption may repeat the calls in flight.
    assert len(files) <= 12 + JOBS + JOBS // 2 + 16 * interrupted


def mirror_stop(interrupted: int, interrupt: Any) -> Any:
    return interrupt if interrupted < 3 else None


def test_exception_of_the_callback_ends_the_sync(farm: hl.Sandbox, tmp_path: Path) -> None:
    mirror = mirror_of(farm, tmp_path / "farm")

    def fail(_: dict[str, Any]) -> None:
        raise ZeroDivisionError("of the callback")

    with pytest.raises(ZeroDivisionError, match="of the callback"):
        mirror.sync(fail)
    assert mirror.sync().generation == 1


def test_the_errors_are_those_that_users_catch(farm: hl.Sandbox, tmp_path: Path) -> None:
    mirror = mirror_of(farm, tmp_path / "farm")
    with pytest.raises(hl.ConfigurationError, match="no mirror"):
        mirror.status()
    farm.faults.add(endpoint="*", kind="unauthorized", times=1)
    with pytest.raises(hl.AuthenticationError):
        mirror.sync()
    mirror.sync()
    other = client_of(farm, access_key=farm.other_access_key)
    with pytest.raises(hl.ConfigurationError, match="another account"):
        hl.Mirror(tmp_path / "farm", other).sync()
    with pytest.raises(hl.ConfigurationError, match="without a client"):
        hl.Mirror(tmp_path / "farm").sync()
    assert hl.Mirror(tmp_path / "farm").status().jobs == {"stored": JOBS}
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("x")
    with pytest.raises(hl.ConfigurationError, match="contains other files"):
        mirror_of(farm, tmp_path / "mine").sync()
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(mirror)


def test_concurrent_syncs_are_one_and_a_conflict(farm: hl.Sandbox, tmp_path: Path) -> None:
    one, two = (mirror_of(farm, tmp_path / "farm") for _ in range(2))
    conflicts: list[BaseException] = []

    def other(_: dict[str, Any]) -> None:
        if not conflicts:
            with pytest.raises(hl.Conflict, match="being synced") as caught:
                two.sync()
            conflicts.append(caught.value)

    one.sync(other)
    assert conflicts
    assert two.sync().calls == 1


def test_nothing_of_the_credentials_is_in_the_folder(farm: hl.Sandbox, tmp_path: Path) -> None:
    mirror = mirror_of(farm, tmp_path / "farm")
    mirror.sync()
    secrets = [farm.credentials[name].encode() for name in ("api_key", "shared_secret", "access_key")]
    for path in (tmp_path / "farm").rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert not any(secret in content for secret in secrets), path
    assert all(secret.decode() not in repr(mirror) for secret in secrets)


def test_lost_publication_is_reported_and_published_again(static_account: hl.Sandbox, tmp_path: Path) -> None:
    mirror = mirror_of(static_account, tmp_path / "farm")
    rows = mirror.sync().rows

    def repaired(generation: int) -> None:
        assert mirror.sync().generation == generation
        assert mirror.verify().ok
        assert len(mirror.to_geopandas(columns=["job_id"])) == rows
        assert mirror.sql("SELECT count(*) FROM jobs").fetchall() == [(JOBS,)]

    next((published_state(tmp_path / "farm") / "dataset").rglob("*.parquet")).unlink()
    with pytest.raises(hl.ArchiveError, match="is missing; run `sync"):
        mirror.to_geopandas()
    with pytest.raises(hl.ArchiveError, match="is missing; run `sync"):
        mirror.sql("SELECT count(*) FROM dataset")
    assert not mirror.verify().ok
    repaired(2)
    (tmp_path / "farm" / "catalog" / "jobs.parquet").write_bytes(b"PAR1")
    assert not mirror.verify().ok
    repaired(3)
    shutil.rmtree(tmp_path / "farm" / "generations")
    assert "the published state is missing" in str(mirror.verify())
    repaired(1)
    shutil.rmtree(tmp_path / "farm" / "generations")
    repaired(1)


@pytest.mark.parametrize("damage", ["lost", "cut", "without a manifest"])
def test_lost_part_is_written_again_by_the_next_sync(static_account: hl.Sandbox, tmp_path: Path, damage: str) -> None:
    mirror = mirror_of(static_account, tmp_path / "farm")
    rows = mirror.sync().rows
    dataset = tmp_path / "farm" / "dataset"
    part, *others = sorted(dataset.rglob("*.parquet"))
    before = {path: path.stat().st_ino for path in others}
    assert before
    if damage == "lost":
        (published_state(tmp_path / "farm") / part.relative_to(tmp_path / "farm")).unlink()
    elif damage == "cut":
        part.write_bytes(part.read_bytes()[:-1])
    else:
        (published_state(tmp_path / "farm") / "manifest.json").unlink()
    outcome = mirror.sync()
    assert (outcome.generation, outcome.rows, outcome.new) == (2, rows, 0)
    assert not [request for request in static_account.requests[-outcome.calls :] if "format" in request.query]
    assert mirror.verify(deep=True).ok
    assert len(mirror.to_geopandas(columns=["job_id"])) == rows
    if damage != "without a manifest":
        kept = {path: path.stat().st_ino for path in dataset.rglob("*.parquet")}
        assert before.items() <= kept.items(), "all others are the same files"
    assert mirror.sync().generation is None


def test_archive_lost_with_its_part_is_reported_and_fetched_again(
    static_account: hl.Sandbox, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    mirror = mirror_of(static_account, tmp_path / "farm")
    rows = mirror.sync().rows
    part = json.loads((published_state(tmp_path / "farm") / "manifest.json").read_text())["parts"][0]
    (published_state(tmp_path / "farm") / part["path"]).unlink()
    [archive] = (tmp_path / "farm" / "archives").rglob(f"{part['origins'][0]['archive']}.*")
    archive.unlink()
    assert mirror.sync().rows == rows
    assert "its archive is missing and is requested again" in caplog.text
    assert mirror.verify(deep=True).ok
    assert mirror.sync().generation is None


def test_other_type_than_a_client_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"headland\.Client, or None"):
        hl.Mirror(tmp_path, "key")  # type: ignore[arg-type]
