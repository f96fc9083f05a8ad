"""Pulls every job through the public client: requests all, then saves and measures each when it is ready."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from dataclasses import field as attribute
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from headland.archives import layers, read
from headland.errors import ConversionFailed, HeadlandError, NoCoverage

from .measure import Amount, Measured, converted, measure

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from headland.client import Client
    from headland.conversion import Conversion
    from headland.layer import Layer
    from headland.records import JobDataItem

__all__ = ["Pulled", "pull"]

OTHER = "Other jobs"
"""The heading of jobs on fields that the generator does not know."""

AGREEMENT = 1e-6
"""The relative difference up to which a total equals the known one."""

MAX_TITLE = 28
"""Maximum length of a field or archive in the title of a map, which has its width."""

MAX_DIAGNOSTICS = 20
"""Maximum number of diagnostics on the page for one job."""


class Logged(NamedTuple):
    """A column as the file has it, and the canonical columns that read it."""

    name: str
    type: str
    unit: str
    canonical: str


@dataclass
class Pulled:
    """One job of the service and its results."""

    id: str
    name: str
    sub_type: str
    field: str
    source: str | None = None
    """The uploaded archive, if any."""
    entry: Mapping[str, Any] = attribute(default_factory=dict)
    """The job as the service lists it."""
    rows: int = 0
    layer: Layer | None = None
    """The layer until it is drawn, harmonised if possible."""
    measured: Measured | None = None
    known: Amount | None = None
    """The generator's total; None for real archives."""
    known_area: float | None = None
    """The generator's area in square metres."""
    has_known_rows: bool = False
    columns: list[Logged] = attribute(default_factory=list)
    diagnostics: list[str] = attribute(default_factory=list)
    calls: int = 0
    seconds: float = 0.0
    problem: str | None = None
    is_expected: bool = False
    """Whether the problem is a property of the job, such as no coverage."""
    files: list[str] = attribute(default_factory=list)
    picture: str | None = None
    svg: str = ""
    note: str = ""
    """What a map without a canonical column shows, as a sentence."""
    scale: tuple[float, float] | None = None
    """The values of the first and the last colour, if other maps have them too."""

    @property
    def year(self) -> int | None:
        """The year of the work."""
        return None if self.measured is None or self.measured.start is None else self.measured.start.year

    @property
    def title(self) -> str:
        """The title of the map."""
        item = None if self.measured is None else self.measured.item
        place = self.name if self.source else f"{self.field} {self.year or ''}".strip()
        if len(place) > MAX_TITLE:
            return f"{place[:MAX_TITLE]}\N{HORIZONTAL ELLIPSIS}"
        return f"{place}: {item.split(',')[0]}" if item else place

    @property
    def card(self) -> tuple[bool, str, str]:
        """The card of the job, in the order of the page: uploaded archives first."""
        return self.source is None, self.field, self.source or ""

    @property
    def stem(self) -> str:
        """The name of the files without the ending."""
        return "".join(sign if sign.isalnum() or sign in "-_." else "_" for sign in f"{self.name}-{self.id}")

    @property
    def difference(self) -> float | None:
        """The difference of the measured from the known total in percent."""
        total = None if self.measured is None else self.measured.total
        if total is None or self.known is None or total.unit != self.known.unit:
            return None
        return (total.value / self.known.value - 1.0) * 100.0

    @property
    def area_difference(self) -> float | None:
        """The difference of the measured from the known area in percent."""
        area = None if self.measured is None else self.measured.area
        return None if area is None or self.known_area is None else (area / self.known_area - 1.0) * 100.0

    @property
    def agrees(self) -> bool | None:
        """Whether rows and measured total equal the known ones; None if there is nothing to compare."""
        difference = self.difference
        return None if difference is None else abs(difference) <= AGREEMENT * 100.0 and self.has_known_rows

    def summary(self) -> dict[str, Any]:
        """Return the fields for scripts; areas are square metres, totals kg, L or seeds.

        The mean of a harvest is `dry` by `covered`, at `basis` percent of water; its `total` is the mass as harvested.
        """
        keys = ("id", "name", "field", "source", "year", "rows", "known", "known_area", "difference", "agrees", "scale")
        measured = ("kind", "item", "area", "covered", "mean", "basis", "total", "dry", "column", "unit")
        values = {key: None if self.measured is None else getattr(self.measured, key) for key in measured}
        return {key: getattr(self, key) for key in (*keys, "calls", "problem", "files")} | values


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
    out.mkdir(parents=True, exist_ok=True)
    pulled = []
    for number, (job, handle) in enumerate(asked, 1):
        layers = [job] if handle is None else collect(job, handle, out, truth.get(job.id), geojson=geojson)
        pulled += layers
        for layer in layers:
            message = layer.problem or f"{layer.rows:,} rows in {layer.seconds:.1f} s"
            say(f"[{number}/{len(asked)}] {layer.name}: {message}")
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
        pulled.known, pulled.known_area = converted(known["total"]), known["area"]
    try:
        return pulled, client.job_data.request(job_id, format="SHP")
    except HeadlandError as error:
        record_problem(pulled, error)
        return pulled, None


def collect(
    pulled: Pulled, handle: Conversion, out: Path, known: Mapping[str, Any] | None, *, geojson: bool
) -> list[Pulled]:
    """Wait for a job, read it, and save its files; an archive of several layers results in a map of each."""
    started = time.monotonic()
    made = [pulled]
    try:
        archive = handle.result()
        names = layers(archive) if known is None else [known["layer"]]
        if len(names) > 1:
            made = [replace(pulled, name=f"{pulled.name}, {name}", files=[]) for name in names]
        for one, name in zip(made, names, strict=True):
            save(one, read(archive, layer=name), out, geojson=geojson)
            one.has_known_rows = known is not None and one.rows == known["rows"]
    except HeadlandError as error:
        for one in made:
            if not one.files:
                record_problem(one, error)
    for one in made:
        one.seconds = (time.monotonic() - started) / len(made)
    return made


def record_problem(pulled: Pulled, error: HeadlandError) -> None:
    """Store the reason why a job has no map."""
    pulled.problem = str(error)
    # Some generated jobs have nothing to map; an uploaded archive without a map is a failure.
    pulled.is_expected = pulled.source is None and isinstance(error, NoCoverage | ConversionFailed)


def save(pulled: Pulled, layer: Layer, out: Path, *, geojson: bool) -> None:
    """Save a layer as read, and measure it."""
    pulled.rows = len(layer)
    layer.write_parquet(out / f"{pulled.stem}.parquet")
    pulled.files = [f"{pulled.stem}.parquet"]
    if geojson:
        layer.write_geojson(out / f"{pulled.stem}.geojson")
        pulled.files.append(f"{pulled.stem}.geojson")
    pulled.layer, pulled.measured = measure(layer, pulled.entry)
    pulled.columns = logged(layer, pulled.layer)
    diagnostics = pulled.layer.diagnostics
    pulled.diagnostics = [f"{each.severity} {each.code}: {each.message}" for each in diagnostics[:MAX_DIAGNOSTICS]]
    if len(diagnostics) > MAX_DIAGNOSTICS:
        pulled.diagnostics.append(f"and {len(diagnostics) - MAX_DIAGNOSTICS:,} more")
    if pulled.measured.error is not None:
        pulled.diagnostics.append(pulled.measured.error)


def logged(layer: Layer, canonical: Layer) -> list[Logged]:
    """Return the columns as read, and the canonical column of each."""
    readers: dict[str, list[str]] = {}
    for entry in canonical.provenance:
        for source in str(entry["source"]).split(", "):
            readers.setdefault(source.removesuffix("_original"), []).append(str(entry["column"]))
    units = layer.units
    return [
        Logged(column.name, column.type, units.get(column.name, ""), ", ".join(readers.get(column.name, [])))
        for column in layer.describe()
    ]
