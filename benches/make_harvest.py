"""Makes harvests of many rows: passes that overlap and wander, half of them curved, with a delayed flow."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyproj

from headland.layer.table_input import as_layer

if TYPE_CHECKING:
    from headland import Layer

STEP = 2.0
WIDTH = 9.0
OVERLAP = 0.05
JITTER = 0.2
DELAY = 10
CRS = "EPSG:32614"
# On the central meridian of the zone, the scale is the same everywhere in the field to 1e-6.
EAST, NORTH = 500_000.0, 5_000_000.0
# Seconds from the end of a pass to the start of the next one.
TURN = 20


def harvest(rows: int, passes: int) -> Layer:
    """Return a harvest with 20 columns in the units of a display."""
    random = np.random.default_rng(0)
    each = math.ceil(rows / passes)
    row = np.arange(rows)
    number, within = row // each, row % each
    is_back = number % 2 == 1
    along = STEP * np.where(is_back, each - 1 - within, within)
    # Every second pair of passes bends in phase, so that neighbours keep their distance.
    bend = np.where(number < passes // 2, 0.0, 40.0)
    wave = 2 * np.pi / 600
    x = EAST + along + random.normal(0, JITTER / 2, rows)
    middle = WIDTH * (1 - OVERLAP) * (number + 3 * (number >= passes // 2))
    y = NORTH + middle + bend * np.sin(wave * along) + random.normal(0, JITTER / 2, rows)
    slope = bend * wave * np.cos(wave * along)
    heading = np.degrees(np.arctan2(1.0, slope)) + np.where(is_back, 180.0, 0.0)
    distance = STEP * np.sqrt(1 + slope**2)
    rate = 0.8 + 0.2 * np.sin(x / 35) * np.sin(y / 45)  # kg/m2
    flow = np.roll(rate * distance * WIDTH, DELAY) * random.normal(1, 0.03, rows)
    time = row + TURN * number
    longitude, latitude = pyproj.Transformer.from_crs(CRS, "EPSG:4326", always_xy=True).transform(x, y)
    columns = {
        "TIME": (pa.array(time * 1_000_000 + 1_790_000_000_000_000, pa.timestamp("us", "UTC")), ""),
        "CYCLE": (np.ones(rows), "s"),
        "DISTANCE": (distance / 0.3048, "ft"),
        "SWATHWIDTH": (np.full(rows, WIDTH / 0.3048), "ft"),
        "HEADING": (heading % 360, "deg"),
        "SPEED": (distance / 0.44704, "mph"),
        "ELEVATION": (300 + 5 * np.sin(x / 200), "m"),
        "FLOW": (flow / 0.45359237, "lb/s"),
        "MOISTURE": (15 + np.sin(y / 80) + random.normal(0, 0.1, rows), "%"),
        "WETMASS": (flow / (distance * WIDTH) * 10_000 / 1.120851156194456, "lb/ac"),
        "HEADERDOWN": (np.ones(rows, np.int32), ""),
        "PASS": (number.astype(np.int32) + 1, ""),
        "MACHINE": (np.ones(rows, np.int32), ""),
        "SECTIONID": (np.ones(rows, np.int32), ""),
        "LONGITUDE": (longitude, "deg"),
        "LATITUDE": (latitude, "deg"),
        "CROP": (pa.array(["Corn"]).take(pa.array(np.zeros(rows, np.int32))), ""),
        "VARIETY": (pa.array(["A 17", "B 4"]).take(pa.array((number % 2).astype(np.int32))), ""),
        "ENGINELOAD": (random.uniform(40, 90, rows), "%"),
        "FUELRATE": (random.uniform(30, 60, rows), "L/h"),
    }
    fields = [
        pa.field(name, pa.array(values).type, metadata={"unit": unit} if unit else None)
        for name, (values, unit) in columns.items()
    ]
    arrays = [pa.array(values) for values, _ in columns.values()]
    points = np.zeros(rows, np.dtype([("order", "u1"), ("type", "<u4"), ("x", "<f8"), ("y", "<f8")]))
    points["order"], points["type"], points["x"], points["y"] = 1, 1, longitude, latitude
    offsets = np.arange(0, 21 * (rows + 1), 21, dtype=np.int32)
    shapes = pa.Array.from_buffers(pa.binary(), rows, [None, pa.py_buffer(offsets), pa.py_buffer(points)])
    extension = {"ARROW:extension:name": "geoarrow.wkb", "ARROW:extension:metadata": '{"crs": "EPSG:4326"}'}
    geometry = pa.field("geometry", pa.binary(), metadata=extension)
    return as_layer("layer", pa.Table.from_arrays([*arrays, shapes], schema=pa.schema([*fields, geometry])))
