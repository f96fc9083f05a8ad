"""Pages of a mirror: which field a job belongs to, one basis for numbers, and refusals before anything is written."""

from __future__ import annotations

import io
import re
import shutil
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from generated_logs import harvest
from season_logs import later, together
from test_report import Texts, read

import headland as hl
from headland.cli import main
from headland.display import progress_bar
from headland.report import Job, number_jobs, write_page
from headland.report.formats import for_readers
from headland.report.html_pages import file_name
from headland.report.jobs_table import jobs_table
from headland.report.measured_totals import Measured
from headland.report.style import STYLE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

HARVEST, MIX, FAILED = "Stone Hill 2026 Harvest", "Schoolhouse 2025 Spraying", "Barn Quarter 2024 Spraying again"

ROWS = 2_400
"""Rows of a changed harvest."""


def archive_path(mirror: hl.Mirror, name: str) -> Path:
    """Return the path of the archive of a job."""
    ((found,),) = mirror.sql("SELECT archive FROM jobs WHERE name = $name", name=name).fetchall()
    return Path(mirror.folder, "archives", found[:2], f"{found}.zip")


def changed(source: bytes, scratch: Path, *, east: float = 0.0, **columns: Any) -> bytes:
    """Return the archive of a harvest with other columns, at another place."""
    frame = hl.read(source).to_geopandas().iloc[:ROWS].assign(**columns)
    frame.geometry = frame.geometry.translate(east, 0.0)
    for name in frame.columns:
        if name != "geometry" and frame[name].dtype.kind not in "ifb":
            frame[name] = frame[name].astype(str)
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    frame.to_file(scratch / "layer.shp", engine="pyogrio")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as target, zipfile.ZipFile(io.BytesIO(source)) as old:
        for path in scratch.iterdir():
            target.write(path, path.name)
        for name in old.namelist():
            if name.endswith("json"):
                target.writestr("layer-Deere-Metadata.json", old.read(name))
    return buffer.getvalue()


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[hl.Sandbox, hl.Mirror]]:
    """Sync a tank mix, a job that failed, and harvests whose fields and crops are changed."""
    folder = tmp_path_factory.mktemp("account")
    with (
        hl.Sandbox.demo(harvest="logged", conversion_time=0.01) as service,
        hl.Client(**service.credentials, rate_limits=(), limiter_state="memory") as client,
    ):
        ids = {job["name"]: job["id"] for job in client.job_data.list()}
        source = client.job_data.download(ids[HARVEST])
        assert isinstance(source, bytes)
        crops = ["Corn" if row < ROWS // 2 else "Soybeans" for row in range(ROWS)]
        frame = hl.read(source).to_geopandas()
        autumn = frame["DATE"].iloc[:ROWS].astype(str).str.replace("-09-", "-11-").str.replace("-10-", "-12-")
        uploads = {
            "near.zip": changed(source, folder / "layer", FIELD="North"),
            "far.zip": changed(source, folder / "layer", east=0.5, FIELD="North"),
            "barn.zip": changed(source, folder / "layer", east=1.0, FIELD="Barn"),
            "split.zip": changed(source, folder / "layer", east=2.0, FIELD="Split", CROP=crops),
            "wheat.zip": changed(source, folder / "layer", east=3.0, FIELD="Double", CROP="Wheat"),
            "soy.zip": changed(source, folder / "layer", east=3.0, FIELD="Double", CROP="Soybeans", DATE=autumn),
        }
        chosen = [ids[HARVEST], ids[MIX], ids[FAILED]]
        for name, content in uploads.items():
            file = io.BytesIO(content)
            file.name = name
            chosen.append(client.job_data.upload(file)["id"])
        synced = hl.Mirror(folder / "farm", client, locations=False, ids=chosen)
        synced.sync(progress=False)
        yield service, synced


@pytest.fixture(scope="module")
def mirror(account: tuple[hl.Sandbox, hl.Mirror]) -> hl.Mirror:
    """Return the mirror without its client."""
    return hl.Mirror(account[1].folder)


@pytest.fixture(scope="module")
def report(mirror: hl.Mirror, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the report of all jobs, without prescriptions."""
    return mirror.report(tmp_path_factory.mktemp("report"), progress=False).parent


def page_of(report: Path, field: str) -> Texts:
    """Return the page of a field."""
    return read(report / file_name(field))


def test_ground_of_a_tank_mix_counts_once(mirror: hl.Mirror, report: Path) -> None:
    query = "SELECT sum(worked_area) / 10000 FROM application_rows WHERE job_name = $name"
    (hectares,) = mirror.sql(query, name=MIX).fetchall()[0]
    text = page_of(report, "Schoolhouse").text
    assert f"Worked {hectares:,.2f} ha, overlap counted each time" in text
    assert re.search(rf"Burndown mix [\d,]+ L {hectares:,.2f} ha UAN 28-0-0 [\d,]+ L in the mix", text)
    assert "0.00 ha" not in text


def test_job_with_two_crops_has_the_moisture_of_each(mirror: hl.Mirror, report: Path, tmp_path: Path) -> None:
    layer = hl.read(archive_path(mirror, "split.zip"))
    means = hl.field_means(layer).to_pandas().set_index("crop")
    mean = means["dry_mass"].sum() / means["covered_area"].sum() * 10
    saved = read(hl.clean(layer).save(tmp_path / "job.html"))
    for page in (page_of(report, "Split"), saved):
        assert f"Mean {mean:.2f} t/ha at the market moisture of each crop" in page.text
        assert f"{means['dry_mass'].sum() / 1000:.2f} t at the market moisture of each crop" in page.text
        for crop, percent in (("corn", "15.5"), ("soybean", "13")):
            assert f"{crop} {means.loc[crop, 'mean'] / 1000:.2f} t/ha at {percent} % water" in page.text


def test_rows_of_several_seasons_are_refused_by_a_page_of_one(tmp_path: Path) -> None:
    log = harvest().frame
    cleaned = hl.clean(hl.harmonize(together(log, later(log, 365.0), later(log, 730.0)), kind="yield"))
    with pytest.raises(ValueError, match=r"these rows have 3 \(.* 2025, .* 2026, .* 2027\): clean and save each job"):
        cleaned.save(tmp_path / "job.html")
    assert not [*tmp_path.iterdir()]


def test_crops_that_share_ground_are_refused_by_a_page_of_one(mirror: hl.Mirror, tmp_path: Path) -> None:
    paths = [archive_path(mirror, name) for name in ("wheat.zip", "soy.zip")]
    cleaned = hl.clean(hl.read_many(paths).concat())
    with pytest.raises(ValueError, match=r"these rows have 2 \(soybean 2026, wheat 2026\)"):
        cleaned.save(tmp_path / "job.html")


def test_fields_of_one_name_have_a_page_for_each_place(report: Path) -> None:
    west, east = page_of(report, "North (1 of 2)"), page_of(report, "North (2 of 2)")
    for page, own, other in ((west, "near.zip", "far.zip"), (east, "far.zip", "near.zip")):
        assert "Another field has the same name, 39 km away." in page.text
        # The job is named in its row and at its map.
        assert f"Total {own} 2026" in page.text
        assert f"Job {own}" in page.text
        assert other not in page.text
    assert "North (1 of 2) near.zip 2026" in read(report / "index.html").text


def test_failed_job_is_on_the_page_of_its_own_field(report: Path) -> None:
    assert FAILED not in page_of(report, "Barn").text
    assert FAILED in read(report / "index.html").text


def test_card_of_a_field_has_every_crop_of_its_last_year(report: Path) -> None:
    text = read(report / "index.html").text
    assert re.search(r"soybean 2026: [\d.]+ t/ha at 13 % water wheat 2026: [\d.]+ t/ha at 13.5 % water", text)


def test_selected_fields_have_no_maps_and_failures_of_others(
    account: tuple[hl.Sandbox, hl.Mirror], tmp_path: Path
) -> None:
    service, mirror = account
    before = len(service.requests)
    index = read(mirror.report(tmp_path, "Schoolhouse", progress=False)).text
    assert "Prescriptions without a field" not in index
    assert FAILED not in index
    read_maps = [each for each in service.requests[before:] if "prescription" in each.path.lower()]
    listed = mirror.sql("SELECT name FROM prescription_maps").fetchall()
    own = [name for (name,) in listed if name.startswith("Schoolhouse")]
    other_names = sum(name.startswith("Stone_Hill") for (name,) in listed)
    assert own
    assert len(read_maps) <= len(listed) - other_names
    assert "with the name or the ground of other fields" in index
    assert "Prescriptions" in page_of(tmp_path, "Schoolhouse").text


def test_pages_of_other_fields_of_an_earlier_report_are_removed(mirror: hl.Mirror, tmp_path: Path) -> None:
    mirror.report(tmp_path, "Barn")
    own, job = tmp_path / "my-notes-0123456789.html", tmp_path / "job.html"
    own.write_text("mine")
    job.write_text("<meta name='generator' content='headland'>")
    mirror.report(tmp_path, "Double")
    assert {path.name for path in tmp_path.iterdir()} == {"index.html", file_name("Double"), own.name, job.name}


def test_page_that_is_not_replaced_is_found_before_anything_is_written(mirror: hl.Mirror, tmp_path: Path) -> None:
    own = tmp_path / file_name("Split")
    own.write_text("<title>my own page</title>")
    with pytest.raises(ValueError, match="is not a page of headland and is not replaced"):
        mirror.report(tmp_path)
    assert [*tmp_path.iterdir()] == [own]


@pytest.mark.parametrize("folder", ["index.html", file_name("Split"), None, "file/new"])
def test_path_that_cannot_be_written_says_what_to_do(
    mirror: hl.Mirror, tmp_path: Path, folder: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "report"
    if folder is None or "/" in folder:
        (tmp_path / "file").touch()
        target = tmp_path / (folder or "file")
    else:
        (target / folder).mkdir(parents=True)
    with pytest.raises(hl.HeadlandError, match=r"cannot write `.*`: .*; choose another folder") as caught:
        mirror.report(target)
    assert isinstance(caught.value, OSError)
    assert not target.is_dir() or len([*target.iterdir()]) == 1
    assert main(["report", "--from", str(mirror.folder), "--to", str(target)]) != 0
    assert "choose another folder" in capsys.readouterr().err


def test_selection_without_a_job_is_an_error(mirror: hl.Mirror, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"`years`: no job of 1999 is in the mirror; years: .*2026"):
        mirror.report(tmp_path / "new", years=1999)
    with pytest.raises(ValueError, match="`fields` is empty"):
        mirror.report(tmp_path / "new", fields=[])
    assert not [*tmp_path.iterdir()]


def test_damaged_archives_are_found_and_said_without_paths(mirror: hl.Mirror, tmp_path: Path) -> None:
    folder = tmp_path / "farm"
    shutil.copytree(mirror.folder, folder)
    copy = hl.Mirror(folder)
    path = archive_path(copy, "barn.zip")
    content = bytearray(path.read_bytes())
    # A byte of a comment: the archive can be read, but it is not the one that was downloaded.
    path.unlink()
    path.write_bytes(bytes(content) + b"\0")
    archive_path(copy, "soy.zip").unlink()
    index = copy.report(tmp_path / "report", ["Barn", "Double"])
    unread = read(index).text.partition("What could not be read")[2]
    assert "barn.zip: its file was damaged after the download; the next pull downloads it again" in unread
    assert "soy.zip: its file cannot be read (No such file or directory)" in unread
    for page in index.parent.iterdir():
        assert str(tmp_path) not in read(page).text


def test_messages_have_no_advice_for_python() -> None:
    texts = {
        'column `CYCLE` is `interval`, but its unit is unknown; pass `units={"CYCLE": ...}`': "is unknown",
        "there are 456 zones, and displays refuse them; round the rates with `step`": "displays refuse them",
        "`x` is truncated: download it again, or read the rest with `strict=False`": "is truncated",
        "`time` keeps the display's clock; `timezone` names its zone": "clock",
    }
    for text, end in texts.items():
        assert for_readers(text).endswith(end)
        assert text.startswith(for_readers(text).replace("&#x27;", "'"))


def test_classes_of_target_and_applied_are_words(report: Path) -> None:
    assert not re.search(
        r">\s*(no_target|no_rate|should_be_off|nothing_asked)\s*<", (report / file_name("Schoolhouse")).read_text()
    )
    assert "no target" in page_of(report, "Schoolhouse").text


def test_long_titles_of_maps_keep_the_field_and_the_product(report: Path) -> None:
    content = (report / file_name("Schoolhouse")).read_text(encoding="utf-8")
    assert re.search(r">Schoolhouse 2025[^<]*\N{HORIZONTAL ELLIPSIS}[^<]*28-0-0<", content)
    assert "<title>Schoolhouse 2025: Burndown mix + UAN 28-0-0: " in content
    # The legend has space for the moisture.
    assert ">Yield, 13.5 % water<" in (report / file_name("Double")).read_text(encoding="utf-8")


def test_page_of_several_jobs_of_one_season_counts_and_totals_all(mirror: hl.Mirror, tmp_path: Path) -> None:
    layers = [hl.harmonize(hl.read(archive_path(mirror, name)), kind="yield") for name in ("near.zip", "far.zip")]
    text = read(hl.clean(hl.concat(layers)).save(tmp_path / "jobs.html")).text
    assert "2 jobs, 2026. The map and all numbers are those of all jobs together." in text
    tonnes = sum(sum(filter(None, layer["wet_mass"])) for layer in layers) / 1000
    assert f"{tonnes:,.2f} t as harvested" in text
    assert "1 job" not in text


def test_index_counts_jobs_without_a_field_apart(report: Path) -> None:
    assert "7 fields, 8 jobs, 2025 to 2026; the files name 6 of them" in read(report / "index.html").text


def test_print_has_no_links_and_wraps_long_products() -> None:
    screen, _, paper = STYLE.partition("@media print")
    # The rule for paper must not be weaker than the one that shows the links.
    assert ".heading nav { font-size: .86rem; display: flex" in screen
    assert re.search(r"\.heading nav[^{}]*\{ display: none; \}", paper)
    measured = Measured("as_applied", item="mix " * 60)
    table = jobs_table([Job("1", "job", "", "Stone Hill", svg="<svg></svg>", measured=measured)])
    assert re.search(r"<td class='text'>mix mix", table)
    assert re.search(r"td\.text \{ white-space: normal;", screen)


def test_page_of_many_jobs_stays_below_its_limit(tmp_path: Path) -> None:
    svg = f"<svg>{'.' * 60_000}</svg>"
    jobs = []
    for number in range(40):
        job = Job(str(number), f"job {number}", "Yield", "Stone Hill", entry={"year": 2000 + number}, svg=svg)
        job.remarks, job.measured = ["remark " * 3_000], Measured("yield")
        jobs.append(job)
    path = tmp_path / "page.html"
    write_page(path, "Stone Hill", number_jobs(jobs), more=f"<p>{'.' * 300_000}</p>")
    assert path.stat().st_size <= 2_000_000


class Shown:
    """A display that keeps what it shows."""

    def __init__(self) -> None:
        self.lines: list[tuple[tuple[int, int], str]] = []
        self.is_closed = False

    def show(self, name: str, fraction: tuple[int, int], text: str) -> None:
        assert not name
        self.lines.append((fraction, text))

    def paused(self) -> AbstractContextManager[None]:
        raise NotImplementedError

    def close(self) -> None:
        self.is_closed = True


def test_command_shows_its_progress(
    mirror: hl.Mirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    display = Shown()
    monkeypatch.setattr(progress_bar, "choose_display", lambda: display)
    where = ["report", "--from", str(mirror.folder), "--to", str(tmp_path), "--field", "Double"]
    assert main(where) == 0
    assert [fraction for fraction, _ in display.lines] == [(0, 2), (1, 2)]
    assert {text.split()[-1] for _, text in display.lines} == {"wheat.zip", "soy.zip"}
    assert display.is_closed
    display.lines.clear()
    assert main([*where, "--quiet"]) == 0
    assert not display.lines
    capsys.readouterr()
