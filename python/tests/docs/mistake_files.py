"""Files and names that the mistakes of `python/docs/mistakes.md` use."""

from __future__ import annotations

import datetime as dt
import os
import pickle
from typing import TYPE_CHECKING, Any

import pandas as pd
from shapefiles import NO_M, POINT, RINGS, Field, Shape, dbf, shp, zipped

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

WGS_84 = (
    b'GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],'
    b'PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]'
)
"""A .prj of longitudes and latitudes."""

HARVEST = (Field(b"YIELD", "N", 8, 2), Field(b"MOISTURE", "N", 6, 2), Field(b"CROP", "C", 8))
ROWS = ((b"   11.20", b" 14.50", b"Corn    "), (b"   12.80", b" 15.00", b"Corn    "))
PLACES = ((11.0, 48.0), (11.001, 48.0))
SQUARE = ((11.0, 48.0), (11.0, 48.001), (11.001, 48.001), (11.001, 48.0), (11.0, 48.0))


def layer_files(name: str, kind: int, shapes: Sequence[Shape], table: bytes, crs: bytes | None) -> dict[str, bytes]:
    """Return the files of a shapefile by name."""
    shapes_file, index = shp(kind, shapes)
    files = {f"{name}.shp": shapes_file, f"{name}.shx": index, f"{name}.dbf": table}
    return files if crs is None else {**files, f"{name}.prj": crs}


def harvest(name: str, crs: bytes | None = WGS_84) -> dict[str, bytes]:
    """Return a shapefile of two rows with yield, moisture and crop."""
    points = [Shape([[(longitude, latitude, 0.0, NO_M)]]) for longitude, latitude in PLACES]
    return layer_files(name, POINT, points, dbf(HARVEST, ROWS), crs)


def boundary(name: str) -> dict[str, bytes]:
    """Return a shapefile of one square."""
    ring = Shape([[(longitude, latitude, 0.0, NO_M) for longitude, latitude in SQUARE]])
    return layer_files(name, RINGS, [ring], dbf([Field(b"FIELD", "C", 8)], [(b"North 40",)]), WGS_84)


def write(folder: Path) -> None:
    """Write every file that a mistake names."""
    files = {
        "yield.zip": zipped(harvest("yield")),
        "no_crs.zip": zipped(harvest("yield", crs=None)),
        "farm.zip": zipped({**harvest("yield"), **boundary("boundary")}),
        "table.dbf": dbf(HARVEST, ROWS),
        "photos.zip": zipped({"north.jpg": b"\xff\xd8\xff", "notes.txt": b"hail"}),
        "notes.txt": b"hail on the north field",
        "documents/notes.txt": b"hail",
        "shared.toml": b"[default]\n",
    }
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    (folder / "shared.toml").chmod(0o644)


def names(service: hl.Sandbox, client: hl.Client) -> dict[str, Any]:
    """Return the names that mistakes use; the working folder has the files."""
    return {
        "hl": hl,
        "os": os,
        "dt": dt,
        "pd": pd,
        "pickle": pickle,
        "service": service,
        "client": client,
        "credentials": service.credentials,
        "job_id": min(service.truth, key=lambda truth: truth["rows"])["job_id"],
        "layer": hl.read("yield.zip"),
    }
