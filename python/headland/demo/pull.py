"""Pulls every job through the public client: requests all, then saves and maps each when it is ready."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from dataclasses import field as attribute
from typing import TYPE_CHECKING, Any

from headland.archives import layers, read
from headland.errors import ConversionFailed, HeadlandError, NoCoverage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from headland.client import Client
    from headland.conversion import Conversion
    from headland.layer import Layer
    from headland.records import JobDataItem

__all__ = ["UPLOADED", "Pulled", "pull"]

UPLOADED = "Uploaded archives"
"""The heading of jobs on fields that the service does not know."""

# Preferred columns of a map; the first one in the layer is used.
MAPPED = ("VRYIELDVOL", "APPLDRATE", "POPULATION", "YIELD", "FLOW", "APPLIED", "RATE", "PROTEIN", "TARGET")


@dataclass
class Pulled:
    """One job of the service and its results."""

    id: str
    name: str
    kind: str
    field: str
    source: str | None = None
    """The uploaded archive, if any."""
    rows: int = 0
    area: float | None = None
    """Square metres."""
    total: tuple[str, float, str] | None = None
    """The harvested, planted or applied quantity: label, value, unit."""
    agrees: bool | None = None
    """Whether the total of the layer equals the generator's; None if the generator has none."""
    calls: int = 0
    seconds: float = 0.0
    problem: str | None = None
    is_expected: bool = False
    """Whether the problem is a property of the job, such as no coverage."""
    files: list[str] = attribute(default_factory=list)
    picture: str | None = None

    def summary(self) -> dict[str, Any]:
        """Return the fields for scripts."""
        keys = ("id", "name", "kind", "field", "source", "rows", "area", "total", "agrees", "calls", "problem", "files")
        return {key: getattr(self, key) for key in keys}


def pull(
    client: Client,
    out: Path,
    uploaded: Mapping[str, str],
    truth: Mapping[str, Mapping[str, Any]],
    say: Callable[[str], None],
) -> list[Pulled]:
    """Pull every job, save it as GeoParquet and GeoJSON, and draw it."""
    jobs = list(client.job_data.list())
    say(f"{len(jobs)} jobs; asking for all of them before waiting for any")
    asked: list[tuple[Pulled, Conversion | None]] = [request(client, job, uploaded, truth) for job in jobs]
    out.mkdir(parents=True, exist_ok=True)
    pulled = []
    for number, (job, handle) in enumerate(asked, 1):
        layers = [job] if handle is None else collect(job, handle, out, truth.get(job.id))
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
    place = str(known["field"]) if known is not None else (UPLOADED if source else "Other jobs")
    pulled = Pulled(job_id, name.removesuffix(".jdp.zip"), job["sub_type"] or "", place, source)
    try:
        return pulled, client.job_data.request(job_id, format="SHP")
    except HeadlandError as error:
        record_problem(pulled, error)
        return pulled, None


def collect(pulled: Pulled, handle: Conversion, out: Path, known: Mapping[str, Any] | None) -> list[Pulled]:
    """Wait for a job, read it, and save its files; an archive of several layers results in a map of each."""
    started = time.monotonic()
    made = [pulled]
    try:
        archive = handle.result()
        names = layers(archive) if known is None else [known["layer"]]
        if len(names) > 1:
            made = [replace(pulled, name=f"{pulled.name}, {name}", files=[]) for name in names]
        for one, name in zip(made, names, strict=True):
            save(one, read(archive, layer=name), out, known)
    except HeadlandError as error:
        for one in made:
            if one.picture is None:
                record_problem(one, error)
    for one in made:
        one.seconds = (time.monotonic() - started) / len(made)
    return made


def record_problem(pulled: Pulled, error: HeadlandError) -> None:
    """Store the reason why a job has no map."""
    pulled.problem = str(error)
    # Some generated jobs have nothing to map; an uploaded archive without a map is a failure.
    pulled.is_expected = pulled.source is None and isinstance(error, NoCoverage | ConversionFailed)


def save(pulled: Pulled, layer: Layer, out: Path, known: Mapping[str, Any] | None) -> None:
    """Save a layer as GeoParquet, GeoJSON and SVG, and measure it."""
    pulled.rows = len(layer)
    stem = "".join(sign if sign.isalnum() or sign in "-_." else "_" for sign in f"{pulled.name}-{pulled.id}")
    layer.write_parquet(out / f"{stem}.parquet")
    layer.write_geojson(out / f"{stem}.geojson")
    svg = layer.picture(column=mapped_column(layer), title=title(pulled))
    (out / f"{stem}.svg").write_text(svg, encoding="utf-8")
    pulled.picture = f"{stem}.svg"
    pulled.files = [f"{stem}.parquet", f"{stem}.geojson", f"{stem}.svg"]
    if known is None:
        pulled.area = layer.area()
        return
    covered, pulled.total, pulled.agrees = measure(layer, known)
    pulled.area = layer.area() or covered


def title(pulled: Pulled) -> str:
    """Return the title of a map, with the field first: users search maps by field."""
    return pulled.name if pulled.source or pulled.field in pulled.name else f"{pulled.field}: {pulled.name}"


def mapped_column(layer: Layer) -> str | None:
    """Return the column of the map, which must have more than one value; None leaves the choice to `picture`."""
    names = {name.upper(): name for name in layer.columns if name in layer.units}
    for word in MAPPED:
        for upper, name in names.items():
            if word in upper and len(set(layer.values(name)) - {None}) > 1:
                return name
    return None


def measure(layer: Layer, known: Mapping[str, Any]) -> tuple[float | None, tuple[str, float, str], bool]:
    """Return the total of a layer by the generator's formula, and whether it matches the truth within 1e-6."""
    total = known["total"]
    columns = [layer.values(name) for name in total["columns"]]
    value = total["factor"] * math.fsum(math.prod(row) for row in zip(*columns, strict=True) if None not in row)
    agrees = math.isclose(value, total["value"], rel_tol=1e-6) and len(layer) == known["rows"]
    return known["area"], (total["label"], value, total["unit"]), agrees
