"""Generates `src/reader/layer/crs/systems.txt`, the projected systems of EPSG and ESRI by their parameters, from PROJ's
database.

``python python/tests/archives/epsg_table.py > src/reader/layer/crs/systems.txt``; `test_epsg.py` compares
each line with PROJ.
"""

from __future__ import annotations

import collections
import itertools
import math
import sys
from typing import Any

import pyproj
from pyproj.database import query_crs_info
from pyproj.enums import PJType

METHODS = {9807: "T", 9801: "L", 9802: "C", 1051: "M", 9822: "A", 9820: "Z", 9809: "S", 9812: "H", 9815: "O"}
METHODS |= {9808: "W", 9804: "N", 9805: "B"}
"""The letter of each projection, which `epsg.rs` knows."""

ORDERS = {("east", "north"): str.lower, ("north", "east"): str.upper, ("west", "south"): str.lower}
"""The letter case of the unit for each order of axes."""

LAST_OF_EPSG = 32767
"""Larger numbers are of ESRI. A text must state them: parameters alone prove the code of EPSG only."""

LENGTHS = frozenset((8806, 8807, 8816, 8817, 8826, 8827))
SCALES = frozenset((8805, 8815, 1038))
UNITS = {1.0: "m", 0.3048: "f", 0.304800609601: "u"}

HEAD = (
    "# Projected systems by their parameters: method, parameters in degrees and metres, then the code of the geographic"
    " system, unit (a capital where northings come first) and EPSG code; after =, the names that tell codes of one"
    " definition apart."
)


def plain(name: str) -> str:
    """Return a name in the form that the reader compares."""
    return "".join(letter for letter in name.lower() if letter.isascii() and letter.isalnum())


def factor(unit: Any) -> float:
    """Return the size of a unit of PROJJSON in metres or degrees."""
    return {"metre": 1.0, "degree": 1.0, "unity": 1.0}[unit] if isinstance(unit, str) else unit["conversion_factor"]


def number(parameter: dict[str, Any]) -> str:
    """Return the value of a parameter in degrees or metres, as the shortest exact text."""
    kind, size = parameter["id"]["code"], factor(parameter["unit"])
    value = parameter["value"]
    if kind in LENGTHS:
        value = round(value * size, 3)
    elif kind not in SCALES:
        value = round(value if parameter["unit"] == "degree" else math.degrees(value * size), 9)
    return repr(float(value)).removesuffix(".0")


def lines() -> list[str]:
    """Return the lines of the table."""
    zones: dict[str, dict[str, dict[int, pyproj.CRS]]] = collections.defaultdict(lambda: collections.defaultdict(dict))
    registries = [query_crs_info(auth_name=name, pj_types=PJType.PROJECTED_CRS) for name in ("EPSG", "ESRI")]
    for info in itertools.chain(*registries):
        system = None if info.deprecated else pyproj.CRS.from_authority(info.auth_name, info.code)
        json = system.to_json_dict() if system else {}
        if system is None or json["type"] != "ProjectedCRS":
            continue
        base = json["base_crs"].get("id", {})
        datum = base.get("code") if base.get("authority") == "EPSG" else None
        method = METHODS.get(json["conversion"]["method"].get("id", {}).get("code"))
        axes = json["coordinate_system"]["axis"]
        unit = UNITS.get(round(factor(axes[0]["unit"]), 12))
        order = ORDERS.get(tuple(axis["direction"] for axis in axes))
        if datum and method and unit and order:
            zone = " ".join([method, *map(number, json["conversion"]["parameters"])])
            zones[zone][f"{datum}{unit}"][int(info.code)] = system
    return [HEAD, *sorted(line(zone, systems) for zone, systems in zones.items())]


def line(zone: str, systems: dict[str, dict[int, pyproj.CRS]]) -> str:
    """Return the line of one projection."""
    words = []
    for group, found in sorted(systems.items()):
        # Old duplicates of two UTM zones, with the northing first.
        found.pop(4037, None)
        found.pop(4038, None)
        for code in sorted(found):
            north = is_north_first(found[code])
            word = (group[:-1] + group[-1].upper() if north else group) + str(code)
            is_named = code <= LAST_OF_EPSG and sum(each <= LAST_OF_EPSG for each in found) > 1
            words.append(word + (f"={names(found[code])}" if is_named else ""))
    return f"{zone} {' '.join(words)}"


def is_north_first(system: pyproj.CRS) -> bool:
    """Whether the northing comes first."""
    return system.axis_info[0].direction == "north"


def names(system: pyproj.CRS) -> str:
    """Return the names of a system in WKT texts."""
    dialects = {plain(pyproj.CRS.from_wkt(system.to_wkt("WKT1_ESRI")).to_wkt("WKT1_ESRI").split('"')[1])}
    return "|".join(sorted(dialects | {plain(system.name)}))


if __name__ == "__main__":
    sys.stdout.write("\n".join(lines()) + "\n")
