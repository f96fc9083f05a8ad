"""The demo command: every job pulled, files readable by other packages, measured totals equal to the truth."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import duckdb
import geopandas
import pytest
from checkout import CORPUS
from commands import headland

import headland as hl
from headland.agronomy.clean import clean
from headland.cli import main
from headland.layer.table_input import as_layer
from headland.report import Job, add_layer
from headland.report.jobs_table import row


def run_demo(out: Path, *options: str) -> tuple[dict[str, Any], str]:
    """Run the demo; return its JSON output and its progress."""
    command = [sys.executable, "-m", "headland", "demo", "--out", str(out), "--json", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=280)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


def parquet(job: dict[str, Any], out: Path) -> Path:
    """Return the GeoParquet file of a job."""
    files: list[str] = job["files"]
    return out / next(name for name in files if name.endswith(".parquet"))


def assert_others_read_it(path: Path, rows: int) -> None:
    """Count the rows with geopandas and with DuckDB."""
    assert len(geopandas.read_parquet(path)) == rows
    counted = duckdb.sql(f"select count(*) from read_parquet('{path}')").fetchall()
    assert counted == [(rows,)]


class Page(HTMLParser):
    """The parsed page: ids, links, sources, and texts inside and outside `<details>`."""

    VOID = frozenset({"meta", "img", "br", "path", "rect", "circle"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.sources: list[str] = []
        self.scales: list[str] = []
        self.rows: list[list[str]] = []
        self.outside: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == [], "every element is closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag not in self.VOID:
            self.open.append(tag)
        self.ids += [given["id"]] if "id" in given else []
        self.links += [given["href"]] if "href" in given else []
        self.sources += [given["src"]] if "src" in given else []
        self.scales += [given["data-scale"]] if "data-scale" in given else []
        if tag == "tr" and given.get("id", "").startswith("row-"):
            self.rows.append([])
        if tag == "td" and "details" not in self.open:
            self.rows[-1].append("")
        if "details" not in self.open:
            self.outside += [given.get("aria-label", ""), given.get("title", ""), given.get("alt", "")]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "details" not in self.open and "style" not in self.open:
            self.outside.append(data)
            if "td" in self.open:
                self.rows[-1][-1] += data


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any], str]:
    """Run the demo without options once: the folder, the JSON output and the progress."""
    out = tmp_path_factory.mktemp("demo")
    return out, *run_demo(out)


@pytest.fixture(scope="module")
def page(demo: tuple[Path, dict[str, Any], str]) -> Page:
    """Parse the page of the demo."""
    return Page(Path(demo[1]["page"]).read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def truth() -> dict[str, Any]:
    """Return the known totals by job id."""
    with hl.Sandbox.demo() as service:
        return {known["job_id"]: known for known in service.truth}


@pytest.mark.timeout(300)
def test_demo_measures_every_job(demo: tuple[Path, dict[str, Any], str], truth: dict[str, Any]) -> None:
    out, summary, progress = demo
    jobs = {job["id"]: job for job in summary["jobs"]}
    assert truth.keys() <= jobs.keys()
    for job_id, known in truth.items():
        job = jobs[job_id]
        assert job["rows"] == known["rows"]
        assert job["area"] == pytest.approx(known["area"], rel=1e-6)
        assert_others_read_it(parquet(job, out), known["rows"])
        # At least one request and one download; one more request if the conversion was not ready.
        assert job["calls"] >= 2
        if job["total"] is None:
            assert (job["kind"], job["year"], job["difference"]) == ("as_applied", 2024, None), "files without units"
            continue
        assert job["agrees"] is True, job
        total, unit = job["total"]
        assert unit == {"Yield": "kg", "Planter": "seeds"}.get(known["sub_type"], unit)
        # The mean is dry mass at the moisture of the market, so it differs a little from the mass as harvested.
        tolerance = 0.1 if job["kind"] == "yield" else 1e-6
        if job["kind"] == "yield":
            assert job["mean"][0] == pytest.approx(job["dry"][0] / job["covered"] * 10_000, rel=1e-9)
            assert job["basis"] is not None
        assert job["mean"][0] == pytest.approx(total / job["covered"] * 10_000, rel=tolerance)
    assert sum(job["calls"] for job in summary["jobs"]) == summary["calls"] - 1, "and one call for the list"
    problems = [job["problem"] for job in summary["jobs"] if job["problem"]]
    assert len(set(problems)) == 7, "one job without coverage, and one for each way in which a conversion fails"
    assert progress.count("[") >= len(summary["jobs"]), "every job is reported as it is complete"


@pytest.mark.timeout(300)
def test_demo_writes_at_most_30_mb_and_no_geojson(demo: tuple[Path, dict[str, Any], str]) -> None:
    files = [path for path in demo[0].rglob("*") if path.is_file()]
    assert {path.suffix for path in files} == {".html", ".svg", ".parquet"}
    assert sum(path.stat().st_size for path in files) <= 30_000_000


@pytest.mark.timeout(300)
def test_links_of_the_page_have_targets(page: Page, demo: tuple[Path, dict[str, Any], str]) -> None:
    assert len(page.ids) == len(set(page.ids))
    inside = {link[1:] for link in page.links if link.startswith("#")}
    assert inside <= set(page.ids)
    for group in ("job-", "row-", "field-"):
        assert any(link.startswith(group) for link in inside), group
    assert {"jobs", "fields"} <= inside
    for name in [link for link in page.links if not link.startswith("#")] + page.sources:
        assert "//" not in name, "the page needs no network"
        assert (demo[0] / name).is_file()


@pytest.mark.timeout(300)
def test_table_has_measured_and_true_totals(page: Page, truth: dict[str, Any]) -> None:
    # A row has the field, and below it the name of the job.
    rows = {(re.sub(r"(.+)\1 .*", r"\1", cells[0]), *cells[1:3]): cells[3:] for cells in page.rows if len(cells) == 9}
    assert len(rows) == len(truth)
    crop, mean, area, total, known, difference = rows["Stone Hill", "2026", "Yield"]
    # The mean is the dry mass on ground that is counted once, as the area.
    assert (crop, mean, area) == ("sunflower", "2.16 t/ha at 10 % water", "11.48 ha")
    assert (total, known, difference) == ("24.74 t as harvested", "24.74 t as harvested", "0.00 %")
    _, mean, area, total, known, difference = rows["Cattle Gate", "2024", "As applied"]
    assert (mean, area, total, known, difference) == ("not measured", "43.07 ha", "not measured", "7,976 kg", "")
    assert rows["Barn Quarter", "2026", "Planting"][3:] == ["8,876 thousand seeds", "8,876 thousand seeds", "0.00 %"]
    assert sum("not measured" in cells for cells in rows.values()) == 6


@pytest.mark.timeout(300)
def test_maps_of_a_kind_and_crop_in_a_card_have_one_scale(page: Page, demo: tuple[Path, dict[str, Any], str]) -> None:
    scales: dict[tuple[str, ...], set[tuple[float, ...]]] = {}
    units = {"yield": {"t/ha"}, "as_applied": {"kg/ha", "L/ha"}, "planting": {"seeds/ha"}}
    for job in demo[1]["jobs"]:
        if job["scale"] is not None:
            assert job["unit"] in units[job["kind"]]
            scales.setdefault((job["field"], job["kind"], job["group"], job["unit"]), set()).add(tuple(job["scale"]))
    assert len(scales) == 42, "six fields, each with one product, and with three crops harvested and planted"
    assert all(len(different) == 1 for different in scales.values())
    shown = [scale for scale in page.scales if scale != "own"]
    assert (len(shown), len(set(shown)), len(page.scales)) == (48, 42, 54)
    notes = " ".join(page.outside)
    assert notes.count("Not harmonised. The file does not state the unit of the rate") == 6
    # Hovering over a map shows values with the unit.
    assert re.search(r"\d to [\d.]+ t/ha", notes)


@pytest.mark.timeout(300)
def test_names_of_displays_are_in_details_only(page: Page, demo: tuple[Path, dict[str, Any], str]) -> None:
    words = set(re.findall(r"\w+", " ".join(page.outside)))
    names = {name for job in demo[1]["jobs"] if job["files"] for name in read_columns(parquet(job, demo[0]))}
    assert {"APPLDRATE", "VRYIELDVOL", "POPULATION"} <= names
    assert not names & words


def test_points_without_swath_have_no_area_despite_known_area() -> None:
    points = geopandas.points_from_xy([-97.5, -97.4999, -97.4998], [45.0, 45.0, 45.0])
    frame = geopandas.GeoDataFrame({"APPLDRATE": [1.0, 2.0, 3.0]}, geometry=points, crs="EPSG:4326")
    job = Job("1", "A & B", "Sprayer", "A & B", entry={"sub_type": "Sprayer"}, number=1, known_area=1e4, svg="<svg/>")
    add_layer(job, as_layer("layer", frame), clean)
    found = job.measured
    assert found is not None
    assert (found.area, found.mean, found.total, found.column) == (None, None, None, None)
    cells = Page(f"<table>{row(job, has_truth=True)}</table>").rows[0]
    assert cells == ["A & B", "", "As applied", "", *["not measured"] * 3, "", ""]
    assert "neither polygons nor distances and swath widths" in row(job, has_truth=True)


def read_columns(path: Path) -> list[str]:
    """Return the names of the columns of a file, without geometry and bounding box."""
    described = duckdb.sql(f"describe select * from read_parquet('{path}')").fetchall()
    return [cells[0] for cells in described if cells[0] not in ("geometry", "bbox")]


@pytest.fixture
def few_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the demo an account of few jobs, for tests of the archives that are added to them."""

    def small(**options: Any) -> hl.Sandbox:
        return hl.Sandbox(small_jobs=2, **options)

    monkeypatch.setattr("headland.demo.Sandbox.demo", small)


@pytest.mark.timeout(300)
@pytest.mark.usefixtures("few_jobs")
def test_demo_maps_real_archives(tmp_path: Path) -> None:
    if not (CORPUS / "ag").is_dir():
        pytest.skip("no corpus at HEADLAND_CORPUS or ../shared/corpus")
    done = headland("demo", "--out", tmp_path, "--json", "--archives", CORPUS / "ag", "--geojson")
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    expected = {}
    for path in (CORPUS / "expected").glob("*.json"):
        document = json.loads(path.read_bytes())
        # A table without shapes has no location on a map, so the demo skips it.
        if document["set"] == "ag" and not document["file"].endswith(".dbf"):
            expected[document["file"].removeprefix("ag/")] = document["layers"][0]["row_count"]
    uploaded = {job["source"]: job for job in summary["jobs"] if job["source"] is not None}
    assert expected.keys() <= uploaded.keys()
    for name, rows in expected.items():
        assert uploaded[name]["rows"] == rows, uploaded[name]
        assert_others_read_it(parquet(uploaded[name], tmp_path), rows)
        geojson = next(file for file in uploaded[name]["files"] if file.endswith(".geojson"))
        assert json.loads((tmp_path / geojson).read_bytes())["type"] == "FeatureCollection"
        assert uploaded[name]["known"] is uploaded[name]["difference"] is None
    page = Page(Path(summary["page"]).read_text(encoding="utf-8"))
    assert len(page.ids) == len(set(page.ids))
    rows_by_name = {cells[0]: cells for cells in page.rows if len(cells) == 9}
    for job in uploaded.values():
        cells = rows_by_name[Path(job["source"]).stem]
        assert cells[7:] == ["", ""], "real archives have no truth"
        assert ("not measured" in cells[5]) == (job["area"] is None)


@pytest.mark.usefixtures("few_jobs")
def test_bad_archives_are_reported_and_the_demo_continues(service: hl.Sandbox, tmp_path: Path) -> None:
    archives, out = tmp_path / "archives", tmp_path / "out"
    archives.mkdir()
    (archives / "empty.zip").touch()
    (archives / "page.zip").write_text("<html>Please sign in.</html>")
    (archives / "table.dbf").write_bytes(b"\x03")
    with hl.Client(**service.credentials, limiter_state="memory") as client:
        several = next(row for row in service.truth if row["job_name"] == "Stone Hill 2024 Harvest")
        client.job_data.download(several["job_id"], to=archives / "several.zip")
    done = headland("demo", "--out", out, "--json", "--archives", archives)
    assert done.returncode == 1, "an archive that was given has no map"
    assert "left out table.dbf" in done.stderr
    jobs = [job for job in json.loads(done.stdout)["jobs"] if job["source"] is not None]
    summary = {job["name"]: job["problem"] for job in jobs}
    assert "empty" in summary["empty.zip"]
    assert "not a zip" in summary["page.zip"]
    assert sorted(job["rows"] for job in jobs if job["problem"] is None) == [1, several["rows"]], "a map of each layer"


def test_missing_folder_is_an_error_before_anything_starts(tmp_path: Path) -> None:
    done = headland("demo", "--archives", tmp_path / "none")
    assert done.returncode != 0
    assert "no folder" in done.stderr


def test_foreign_page_is_not_replaced(tmp_path: Path) -> None:
    page = tmp_path / "index.html"
    page.write_text("<title>my own page</title>")
    assert main(["demo", "--out", str(tmp_path), "--quiet"]) == 2
    assert page.read_text() == "<title>my own page</title>"
    assert [each.name for each in tmp_path.iterdir()] == ["index.html"]
