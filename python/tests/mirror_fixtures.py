"""Builds a mirror's folder as after a sync: archives and their dataset, in the layout of the folder."""

from __future__ import annotations

import hashlib
import json
import tempfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from shapefiles import POINT, Field, Shape, dbf, shp, zipped

import headland as hl
from headland.mirror.dataset import PublishedDataset

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

PRJ = (
    b'GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],'
    b'PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]'
)


BLOCK = 128 * 1024
"""Bytes of the block that a checksum of the manifest covers."""


class Job(NamedTuple):
    """A job of the mirror: its folder's keys, in the form of paths, and its archive."""

    job_id: str
    job_type: str
    year: str
    archive: bytes
    sha256: str


class Farm(PublishedDataset):
    """Only the reading half of a mirror."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder


def job(
    job_id: str,
    job_type: str = "Yield",
    year: str = "2026",
    *,
    rows: int = 4,
    west: float = -98.0,
    fields: Sequence[Field] = (Field(b"PASS", "N", 9), Field(b"MOISTURE", "N", 9, 2)),
    cells: Iterable[Sequence[bytes]] | None = None,
    prj: bytes = PRJ,
    places: bool = True,
    unit: str = "",
) -> Job:
    """Make a job whose points run from west to east, a hundredth of a degree apart."""
    table = cells or [tuple(b"%*d" % (field.width, row) for field in fields) for row in range(rows)]
    members = {"rows.dbf": dbf(fields, table)}
    if places:
        shapes = [Shape([[(west + row / 100, 45.0, 0.0, 0.0)]]) for row in range(rows)]
        members["rows.shp"], members["rows.shx"] = shp(POINT, shapes)
    if places and prj:
        members["rows.prj"] = prj
    if unit:
        said = {"Version": "1.0", "DataAttributes": [{"Name": fields[-1].name.decode(), "Unit": unit}]}
        members["rows-Deere-Metadata.json"] = json.dumps(said).encode()
    archive = zipped(members)
    return Job(job_id, job_type, year, archive, hashlib.sha256(archive).hexdigest())


def mirror_of(service: hl.Sandbox, folder: Path) -> hl.Mirror:
    """Return a mirror of an account, without locations."""
    client = hl.Client(**service.credentials, rate_limits=(), limiter_state="memory")
    return hl.Mirror(folder, client, locations=False)


def published(folder: Path, jobs: Iterable[Job], number: int = 1, *, group: int = 65_536) -> Farm:
    """Publish the jobs as a state of the folder, and make it the current one."""
    state = folder / "generations" / f"{number:06}"
    folders: dict[str, list[tuple[Job, pa.Table]]] = {}
    for each in jobs:
        home = folder / "archives" / each.sha256[:2]
        home.mkdir(parents=True, exist_ok=True)
        (home / f"{each.sha256}.zip").write_bytes(each.archive)
        table = rows(each)
        digest = hashlib.sha256(table.schema.to_string(truncate_metadata=False).encode()).hexdigest()[:12]
        key = f"dataset/job_type={each.job_type}/year={each.year}/columns={digest}"
        folders.setdefault(key, []).append((each, table))
    parts = [part(state, key, members, group) for key, members in sorted(folders.items())]
    catalog = [catalogued(state, "jobs", [each for members in folders.values() for each, _ in members])]
    count = sum(each["rows"] for each in parts)
    known = {"format": 2, "headland": hl.__version__, "generation": number, "rows": count}
    manifest = known | {"parts": parts, "catalog": catalog}
    state.mkdir(parents=True, exist_ok=True)
    (state / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    pointer = {"format": 1, "state": state.relative_to(folder).as_posix()}
    (folder / "current.json").write_text(json.dumps(pointer), encoding="utf-8")
    return Farm(folder)


def published_state(folder: Path) -> Path:
    """Return the folder of the published state."""
    state: str = json.loads((folder / "current.json").read_text(encoding="utf-8"))["state"]
    return folder / state


def rows(of: Job) -> pa.Table:
    """Return the rows of a job as in a part, with the boxes and the metadata of GeoParquet."""
    layer = hl.read(of.archive)
    with tempfile.TemporaryDirectory() as scratch:
        path = layer.write_parquet(Path(scratch, "rows.parquet"))
        table, said = pq.read_table(path), pq.read_metadata(path).metadata
    count = len(table)
    whole = pa.table(
        {
            "job_id": pa.array([of.job_id] * count, pa.large_string()),
            "layer": pa.array([layer.name] * count, pa.large_string()),
            "job_row": pa.array(range(count), pa.int64()),
        }
    )
    for field in table.schema:
        whole = whole.append_column(field, table.column(field.name))
    return whole.replace_schema_metadata({name: value for name, value in said.items() if name == b"geo"})


def part(state: Path, key: str, members: Sequence[tuple[Job, pa.Table]], group: int) -> dict[str, Any]:
    """Write the one part of a folder, and return its entry in the manifest."""
    path = state / key / "part-0.parquet"
    path.parent.mkdir(parents=True)
    tables = [table for _, table in members]
    whole = pa.concat_tables([tables[0], *(table.cast(tables[0].schema) for table in tables[1:])])
    pq.write_table(whole, path, compression="zstd", row_group_size=group)
    origins, first = [], 0
    for each, table in members:
        origins.append(
            {
                "kind": "job",
                "job_id": each.job_id,
                "name": each.job_id,
                "layer": table.column("layer")[0].as_py(),
                "archive": each.sha256,
                "first_row": first,
                "rows": len(table),
                "digest": "",
                "crs": "EPSG:4326" if b"geo" in (table.schema.metadata or {}) else None,
                "diagnostics": 0,
                "bbox": None,
            }
        )
        first += len(table)
    groups = -(-len(whole) // group)
    return described(state, path, len(whole)) | {"row_groups": groups, "bbox": None, "origins": origins}


def catalogued(state: Path, name: str, jobs: Sequence[Job]) -> dict[str, Any]:
    """Write a table of the catalog, and return its entry in the manifest."""
    path = state / "catalog" / f"{name}.parquet"
    path.parent.mkdir(parents=True)
    pq.write_table(pa.table({"id": [each.job_id for each in jobs], "sub_type": [each.job_type for each in jobs]}), path)
    return described(state, path, len(jobs))


def described(state: Path, path: Path, count: int) -> dict[str, Any]:
    """Return the entry of any file in the manifest."""
    content = path.read_bytes()
    checksums = (zlib.crc32(content[at : at + BLOCK]) for at in range(0, len(content), BLOCK))
    return {
        "path": path.relative_to(state).as_posix(),
        "rows": count,
        "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
        "crc32": "".join(f"{each:08x}" for each in checksums),
    }


def without_checksums(farm: Farm) -> None:
    """Convert the manifest to the format before checksums."""
    path = published_state(farm.folder) / "manifest.json"
    said = json.loads(path.read_text())
    for entry in [*said["parts"], *said["catalog"]]:
        del entry["crc32"]
    path.write_text(json.dumps(said))
