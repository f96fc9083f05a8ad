"""Pages as a grower reads them: one headline for each number, long names, plain words, narrow screens and paper."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import geopandas as gpd
import pytest
import shapely
from generated_logs import harvest, sprayer
from mirror_fixtures import job as listed
from mirror_fixtures import published
from test_report import read

import headland as hl
from headland.agronomy.clean import clean
from headland.cli import main
from headland.layer.table_input import as_layer
from headland.report import Field, Job, add_layer, draw_field, field_card, number_jobs, write_index, write_page
from headland.report.draw_maps import without_counts
from headland.report.field_locations import grounds
from headland.report.formats import for_readers
from headland.report.style import STYLE

if TYPE_CHECKING:
    from pathlib import Path

LONG = "N" * 200


def test_report_inside_a_mirror_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    farm, other = tmp_path / "farm", tmp_path / "other"
    published(farm, [listed("1", "Yield")])
    other.mkdir()
    (other / "journal.sqlite").write_bytes(b"a journal")
    before = sorted(tmp_path.rglob("*"))
    for folder in (farm, farm / "report", other):
        with pytest.raises(ValueError, match=r"`folder` is inside a mirror, that in `.*: pass the address of a folder"):
            hl.Mirror(farm).report(folder)
    assert main(["report", "--from", str(farm), "--to", str(farm)]) == 2
    assert "`--to` is inside a mirror" in capsys.readouterr().err
    assert sorted(tmp_path.rglob("*")) == before


def test_crop_that_harmonizing_was_given_is_on_the_page(tmp_path: Path) -> None:
    log = harvest().frame
    for frame in (log, log.drop(columns="Crop")):
        layer = hl.harmonize(frame, kind="yield", crop="oats")
        text = read(hl.clean(layer).save(tmp_path / "job.html")).text
        assert " Crop oats Mean " in text


def test_harvest_has_one_mean_and_the_ground_once(tmp_path: Path) -> None:
    (means,) = hl.field_means(hl.harmonize(harvest().frame, kind="yield")).to_pandas().to_dict("records")
    mean, ground = f"{means['mean'] / 1000:.2f} t/ha", f"{means['covered_area'] / 1e4:.2f} ha"
    job = Job("1", "Harvest", "", "Barn")
    add_layer(job, hl.harmonize(harvest().frame, kind="yield"), clean)
    assert mean not in job.cleaned_mean
    small = draw_field([job])
    number_jobs([job])
    write_page(tmp_path / "barn.html", "Barn", [job])
    job.page = "barn.html"
    write_index(tmp_path / "index.html", "one field", [job], [Field("Barn", [job], small, job.page)])
    index, page = read(tmp_path / "index.html").text, read(tmp_path / "barn.html").text
    # The card and the table of the index, the table and the caption of the page.
    assert re.search(rf"{ground} wheat \d+: {mean} at 13.5 % water", index)
    assert f"{mean} at 13.5 % water {ground}" in index
    assert f"Mean {mean} at 13.5 % water, all grain by the area Area {ground}, overlap counted once" in page
    assert job.cleaned_mean not in index
    # Other numbers are named as what they are.
    assert f"Cleaned map {job.cleaned_mean}, of used rows on new ground" in page
    assert re.search(r"Worked [\d.]+ ha, overlap counted each time", page)
    assert re.search(r"on [\d.]+ ha of ground", page)


def test_mean_times_area_is_the_total_of_a_sprayer() -> None:
    job = Job("1", "Spraying", "", "Barn")
    add_layer(job, hl.harmonize(sprayer().frame, kind="as_applied"), clean)
    found = job.measured
    assert found is not None
    assert found.mean is not None
    assert found.total is not None
    assert found.covered is not None
    assert found.mean.value * found.covered / 1e4 == pytest.approx(found.total.value, rel=1e-9)
    draw_field([job])
    assert f"<dt>Cleaned map</dt><dd>{job.cleaned_mean}, of used rows" in field_card(1, "Barn", [job], "")


def test_long_names_wrap(tmp_path: Path) -> None:
    frame = harvest().frame.assign(Variety=LONG)
    assert LONG in read(hl.clean(hl.harmonize(frame, kind="yield")).save(tmp_path / "job.html")).text
    for rule in (r"figcaption \{[^}]*", r"dd \{[^}]*", r"\.contents a \{[^}]*", r"\.jobs td:first-child, [^}]*"):
        assert re.search(rf"{rule}overflow-wrap: anywhere", STYLE), rule
    assert "minmax(0, 1fr)" in re.findall(r"^dl \{.*", STYLE, re.MULTILINE)[0]
    assert "text-overflow" not in STYLE


def test_rows_of_a_table_stack_on_a_narrow_screen(tmp_path: Path) -> None:
    path = hl.clean(hl.harmonize(harvest().frame, kind="yield")).save(tmp_path / "job.html")
    content = path.read_text(encoding="utf-8")
    for name in ("Mean", "Area", "Total"):
        assert f"<td class='number' data-name='{name}'>" in content
    # Not on paper, which is as narrow.
    narrow = STYLE.partition("@media screen and (max-width: 800px) {")[2].partition("@media")[0]
    assert ".jobs tr { display: grid;" in narrow
    assert "content: attr(data-name)" in narrow


def test_field_of_rows_without_a_meaning_has_a_small_map() -> None:
    squares = [
        shapely.box(x / 2e4, 45 + y / 2e4, (x + 1) / 2e4, 45 + (y + 1) / 2e4) for x in range(80) for y in range(60)
    ]
    frame = gpd.GeoDataFrame({"NUMBER": [float(row % 97) for row in range(len(squares))]}, geometry=squares, crs=4326)
    job = Job("1", "Job", "", "Barn")
    add_layer(job, as_layer("layer", frame), clean)
    assert job.measured is not None
    assert job.measured.error is not None
    small = draw_field([job])
    assert small.startswith("<svg")
    assert len(small) <= 60_000


def test_pages_have_plain_words_and_fold_what_is_to_know(tmp_path: Path) -> None:
    content = hl.clean(hl.harmonize(harvest().frame, kind="yield")).save(tmp_path / "job.html").read_text("utf-8")
    assert "polygons" not in content
    assert "<details open" not in content
    assert without_counts("<text x='1'>draws 9 of 10 points</text>") == "<text x='1'>draws 9 of 10 points</text>"
    texts = {
        "warning no-zone: there is no zone in `DATE`": "Times are those of the clock of the display, because the file",
        "warning unit-unknown: column `SPEED` is `speed`, but its unit is unknown": "column `SPEED` is `speed`, but",
        "1,002 more of unit-unknown": "1,002 more of this kind",
    }
    for text, plain in texts.items():
        assert for_readers(text).startswith(plain)


def test_paper_keeps_maps_next_to_their_text() -> None:
    paper = STYLE.partition("@media print")[2]
    assert re.search(r"figure, [^{}]*\{ break-inside: avoid; \}", paper)
    assert "break-before" not in paper
    assert "details:not([open]) { display: none; }" in paper


def test_jobs_without_a_field_on_one_ground_have_one_page() -> None:
    names = {
        "1": "Mill Hill 2024 Harvest",
        "2": "Long Acre 2024",
        "3": "Mill Hill 2025 Harvest",
        "4": "x",
        "5": "Mill Hill",
    }
    here, there = (7.0, 45.0, 7.01, 45.01), (7.1, 45.0, 7.11, 45.01)
    boxes = {"1": here, "2": there, "3": (7.0, 45.0, 7.009, 45.01)}
    found = grounds(names, boxes)
    assert found == names | {"1": "Mill Hill", "3": "Mill Hill"}
    assert grounds({"1": "North", "3": "South"}, boxes) == {"1": "North", "3": "North"}
