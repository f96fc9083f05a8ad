"""Pages for readers without Python: what they show of each job, and that no text of the data is live in them."""

from __future__ import annotations

import io
import re
import zipfile
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import geopandas as gpd
import pytest
from shapefiles import POINT, WGS84, Field, Shape, dbf, shp

import headland as hl
from headland.agronomy.clean import clean
from headland.cli import main
from headland.layer.table_input import as_layer
from headland.report import Field as Entry
from headland.report import Job, add_layer, draw_field, number_jobs, write_index, write_page
from headland.report.html_pages import file_name

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FIELD = "Stone Hill"

JOBS = ("2026 Harvest", "2025 Harvest", "2025 Spraying", "2024 Spraying", "2025 Planting", "2024 Planting again")
"""Jobs of the field: harvests, a target that was logged, one without units, and one that the service cannot convert."""

HOSTILE = "<script>alert(1)</script> \"'><img src=x onerror=alert(2)> &amp; ../../" + "long " * 60


class Texts(HTMLParser):
    """The elements, the links and the visible texts of a page; nothing of it is live."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.elements: set[str] = set()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.texts: list[str] = []
        self.in_style = False
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        self.in_style = tag == "style"
        for name, value in attrs:
            assert not name.startswith("on"), name
            assert name != "src", "a page is complete in itself"
            self.ids += [value or ""] if name == "id" else []
            self.links += [value or ""] if name == "href" else []

    def handle_data(self, data: str) -> None:
        if not self.in_style:
            self.texts.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.texts))


def read(page: Path) -> Texts:
    """Return the parsed page, which needs neither scripts nor a network and is of a limited size."""
    found = Texts(page)
    assert not found.elements & {"script", "iframe", "img", "object", "link"}
    assert len(found.ids) == len({*found.ids})
    for link in found.links:
        name, _, anchor = link.partition("#")
        assert not anchor or name or anchor in found.ids, link
        assert not name or (page.parent / name).is_file(), link
    assert page.stat().st_size <= 2_000_000
    return found


def archive_of_columns(crop: str) -> io.BytesIO:
    """Return an archive whose layer, column and texts are hostile and have no known meaning."""
    fields = (Field(b"<b>\"'&lt;", "N", 9), Field(b"CROP", "C", 200))
    cells = [(b"%9d" % row, crop.encode()[:200].ljust(200)) for row in range(4)]
    shapes = [Shape([[(-98.0 + row / 1000, 45.0, 0.0, 0.0)]]) for row in range(4)]
    points, index = shp(POINT, shapes)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as target:
        members = {"shp": points, "shx": index, "dbf": dbf(fields, cells), "prj": WGS84}
        for ending, content in members.items():
            target.writestr(f"rows &amp; 'x'.{ending}", content)
    buffer.seek(0)
    buffer.name = "it's a <b>job<b> & more.jdp.zip"
    return buffer


@pytest.fixture(scope="module")
def mirror(tmp_path_factory: pytest.TempPathFactory) -> Iterator[hl.Mirror]:
    """Sync some jobs of one field, and an uploaded archive."""
    with (
        hl.Sandbox.demo(conversion_time=0.01) as service,
        hl.Client(**service.credentials, rate_limits=(), limiter_state="memory") as client,
    ):
        own = client.job_data.upload(archive_of_columns(HOSTILE))["id"]
        ids = [job["id"] for job in client.job_data.list() if job["name"] in {f"{FIELD} {name}" for name in JOBS}]
        assert len(ids) == len(JOBS)
        synced = hl.Mirror(tmp_path_factory.mktemp("mirror") / "farm", client, locations=False, ids=[*ids, own])
        synced.sync(progress=False)
        yield synced


@pytest.fixture(scope="module")
def report(mirror: hl.Mirror, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the report of all jobs, with prescription maps."""
    index = mirror.report(tmp_path_factory.mktemp("report") / "new")
    assert index.name == "index.html"
    return index.parent


def test_page_of_a_field_has_its_years_and_says_what_is_left_out(report: Path) -> None:
    page = read(report / file_name(FIELD))
    for text in (
        f"{FIELD} 5 jobs, 2024 to 2026",
        # The numbers are those of `clean`, with their moisture.
        "one scale of sorghum: 3.86 to 6.36 t/ha; one scale of sunflower: 1.39 to 2.55 t/ha",
        "Mean 2.16 t/ha at 10 % water, all grain by the area Area ",
        "Cleaned map 2.16 t/ha at 10 % water, of used rows on new ground",
        "Stone Hill 2026 Harvest: 2,604 points logged 24.7 t at 10 % water on 11.5 ha of ground (11.6 ha",
        "The map shows the rows that are used, in cells of 10 m.",
        # Products and totals, of the rows and of the service.
        "24.74 t as harvested",
        "The service reports Burndown mix of Water, Herbicide A, Surfactant: ",
        "99.5 % of the ground is within 10 % of the logged target",
        # What is not known is said, and so is what failed.
        "The file does not state the unit of the rate, and its rows do not prove one.",
        "Times are those of the clock of the display, because the file states no zone.",
        "What could not be read Stone Hill 2024 Planting again: the service answered CONVERSION_STATUS_FILE_NOT_FOUND",
        "Prescriptions",
        "Stone_Hill_2026_Spraying_Rx.zip: ",
    ):
        assert text in page.text, text
    assert "<svg" in (report / file_name(FIELD)).read_text()


def test_index_links_every_field_and_lists_what_is_missing(report: Path) -> None:
    index = read(report / "index.html")
    pages = {link.partition("#")[0] for link in index.links} - {""}
    assert pages == {path.name for path in report.iterdir()} - {"index.html"}
    assert "2 fields, 6 jobs, 2024 to 2026; the files name 1 of them" in index.text
    assert "sunflower 2026: 2.16 t/ha at 10 % water" in index.text
    assert "What could not be read" in index.text
    (own,) = pages - {file_name(FIELD)}
    assert "1 job. The field is unknown; this is the name of the job." in read(report / own).text
    assert "it's a <b>job<b> & more" in index.text


def test_command_selects_fields_and_years_and_says_so(
    mirror: hl.Mirror, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ["report", "--from", str(mirror.folder), "--to", str(tmp_path / "out")]
    assert main([*where, "--field", FIELD, "--year", "2026"]) == 0
    assert capsys.readouterr().out.strip() == str(tmp_path / "out" / "index.html")
    index = read(tmp_path / "out" / "index.html").text
    assert "1 field, 1 job, 2026" in index
    for text in ("Fields other than Stone Hill.", "Jobs of years other than 2026", "open it with a client"):
        assert text in index, text
    assert main([*where, "--field", "Stone Hil"]) == 2
    assert "`--field`: no job of a field `Stone Hil` is selected: did you mean `Stone Hill`?" in capsys.readouterr().err


def test_other_pages_are_not_replaced(mirror: hl.Mirror, tmp_path: Path) -> None:
    page = tmp_path / "index.html"
    page.write_text("<title>my own page</title>")
    with pytest.raises(ValueError, match="is not a page of headland and is not replaced"):
        mirror.report(tmp_path)
    assert [each.name for each in tmp_path.iterdir()] == ["index.html"]


def test_cleaned_job_saves_the_same_page(mirror: hl.Mirror, tmp_path: Path) -> None:
    rows = mirror.sql("SELECT archive FROM jobs WHERE name = $name", name=f"{FIELD} 2026 Harvest").fetchall()
    archive = rows[0][0]
    cleaned = hl.clean(hl.read(mirror.folder / "archives" / archive[:2] / f"{archive}.zip"))
    page = read(cleaned.save(tmp_path / "job.html")).text
    assert str(cleaned) in page
    assert "Cleaned map 2.16 t/ha at 10 % water" in page
    with pytest.raises(ValueError, match=r"ends in \.html"):
        cleaned.save(tmp_path / "job.pdf")


@pytest.mark.parametrize("name", [HOSTILE, "", "..", "CON", "Süd/Ost\u202e\x00", "\udcff"])
def test_texts_of_the_data_are_not_live(tmp_path: Path, name: str) -> None:
    points = gpd.points_from_xy([-97.5, -97.4999, -97.4998], [45.0, 45.0001, 45.0002])
    text = name.encode(errors="replace").decode()
    frame = gpd.GeoDataFrame({text[:60] or "x": [1.0, 2.0, 3.0], "PRODUCT": text}, geometry=points, crs=4326)
    job = Job("1", name, name, name, products=[name], origin=[name])
    add_layer(job, as_layer("layer", frame), clean)
    small = draw_field([job])
    number_jobs([job])
    pages = [tmp_path / file_name(each) for each in (name, name.upper(), f"{name} ")]
    assert len({*pages}) == 3 - (name == name.upper())
    for page in pages:
        assert re.fullmatch(r"[a-z0-9-]{1,60}\.html", page.name)
        write_page(page, name, [job])
        read(page)
    job.page = pages[0].name
    write_index(tmp_path / "index.html", name, [job], [Entry(name, [job], small, pages[0].name)])
    index = read(tmp_path / "index.html")
    assert (
        " ".join(name.encode("utf-8", "backslashreplace").decode().split())[:20] in index.text or not name.isprintable()
    )
