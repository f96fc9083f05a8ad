"""Writes the report of a mirror: a page for each field, and an index."""

from __future__ import annotations

import datetime as dt
import hashlib
from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from headland import archives, extras
from headland.agronomy.clean import clean
from headland.display import quantities
from headland.errors import HeadlandError
from headland.suggestions import did_you_mean

from .draw_maps import draw_field
from .field_locations import apart, field_in, grounds, normalized_name, where
from .html_pages import (
    INDEX,
    Field,
    check_page,
    counted,
    file_name,
    listed,
    make_folder,
    number_jobs,
    remove_pages,
    span,
    write_index,
    write_page,
)
from .prescriptions import map_name, read_maps, section
from .report_job import Job, add_layer

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from pathlib import Path

    from headland.client.client import Client
    from headland.mirror.progress import StepReporter

    from .bounding_boxes import Box
    from .prescriptions import RateMap

__all__ = ["write_report"]

BOX = (
    ", quantile_cont(bbox.xmin, 0.02) AS west, quantile_cont(bbox.ymin, 0.02) AS south"
    ", quantile_cont(bbox.xmax, 0.98) AS east, quantile_cont(bbox.ymax, 0.98) AS north"
)
"""Columns of the box around a job without the few rows at wrong positions."""

HALF_TURN = 180.0
"""Maximum degrees of longitude."""

Record = dict[str, Any]


class Catalog:
    """The tables of a mirror that a report needs."""

    def __init__(self, folder: Path) -> None:
        from headland.mirror import sql

        self.folder = folder
        needed = "jobs products boundaries field_means grain_carts prescription_maps"
        views = "harvest_rows application_rows planting_rows"
        connection, found = sql.connect(folder, f"{needed} {views}")
        with connection:

            def rows(query: str, table: str) -> list[Record]:
                if table not in found:
                    return []
                relation = connection.sql(query.format(table))
                return [dict(zip(relation.columns, values, strict=True)) for values in relation.fetchall()]

            self.jobs = {each["id"]: each for each in rows("SELECT * FROM {}", "jobs")}
            self.products = by_job(rows("SELECT * FROM {}", "products"))
            self.boundaries = {
                (each["job_id"], each["layer"]) for each in rows("SELECT job_id, layer FROM {}", "boundaries")
            }
            self.moistures = by_job(
                rows("SELECT job_id, crop, market_moisture FROM {} WHERE market_moisture IS NOT NULL", "field_means")
            )
            self.carts = len(rows("SELECT id FROM {} WHERE file = 'stored'", "grain_carts"))
            self.maps = rows("SELECT * FROM {} ORDER BY create_date, id", "prescription_maps")
            placed = "SELECT job_id, layer, any_value(field) AS field, any_value(year) AS year{} FROM {{}} GROUP BY ALL"
            self.layers: dict[tuple[str, str], Record] = {}
            for view in views.split():
                has_box = any(each["column_name"] == "bbox" for each in rows("DESCRIBE {}", view))
                query = placed.format(BOX if has_box else "")
                self.layers |= {(each["job_id"], each["layer"]): each for each in rows(query, view)}
        self.fields_of_jobs: dict[str, str] = {}
        self.years_of_jobs: dict[str, int] = {}
        self.boxes: dict[str, Box] = {}
        for (job_id, _), each in self.layers.items():
            if each["field"]:
                self.fields_of_jobs.setdefault(job_id, each["field"])
            if each["year"]:
                self.years_of_jobs[job_id] = min(each["year"], self.years_of_jobs.get(job_id, each["year"]))
            box = tuple(each.get(side) for side in ("west", "south", "east", "north"))
            # Without a known coordinate system, the numbers may be metres.
            if all(isinstance(side, float) and abs(side) <= HALF_TURN for side in box):
                self.boxes.setdefault(job_id, cast("Box", box))
        stated = (str(job["field_name"]) for job in self.jobs.values() if job.get("field_name"))
        self.fields = {normalized_name(name): name for name in [*stated, *self.fields_of_jobs.values()]}
        """All fields by their plain names."""

    def archive(self, job: Record) -> Path | None:
        """Return the path of a job's archive; None if the mirror has none."""
        name = job.get("archive")
        return None if not name else self.folder / "archives" / name[:2] / f"{name}.zip"

    def field(self, job: Record) -> str | None:
        """Return the field of a job, from its rows or its record."""
        return self.fields_of_jobs.get(job["id"]) or job.get("field_name") or None

    def stated_field(self, job: Record) -> str | None:
        """Return the field of a job without rows: that of its record, else the one whose name begins its name."""
        return job.get("field_name") or field_in(str(job.get("name") or ""), self.fields)

    def moisture(self, job_id: str) -> float | Mapping[str, float] | None:
        """Return the market moisture of a job, or that of each crop."""
        found = {each["crop"]: each["market_moisture"] for each in self.moistures.get(job_id, ())}
        return found if len({*found.values()}) > 1 else next(iter(found.values()), None)

    def year(self, job: Record) -> int | None:
        """Return the year of a job, from its rows or its record."""
        start = job.get("start_date")
        return self.years_of_jobs.get(job["id"]) or (start.year if isinstance(start, dt.datetime) else None)


def by_job(rows: Iterable[Record]) -> dict[str, list[Record]]:
    """Group records by their job."""
    grouped: dict[str, list[Record]] = defaultdict(list)
    for each in rows:
        grouped[each["job_id"]].append(each)
    return grouped


def write_report(
    mirror: tuple[Path, Client | None],
    target: Path,
    fields: Collection[str] | None,
    years: Collection[int] | None,
    steps: StepReporter,
) -> Path:
    """Write the pages and return the index.

    Args:
        mirror: The folder of the mirror, and the client for prescription maps; None leaves them out.
        target: The folder of the report, which is created.
        fields: Names of fields; None is all.
        years: Years of jobs; None is all.
        steps: Shows the progress.
    """
    extras.require("sql", "duckdb", "pandas")
    folder, client = mirror
    catalog = Catalog(folder)
    places, unread = chosen(catalog, fields, years)
    # Everything that would be refused is found before a call and before the first page.
    for name in [INDEX, *(each.page for each in places)]:
        check_page(target / name)
    make_folder(target)
    names = {each.name for each in places if not each.is_job}
    wanted = [
        each for each in catalog.maps if fields is None or field_in(map_name(each), catalog.fields) in {None, *names}
    ]
    steps.count = sum(len(each.records) for each in places) + (0 if client is None else len(wanted))
    maps, problems = read_maps(client, wanted, years, steps)
    all_jobs: list[Job] = []
    entries: list[Field] = []
    failed: list[str] = []
    for place in places:
        jobs = []
        for record in place.records:
            steps(str(record.get("name") or place.title))
            jobs += read_job(catalog, record, place.title)
        missing = [record for record in unread if not place.is_job and catalog.stated_field(record) == place.name]
        small = write_field(target / place.page, place, jobs, missing, maps, first=len(all_jobs) + 1)
        all_jobs += jobs
        failed += [f"{job.name}: {job.problem}" for job in jobs if job.problem]
        entries.append(Field(place.title, [job for job in jobs if job.is_mapped] or jobs, small, place.page))
        for each in jobs:
            each.release()
    rest = [each for each in maps if not each.is_placed]
    more = section(rest, "Prescriptions without a field") if fields is None else ""
    more += listed("unread", "What could not be read", [*failed, *map(said, unread)])
    others = len(catalog.maps) - len(wanted) + (0 if fields is None else len(rest))
    out = left_out(catalog, client, fields, years, others)
    more += listed("left-out", "What is not in this report", [*out, *problems])
    write_index(target / INDEX, lead(places, all_jobs), all_jobs, entries, more)
    remove_pages(target, {each.page for each in places})
    return target / INDEX


class Place(NamedTuple):
    """A field with a page, or a job whose field is unknown."""

    name: str
    is_job: bool
    records: list[Record]
    title: str
    """The name, with a number if several fields have it."""
    about: str
    page: str


def chosen(
    catalog: Catalog, fields: Collection[str] | None, years: Collection[int] | None
) -> tuple[list[Place], list[Record]]:
    """Return the fields of a report with their jobs, and the chosen jobs without a file."""
    groups: dict[tuple[str, bool], list[Record]] = defaultdict(list)
    unread: list[Record] = []
    jobs = [job for job in catalog.jobs.values() if years is None or catalog.year(job) in years]
    unnamed = [job for job in jobs if catalog.archive(job) is not None and not catalog.field(job)]
    ground = grounds({job["id"]: str(job.get("name") or job["id"]) for job in unnamed}, catalog.boxes)
    for job in jobs:
        if catalog.archive(job) is None:
            is_chosen = job.get("file_reason") and (fields is None or catalog.stated_field(job) in fields)
            unread += [job] if is_chosen else []
            continue
        field = catalog.field(job)
        if fields is None or field in fields:
            groups[field or ground[job["id"]], field is None].append(job)
    check_fields(fields, {name for name, is_job in groups if not is_job}, catalog)
    if years is not None and not jobs:
        there = ", ".join(map(str, sorted({year for job in catalog.jobs.values() if (year := catalog.year(job))})))
        wanted = ", ".join(map(str, years))
        raise ValueError(f"`years`: no job of {wanted} is in the mirror; years: {there or 'none'}")
    places = []
    for (name, is_job), records in sorted(groups.items()):
        found = apart({job["id"]: catalog.boxes.get(job["id"]) for job in records})
        for number, (ids, box) in enumerate(found, 1):
            others = [each for _, each in found if each is not None and each is not box]
            title = f"{name} ({number} of {len(found)})" if others else name
            about = where(box, others) if others and box is not None else ""
            if is_job:
                whose = "the name of the job" if len(ids) == 1 else "how the names of jobs on one ground begin"
                about = f"The field is unknown; this is {whose}. {about}".strip()
            # A job without a field may have the name of a field.
            page = file_name(f"{title}\0" if is_job else title)
            places.append(Place(name, is_job, [job for job in records if job["id"] in ids], title, about, page))
    return places, unread


def lead(places: list[Place], jobs: list[Job]) -> str:
    """Return the summary of a report."""
    named = sum(not each.is_job for each in places)
    few = f"; the files name {'none' if not named else f'{named:,}'} of them" if named < len(places) else ""
    years = span(jobs)
    return f"{counted(len(places), 'field')}, {counted(len(jobs), 'job')}{f', {years}' if years else ''}{few}"


def check_fields(wanted: Collection[str] | None, found: set[str], catalog: Catalog) -> None:
    """Refuse names that no field has."""
    for name in wanted or ():
        if name not in found:
            names = sorted({*found, *catalog.fields_of_jobs.values()})
            there = ", ".join(f"`{each}`" for each in names) or "none"
            raise ValueError(
                f"`fields`: no job of a field `{name}` is selected{did_you_mean(name, names)}; fields: {there}"
            )


def read_job(catalog: Catalog, record: Record, field: str) -> list[Job]:
    """Return a job for each layer of the archive of a record, measured and cleaned."""
    path = catalog.archive(record)
    job_id, name = record["id"], str(record.get("name") or record["id"])
    label = str(record.get("job_type") or record.get("sub_type") or "")
    # The record of the list has the label, that of the detail the kind.
    entry = record | {"sub_type": label, "year": catalog.year(record)}
    blank = Job(job_id, name, label, field, entry=entry, products=reported(catalog.products[job_id]))
    if path is None:
        return []
    blank.problem = damage(path)
    if blank.problem is not None:
        return [blank]
    try:
        names = [each for each in archives.layers(path) if (job_id, each) not in catalog.boundaries]
    except (HeadlandError, ValueError) as error:
        blank.problem = without_path(error, path)
        return [blank]
    jobs = []
    for each in names:
        title = name if len(names) == 1 else f"{name}, {each}"
        job = Job(job_id, title, label, field, entry=entry, products=blank.products)
        try:
            add_layer(job, archives.read(path, layer=each), clean, catalog.moisture(job_id))
        except (HeadlandError, ValueError) as error:
            job.problem = without_path(error, path)
        jobs.append(job)
    return jobs


def damage(path: Path) -> str | None:
    """Return why an archive, which is named by its digest, is not the one that was downloaded; None if it is."""
    try:
        with path.open("rb") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()
    except OSError as cause:
        return f"its file cannot be read ({cause.strerror or cause}); the next pull downloads a missing one again"
    return None if digest == path.stem else "its file was damaged after the download; the next pull downloads it again"


def without_path(error: Exception, path: Path) -> str:
    """Return a message whose reader has no such file."""
    return str(error).replace(f"`{path}`", "the archive").replace(str(path), "the archive")


def write_field(
    page: Path,
    place: Place,
    jobs: list[Job],
    missing: list[Record],
    maps: list[RateMap],
    *,
    first: int,
) -> str:
    """Draw the maps of a field, write its page, and return a small map."""
    boxes = [job.bounds for job in jobs] if maps else []
    small = draw_field(jobs)
    jobs[:] = number_jobs(jobs, first)
    problems = [f"{job.name}: {job.problem}" for job in jobs if job.problem]
    own = [each for each in maps if each.is_on(boxes)]
    more = section(own, "Prescriptions")
    more += listed("unread", "What could not be read", [*problems, *map(said, missing)])
    write_page(page, place.title, jobs, about=place.about, links=f"<a href='{INDEX}'>all fields</a>", more=more)
    for job in jobs:
        job.page = page.name
    return small


def said(record: Record) -> str:
    """Return why a job has no file."""
    return f"{record.get('name') or record['id']}: {record['file_reason']}"


def left_out(
    catalog: Catalog, client: Client | None, fields: Collection[str] | None, years: Collection[int] | None, others: int
) -> list[str]:
    """Return what the mirror has and the report leaves out; `others` are the prescription maps of other fields."""
    texts = []
    if fields is not None:
        texts.append(f"Fields other than {', '.join(fields)}.")
    if years is not None:
        texts.append(f"Jobs of years other than {', '.join(map(str, years))}, and those of an unknown year.")
    absent = sum(not job.get("archive") and not job.get("file_reason") for job in catalog.jobs.values())
    if absent:
        texts.append(
            f"{counted(absent, 'job')} whose files the mirror does not have: a sync without filters reads them."
        )
    if catalog.carts:
        texts.append(f"{counted(catalog.carts, 'grain cart file')}: loads have no ground of their own.")
    if client is None and catalog.maps:
        count = counted(len(catalog.maps), "prescription map")
        texts.append(f"{count}: the mirror has their list alone; open it with a client to have their zones here.")
    elif others:
        texts.append(f"{counted(others, 'prescription map')} with the name or the ground of other fields.")
    return texts


def reported(rows: Iterable[Record]) -> list[str]:
    """Return what the service reports of the products of a job, one sentence for each."""
    units = "in the unit of the display"
    products: dict[Any, tuple[Record, list[str]]] = {}
    for row in rows:
        names = products.setdefault(row.get("product_id"), (row, []))[1]
        variety = " ".join(filter(None, (row.get("applied_product_brand"), row.get("applied_product_variety"))))
        epa = row.get("ingredient_epa_number")
        ingredient = row.get("ingredient_name") or ""
        names += filter(None, (f"{ingredient} (EPA {epa})" if ingredient and epa else ingredient, variety))
    texts = []
    for row, names in products.values():
        amounts = [
            f"{quantities.short_number(row['applied_volume'])} {units}" if row.get("applied_volume") else "",
            f"{quantities.short_number(row['total_weight'] / 1000.0)} t" if row.get("total_weight") else "",
            f"on {quantities.hectares(row['applied_area'])}" if row.get("applied_area") else "",
            f"target {quantities.short_number(row['target_rate'])} {units}" if row.get("target_rate") else "",
        ]
        made = f" of {', '.join(dict.fromkeys(names))}" if names else ""
        what = ", ".join(filter(None, amounts)) or "no amount"
        texts.append(f"The service reports {row.get('product_name') or 'a product'}{made}: {what}.")
    return texts
