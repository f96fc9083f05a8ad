"""Logs of a harvest, a sprayer and a planter with known totals, driven on a model of their own."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import geopandas as gpd
import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Callable

STEP = 0.1
"""Seconds between points of the simulated path. A row is logged every second."""


class Truth(NamedTuple):
    """What was worked: kg or units per hectare, m2 of ground, and the total amount."""

    mean: float
    ground: float
    total: float


class Log(NamedTuple):
    """A logged job. `columns` maps what a spoiler needs, such as ``time`` or ``flow``, to the names of columns."""

    frame: gpd.GeoDataFrame
    kind: str
    columns: dict[str, str]
    truth: Truth


class Leg(NamedTuple):
    """A straight piece of the path."""

    x: float
    y: float
    to_x: float
    to_y: float
    is_working: bool


def ring(inset: float, length: float, height: float, width: float) -> list[Leg]:
    """Return one lap around the field; each corner is worked once, and crossed with the header up."""
    a, b, c, d, half = inset, inset, length - inset, height - inset, width / 2
    sides = [
        (a, b + half, c, b + half),
        (c - half, b + width, c - half, d),
        (c - width, d - half, a, d - half),
        (a + half, d - width, a + half, b + width),
    ]
    return [Leg(*side, True) for side in sides]


def inner(inset: float, length: float, height: float, width: float) -> list[Leg]:
    """Return passes in turn to the right and to the left, between the laps."""
    count = round((height - 2 * inset) / width)
    passes = []
    for number in range(count):
        y = inset + (number + 0.5) * width
        ends = (inset, length - inset)
        passes.append(Leg(ends[number % 2], y, ends[1 - number % 2], y, True))
    return passes


def turn(one: Leg, other: Leg) -> list[Leg]:
    """Return the way from the end of a leg to the start of the next: on by 4 m, around, and 4 m before the start."""
    ahead, behind = unit(one), unit(other)
    start = np.array([one.to_x, one.to_y]) + 4.0 * ahead
    end = np.array([other.x, other.y]) - 4.0 * behind
    points = [np.array([one.to_x, one.to_y]), start]
    gap = end - start
    if np.hypot(*gap) > 1.0 and np.dot(ahead, behind) < -0.5:
        side = np.array([-ahead[1], ahead[0]]) * np.sign(ahead[0] * gap[1] - ahead[1] * gap[0])
        angles = np.linspace(0.0, np.pi, 9)[1:-1]
        radius = abs(float(np.dot(gap, side))) / 2
        points += [start + radius * ((1 - np.cos(angle)) * side + np.sin(angle) * ahead) for angle in angles]
    points += [end, np.array([other.x, other.y])]
    return [Leg(here[0], here[1], there[0], there[1], is_working=False) for here, there in pairwise(points)]


def unit(leg: Leg) -> np.ndarray:
    """Return the direction of a leg."""
    way = np.array([leg.to_x - leg.x, leg.to_y - leg.y])
    return np.asarray(way / max(float(np.hypot(*way)), 1e-9))


def drive(legs: list[Leg], speed: float) -> pd.DataFrame:
    """Return the path at every step: position, heading, length of the step, and whether the machine worked there."""
    parts = []
    for leg in legs:
        length = float(np.hypot(leg.to_x - leg.x, leg.to_y - leg.y))
        if length < 1e-6:
            continue
        pace = speed if leg.is_working else 0.75 * speed
        count = max(1, round(length / (pace * STEP)))
        share = (np.arange(count) + 0.5) / count
        # The speed varies by a tenth along the leg.
        share = share - 0.1 / (2 * np.pi * 3) * (1 - np.cos(2 * np.pi * 3 * share)) * (count > 300)
        x, y = leg.x + share * (leg.to_x - leg.x), leg.y + share * (leg.to_y - leg.y)
        heading = float(np.degrees(np.arctan2(leg.to_x - leg.x, leg.to_y - leg.y)) % 360)
        parts.append(pd.DataFrame({"x": x, "y": y, "heading": heading, "is_working": leg.is_working}))
    path = pd.concat(parts, ignore_index=True)
    path["length"] = np.hypot(path["x"].diff().fillna(0.0), path["y"].diff().fillna(0.0))
    return path


def path_of(length: float, passes: int, laps: int, width: float, speed: float) -> pd.DataFrame:
    """Return the path over a field: laps, then passes between them, joined by turns."""
    height = (passes + 2 * laps) * width
    legs = [leg for lap in range(laps) for leg in ring(lap * width, length, height, width)]
    legs += inner(laps * width, length, height, width)
    joined = [legs[0]]
    for leg in legs[1:]:
        joined += [*turn(joined[-1], leg), leg]
    # The machine drives on until it is empty.
    last = legs[-1]
    away = np.array([last.to_x, last.to_y]) + 30.0 * unit(last)
    return drive([*joined, Leg(last.to_x, last.to_y, away[0], away[1], is_working=False)], speed)


def rows_of(path: pd.DataFrame, width: float, bearing: float, place: tuple[float, float], start: str) -> pd.DataFrame:
    """Return one row a second: the position at its end, rotated by `bearing` degrees, and the distance driven."""
    number = np.arange(len(path)) // round(1 / STEP)
    rows = path.groupby(number).agg(
        x=("x", "last"), y=("y", "last"), heading=("heading", "last"), distance=("length", "sum"),
        is_working=("is_working", lambda state: state.mean() > 0.5),
    )  # fmt: skip
    angle = np.radians(bearing)
    east = rows["x"] * np.cos(angle) + rows["y"] * np.sin(angle)
    north = -rows["x"] * np.sin(angle) + rows["y"] * np.cos(angle)
    latitude, longitude = place
    plane = f"+proj=aeqd +lat_0={latitude} +lon_0={longitude} +datum=WGS84 +units=m"
    points = gpd.GeoSeries(gpd.points_from_xy(east, north), crs=plane).to_crs(4326)
    seconds = pd.to_timedelta(np.arange(len(rows)), unit="s")
    return rows.assign(
        heading=(rows["heading"] + bearing) % 360,
        time=(pd.Timestamp(start) + seconds).as_unit("us"),
        width=width,
        geometry=points.to_numpy(),
        number=number[:: round(1 / STEP)],
    )


def framed(columns: dict[str, object], rows: pd.DataFrame, units: dict[str, str]) -> gpd.GeoDataFrame:
    """Return the table of a display, with its units."""
    frame = gpd.GeoDataFrame(columns, geometry=rows["geometry"].to_numpy(), crs=4326)
    frame.attrs["units"] = units
    return frame


def per_second(values: np.ndarray) -> np.ndarray:
    """Return the mean of each second."""
    return np.asarray(pd.Series(values).groupby(np.arange(len(values)) // round(1 / STEP)).mean().to_numpy())


def bumps(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return a surface around 1 with a hill, a hollow and waves."""
    hill = 0.30 * np.exp(-((x - 110) ** 2 + (y - 60) ** 2) / (2 * 42.0**2))
    hollow = 0.34 * np.exp(-((x - 270) ** 2 + (y - 95) ** 2) / (2 * 30.0**2))
    return np.asarray(1 + hill - hollow + 0.09 * np.sin(x / 19 + 0.4 * np.sin(y / 25)) + 0.07 * np.cos(y / 14))


@cache
def harvest(delay: float = 6.2, mixing: float = 1.1, *, is_uniform: bool = False) -> Log:
    """Return a harvest of wheat with a delay of `delay` + `mixing` seconds; dry is at 13.5 % water."""
    width, random = 7.5, np.random.default_rng(41)
    path = path_of(380.0, 20, 2, width, 1.8)
    rows = rows_of(path, width, 27.0, (48.31, 15.62), "2025-07-29T09:12:00Z")
    x, y = path["x"].to_numpy(), path["y"].to_numpy()
    across = [bumps(x, y + side) for side in (-2.5, 0.0, 2.5)]
    dry = 7100.0 * (np.ones(len(path)) if is_uniform else np.mean(across, axis=0))
    moisture = 14.6 + 1.1 * np.sin(x / 85) + 0.4 * np.cos(y / 40)
    worked = path["is_working"].to_numpy() * path["length"].to_numpy() * width
    cut = worked * dry / 1e4 * (100 - 13.5) / (100 - moisture) / STEP
    # Transport, then a tank that empties at 1 / mixing of its content a second.
    lag = round(delay / STEP)
    moved = np.concatenate([np.zeros(lag), cut[:-lag]]) if lag else cut
    decay = np.exp(-STEP / mixing)
    kernel = (1 - decay) * decay ** np.arange(round(12 * mixing / STEP))
    flow = per_second(np.convolve(moved, kernel)[: len(moved)])
    columns = {
        "Time": rows["time"],
        "Distance": rows["distance"],
        "Swath": width,
        "Heading": rows["heading"],
        "Moisture": per_second(moisture) + random.normal(0, 0.08, len(rows)),
        "Flow": flow * (1 + random.normal(0, 0.02, len(rows))),
        "Header": rows["is_working"].astype("int32"),
        "Crop": "Wheat",
    }
    units = {"Distance": "m", "Swath": "m", "Heading": "deg", "Moisture": "%", "Flow": "kg/s"}
    names = {"time": "Time", "distance": "Distance", "swath": "Swath", "heading": "Heading", "header": "Header"}
    total, ground = float(np.sum(worked * dry / 1e4)), float(np.sum(worked))
    truth = Truth(total / ground * 1e4, ground, total)
    names |= {"moisture": "Moisture", "flow": "Flow", "crop": "Crop"}
    return Log(framed(columns, rows, units), "yield", names, truth)


def applied(
    path: pd.DataFrame, width: float, rate: np.ndarray, *, feet: bool, place: tuple[float, float], bearing: float
) -> tuple[dict[str, object], pd.DataFrame, Truth]:
    """Return the columns of a job that applies `rate` per hectare, its rows, and its truth."""
    rows = rows_of(path, width, bearing, place, "2025-05-06T06:40:00Z")
    scale = 0.3048 if feet else 1.0
    worked = path["is_working"].to_numpy() * path["length"].to_numpy() * width
    total, ground = float(np.sum(worked * rate / 1e4)), float(np.sum(worked))
    columns = {
        "Time": rows["time"],
        "Distance": rows["distance"] / scale,
        "Swath": width / scale,
        "Heading": rows["heading"],
        "Applied Rate": per_second(rate) * rows["is_working"].to_numpy(),
        "Header": rows["is_working"].astype("int32"),
    }
    return columns, rows, Truth(total / ground * 1e4, ground, total)


NAMES = {"time": "Time", "distance": "Distance", "swath": "Swath", "heading": "Heading", "rate": "Applied Rate"}


@cache
def sprayer() -> Log:
    """Return a job of a sprayer of 24 m in L/ha, with three rates in zones."""
    path = path_of(430.0, 9, 1, 24.0, 3.4)
    zones = np.digitize(path["x"] + 0.4 * path["y"], [150.0, 300.0])
    rate = np.array([150.0, 200.0, 240.0])[zones]
    columns, rows, truth = applied(path, 24.0, rate, feet=False, place=(-33.1, 148.7), bearing=-38.0)
    units = {"Distance": "m", "Swath": "m", "Heading": "deg", "Applied Rate": "L/ha"}
    frame = framed({**columns, "Product": "Fungicide"}, rows, units)
    return Log(frame, "as_applied", {**NAMES, "header": "Header", "product": "Product"}, truth)


@cache
def planter() -> Log:
    """Return a job of a planter of 30 ft in seeds/ac, with a rate that varies smoothly. The truth is in seeds/ha."""
    path = path_of(350.0, 14, 2, 9.144, 2.3)
    rate = 79_000.0 + 5_000.0 * np.sin(path["x"].to_numpy() / 60) + 2_000.0 * np.cos(path["y"].to_numpy() / 30)
    columns, rows, truth = applied(path, 9.144, rate, feet=True, place=(40.2, -88.4), bearing=81.0)
    columns["Applied Rate"] = np.asarray(columns["Applied Rate"]) / 2.471053814671653
    units = {"Distance": "ft", "Swath": "ft", "Heading": "deg", "Applied Rate": "seeds/ac"}
    frame = framed({**columns, "Variety": "P0574"}, rows, units)
    return Log(frame, "planting", {**NAMES, "header": "Header", "product": "Variety"}, truth)


LOGS: dict[str, Callable[[], Log]] = {"harvest": harvest, "sprayer": sprayer, "planter": planter}
"""The generators by name."""
