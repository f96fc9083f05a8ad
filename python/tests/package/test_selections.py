"""The table of selections: rows are questions, columns are the doors of the package, and each row has one answer."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from typing import TYPE_CHECKING, Any

import pytest

import headland as hl
from headland.cli.main import main

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

JOBS = 12
"""Four of each kind; one of the applications is a spreading, listed as `As Applied`."""

NAMES = ("North [40]", "North 4", "South*", "Größe")
"""Names of jobs; the first and the third look like patterns."""


YIELD = ("Yield", "yield:none")
PLANTER = ("Planter", "planter:both", "planter:none")
APPLIED = ("As Applied", "Sprayer", "sprayer:both", "sprayer:none")

QUESTIONS: tuple[tuple[str | list[str], tuple[str, ...]], ...] = (
    *((word, YIELD) for word in ("Yield", " HARVESTS ")),
    *((word, APPLIED) for word in ("AsApplied", "as_applied", "spraying")),
    *((word, PLANTER) for word in ("Planter", "planting")),
    ("sprayers", ("Sprayer",)),
    ("Planter/Sprayer", ("planter:both", "sprayer:both")),
    (["Yield", "planting"], YIELD + PLANTER),
    (["Sprayer", "Planter/Sprayer"], ("Sprayer", "planter:both", "sprayer:both")),
    ("tillage", ("Tillage",)),
    ("GrainCart", ()),
)
"""Words for types, and the groups of jobs that they select."""


def from_filter(client: hl.Client, folder: Path, word: Any) -> set[str]:
    del folder
    return {job["id"] for job in client.job_data.list().filter(job_type=word)}


def from_async_filter(client: hl.Client, folder: Path, word: Any) -> set[str]:
    del client, folder

    async def read() -> set[str]:
        async with hl.AsyncClient.from_env() as other:
            return {job["id"] async for job in other.job_data.list().filter(job_type=word)}

    return asyncio.run(read())


def from_read_all(client: hl.Client, folder: Path, word: Any) -> set[str]:
    del folder
    jobs = client.job_data.read_all(job_type=word, progress=False)
    return {job["id"] for job, _ in jobs} | {failed.job["id"] for failed in jobs.failed}


def from_async_read_all(client: hl.Client, folder: Path, word: Any) -> set[str]:
    del client, folder

    async def read() -> hl.JobLayers:
        async with hl.AsyncClient.from_env() as other:
            return await other.job_data.read_all(job_type=word, progress=False)

    jobs = asyncio.run(read())
    return {job["id"] for job, _ in jobs} | {failed.job["id"] for failed in jobs.failed}


def from_ls(client: hl.Client, folder: Path, word: Any) -> set[str]:
    del client, folder
    return {record["id"] for record in printed("ls", "job_data", *(f"--type={each}" for each in words(word)))}


def from_plan(client: hl.Client, folder: Path, word: Any) -> int:
    mirror = hl.Mirror(folder, client, locations=False)
    # Words that are no known types are compared with the lists that the mirror has read.
    mirror.plan()
    return without_carts(word, mirror.plan(job_type=word).files)


def from_pull_plan(client: hl.Client, folder: Path, word: Any) -> int:
    hl.Mirror(folder, client, locations=False).plan()
    types = [f"--type={each}" for each in words(word)]
    [result] = printed("pull", "--to", str(folder), "--no-locations", "--plan", *types)
    return without_carts(word, result["plan"]["files"])


def from_mirror(client: hl.Client, folder: Path, word: Any) -> set[str]:
    hl.Mirror(folder, client, locations=False).plan()
    mirror = hl.Mirror(folder, client, locations=False, job_type=word)
    mirror.sync(progress=False)
    return {job for (job,) in mirror.sql("SELECT id FROM jobs WHERE archive IS NOT NULL").fetchall()}


DOORS: tuple[Callable[[hl.Client, Path, Any], set[str] | int], ...] = (
    from_filter,
    from_async_filter,
    from_read_all,
    from_async_read_all,
    from_ls,
    from_plan,
    from_pull_plan,
    from_mirror,
)


def words(given: str | list[str]) -> list[str]:
    return [given] if isinstance(given, str) else given


def without_carts(word: Any, files: int) -> int:
    """Return the number of files without those of grain carts, which are no jobs."""
    return 0 if word == "GrainCart" else files


OUTPUT: list[str] = []


def printed(*command: str) -> list[Any]:
    """Return what a verb prints as JSON."""
    assert main([*command, "--json"]) == 0
    lines = [line for line in OUTPUT if line.startswith("{")]
    OUTPUT.clear()
    return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[hl.Sandbox]:
    """Serve jobs with every label: of each kind, one job has none, and one of two machines is `Planter/Sprayer`."""
    data = tmp_path_factory.mktemp("data")
    options: dict[str, Any] = {"small_jobs": JOBS, "rate_limits": (), "conversion_time": 0}
    with hl.Sandbox(data, **options) as service, hl.Client(**service.credentials, limiter_state="memory") as client:
        rows = sorted((str(job["sub_type"]), job["id"]) for job in client.job_data.list())
    [path] = data.rglob("*.sqlite3")
    with sqlite3.connect(path) as store:
        for label in ("Yield", "Planter", "Sprayer"):
            first, second, *_ = [job for found, job in rows if found == label]
            store.execute("UPDATE job SET sub_type = NULL WHERE id = ?", (first,))
            if label != "Yield":
                store.execute("UPDATE job SET sub_type = 'Planter/Sprayer' WHERE id = ?", (second,))
        tilled = [job for found, job in rows if found == "Yield"][-1]
        store.execute("UPDATE job SET sub_type = 'Tillage' WHERE id = ?", (tilled,))
        for name, (_, job) in zip(NAMES, rows, strict=False):
            store.execute("UPDATE job SET name = ? WHERE id = ?", (name, job))
    store.close()
    with hl.Sandbox(data, **options) as service:
        yield service


@pytest.fixture(scope="module")
def client(service: hl.Sandbox) -> Iterator[hl.Client]:
    with hl.Client(**service.credentials, rate_limits=(), limiter_state="memory") as client:
        yield client


@pytest.fixture
def doors(service: hl.Sandbox, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the doors without a client use the service, and collect what the verbs print."""
    for name, value in {**service.credentials, "rate_limits": ""}.items():
        monkeypatch.setenv(f"HEADLAND_{name.upper()}", str(value))
    monkeypatch.setenv("HEADLAND_LIMITER_STATE", "memory")
    monkeypatch.setattr("headland.cli.ls.print_json", lambda record: OUTPUT.append(json.dumps(record, default=str)))
    monkeypatch.setattr("headland.cli.pull.print_json", lambda record: OUTPUT.append(json.dumps(record, default=str)))
    yield
    OUTPUT.clear()


@pytest.fixture(scope="module")
def groups(client: hl.Client) -> dict[str, set[str]]:
    """Return the ids of jobs by label, and by kind and label where that leaves the kind open."""
    found: dict[str, set[str]] = {}
    for job in client.job_data.list():
        job_type = str(client.job_data.get(job["id"])["job_type"])
        kind = {"Yield": "yield", "Planter": "planter", "AsApplied": "sprayer"}[job_type]
        label = job["sub_type"]
        open_labels = {None: f"{kind}:none", "Planter/Sprayer": f"{kind}:both"}
        name = open_labels.get(label, str(label))
        found.setdefault(name, set()).add(job["id"])
    assert {*found} == {*YIELD, *PLANTER, *APPLIED, "Tillage"}
    return found


@pytest.mark.usefixtures("doors")
@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(("word", "selected"), QUESTIONS, ids=str)
def test_each_word_selects_the_same_jobs_at_each_door(
    client: hl.Client,
    groups: dict[str, set[str]],
    tmp_path: Path,
    door: Callable[[hl.Client, Path, Any], set[str] | int],
    word: str | list[str],
    selected: tuple[str, ...],
) -> None:
    expected = {job for group in selected for job in groups[group]}
    found = door(client, tmp_path / "farm", word)
    assert found == (len(expected) if isinstance(found, int) else expected)


@pytest.fixture(scope="module")
def whole(client: hl.Client, tmp_path_factory: pytest.TempPathFactory) -> hl.Mirror:
    """Return the mirror of all jobs."""
    mirror = hl.Mirror(tmp_path_factory.mktemp("whole"), client, locations=False)
    mirror.sync(progress=False)
    return mirror


@pytest.mark.parametrize(("word", "selected"), [each for each in QUESTIONS if each[0] != "GrainCart"], ids=str)
def test_each_word_selects_the_same_jobs_in_a_dataset(
    whole: hl.Mirror, groups: dict[str, set[str]], word: str | list[str], selected: tuple[str, ...]
) -> None:
    expected = {job for group in selected for job in groups[group]}
    frame = whole.to_geopandas(job_type=word, columns=["job_id"])
    assert {*frame.job_id} == expected
    rows = whole.sql("SELECT count(*) FROM dataset WHERE job_id IN $jobs", jobs=sorted(expected))
    assert rows.fetchall() == [(len(frame),)]
    assert {*whole.to_dask(job_type=word, columns=["job_id"]).job_id.compute()} == expected
    assert len(whole.to_geopandas(job_type=word, columns=["job_id"], bbox=(0, 0, 1, 1))) == 0


@pytest.mark.usefixtures("doors")
@pytest.mark.parametrize(
    "door", [from_filter, from_async_filter, from_read_all, from_async_read_all, from_plan, from_mirror]
)
@pytest.mark.parametrize("word", ["Yeild", ["Yield", "no such kind"], " "])
def test_unknown_word_is_the_same_error_at_each_door(
    client: hl.Client, tmp_path: Path, door: Callable[[hl.Client, Path, Any], set[str] | int], word: str | list[str]
) -> None:
    unknown = words(word)[-1]
    known = "AsApplied, GrainCart, Planter, Planter/Sprayer, Sprayer, Tillage, Yield"
    with pytest.raises(ValueError, match=rf"^`job_type`: unknown type `{unknown}`; known: {known}$"):
        door(client, tmp_path / "farm", word)


@pytest.mark.usefixtures("doors")
@pytest.mark.parametrize("verb", [("ls", "job_data"), ("pull", "--to", "FOLDER", "--no-locations", "--plan")])
def test_verbs_name_their_option(tmp_path: Path, capsys: pytest.CaptureFixture[str], verb: tuple[str, ...]) -> None:
    command = [str(tmp_path / "farm") if part == "FOLDER" else part for part in verb]
    assert main([*command, "--type", "Yeild"]) == 2
    assert "`--type`: unknown type `Yeild`; known: AsApplied, " in capsys.readouterr().err


def test_former_names_of_the_argument_are_accepted(
    client: hl.Client, groups: dict[str, set[str]], tmp_path: Path
) -> None:
    expected = {job for group in PLANTER for job in groups[group]}
    assert {job["id"] for job in client.job_data.list().filter(sub_type="planting")} == expected
    assert {job["id"] for job, _ in client.job_data.read_all(sub_type="planting", progress=False)} == expected
    mirror = hl.Mirror(tmp_path / "farm", client, locations=False, job_types="planting")
    assert mirror.plan().files == mirror.plan(job_types=["planting"]).files == len(expected)
    for both in (
        lambda: client.job_data.list().filter(job_type="Yield", sub_type="Yield"),
        lambda: client.job_data.read_all(job_type="Yield", sub_type="Yield"),
        lambda: mirror.plan(job_type="Yield", job_types="Yield"),
    ):
        with pytest.raises(TypeError, match=r"are the same argument: pass `job_type`$"):
            both()


def test_details_are_requested_only_where_they_decide(service: hl.Sandbox, client: hl.Client, tmp_path: Path) -> None:
    def details(select: Callable[[], object]) -> int:
        before = len(service.requests)
        select()
        return sum(each.path.startswith("/jobdata/") for each in service.requests[before:])

    harvests = client.job_data.list().filter(job_type="Yield")
    assert details(lambda: list(harvests)) == 3, "the jobs without a label"
    assert details(lambda: [list(harvests), harvests[0]]) == 0, "what was decided is kept"
    assert details(lambda: list(client.job_data.list().filter(job_type="Sprayer"))) == 0
    assert details(lambda: list(client.job_data.list().filter(lambda _: False, job_type="Yield"))) == 0
    mirror = hl.Mirror(tmp_path / "farm", client, locations=False, job_type="planting")
    assert details(mirror.plan) == 5
    assert details(mirror.plan) == 0
    assert details(lambda: mirror.sync(progress=False)) == 6, "four files, and the details of the labelled jobs"


@pytest.mark.usefixtures("doors")
def test_each_name_finds_its_own_job(client: hl.Client) -> None:
    def found(name: str) -> tuple[list[str], list[str]]:
        jobs = client.job_data.read_all(name=name, progress=False)
        listed = printed("ls", "job_data", f"--name={name}")
        return sorted(str(job["name"]) for job, _ in jobs), sorted(record["name"] for record in listed)

    for text, names in (
        ("North [40]", ["North [40]"]),
        ("north [", ["North [40]"]),
        ("NORTH*", ["North 4", "North [40]"]),
        ("north ?", ["North 4"]),
        ("South*", ["South*"]),
        ("GRÖSSE", ["Größe"]),
        ("Gro\u0308ße", ["Größe"]),
        ("[4]", []),
    ):
        assert found(text) == (names, names), text


def test_arguments_that_a_door_has_not_name_what_to_do(service: hl.Sandbox, client: hl.Client) -> None:
    pages = client.job_data.list()
    other = hl.AsyncClient(**service.credentials).job_data.list()
    layer = client.job_data.read(pages[0]["id"])
    before = len(service.requests)
    wrong: tuple[tuple[Callable[..., object], dict[str, Any], str], ...] = (
        (client.job_data.list, {"year": 2025}, r"`year`: .*`client.job_data.read_all\(year=...\)`"),
        (client.job_data.list, {"sub_type": "Yield"}, r"`sub_type`: `.filter\(job_type=\"Yield\"\)` of the list"),
        (client.job_data.list, {"job_type": "Yield"}, r"`job_type`: `.filter\(job_type=\"Yield\"\)` of the list"),
        (client.job_data.list, {"dates": "2025-01-01"}, r"`dates`: did you mean `date`\?$"),
        (client.field_computers.job_data, {"id": "1", "year": 2025}, r"`year`: .*read_all"),
        (pages.filter, {"year": 2025}, r"`year`: .*`client.job_data.read_all\(year=...\)`"),
        (other.filter, {"year": 2025}, r"`year`: .*read_all"),
        (pages.filter, {"name": "North"}, r"`name`: `filter\(lambda record: "),
        (layer.plot, {"cmap": "viridis"}, r"`cmap`: .*`vmin` and `vmax`.*`layer.to_geopandas\(\).plot\(column, cmap="),
        (layer.plot, {"nosuch": 1}, r"`nosuch`: there are: column, crs, label, "),
    )
    for method, arguments, message in wrong:
        with pytest.raises(TypeError, match=f"^unexpected keyword argument {message}"):
            method(**arguments)
    assert len(service.requests) == before


def test_unit_without_a_column_names_the_columns(client: hl.Client) -> None:
    harvest = client.job_data.read(next(iter(client.job_data.list().filter(job_type="Yield")))["id"])
    with pytest.raises(
        ValueError, match=r'^`units`: "km/h" is the unit of a column: name the columns, as \{".*": "km/h"'
    ):
        harvest.to_units("km/h")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r'^`units`: "seeds/ha" is the unit of a column, and no column can'):
        harvest.to_units("seeds/ha")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r'^`units`: expected "metric", "us" or a mapping of column to unit'):
        harvest.to_units("imperial")  # type: ignore[arg-type]
