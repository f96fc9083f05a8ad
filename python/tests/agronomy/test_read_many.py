"""Many archives at once: folders, patterns and files become layers, with a reason for each that fails."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import geopandas as gpd
import pytest
import shapely
from shapefiles import zipped

import headland as hl
from headland.__main__ import main
from headland.dask import read_archives

if TYPE_CHECKING:
    from pathlib import Path

KINDS = {"yield": "Yield", "as_applied": "Sprayer", "planting": "Planter"}


def shapefile(frame: gpd.GeoDataFrame, folder: Path, name: str) -> bytes:
    """Return a zip with a frame as a shapefile."""
    folder.mkdir()
    # A .dbf has dates without a time.
    times = frame.select_dtypes("datetime").columns
    frame = frame.assign(**{name: frame[name].dt.strftime("%Y-%m-%d") for name in times})
    frame.to_file(folder / f"{name}.shp")
    members = {file.name: file.read_bytes() for file in sorted(folder.iterdir())}
    shutil.rmtree(folder)
    return zipped(members)


@pytest.fixture(scope="module")
def season(service: hl.Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of archives of three kinds and two coordinate systems, and what cannot be read."""
    root = tmp_path_factory.mktemp("many")
    folder = root / "season"
    (folder / "empty").mkdir(parents=True)
    truths = sorted(service.truth, key=lambda truth: truth["rows"])
    with hl.Client(**service.credentials, rate_limits=(), limiter_state="memory") as client:
        kinds = {job["id"]: job["sub_type"] for job in client.job_data.list()}
        for kind, label in KINDS.items():
            truth = next(truth for truth in truths if kinds[truth["job_id"]] == label)
            client.job_data.download(truth["job_id"], to=folder / f"{kind}.zip")
    harvest = hl.read(folder / "yield.zip", layer=hl.layers(folder / "yield.zip")[0]).to_geopandas()
    metric = shapefile(harvest.to_crs(32614), root / "made", "utm")
    (folder / "utm.zip").write_bytes(metric)
    outline = gpd.GeoDataFrame({"FIELD": ["Home"]}, geometry=[shapely.box(-97, 41, -96.99, 41.01)], crs=4326)
    (folder / "outline.zip").write_bytes(shapefile(outline, root / "made", "outline"))
    (folder / "nested.zip").write_bytes(zipped({"inner.zip": metric}))
    (folder / "deep.zip").write_bytes(zipped({"inner.zip": zipped({"inner.zip": metric})}))
    (folder / "broken.zip").write_bytes(b"no zip")
    return folder


def test_a_mixed_folder_gives_layers_of_a_kind_and_what_failed(season: Path) -> None:
    jobs = hl.read_many(season, job_type="harvest")
    assert [job["name"] for job, _ in jobs] == ["nested", "utm", "yield"]
    assert {failed.job["name"] for failed in jobs.failed} == {"broken", "deep", "empty"}
    for failed in jobs.failed:
        assert str(failed.error)
        assert str(season / failed.job["name"]) in failed.job["source"]
        assert failed.job["source"] in repr(jobs.failed)
    table = jobs.concat()
    assert len(table) == sum(len(layer) for _, layer in jobs)
    assert set(table["source"]) == {job["source"] for job, _ in jobs}
    assert set(table["job_id"]) == {None}
    kinds = {kind: [job["name"] for job, _ in hl.read_many(season, job_type=kind)] for kind in ("planting", "spraying")}
    assert kinds == {"planting": ["planting"], "spraying": ["as_applied"]}


def test_each_archive_is_read_once_with_all_its_layers(season: Path) -> None:
    one = season / "yield.zip"
    both = hl.read_many([one, season / "*.zip", str(one), season])
    assert len({(job["source"], job["layer"]) for job, _ in both}) == len(both)
    assert {job["layer"] for job, _ in both if job["source"] == str(one)} == set(hl.layers(one))
    named = hl.read_many([one, season / "utm.zip"], layer="utm")
    assert [job["source"] for job, _ in named] == [str(season / "utm.zip")]
    assert "no layer" in str(named.failed[0].error)


def test_what_is_not_there_is_a_failure_or_raised(season: Path, tmp_path: Path) -> None:
    jobs = hl.read_many([season / "*.nothing", tmp_path / "gone.zip", tmp_path])
    assert len(jobs) == 0
    messages = [str(failed.error) for failed in jobs.failed]
    for message, text in zip(messages, ("no file matches", "gone.zip", "is empty"), strict=True):
        assert text in message
    with pytest.raises(hl.ArchiveError, match="broken"):
        hl.read_many(season, on_error="raise")
    with pytest.raises(TypeError, match="`paths`"):
        hl.read_many(3)  # type: ignore[arg-type]
    for name, value in {"job_type": "soil", "on_error": "ignore"}.items():
        with pytest.raises(ValueError, match=name):
            hl.read_many(season, **{name: value})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"`.*broken|no job"):
        hl.read_many(season / "broken.zip").concat()


@pytest.mark.parametrize(
    ("words", "code", "failed"),
    [
        (["."], 11, ["broken.zip", "deep.zip", "empty"]),
        (["utm.zip", "nested.zip"], 0, []),
        (["[un]*.zip", "gone.zip"], 12, ["gone.zip"]),
        (["*.nothing"], 11, ["*.nothing"]),
        (["empty"], 11, ["empty"]),
    ],
)
def test_the_command_describes_all_archives_and_names_those_that_fail(
    season: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    code: int,
    failed: list[str],
) -> None:
    monkeypatch.chdir(season)
    assert main(["read", *words]) == code
    shown = capsys.readouterr()
    lines = [line for line in shown.err.splitlines() if line.startswith("headland: not read: ")]
    assert len(lines) == len(failed)
    assert all(f"not read: {name}: " in line for name, line in zip(failed, lines, strict=True))
    assert "Limits" not in shown.err + shown.out
    assert main(["read", *words, "--json"]) == code
    shown = capsys.readouterr()
    assert [json.loads(line)["source"] for line in shown.err.splitlines()] == failed
    if code != 11:
        assert {json.loads(line)["source"] for line in shown.out.splitlines()} == {"nested.zip", "utm.zip"}


def test_a_link_to_a_folder_above_is_not_followed(season: Path, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    shutil.copy(season / "yield.zip", tmp_path / "a")
    for name in ("up", "again"):
        (tmp_path / "a" / name).symlink_to(tmp_path)
    jobs = hl.read_many(tmp_path)
    assert [job["name"] for job, _ in jobs] == ["yield"]
    assert not jobs.failed


def test_folder_that_is_no_archive_names_what_reads_it(season: Path, tmp_path: Path) -> None:
    for read in (hl.read, hl.open):
        with pytest.raises(hl.ArchiveError, match=r"is a folder of 8 archives: `headland\.read_many\('"):
            read(season)
        (tmp_path / "farm").mkdir(exist_ok=True)
        (tmp_path / "farm" / "journal.sqlite").touch()
        with pytest.raises(hl.ArchiveError, match=r"`.*farm` is a mirror: `headland\.Mirror\('"):
            read(tmp_path / "farm")
        with pytest.raises(hl.ArchiveError, match=r"has mirrors in it \(`.*farm`\): `headland\.Mirror\('"):
            read(tmp_path)


def test_many_archives_are_one_table_with_their_kinds(season: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["read", str(season)]) == 11
    shown = capsys.readouterr()
    head, *rows = (line.split("\t") for line in shown.out.splitlines())
    assert head == ["name", "layer", "kind", "records", "crs"]
    kinds = {row[0].rpartition("/")[2]: row[2] for row in rows}
    assert kinds.items() >= {(f"{kind}.zip", kind) for kind in KINDS}
    assert kinds["outline.zip"] == "boundaries"
    listed = repr(hl.read_many(season))
    assert all(f"  {kind}  " in listed for kind in KINDS)


def test_outlines_are_no_rows_of_jobs(season: Path) -> None:
    jobs = hl.read_many([season / "yield.zip", season / "outline.zip"])
    names = [name for name in hl.layers(season / "yield.zip") if len(hl.read(season / "yield.zip", layer=name)) > 1]
    for make in (jobs.concat, lambda: hl.concat(jobs), jobs.to_geopandas):
        with pytest.warns(hl.HeadlandWarning, match=r"left out of the rows of jobs, such as .*\.zip`$"):
            rows = make()
        assert len(rows) == len(hl.read(season / "yield.zip", layer=names[0]))
    with pytest.warns(hl.HeadlandWarning, match="left out"):
        assert len(hl.field_means(jobs)) == 1
    assert "outline" in {job["name"] for job, _ in jobs}, "it is read as before"
    with pytest.raises(ValueError, match="do not say what kind of job it is"):
        hl.read_many(season / "outline.zip").concat()


def test_outlines_are_no_rows_of_dask(season: Path) -> None:
    frame = read_archives([season / "utm.zip", season / "outline.zip"]).compute(scheduler="synchronous")
    assert len(frame) == len(hl.read(season / "utm.zip"))
    assert "FIELD" not in frame


def test_verb_reads_archives_of_a_kind(season: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(season / f"{name}.zip") for name in ("yield", "planting", "outline", "utm")]
    assert main(["read", *files, "--type", "Harvests", "--json"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2
    assert main(["read", *files, "--type", "planting", "--to", str(tmp_path / "out.parquet")]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["out.parquet"]
    capsys.readouterr()
    for words, said in (
        (["--type", "spraying"], "`--type`: no layer of the archives is of this kind"),
        (["--type", "Yeild"], "`--type`: expected 'yield', 'as_applied', 'planting' or an alias, got 'Yeild'"),
    ):
        assert main(["read", *files, *words]) == 2
        assert said in capsys.readouterr().err
    assert main(["read", files[0], "--type", "yield"]) == 2
    assert "it selects among several archives" in capsys.readouterr().err
