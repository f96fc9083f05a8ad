"""Builders of small jobs that are driven on paper: rows in metres of a local plane, as a harmonised layer."""

from __future__ import annotations

from typing import Any

import geopandas as gpd
import numpy as np
import pandas as pd
import pyproj
import shapely

import headland as hl

LATITUDE, LONGITUDE = 41.0, -97.5

UNITS = {
    "interval": "s",
    "distance": "m",
    "swath_width": "m",
    "heading": "deg",
    "flow": "kg/s",
    "moisture": "%",
    "applied_rate": "L/ha",
}

NOTHING_ESTIMATED = {"delay": None, "moisture_delay": None, "ends": [0.0, 0.0]}
"""A recipe that moves nothing and leaves nothing out."""

START = pd.Timestamp("2024-09-20T12:00:00", tz="UTC")


def plane(latitude: float = LATITUDE, longitude: float = LONGITUDE) -> pyproj.CRS:
    """Return a plane in metres around a location, which is equal-area to 1e-9 within some hundred metres.

    PROJ computes it by geodesics. The inverse of its equal-area plane is off by 0.7 mm.
    """
    return pyproj.CRS(f"+proj=aeqd +lat_0={latitude!r} +lon_0={longitude!r} +datum=WGS84 +units=m")


def straight(
    start: tuple[float, float],
    end: tuple[float, float],
    *,
    seconds: float = 0.0,
    speed: float = 2.0,
    interval: float = 1.0,
    **columns: object,
) -> pd.DataFrame:
    """Return the rows of a straight pass: each is at the end of its step."""
    (x, y), (to_x, to_y) = start, end
    length = float(np.hypot(to_x - x, to_y - y))
    count = round(length / (speed * interval))
    share = np.arange(1, count + 1) / count
    rows = {
        "x": x + share * (to_x - x),
        "y": y + share * (to_y - y),
        "heading": float(np.degrees(np.arctan2(to_x - x, to_y - y)) % 360),
        "seconds": seconds + interval * np.arange(1, count + 1),
        "interval": interval,
        "distance": length / count,
        "swath_width": 6.0,
    }
    return pd.DataFrame({**rows, **columns})


def circle(radius: float, count: int, *, interval: float = 1.0, **columns: object) -> pd.DataFrame:
    """Return the rows of an anticlockwise circle around the origin of the plane; headings are those of the tangents."""
    angle = 2 * np.pi * np.arange(1, count + 1) / count
    rows = {
        "x": radius * np.cos(angle),
        "y": radius * np.sin(angle),
        "heading": -np.degrees(angle) % 360,
        "seconds": interval * np.arange(1, count + 1),
        "interval": interval,
        "distance": 2 * np.pi * radius / count,
        "swath_width": 6.0,
    }
    return pd.DataFrame({**rows, **columns})


def frame(rows: pd.DataFrame, *, latitude: float = LATITUDE, longitude: float = LONGITUDE) -> gpd.GeoDataFrame:
    """Return rows as points in degrees, with a time, and without their helpers."""
    points = gpd.GeoSeries(gpd.points_from_xy(rows["x"], rows["y"]), crs=plane(latitude, longitude)).to_crs(4326)
    times = START + pd.to_timedelta(rows["seconds"].round(6), unit="s")
    kept = rows.drop(columns=["x", "y", "seconds"]).assign(time=times.dt.as_unit("us"))
    return gpd.GeoDataFrame(kept.reset_index(drop=True), geometry=points.to_numpy(), crs=4326)


def harmonized(rows: gpd.GeoDataFrame, kind: str = "yield", crop: str | None = "corn") -> hl.Layer:
    """Return the harmonised layer of a frame in the units of `UNITS`."""
    units = {name: unit for name, unit in UNITS.items() if name in rows}
    return hl.harmonize(rows, kind=kind, units=units, crop=crop)


def job(*passes: pd.DataFrame, kind: str = "yield", crop: str | None = "corn", **place: float) -> hl.Layer:
    """Return the harmonised layer of passes. Harvests have 5 kg/s at 20 % unless the passes say otherwise."""
    usual = {"flow": 5.0, "moisture": 20.0} if kind == "yield" else {}
    whole = [rows.assign(**{name: value for name, value in usual.items() if name not in rows}) for rows in passes]
    rows = pd.concat(whole, ignore_index=True)
    return harmonized(frame(rows, **place), kind, crop if kind == "yield" else None)


def plain(layer: hl.Layer, **recipe: Any) -> hl.Cleaned:
    """Clean without an estimate of delays, and with the ends of passes."""
    return hl.clean(layer, {**NOTHING_ESTIMATED, **recipe})


def metric(layer: hl.Layer, *, latitude: float = LATITUDE, longitude: float = LONGITUDE) -> gpd.GeoDataFrame:
    """Return a layer with geometries in metres of the plane."""
    return layer.to_geopandas().to_crs(plane(latitude, longitude))


def polygons(rows: pd.DataFrame) -> list[shapely.Polygon]:
    """Return the rectangle behind each row in the plane, from its distance, width and heading."""
    angle = np.radians(rows["heading"].to_numpy(float))
    forward = np.column_stack([np.sin(angle), np.cos(angle)])
    left = np.column_stack([-forward[:, 1], forward[:, 0]]) * (rows["swath_width"].to_numpy(float)[:, None] / 2)
    front = rows[["x", "y"]].to_numpy(float)
    back = front - forward * rows["distance"].to_numpy(float)[:, None]
    return list(shapely.polygons(np.stack([back - left, front - left, front + left, back + left], axis=1)))


def values(layer: hl.Layer) -> pd.DataFrame:
    """Return the columns of a layer without its geometry."""
    return layer.to_pandas().drop(columns="geometry", errors="ignore")


def field(
    *,
    passes: int = 12,
    length: float = 300.0,
    delay: float = 0.0,
    moisture_delay: float = 0.0,
    interval: float = 1.0,
    wiggle: float = 0.3,
    beyond: int = 2,
    seed: int = 1,
) -> pd.DataFrame:
    """Return a field of passes in opposite directions, whose yield and moisture vary over the ground.

    Both sensors log what was cut `delay` and `moisture_delay` seconds before. The flow is 0 until the grain arrives.
    After each pass, the machine drives on with the header up until it is empty, then stands for a minute. It drives
    `beyond` rows more than it needs for that.
    """
    random = np.random.default_rng(seed)
    waves = random.uniform(0.015, 0.06, (6, 2)) * random.choice([-1.0, 1.0], (6, 2))
    phases = random.uniform(0, 2 * np.pi, (2, 6))

    def pattern(x: np.ndarray, y: np.ndarray, phase: np.ndarray) -> np.ndarray:
        return np.asarray(sum(np.sin(a * x + b * y + p) for (a, b), p in zip(waves, phase, strict=True)) / 6**0.5)

    rest = int(np.ceil(max(delay, moisture_delay, 0.0) / interval)) + beyond
    parts = []
    for number in range(passes):
        x = 6.0 * (number - (passes - 1) / 2)
        sign = 1.0 if number % 2 == 0 else -1.0
        start, end = -sign * length / 2, sign * length / 2
        seconds = number * (length / 2.0 + 90.0)
        down = straight((x, start), (x, end), seconds=seconds, interval=interval, working=True)
        # Rows behind the pass, in which the rest of the grain arrives: the header is up.
        last = end + sign * rest * 2.0 * interval
        up = straight((x, end), (x, last), seconds=seconds + length / 2.0, interval=interval, working=False)
        rows = pd.concat([down, up], ignore_index=True)
        xs = rows["x"].to_numpy(float)
        middle = rows["y"].to_numpy(float) - sign * interval
        y_flow, y_moisture = middle - sign * 2.0 * delay, middle - sign * 2.0 * moisture_delay
        is_cut = np.abs(y_flow) < length / 2
        flow = 9.0 * np.exp(wiggle * pattern(xs, y_flow, phases[0])) * is_cut
        moisture = 20.0 * np.exp(0.1 * pattern(xs, y_moisture, phases[1]))
        parts.append(rows.assign(flow=flow, moisture=moisture))
    return pd.concat(parts, ignore_index=True)
