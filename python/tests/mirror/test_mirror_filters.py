"""Filters of a mirror: which files and details are requested, and that nothing that is here is removed."""

from __future__ import annotations

import datetime as dt
import json
import shutil
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import headland as hl
from headland.cli.main import main

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

JOBS = 12
"""Four of each kind; one of the applications is a spreading, listed as `As Applied`."""

FILES = 24
"""The files of the jobs, and the newest upload of each grain cart."""

CHILD = """
import json, sys
import headland as hl
client = hl.Client(**json.loads(sys.argv[2]), rate_limits=(), limiter_state="memory")
hl.Mirror(sys.argv[1], client, locations=False, concurrency=1, job_type=["Yield", "Planter"]).sync()
"""


@pytest.fixture
def account() -> Iterator[hl.Sandbox]:
    with hl.Sandbox(small_jobs=JOBS, rate_limits=(), conversion_time=0, clock="moved") as service:
        yield service


def mirror_of(service: hl.Sandbox, folder: Path, **filters: Any) -> hl.Mirror:
    client = hl.Client(**service.credentials, rate_limits=(), limiter_state="memory")
    return hl.Mirror(folder, client, locations=False, **filters)


def listed(service: hl.Sandbox) -> list[dict[str, Any]]:
    with hl.Client(**service.credentials, rate_limits=(), limiter_state="memory") as client:
        return [dict(job) for job in client.job_data.list()]


def ids_of(service: hl.Sandbox, *sub_types: str) -> set[str]:
    return {job["id"] for job in listed(service) if job["sub_type"] in sub_types}


class Requests:
    """What a service was asked for since the last look."""

    def __init__(self, service: hl.Sandbox) -> None:
        self.service = service
        self.count = len(service.requests)

    def new(self) -> list[hl.sandbox.Request]:
        requests = self.service.requests[self.count :]
        self.count += len(requests)
        return requests

    def split(self) -> tuple[list[str], list[str], int]:
        """Return the ids of jobs whose files and details were requested, and the number of grain carts."""
        requests = self.new()
        jobs = [each for each in requests if each.path.startswith("/jobdata/")]
        files = [each.path.rsplit("/", 1)[1] for each in jobs if "format=" in each.query]
        details = [each.path.rsplit("/", 1)[1] for each in jobs if "format=" not in each.query]
        return files, details, sum(each.path.startswith("/graincart/") for each in requests)


def notes_on_ids(outcome: hl.mirror.Outcome) -> list[str]:
    return [note for note in outcome.notes if "ids" in note]


def mirrored(mirror: hl.Mirror) -> set[str]:
    return {job for (job,) in mirror.sql("SELECT DISTINCT job_id FROM dataset").fetchall()}


@pytest.mark.parametrize(
    ("job_type", "sub_types", "carts"),
    [
        ("yield", ("Yield",), False),
        (["harvest", "seeding"], ("Planter", "Yield"), False),
        (["Planter", " YIELDS "], ("Planter", "Yield"), False),
        ("Sprayer", ("Sprayer",), False),
        ("As Applied", ("Sprayer", "As Applied"), False),
        (("as_applied",), ("Sprayer", "As Applied"), False),
        (np.array(["AsApplied", "GrainCart"]), ("Sprayer", "As Applied"), True),
        ("grain carts", (), True),
    ],
)
def test_only_files_and_details_of_the_job_types_are_requested(
    account: hl.Sandbox, tmp_path: Path, job_type: Any, sub_types: tuple[str, ...], *, carts: bool
) -> None:
    wanted = ids_of(account, *sub_types)
    mirror = mirror_of(account, tmp_path / "farm", job_type=job_type)
    requests = Requests(account)
    outcome = mirror.sync()
    files, details, cart_files = requests.split()
    assert (set(files), len(files)) == (wanted, len(wanted))
    assert (set(details), len(details)) == (wanted, len(wanted))
    assert cart_files == (FILES - JOBS if carts else 0)
    assert outcome.new > JOBS, "the lists are read whole"
    assert notes_on_ids(outcome) == []


def test_plan_counts_what_the_sync_then_does(account: hl.Sandbox, tmp_path: Path) -> None:
    mirror = mirror_of(account, tmp_path / "farm", job_type="Yield")
    plan = mirror.plan()
    assert (plan.files, plan.filtered) == (4, FILES - 4)
    assert f"the filter leaves out {FILES - 4} files" in str(plan)
    requests = Requests(account)
    others = mirror.plan(job_type=["Planter", "Sprayer"])
    assert (others.files, others.filtered) == (7, FILES - 7)
    assert mirror.plan(offline=True, since="2999-01-01").files == FILES - JOBS, "it replaces the job types too"
    assert requests.new() == [], "the lists are not read again"
    least, most = plan.calls_left
    outcome = mirror.sync()
    assert least <= outcome.calls == len(requests.new()) <= most
    done = mirror.plan(offline=True)
    assert (done.files, done.calls_left, done.filtered) == (0, (0, 0), FILES - 4)
    whole = mirror_of(account, tmp_path / "farm").plan(offline=True)
    assert (whole.files, whole.filtered, whole.notes) == (FILES - 4, None, [])
    assert "filter" not in str(whole)


def test_sync_without_the_filter_fetches_the_rest_and_no_file_twice(account: hl.Sandbox, tmp_path: Path) -> None:
    farm = tmp_path / "farm"
    requests = Requests(account)
    mirror_of(account, farm, job_type="Yield").sync()
    assert mirrored(hl.Mirror(farm)) == ids_of(account, "Yield")
    mirror_of(account, farm, job_type="Planter").sync()
    assert mirrored(hl.Mirror(farm)) == ids_of(account, "Yield", "Planter"), "a filter removes nothing"
    mirror_of(account, farm).sync()
    files, details, carts = requests.split()
    assert len(files) == len({*files}) == JOBS
    assert len(details) == len({*details}) == JOBS
    assert carts == FILES - JOBS
    mirror = hl.Mirror(farm)
    assert mirror.status().jobs == {"stored": JOBS}
    assert mirror.verify(deep=True).ok
    whole = mirror_of(account, tmp_path / "whole")
    rows = whole.sync().rows
    assert len(mirror.to_geopandas(columns=[])) == rows


def test_status_counts_the_whole_account(account: hl.Sandbox, tmp_path: Path) -> None:
    mirror = mirror_of(account, tmp_path / "farm", job_type="Yield")
    mirror.sync()
    status = mirror.status()
    assert status.jobs == {"stored": 4, "pending": JOBS - 4}
    assert status.types["Yield"] == {"stored": 4}
    assert status.types["Planter"] == {"pending": 4}
    assert status.grain_carts["pending"] == FILES - JOBS
    assert status.details_due == JOBS - 4
    assert status.is_published
    assert status.unfinished_since is None
    assert f"all that was downloaded; {FILES - 4} files not" in str(status)
    mirror_of(account, tmp_path / "farm").sync()
    assert "everything known" in str(mirror.status())


def test_since_is_inclusive_and_until_exclusive(account: hl.Sandbox, tmp_path: Path) -> None:
    mirror = mirror_of(account, tmp_path / "farm", ids=[])
    mirror.sync()
    created = sorted(job["create_date"] for job in listed(account))
    carts = FILES - JOBS
    second = dt.timedelta(seconds=1)

    def files(**times: Any) -> int:
        return mirror.plan(offline=True, **times).files - carts

    at = created[5]
    assert files(since=at) == JOBS - 5
    assert files(since=at + second) == JOBS - 6
    assert files(until=at) == 5
    assert files(until=at + second) == 6
    assert files(since=at.astimezone(dt.timezone(dt.timedelta(hours=9)))) == JOBS - 5
    assert files(since=at.isoformat(), until=(at + second).isoformat()) == 1
    days = sum(each.date() <= at.date() for each in created)
    assert files(until=at.date()) == files(until=f"{at:%Y-%m-%d}") == days > 5, "a date includes that day"
    assert files(since=at.date(), until=at.date()) == sum(each.date() == at.date() for each in created)
    assert files(since=dt.date(1, 1, 2), until="9999-12-31") == JOBS


def test_filters_apply_together(account: hl.Sandbox, tmp_path: Path) -> None:
    chosen = sorted(ids_of(account, "Yield"))[:2]
    mirror = mirror_of(account, tmp_path / "farm", job_type=["Yield", "GrainCart"], since="2024-01-01", ids=chosen)
    requests = Requests(account)
    assert notes_on_ids(mirror.sync()) == []
    files, _, carts = requests.split()
    assert (sorted(files), carts) == (chosen, 0), "`ids` are those of jobs"


def test_ids_are_ints_of_python_and_numpy_or_texts(account: hl.Sandbox, tmp_path: Path) -> None:
    first, second, third, *_ = sorted(ids_of(account, "Yield"))
    for number, ids in enumerate(
        ([int(first), np.int64(second), third], np.array([int(each) for each in (first, second, third)]))
    ):
        requests = Requests(account)
        mirror_of(account, tmp_path / f"farm{number}", ids=ids).sync()
        files, details, carts = requests.split()
        assert {*files} == {*details} == {first, second, third}
        assert carts == 0
    assert mirror_of(account, tmp_path / "none", ids=iter([])).plan().files == 0


def test_ids_without_a_job_are_reported(account: hl.Sandbox, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    planter = min(ids_of(account, "Planter"))
    mirror = mirror_of(account, tmp_path / "farm", job_type="Yield", ids=[7, planter, "x8"])
    expected = [
        "`ids`: the list of jobs does not have `7`, `x8`",
        f"`ids`: the other filters leave out `{planter}`",
    ]
    plan = mirror.plan()
    assert plan.notes == expected
    assert str(plan).splitlines()[-2:] == [f"  note: {note}" for note in expected]
    assert notes_on_ids(mirror.sync()) == expected
    assert expected[0] in caplog.text
    account.remove_job(planter)
    again = mirror_of(account, tmp_path / "farm", relist="0s", ids=[planter]).sync()
    assert notes_on_ids(again) == [f"`ids`: the list of jobs does not have `{planter}`"], "the service has removed it"


def test_changed_job_keeps_its_rows_while_a_filter_leaves_it_out(account: hl.Sandbox, tmp_path: Path) -> None:
    farm = tmp_path / "farm"
    mirror_of(account, farm).sync()
    changed = min(ids_of(account, "Yield"))
    account.change_job(changed)
    added = account.add_job()
    requests = Requests(account)
    mirror_of(account, farm, relist="0s", until="2000-01-01", job_type="Planter").sync()
    assert requests.split() == ([], [], 0)
    assert changed in mirrored(hl.Mirror(farm))
    assert hl.Mirror(farm).status().jobs == {"stored": JOBS - 1, "pending": 2}
    mirror_of(account, farm).sync()
    files, details, _ = requests.split()
    assert {*files} == {*details} == {changed, added}


def test_lost_archive_is_requested_again_regardless_of_the_filter(account: hl.Sandbox, tmp_path: Path) -> None:
    farm = tmp_path / "farm"
    whole = mirror_of(account, farm, job_type=["Yield", "Planter", "GrainCart"])
    rows = whole.sync().rows
    lost = ids_of(account, "Planter")
    for (digest,) in whole.sql("SELECT archive FROM jobs WHERE sub_type = 'Planter'").fetchall():
        next(farm.rglob(f"{digest}.zip")).unlink()
    next((farm / "archives").rglob("*.grc")).unlink()
    requests = Requests(account)
    filtered = mirror_of(account, farm, job_type="Yield")
    assert not filtered.verify().ok
    assert filtered.plan(offline=True).files == len(lost) + 1
    assert filtered.sync().rows == rows, "nothing is published before the lost archives are here"
    files, details, cart_files = requests.split()
    assert ({*files}, details, cart_files) == (lost, [], 1)
    assert filtered.verify(deep=True).ok


def test_lost_dataset_and_archives_are_restored_by_a_filtered_sync(account: hl.Sandbox, tmp_path: Path) -> None:
    farm = tmp_path / "farm"
    rows = mirror_of(account, farm, job_type=["Yield", "Planter"]).sync().rows
    shutil.rmtree(farm / "archives")
    shutil.rmtree(next((farm / "generations").iterdir()) / "dataset")
    filtered = mirror_of(account, farm, ids=[])
    requests = Requests(account)
    outcome = filtered.sync()
    assert outcome.rows == rows
    assert {*requests.split()[0]} == ids_of(account, "Yield", "Planter")
    assert filtered.verify(deep=True).ok


def test_conversion_that_has_begun_is_collected_regardless_of_the_filter(tmp_path: Path) -> None:
    farm = tmp_path / "farm"
    with hl.Sandbox(small_jobs=JOBS, rate_limits=(), conversion_time=3.0) as service:

        def stop(snapshot: dict[str, Any]) -> None:
            if snapshot["converting"]:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            mirror_of(service, farm, job_type="Yield").sync(stop)
        before = hl.Mirror(farm).status().types["Yield"]
        assert before["converting"]
        begun = before["converting"] + before.get("stored", 0)
        mirror_of(service, farm, job_type="GrainCart").sync()
        status = hl.Mirror(farm).status()
        assert status.types["Yield"]["stored"] == begun
        assert status.details_due == JOBS - begun, "the dataset has the details of its rows"


def test_killed_filtered_sync_is_resumed(tmp_path: Path) -> None:
    farm = tmp_path / "farm"
    with hl.Sandbox(small_jobs=JOBS, rate_limits=(), conversion_time=0.05) as service:
        keys = {name: service.credentials[name] for name in ("base_url", "api_key", "shared_secret", "access_key")}
        words = [sys.executable, "-c", CHILD, str(farm), json.dumps(keys)]
        process = subprocess.Popen(words)
        deadline = time.monotonic() + 60
        while len([*farm.glob("archives/*/*.zip")]) < 2:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait(30)
        here = hl.Mirror(farm).status().jobs["stored"]
        requests = Requests(service)
        assert subprocess.run(words, check=False, timeout=100).returncode == 0
        files, *_ = requests.split()
        assert {*files} <= ids_of(service, "Yield", "Planter")
        assert len({*files}) <= 8 - here
        assert mirrored(hl.Mirror(farm)) == ids_of(service, "Yield", "Planter")
        assert hl.Mirror(farm).status().jobs == {"stored": 8, "pending": JOBS - 8}


def test_command_line_has_the_filters(
    account: hl.Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in {**account.credentials, "rate_limits": ""}.items():
        monkeypatch.setenv(f"HEADLAND_{name.upper()}", str(value))

    def pull(*words: str) -> tuple[int, str, str]:
        code = main(["pull", "--to", str(tmp_path / "farm"), *words])
        return code, *capsys.readouterr()

    plans = [
        (("--type", "Yield", "--type", "planter"), 8),
        (("--type", "Yield", "Planter", "--since", "2024-06-01"), 4),
        (("--until", "2024-06-01", "--type=as_applied"), 0),
        (("--id", *sorted(ids_of(account, "Sprayer")), "--id", "9"), 3),
    ]
    for words, files in plans:
        code, out, _ = pull("--plan", "--no-locations", "--json", *words)
        assert (code, json.loads(out)["plan"]["files"]) == (0, files)
    code, out, _ = pull("--no-locations", "--type", "Yield", "--id", "9", min(ids_of(account, "Yield")))
    assert code == 0
    assert f"the filter leaves out {FILES - 1} files" in out
    assert "  note: `ids`: the list of jobs does not have `9`" in out
    before = len(account.requests)
    for words, message in (
        (("--type", "Yeild"), "`--type`: unknown type `Yeild`; known: "),
        (("--since", "soon"), "`--since` is not a time"),
        (("--relist", "soon"), "`--relist`"),
        (("--status", "--type", "Yield"), "are not valid with --status"),
        (("--verify", "--id", "9"), "are not valid with --verify"),
    ):
        code, _, err = pull(*words)
        assert code == 2
        assert message in err
    assert len(account.requests) == before


def test_refused_files_are_asked_for_again_with_the_next_full_list(account: hl.Sandbox, tmp_path: Path) -> None:
    mirror = mirror_of(account, tmp_path / "farm", job_type="Yield", relist="1d")
    account.faults.add(endpoint="job_data.download", kind="forbidden", times=2)
    assert mirror.sync().failed == 2
    assert [each.state for each in mirror.status().unavailable] == ["failed", "failed"]
    assert mirror.sync().failed == 2, "no list of all jobs was due"
    assert mirror_of(account, tmp_path / "farm", job_type="Yield", relist="0s").sync().failed == 0
    status = mirror.status()
    assert status.jobs["stored"] == len(ids_of(account, "Yield"))
    assert not status.unavailable


def test_refused_details_are_asked_for_again_with_the_next_full_list(account: hl.Sandbox, tmp_path: Path) -> None:
    mirror = mirror_of(account, tmp_path / "farm", job_type="Yield")
    account.faults.add(endpoint="job_data.get", kind="forbidden", times=1)
    mirror.sync()
    assert [each.state for each in mirror.status().unavailable] == ["no detail"]
    mirror.sync()
    assert len(mirror.status().unavailable) == 1, "no list of all jobs was due"
    mirror_of(account, tmp_path / "farm", job_type="Yield", relist="0s").sync()
    assert not mirror.status().unavailable
