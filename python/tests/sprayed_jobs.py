"""Jobs of sprayers with planted lags, overlaps and sections that are off, with the ground of each class."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import geopandas as gpd
import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Sequence

WIDTH, LENGTH, SPEED = 24.0, 360.0, 4.0
ZONES, EDGES = (100.0, 150.0, 120.0), (110.0, 230.0)
"""Litres per hectare of zones across the passes, and the metres along the passes where they meet."""

PLACE = (46.2, 16.4)


class Sprayed(NamedTuple):
    """A job, the square metres of each class, and the litres that were asked for and applied."""

    frame: gpd.GeoDataFrame
    ground: dict[str, float]
    asked: float
    applied: float
    area: float


def sprayed(
    *,
    passes: int = 6,
    lag: int = 0,
    overlap: float = 0.0,
    swing: float = 0.0,
    off: tuple[float, float] | None = None,
    scale: float = 1.0,
    product: str | None = None,
    is_polygons: bool = False,
    tolerance: float = 0.10,
) -> Sprayed:
    """Return a job of passes to and fro, each of which overlaps the one before.

    Args:
        passes: The number of passes.
        lag: Seconds that the rate is behind the target.
        overlap: The part of the width that is covered by the pass before.
        swing: The part by which the speed swings; the pump is fixed, so the rate swings the other way.
        off: Metres along the second pass where the left half of the boom is off.
        scale: What the rates are multiplied by.
        product: The name in a column of products.
        is_polygons: Whether swaths are logged as polygons.
        tolerance: The part by which the rate may differ.
    """
    records, clock = [], 0
    ground = dict.fromkeys(("under", "within", "over", "off"), 0.0)
    spacing = WIDTH * (1.0 - overlap)
    for number in range(passes):
        steps = np.full(round(LENGTH / SPEED), 1.0)
        steps = SPEED * (1.0 + swing * np.sin(np.arange(len(steps)) / 4.0))
        ends = np.cumsum(steps)
        middles = ends - steps / 2.0
        middles = middles if number % 2 == 0 else ends[-1] - middles
        target = scale * np.array(ZONES)[np.digitize(middles, EDGES)]
        late = np.concatenate([np.full(lag, target[0]), target[: len(target) - lag]])
        rate = late * SPEED / steps
        back = -1.0 if number % 2 else 1.0
        for row, (middle, step) in enumerate(zip(middles, steps, strict=True)):
            for half in (0, 1):
                across = number * spacing + WIDTH * (half - 0.5) / 2.0
                is_on = not (off and number == 1 and half == 1 and off[0] <= middle < off[1])
                records.append(
                    (middle, across, step, back, clock + row, half + 1, is_on, target[row], rate[row] if is_on else 0.0)
                )
                # The pass before is on the side of the first half.
                fresh = step * (WIDTH / 2.0 - (overlap * WIDTH if half == 0 and number else 0.0))
                error = rate[row] / target[row] - 1.0
                kind = "within" if abs(error) <= tolerance + 1e-9 else "over" if error > 0 else "under"
                ground[kind if is_on else "off"] += fresh
        clock += len(steps) + 20
    columns = ["along", "across", "step", "back", "second", "section", "on", "target", "rate"]
    table = pd.DataFrame.from_records(records, columns=columns)
    latitude, longitude = PLACE
    plane = f"+proj=aeqd +lat_0={latitude} +lon_0={longitude} +datum=WGS84 +units=m"
    reach = 0.0 if is_polygons else table["back"] * table["step"] / 2.0
    points = gpd.GeoSeries(gpd.points_from_xy(table["along"] + reach, table["across"]), crs=plane)
    if is_polygons:
        points = _boxes(table, plane)
    columns_of = {
        "Time": (pd.Timestamp("2025-05-06T06:40:00Z") + pd.to_timedelta(table["second"], unit="s")).dt.as_unit("us"),
        "Distance": table["step"],
        "Swath": WIDTH / 2.0,
        "Heading": np.where(table["back"] > 0, 90.0, 270.0),
        "Section": table["section"].astype("int64"),
        "Target Rate": table["target"],
        "Applied Rate": table["rate"],
        "Boom": table["on"].astype("int32"),
    }
    frame = gpd.GeoDataFrame(columns_of, geometry=points.to_crs(4326).to_numpy(), crs=4326)
    if product is not None:
        frame["Product"] = product
    frame.attrs["units"] = {
        "Distance": "m", "Swath": "m", "Heading": "deg", "Target Rate": "L/ha", "Applied Rate": "L/ha"
    }  # fmt: skip
    area = table["step"] * WIDTH / 2.0
    worked = table["on"].to_numpy()
    missed = ground["off"] * (scale * np.array(ZONES)[np.digitize(off[0], EDGES)] if off else 0.0)
    asked = float((table["target"] * area)[worked].sum() + missed) / 1e4
    applied = float((table["rate"] * area)[worked].sum()) / 1e4
    return Sprayed(frame, ground, asked, applied, float(area[worked].sum()))


def _boxes(table: pd.DataFrame, plane: str) -> gpd.GeoSeries:
    """Return the swaths as rectangles."""
    import shapely

    ahead, aside = table["step"] / 2.0, WIDTH / 4.0
    boxes = shapely.box(
        table["along"] - ahead, table["across"] - aside, table["along"] + ahead, table["across"] + aside
    )
    return gpd.GeoSeries(boxes, crs=plane)


def mixed(parts: Sequence[Sprayed]) -> gpd.GeoDataFrame:
    """Return the rows of several products of one job, moment by moment."""
    frame = pd.concat([part.frame for part in parts]).sort_values(["Time", "Section", "Product"], ignore_index=True)
    frame.attrs = dict(parts[0].frame.attrs)
    return gpd.GeoDataFrame(frame, geometry="geometry", crs=4326)


def zones() -> gpd.GeoDataFrame:
    """Return the prescription of the jobs: zones with their rate."""
    import shapely

    latitude, longitude = PLACE
    plane = f"+proj=aeqd +lat_0={latitude} +lon_0={longitude} +datum=WGS84 +units=m"
    bounds = [-50.0, *EDGES, LENGTH + 50.0]
    boxes = [shapely.box(west, -30.0, east, 170.0) for west, east in pairwise(bounds)]
    return gpd.GeoDataFrame({"RATE": list(ZONES)}, geometry=boxes, crs=plane).to_crs(4326)
