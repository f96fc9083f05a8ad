"""Generates `src/reader/layer/crs/datums.txt`, the datums and their ways to WGS 84 without grids, from PROJ's database.

``python python/tests/archives/epsg_datums.py > src/reader/layer/crs/datums.txt``; `test_epsg.py` compares
the systems with PROJ.
"""

from __future__ import annotations

import re
import sqlite3
import sys
import warnings
from pathlib import Path
from typing import Any

import pyproj
from pyproj.database import query_crs_info
from pyproj.enums import PJType
from pyproj.transformer import TransformerGroup

HEAD = (
    "# Datums that `datum.rs` does not describe itself: EPSG code of the geographic system, its name, name of the datum"
    ", semi-major axis and inverse flattening, prime meridian where it is not Greenwich, shift to WGS 84 (`=` none,"
    " `?` unknown, or seven parameters), accuracy, other names of the datum."
)

REALISATION = re.compile(r"NAD83\(|ETRS89/|ITRF|IGS|IGb|SIRGAS|LKS-2020")
"""Systems without a published difference to WGS 84, which are realisations of one whose identity is published."""

REALISATION_METRES = 2.0
MOST_METRES = 10.0
"""Accuracy beyond which a published shift is not used."""

DEGREE = 0.017453292519943295

SAME = 1e-9
"""Degrees within which a position is unchanged: 0.1 mm."""


def normalized(name: str) -> str:
    """Return the name of a datum in the form that the reader compares."""
    name = name.removeprefix("D_").removesuffix(" ensemble")
    return "".join(letter for letter in name.lower() if letter.isalnum() or letter == "+")


def meridian_of(system: pyproj.CRS) -> float:
    """Return the prime meridian in degrees from Greenwich."""
    meridian = system.prime_meridian
    assert meridian is not None
    return round(float(meridian.longitude) * float(meridian.unit_conversion_factor) / DEGREE, 12)


def positions(system: pyproj.CRS) -> list[tuple[float, float]]:
    """Return longitudes and latitudes in degrees from Greenwich that cover the area of use."""
    assert system.area_of_use is not None
    west, south, east, north = system.area_of_use.bounds
    east += 360.0 * (east < west)
    parts = [0.02, 0.25, 0.5, 0.75, 0.98]
    return [(west + (east - west) * i, south + (north - south) * j) for i in parts for j in parts]


def away(one: tuple[float, float], other: tuple[float, float]) -> float:
    """Return the degrees between two positions."""
    return max(abs((one[0] - other[0] + 180.0) % 360.0 - 180.0), abs(one[1] - other[1]))


def seven(definition: str) -> list[float] | None:
    """Return the parameters of a single Helmert transformation as in `TOWGS84`."""
    steps = [step for step in definition.split("step") if "proj=helmert" in step]
    if len(steps) != 1 or re.search(r"molobadekas|t_epoch|hgridshift", definition) or "inv proj=helmert" in definition:
        return None
    values = dict(re.findall(r"(\w+)=(\S+)", steps[0]))
    sign = -1.0 if values.get("convention") == "coordinate_frame" else 1.0
    turned = [sign * float(values.get(key, 0)) for key in ("rx", "ry", "rz")]
    return [*(float(values.get(key, 0)) for key in "xyz"), *(turn or 0.0 for turn in turned), float(values.get("s", 0))]


def way(system: pyproj.CRS) -> tuple[str, float | None]:
    """Return the shift that PROJ uses everywhere in the area of use, and its accuracy."""
    meridian, unit = meridian_of(system), system.axis_info[0].unit_conversion_factor
    group = TransformerGroup(system, 4326, always_xy=True)
    published = [one for one in group.transformers if "allpark" not in one.description]
    places = positions(system)
    used = pyproj.Transformer.from_crs(system, 4326, always_xy=True)
    shown = [((x - meridian) * DEGREE / unit, y * DEGREE / unit) for x, y in places]
    expected = [used.transform(*place) for place in shown]
    if all(away(place, found) < SAME for place, found in zip(places, expected, strict=True)):
        metres = max((one.accuracy for one in published), default=-1.0)
        if any("helmert" not in one.definition for one in published):
            return "=", max(metres, 1.0)
        return ("=", REALISATION_METRES) if REALISATION.match(system.name) else ("?", None)
    assert system.ellipsoid is not None
    figure = f"+a={system.ellipsoid.semi_major_metre!r} " + (
        f"+rf={system.ellipsoid.inverse_flattening!r}" if system.ellipsoid.inverse_flattening else "+b=+a"
    )
    for one in published:
        parameters = seven(one.definition)
        if parameters is None or not 0 <= one.accuracy <= MOST_METRES:
            continue
        text = ",".join(repr(value).removesuffix(".0") for value in parameters)
        by_text = pyproj.Transformer.from_crs(f"+proj=longlat {figure} +towgs84={text} +type=crs", 4326, always_xy=True)
        found = [by_text.transform(*place) for place in places]
        if all(away(place, other) < 10 * SAME for place, other in zip(found, expected, strict=True)):
            return text, one.accuracy
    return "?", None


def own_datums() -> set[int]:
    """Return the codes of the systems that `datum.rs` describes itself."""
    source = Path(__file__).resolve().parents[3] / "src" / "reader" / "layer" / "crs" / "datum.rs"
    return {int(code) for code in re.findall(r"^    known\((\d+), ", source.read_text(), re.MULTILINE)}


def lines() -> list[str]:
    """Return the lines of the table."""
    database = sqlite3.connect(Path(pyproj.datadir.get_data_dir()) / "proj.db")
    systems: dict[str, pyproj.CRS] = {}
    taken: set[str] = set()
    for info in sorted(
        query_crs_info(auth_name="EPSG", pj_types=PJType.GEOGRAPHIC_2D_CRS), key=lambda one: int(one.code)
    ):
        system = pyproj.CRS.from_epsg(int(info.code))
        if info.deprecated or system.datum is None or "(lon-lat)" in info.name:
            continue
        name = normalized(system.datum.name)
        if int(info.code) in own_datums() or name in systems:
            taken.add(name)
            continue
        systems[name] = system
    found = []
    taken |= set(systems)
    for system in systems.values():
        if int(system.to_epsg() or 0) in own_datums():
            continue
        assert system.datum is not None
        code = system.datum.to_json_dict().get("id", {}).get("code")
        query = (
            "SELECT alt_name FROM alias_name WHERE table_name = 'geodetic_datum' AND auth_name = 'EPSG' AND code = ?"
            " AND source <> 'EPSG'"
        )
        names = [row[0] for row in database.execute(query, (str(code),))]
        names.append(re.findall(r'DATUM\["([^"]+)"', system.to_wkt("WKT1_ESRI"))[0])
        aliases = sorted({one for one in map(normalized, names) if not one.isdigit()} - taken)
        taken |= set(aliases)
        found.append(line(system, aliases))
    return [HEAD, *found]


def line(system: pyproj.CRS, aliases: list[str]) -> str:
    """Return the line of one datum."""
    shift, metres = way(system)
    figure: Any = system.ellipsoid
    meridian = meridian_of(system)
    assert system.datum is not None
    texts = [
        str(system.to_epsg()),
        system.name,
        system.datum.name.removesuffix(" ensemble"),
        f"{figure.semi_major_metre!r} {figure.inverse_flattening!r}",
        "" if meridian == 0.0 else repr(meridian),
        shift,
        "" if metres is None else f"{metres:g} m",
        ",".join(aliases),
    ]
    return "|".join(texts)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.stdout.write("\n".join(lines()) + "\n")
