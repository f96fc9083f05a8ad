"""Generates archives to compare readers: yield points and as-applied polygons, written by GDAL and zipped."""

from __future__ import annotations

import tempfile
import zipfile
from pathlib import Path
from typing import Any

import geopandas as gpd
import numpy as np
import pandas as pd
import pyogrio
import shapely

LEVEL = 6
"""Compression level of the archives: the default of zip writers."""


def points(rows: int) -> gpd.GeoDataFrame:
    """Return yield points with 20 columns of the kind that yield monitors write.

    As in real exports, a value has the decimals of its sensor, at most nine of the fifteen that fit in the column. The
    values of a machine change little from one second to the next.
    """
    chance, row = np.random.default_rng(0), np.arange(rows)
    times = pd.Timestamp("2026-09-15T08:00:00") + pd.to_timedelta(row, unit="s")
    speed = rounded(5.5 + drift(chance, rows, 0.02), 2)
    yields = 180 + drift(chance, rows, 3) + chance.normal(0, 6, rows)
    columns = {
        "DISTANCE": rounded(speed * 0.44704 * 3.28084, 8),
        "SWATHWIDTH": np.full(rows, 29.99917979),
        "VRYIELDVOL": rounded(yields, 8),
        "DRYYIELD": rounded(yields * 0.97, 3),
        "WETMASS": rounded(yields * 56, 4),
        "MOISTURE": rounded(15.5 + drift(chance, rows, 0.05), 2),
        "HEADING": rounded(90 + 180 * (row // 1_000 % 2) + drift(chance, rows, 0.4), 8),
        "SPEED": speed,
        "ELEVATION": rounded(858 + drift(chance, rows, 0.05), 8),
        "FLOW": rounded(yields * speed / 50, 3),
        "FUEL": rounded(14 + drift(chance, rows, 0.1), 1),
        "SECTIONID": (700 + row // 250 % 12).astype("int32"),
        "PASSNUM": (row // 1_000).astype("int32"),
        "OBJECTID": row.astype("int64"),
        "CROP": np.full(rows, 173, dtype="int32"),
        "MACHINE": np.ones(rows, dtype="int32"),
        "VARIETY": np.full(rows, "P1185AM"),
        "PRODUCT": np.full(rows, "Corn"),
        "TIME": times.strftime("%-m/%-d/%Y %-I:%M:%S %p").to_numpy(),
        "ISOTIME": times.strftime("%Y-%m-%dT%H:%M:%S.000Z").to_numpy(),
    }
    near = chance.normal(0, 1e-7, (2, rows))
    places = shapely.points(-97.5 + (row % 1_000) * 1e-5 + near[0], 41.2 + (row // 1_000) * 5e-5 + near[1])
    return gpd.GeoDataFrame(columns, geometry=places, crs="EPSG:4326")


def polygons(rows: int) -> gpd.GeoDataFrame:
    """Return as-applied polygons with 10 columns, one polygon for each section and second."""
    chance, row = np.random.default_rng(1), np.arange(rows)
    times = pd.Timestamp("2026-06-12T07:00:00") + pd.to_timedelta(row // 24, unit="s")
    columns = {
        "APPLDRATE": rounded(15 + drift(chance, rows, 0.02) + chance.normal(0, 0.1, rows), 8),
        "TGTRATE": np.full(rows, 15.0),
        "SPEED": rounded(12 + drift(chance, rows, 0.01), 2),
        "ELEVATION": rounded(858 + drift(chance, rows, 0.01), 8),
        "HEADING": rounded(90 + 180 * (row // 1_000 % 2) + drift(chance, rows, 0.05), 8),
        "SECTION": (row % 24).astype("int32"),
        "PASSNUM": (row // 1_000).astype("int32"),
        "OBJECTID": row.astype("int64"),
        "PRODUCT": np.full(rows, "UAN 32"),
        "ISOTIME": times.strftime("%Y-%m-%dT%H:%M:%SZ").to_numpy(),
    }
    x, y = 500_000 + (row % 1_000) * 2.0, 4_560_000 + (row // 1_000) * 12.0
    corners = [(x, y), (x, y + 12), (x + 2, y + 12.1), (x + 2.1, y), (x, y)]
    places = shapely.polygons(np.stack([np.stack(corner, 1) for corner in corners], 1))
    return gpd.GeoDataFrame(columns, geometry=places, crs="EPSG:32614")


def drift(chance: np.random.Generator, rows: int, step: float) -> Any:
    """Return a random walk that stays near zero."""
    walk = np.cumsum(chance.normal(0, step, rows))
    return walk - pd.Series(walk).rolling(2_000, min_periods=1).mean().to_numpy()


def rounded(values: Any, decimals: int) -> Any:
    """Round to `decimals`, as a display does."""
    return np.round(values, decimals)


def archive(kind: str, rows: int, folder: Path) -> Path:
    """Return the zip with this many points or polygons, written once for each folder."""
    target = folder / f"{kind}_{rows}.zip"
    if target.exists():
        return target
    frame = {"points": points, "polygons": polygons}[kind](rows)
    with tempfile.TemporaryDirectory(dir=folder) as place:
        pyogrio.write_dataframe(frame, Path(place, f"{kind}.shp"))
        part = target.with_suffix(".part")
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED, compresslevel=LEVEL) as out:
            for member in sorted(Path(place).iterdir()):
                out.write(member, member.name)
    return part.rename(target)
