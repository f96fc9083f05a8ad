"""Pulls every job through the public client: requests all, then saves and measures each when it is ready."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from headland.agronomy.clean import clean
from headland.archives import layers, read
from headland.errors import ConversionFailed, HeadlandError, NoCoverage
from headland.report import Amount, Job, add_layer
from headland.report.html_pages import make_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from headland.client.client import Client
    from headland.client.conversion import Conversion
    from headland.layer.layer import Layer
    from headland.records import JobDataItem

OTHER = "Other jobs"
"""The heading of jobs on fields that the generator does not know."""

METRIC = {"lb": ("kg", 0.45359237), "gal": ("L", 3.785411784)}
"""Units of known totals that are not those in which layers are measured: the unit and the factor."""


@dataclass
class Pulled(Job):
    """A job with the calls that it took."""

    calls: int = 0
    is_expected: bool = False
    """Whether the problem is a property of the job, such as no coverage."""

    @property
    def stem(self) -> str:
        """The name of the files without the ending."""
        return "".join(sign if sign.isalnum() or sign in "-_." else "_" for sign in f"{self.name}-{self.id}")

    def summary(self) -> dict[str, Any]:
        """Return the fields for scripts; areas are square metres, totals kg, L or seeds.

        The mean of a harvest is `dry` by `covered`, at `basis` percent of water; its `total` is the mass as harvested.
        """
        own = ("id", "name", "field", "source", "year", "rows", "known", "known_area", "difference", "agrees", "scale")
        measured = ("kind", "item", "group", "area", "covered", "mean", "basis", "total", "dry", "column")
        values = {key: None if self.measured is None else getattr(self.measured, key) for key in measured}
        return {key: getattr(self, key) for key in (*own, "unit", "calls", "problem", "files")} | values


def pull(
    client: Client,
    out: Path,
    uploaded: Mapping[str, str],
    truth: Mapping[str, Mapping[str, Any]],
    say: Callable[[str], None],
    *,
    geojson: bool = False,
) -> list[Pulled]:
    """Pull every job, save it as GeoParquet, and measure it."""
    jobs = list(client.job_data.list())
    say(f"{len(jobs)} jobs; asking for all of them before waiting for any")
    asked: list[tuple[Pulled, Conversion | None]] = [request(client, job, uploaded, truth) for job in jobs]
    make_folder(out)
    pulled = []
    for number, (job, handle) in enumerate(asked, 1):
        started = time.monotonic()
        made = [job] if handle is None else collect(job, handle, out, truth.get(job.id), geojson=geojson)
        pulled += made
        for each in made:
            message = each.problem or f"{each.rows:,} rows in {time.monotonic() - started:.1f} s"
            say(f"[{number}/{len(asked)}] {each.name}: {message}")
    return pulled


def request(
    client: Client, job: JobDataItem, uploaded: Mapping[str, str], truth: Mapping[str, Mapping[str, Any]]
) -> tuple[Pulled, Conversion | None]:
    """Request a job's shapefiles; a job without any fails immediately."""
    job_id, name = str(job["id"]), str(job["name"])
    known = truth.get(job_id)
    source = uploaded.get(job_id)
    place = str(known["field"]) if known is not None else PurePath(source).stem if source else OTHER
    pulled = Pulled(job_id, name.removesuffix(".jdp.zip"), job["sub_type"] or "", place, source, entry=job)
    if known is not None:
        unit, factor = METRIC.get(known["total"]["unit"], (known["total"]["unit"], 1.0))
        pulled.known, pulled.known_area = Amount(known["total"]["value"] * factor, unit), known["area"]
    try:
        return pulled, client.job_data.request(job_id, format="SHP")
    except HeadlandError as error:
        record_problem(pulled, error)
    return pulled, None


def collect(
    pulled: Pulled, handle: Conversion, out: Path, known: Mapping[str, Any] | None, *, geojson: bool
) -> list[Pulled]:
    """Wait for a job, read it, and save its files; an archive of several layers results in a map of each."""
    made = [pulled]
    try:
        archive = handle.result()
        names = layers(archive) if known is None else [known["layer"]]
        if len(names) > 1:
            made = [replace(pulled, name=f"{pulled.name}, {name}", files=[], warnings=[], remarks=[]) for name in names]
        for one, name in zip(made, names, strict=True):
            save(one, read(archive, layer=name), out, geojson=geojson)
            one.has_known_rows = known is not None and one.rows == known["rows"]
    except HeadlandError as error:
        for one in made:
            if not one.files:
                record_problem(one, error)
    return made


def record_problem(pulled: Pulled, error: HeadlandError) -> None:
    """Store the reason why a job has no map."""
    pulled.problem = str(error)
    # Some generated jobs have nothing to map; an uploaded archive without a map is a failure.
    pulled.is_expected = pulled.source is None and isinstance(error, NoCoverage | ConversionFailed)


def save(pulled: Pulled, layer: Layer, out: Path, *, geojson: bool) -> None:
    """Save a layer as read, and measure it."""
    layer.write_parquet(out / f"{pulled.stem}.parquet")
    if geojson:
        layer.write_geojson(out / f"{pulled.stem}.geojson")
    pulled.files = [f"{pulled.stem}.{ending}" for ending in ("parquet", *(["geojson"] if geojson else []))]
    add_layer(pulled, layer, clean)
