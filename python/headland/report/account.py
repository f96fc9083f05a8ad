"""Writes the report of a mirror: a page for each field, and an index."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from headland import archives, extras, quantities
from headland.clean import clean
from headland.errors import HeadlandError
from headland.suggestions import did_you_mean

from .draw import draw_field
from .job import Job, add_layer
from .page import INDEX, Field, check_page, counted, file_name, listed, number_jobs, span, write_index, write_page
from .prescriptions import read_maps, section

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from pathlib import Path

    from headland.client import Client

    from .prescriptions import RateMap

__all__ = ["write_report"]

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
            self.moistures = {
                each["job_id"]: each["market_moisture"]
                for each in rows("SELECT job_id, market_moisture FROM {}", "field_means")
            }
            self.carts = len(rows("SELECT id FROM {} WHERE file = 'have'", "grain_carts"))
            self.maps = rows("SELECT * FROM {} ORDER BY create_date, id", "prescription_maps")
            placed = "SELECT job_id, layer, any_value(field) AS field, any_value(year) AS year FROM {} GROUP BY ALL"
            self.layers = {
                (each["job_id"], each["layer"]): each for view in views.split() for each in rows(placed, view)
            }
        self.fields_of_jobs: dict[str, str] = {}
        self.years_of_jobs: dict[str, int] = {}
        for (job_id, _), each in self.layers.items():
            if each["field"]:
                self.fields_of_jobs.setdefault(job_id, each["field"])
            if each["year"]:
                self.years_of_jobs[job_id] = min(each["year"], self.years_of_jobs.get(job_id, each["year"]))

    def archive(self, job: Record) -> Path | None:
        """Return the path of a job's archive; None if the mirror has none."""
        name = job.get("archive")
        return None if not name else self.folder / "archives" / name[:2] / f"{name}.zip"

    def field(self, job: Record) -> str | None:
        """Return the field of a job, from its rows or its record."""
        return self.fields_of_jobs.get(job["id"]) or job.get("field_name") or None

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
    folder: Path, client: Client | None, target: Path, fields: Collection[str] | None, years: Collection[int] | None
) -> Path:
    """Write the pages and return the index.

    Args:
        folder: The folder of the mirror.
        client: The client for prescription maps; None leaves them out.
        target: The folder of the report, which is created.
        fields: Names of fields; None is all.
        years: Years of jobs; None is all.
    """
    extras.require("sql", "duckdb", "pandas")
    check_page(target / INDEX)
    catalog = Catalog(folder)
    known = {job_id: catalog.year(job) for job_id, job in catalog.jobs.items()}
    chosen = [job for job_id, job in catalog.jobs.items() if years is None or known[job_id] in years]
    groups: dict[tuple[bool, str], list[Record]] = defaultdict(list)
    unread: list[Record] = []
    for job in chosen:
        place = catalog.field(job)
        if catalog.archive(job) is None:
            unread += [job] if job.get("file_reason") else []
        elif fields is None or place in fields:
            groups[place is None, place or str(job.get("name") or job["id"])].append(job)
    check_fields(fields, {name for is_job, name in groups if not is_job}, catalog)
    maps, problems = read_maps(client, catalog.maps, years)
    target.mkdir(parents=True, exist_ok=True)
    all_jobs: list[Job] = []
    entries: list[Field] = []
    for (is_job, name), records in sorted(groups.items()):
        jobs = [job for record in records for job in read_job(catalog, record, name, known[record["id"]])]
        missing = [record for record in unread if not is_job and belongs(record, name)]
        # A job without a field may have the name of a field.
        page = target / file_name(f"{name}\0" if is_job else name)
        small = write_field(page, name, jobs, missing, maps, first=len(all_jobs) + 1, is_job=is_job)
        all_jobs += jobs
        mapped = [job for job in jobs if job.is_mapped]
        entries.append(Field(name, mapped or jobs, small, page.name))
        for each in jobs:
            each.release()
    rest = [each for each in maps if not each.is_placed]
    more = section(rest, "Prescriptions without a field") + listed(
        "unread", "What could not be read", map(said, unread)
    )
    more += listed("left-out", "What is not in this report", [*left_out(catalog, client, fields, years), *problems])
    jobs_years = span(all_jobs)
    lead = f"{counted(len(entries), 'field')}, {counted(len(all_jobs), 'job')}{f', {jobs_years}' if jobs_years else ''}"
    write_index(target / INDEX, lead, all_jobs, entries, more)
    return target / INDEX


def check_fields(wanted: Collection[str] | None, found: set[str], catalog: Catalog) -> None:
    """Refuse names that no field has."""
    for name in wanted or ():
        if name not in found:
            names = sorted({*found, *catalog.fields_of_jobs.values()})
            there = ", ".join(f"`{each}`" for each in names) or "none"
            raise ValueError(
                f"`fields`: no job of a field `{name}` is selected{did_you_mean(name, names)}; fields: {there}"
            )


def read_job(catalog: Catalog, record: Record, field: str, year: int | None) -> list[Job]:
    """Return a job for each layer of the archive of a record, measured and cleaned."""
    path = catalog.archive(record)
    job_id, name = record["id"], str(record.get("name") or record["id"])
    label = str(record.get("job_type") or record.get("sub_type") or "")
    # The record of the list has the label, that of the detail the kind.
    entry = record | {"sub_type": label, "year": year}
    blank = Job(job_id, name, label, field, entry=entry, products=reported(catalog.products[job_id]))
    if path is None:
        return []
    try:
        names = [each for each in archives.layers(path) if (job_id, each) not in catalog.boundaries]
    except (HeadlandError, ValueError) as error:
        blank.problem = str(error)
        return [blank]
    jobs = []
    for each in names:
        title = name if len(names) == 1 else f"{name}, {each}"
        job = Job(job_id, title, label, field, entry=entry, products=blank.products)
        try:
            add_layer(job, archives.read(path, layer=each), clean, catalog.moistures.get(job_id))
        except (HeadlandError, ValueError) as error:
            job.problem = str(error)
        jobs.append(job)
    return jobs


def write_field(
    page: Path,
    name: str,
    jobs: list[Job],
    missing: list[Record],
    maps: list[RateMap],
    *,
    first: int,
    is_job: bool,
) -> str:
    """Draw the maps of a field, write its page, and return a small map."""
    boxes = [job.bounds for job in jobs] if maps else []
    small = draw_field(jobs)
    jobs[:] = number_jobs(jobs, first)
    check_page(page)
    problems = [f"{job.name}: {job.problem}" for job in jobs if job.problem]
    own = [each for each in maps if each.is_on(boxes)]
    more = section(own, "Prescriptions")
    more += listed("unread", "What could not be read", [*problems, *map(said, missing)])
    about = "The field is unknown; this is the name of the job." if is_job else ""
    write_page(page, name, jobs, about=about, links=f"<a href='{INDEX}'>all fields</a>", more=more)
    for job in jobs:
        job.page = page.name
    return small


def belongs(record: Record, field: str) -> bool:
    """Return whether a job without a file is of a field, by its record or the beginning of its name."""
    name = str(record.get("name") or "").casefold()
    return record.get("field_name") == field or name == field.casefold() or name.startswith(f"{field.casefold()} ")


def said(record: Record) -> str:
    """Return why a job has no file."""
    return f"{record.get('name') or record['id']}: {record['file_reason']}"


def left_out(
    catalog: Catalog, client: Client | None, fields: Collection[str] | None, years: Collection[int] | None
) -> list[str]:
    """Return what the mirror has and the report leaves out."""
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
            f"{quantities.number(row['applied_volume'])} {units}" if row.get("applied_volume") else "",
            f"{quantities.number(row['total_weight'] / 1000.0)} t" if row.get("total_weight") else "",
            f"on {quantities.hectares(row['applied_area'])}" if row.get("applied_area") else "",
            f"target {quantities.number(row['target_rate'])} {units}" if row.get("target_rate") else "",
        ]
        made = f" of {', '.join(dict.fromkeys(names))}" if names else ""
        what = ", ".join(filter(None, amounts)) or "no amount"
        texts.append(f"The service reports {row.get('product_name') or 'a product'}{made}: {what}.")
    return texts
