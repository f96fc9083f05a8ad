"""Wrong arguments of readers, layers, cleaning and mirrors: each is an error of its class that names the argument."""

from __future__ import annotations

import datetime as dt
import io
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely
from client_methods import OFFLINE
from driven_rows import frame, harmonized, plain, plane, straight
from mirror_fixtures import Farm, job, published
from shapefiles import Field, dbf, zipped
from time_tables import layer_of

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Callable

ARCHIVE = zipped({"t.dbf": dbf([Field(b"RATE", "N", 4)], [[b"   1"]])})
DATED = layer_of([dt.date(2026, 9, 1)], ["12:00:00"])
FOLDER = "no such farm"
MINUTE = {"name": "W", "date": "DAY", "time": "TIME", "zone": "UTC"}
CLIENT = hl.Client(**OFFLINE, rate_limits=())
ROWS = straight((0, -50), (0, 50), flow=5.0, moisture=20.0)
"""One pass of 50 rows."""


def rows() -> gpd.GeoDataFrame:
    return frame(ROWS)


@cache
def cleaned() -> hl.Cleaned:
    return plain(harmonized(rows()))


@pytest.fixture(scope="module")
def farm(tmp_path_factory: pytest.TempPathFactory) -> Farm:
    jobs = [job("101"), job("104", "AsApplied"), job("105", "Soil%20Sampling", places=False)]
    return published(tmp_path_factory.mktemp("farm"), jobs)


def mirror(**filters: Any) -> hl.Mirror:
    return hl.Mirror(FOLDER, CLIENT, **filters)


CALLS: dict[str, tuple[Callable[..., object], ...]] = {
    "read": (lambda **given: hl.read(b"", **given), lambda **given: CLIENT.job_data.read("1", **given)),
    "open": (lambda **given: hl.open(ARCHIVE, **given),),
    "source": (hl.read,),
    "head": (DATED.head,),
    "picture": (DATED.picture,),
    "plot": (DATED.plot,),
    "with_time": (lambda **given: DATED.with_time(**{**MINUTE, **given}),),
    "to_units": (lambda units="metric", **given: DATED.to_units(units, **given),),
    "clean": (lambda **given: hl.clean(harmonized(rows()), **given),),
    "grid": (lambda **given: hl.grid(cleaned(), **given),),
    "download": (lambda **given: CLIENT.job_data.download("1", **given),),
    "write_parquet": (DATED.write_parquet, lambda path: hl.write_parquet(rows(), path)),
    "write_geojson": (DATED.write_geojson,),
    "mirror": (mirror,),
    "filter": (mirror, lambda **given: mirror().plan(**given)),
    "farm": (),
}
"""The calls that must raise the error of a case; those of `farm` need the fixture."""

WRONG_YEARS = (np.array(2025.0), np.array([[2025]]), np.array([True]), [[2025]], b"2025", slice(2024, 2026), pd.NA)
WRONG_BOXES = (
    *(np.array(1), b"west", (True, 0, 1, 1), {1: 0, 2: 0, 3: 1, 4: 1}, {0, 1, 2, 3}, shapely.box(0, 0, 1, 1)),
    *((1, 2, 3), "west", 7),
)
OWN_ZONES = ("localtime", "LocalTime", "posixrules", "Factory", "right/America/Chicago", "posix/Europe/Berlin")

CASES: list[tuple[str, dict[str, Any], type[Exception], str]] = [
    ("read", {"layer": 3}, TypeError, "`layer`: expected a str, got int"),
    ("read", {"encoding": 3}, TypeError, "`encoding`: expected a str .*, got int"),
    ("read", {"to_crs": 4326}, TypeError, '`to_crs`: expected a str such as "EPSG:4326", got int'),
    ("read", {"strict": "no"}, TypeError, "`strict`: expected True or False, got 'no'"),
    ("read", {"threads": "2"}, TypeError, "`threads`: expected an int, got str"),
    ("read", {"threads": -1}, ValueError, "`threads`: expected a number from 1 .*, got -1"),
    ("read", {"limits": 3}, TypeError, "`limits`: expected a `headland.Limits`, got int"),
    ("read", {"columns": 3}, TypeError, "`columns`: expected a list of names, got one int"),
    ("read", {"columns": ["YIELD", 3]}, TypeError, "`columns`: expected a str, got int"),
    ("open", {"types": {"RATE": "float"}}, ValueError, "float.*int32, int64, float64, string, date, bool"),
    ("open", {"types": {"YIELD": "int32"}}, ValueError, "no column `YIELD`.*RATE"),
    ("open", {"types": "all"}, ValueError, "'scan'"),
    ("open", {"types": ["RATE"]}, TypeError, "mapping"),
    ("open", {"types": {"RATE": int}}, TypeError, "types"),
    ("open", {"batch_size": 0}, ValueError, "batch_size"),
    ("open", {"batch_size": 2.5}, TypeError, "batch_size"),
    ("open", {"columns": ["YIELD"]}, ValueError, "RATE"),
    ("open", {"layer": "other"}, ValueError, "other"),
    ("open", {"threads": 0}, ValueError, "threads"),
    ("source", {"source": io.StringIO("text")}, TypeError, "`source` is a text file object"),
    ("head", {"n": -1}, ValueError, "`n`"),
    *(("head", {"n": wrong}, TypeError, "`n`") for wrong in (1.5, "3", None)),
    *(
        ("picture", {"width": width}, ValueError, "`width`: expected a number from 1 to 4294967295, got")
        for width in (-1, 0, 10**20)
    ),
    *(
        ("plot", {"vmin": wrong}, TypeError, "^`vmin`: expected a number, got ")
        for wrong in ("1", True, 10**400, object())
    ),
    *(
        ("with_time", {"zone": zone}, ValueError, "`zone`: expected")
        for zone in ("Mars/Olympus", "../etc/passwd", "America", "+25:00")
    ),
    *(("with_time", {"zone": zone}, ValueError, "the same on every machine") for zone in OWN_ZONES),
    ("with_time", {"zone": None}, TypeError, "`zone`: expected a str"),
    ("with_time", {"date": "NONE"}, ValueError, "no column `NONE`; there are: DAY, TIME, geometry"),
    ("with_time", {"date": "geometry"}, ValueError, "wrong type of column: expected dates"),
    ("with_time", {"time": "DAY"}, ValueError, "`time` has the wrong type of column: expected text"),
    ("with_time", {"time": None}, ValueError, "dates without times"),
    ("with_time", {"name": "TIME"}, ValueError, "choose another `name`"),
    ("with_time", {"name": ""}, ValueError, "choose another `name`"),
    ("with_time", {"fold": 2}, ValueError, "from 0 to 1"),
    ("with_time", {"format": "%H:%M:%S%f"}, ValueError, "only after a point"),
    ("with_time", {"format": "%Q"}, ValueError, "unknown"),
    ("to_units", {"units": "imperial"}, ValueError, "`units`: expected"),
    ("to_units", {"units": 7}, TypeError, "`units`: expected"),
    ("to_units", {"units": {"YIELD": 3}}, TypeError, "`units`: expected"),
    ("to_units", {"units": {"NOSUCH": "kg/ha"}}, ValueError, "there is no column `NOSUCH`"),
    ("to_units", {"crop": "clover"}, ValueError, "crop `clover` is not known"),
    ("to_units", {"crop": 7}, TypeError, "`crop`"),
    ("clean", {"antenna": "3"}, TypeError, "`antenna`: expected a number, got '3'"),
    ("clean", {"antenna": True}, TypeError, "`antenna`: expected a number, got True"),
    ("clean", {"antenna": None}, TypeError, "`antenna`: expected a number, got None"),
    ("clean", {"antenna": 31}, ValueError, "`antenna`: expected at most 30 m, got 31 m"),
    ("clean", {"antenna": float("nan")}, ValueError, "`antenna`: expected a finite number, got nan"),
    ("clean", {"delay": "soon"}, ValueError, "`delay`: expected seconds"),
    ("clean", {"delay": -61}, ValueError, "`delay`: expected at most 60 s, got -61 s"),
    ("clean", {"delay": [1.0]}, TypeError, r"`delay`: expected a number, got \[1.0\]"),
    ("clean", {"delay": float("inf")}, ValueError, "`delay`: expected a finite number, got inf"),
    ("clean", {"delay": {"1": 3.0}}, TypeError, "`delay`"),
    ("clean", {"delay": {1: "3"}}, TypeError, "`delay`: expected a number, got '3'"),
    ("clean", {"moisture_delay": "soon"}, ValueError, "`moisture_delay`: expected seconds"),
    ("clean", {"moisture_delay": "auto"}, ValueError, '`moisture_delay`: expected seconds, "flow", None'),
    ("clean", {"moisture_delay": 61}, ValueError, "`moisture_delay`: expected at most 60 s, got 61 s"),
    ("clean", {"moisture_delay": True}, TypeError, "`moisture_delay`: expected a number, got True"),
    ("clean", {"keep": "moisture"}, TypeError, "`keep`: expected names of reasons"),
    ("clean", {"keep": 1}, TypeError, "`keep`: expected names of reasons"),
    ("clean", {"keep": [1]}, TypeError, "`keep`"),
    ("clean", {"keep": ["moist"]}, ValueError, r'`keep`: expected names of reasons \("not_working"'),
    ("clean", {"boundary": 3}, TypeError, "`boundary`"),
    ("clean", {"boundary": "field.zip"}, TypeError, "`boundary`"),
    ("clean", {"recipe": 3}, TypeError, "`recipe`: expected the recipe of a cleaning or a mapping, got int"),
    ("clean", {"recipe": ["turn"]}, TypeError, "`recipe`: expected the recipe of a cleaning or a mapping, got list"),
    ("clean", {"recipe": "turn"}, ValueError, "`recipe`: expected a JSON object"),
    ("clean", {"recipe": "[]"}, ValueError, "`recipe`: expected a JSON object"),
    ("clean", {"recipe": {"turn": object()}}, TypeError, "`recipe`: the mapping is no JSON"),
    ("clean", {"recipe": {"turn": float("nan")}}, ValueError, "`recipe`: the mapping is no JSON"),
    ("clean", {"recipe": {"turns": 25}}, ValueError, "`turns`"),
    ("clean", {"recipe": {"turn": "much"}}, ValueError, "parameter `turn`"),
    ("clean", {"recipe": {"turn": -1}}, ValueError, "parameter `turn`: expected 0 or more, got -1"),
    ("clean", {"recipe": {"spike": [0.4]}}, ValueError, "parameter `spike`"),
    ("clean", {"recipe": {"spike": [-0.4, 2]}}, ValueError, "parameter `spike`: expected 0 or more"),
    ("clean", {"recipe": {"spike": [2, 0.4]}}, ValueError, r"parameter `spike`: expected \[least, most\]"),
    ("clean", {"recipe": {"limits": [9, 1]}}, ValueError, r"parameter `limits`: expected \[least, most\]"),
    ("clean", {"recipe": {"market_moisture": 100}}, ValueError, "parameter `market_moisture`: expected 0 to 100 %"),
    ("clean", {"recipe": {"headland_recipe": 1}}, ValueError, "`recipe`: expected version 2, got 1; .*`mixing`"),
    ("clean", {"recipe": {"headland_recipe": 3}}, ValueError, "`recipe`: expected version 2, got 3"),
    ("clean", {"recipe": {"mixing": 2.0}}, ValueError, "`mixing`"),
    ("clean", {"recipe": {"ends": "auto"}}, ValueError, "parameter `ends`"),
    ("clean", {"recipe": {"delay": {"value": "soon", "from": "user"}}}, ValueError, "parameter `delay`"),
    ("grid", {"cells": 0}, ValueError, "`cells`: expected a side in metres above 0, got 0"),
    ("grid", {"cells": -10.0}, ValueError, "`cells`: expected a side in metres above 0, got -10"),
    ("grid", {"cells": float("nan")}, ValueError, "`cells`: expected a finite number, got nan"),
    ("grid", {"cells": "10"}, TypeError, "`cells`: expected a number, got '10'"),
    ("grid", {"cells": 10, "plots": ROWS}, ValueError, "`cells`: a map has either square cells or `plots`"),
    ("download", {"overwrite": True}, ValueError, "`overwrite` is about a file: name it by `to=`"),
    ("write_parquet", {"path": "rows.csv"}, ValueError, "ends in .parquet, .geoparquet or .pq, got `rows.csv`"),
    ("write_geojson", {"path": "rows.parquet"}, ValueError, "ends in .geojson or .json, got `rows.parquet`"),
    ("grid", {"cells": True}, TypeError, "`cells`: expected a number, got True"),
    ("grid", {"cells": 1e-5}, ValueError, "`cells`: cells of 0.00001 m are too many"),
    ("grid", {"by": "hybrid"}, ValueError, "hybrid"),
    ("grid", {"by": [3]}, TypeError, "`by`"),
    ("grid", {"by": ["pass_number", "hybrid"]}, ValueError, "hybrid"),
    *(("grid", {"crs": crs}, ValueError, "`crs`") for crs in ("EPSG:4326", 4326, "EPSG:2264", "nonsense")),
    ("grid", {"crs": 3.5}, TypeError, "`crs`"),
    ("grid", {"total": 0}, ValueError, "`total`: expected weighed kilograms above 0, got 0"),
    ("grid", {"total": -5.0}, ValueError, "`total`: expected weighed kilograms above 0, got -5"),
    ("grid", {"total": float("inf")}, ValueError, "`total`: expected a finite number, got inf"),
    ("grid", {"total": "5 t"}, TypeError, "`total`: expected a number, got '5 t'"),
    ("grid", {"total": {3: 100.0}}, ValueError, "`total`: the layer has no machine 3; it has 0"),
    ("grid", {"total": {"a": 100.0}}, TypeError, "`total`"),
    ("grid", {"total": {0: "5"}}, TypeError, "`total`: expected a number, got '5'"),
    ("grid", {"plots": 3}, TypeError, "`plots`"),
    ("mirror", {"relist": "tomorrow"}, ValueError, "`relist`"),
    ("mirror", {"relist": "\u0663d"}, ValueError, "`relist`"),
    ("mirror", {"relist": 5}, TypeError, "`relist`"),
    ("mirror", {"relist": dt.timedelta(-1)}, ValueError, "`relist`"),
    ("mirror", {"overlap": "1y"}, ValueError, "`overlap`"),
    ("mirror", {"concurrency": 0}, ValueError, "`concurrency`"),
    ("mirror", {"locations": "yes"}, TypeError, "`locations`"),
    ("filter", {"job_type": "Yeild"}, ValueError, "`Yeild`; known: AsApplied, GrainCart, .*, Yield"),
    ("filter", {"job_type": "Y"}, ValueError, "`job_type`: unknown type `Y`"),
    ("filter", {"job_type": ["Yield", ""]}, ValueError, "`job_type`: unknown type ``"),
    ("filter", {"job_type": []}, ValueError, "`job_type` is empty"),
    ("filter", {"job_type": "\ud800"}, ValueError, "`job_type` contains an unpaired"),
    ("filter", {"job_type": 7}, TypeError, "`job_type`: expected a str such as 'Yield', or several, got int"),
    ("filter", {"job_type": b"Yield"}, TypeError, "`job_type`: expected a str .*, got bytes"),
    ("filter", {"job_type": [None]}, TypeError, "`job_type`: expected a str .*, got NoneType"),
    ("filter", {"since": "soon"}, ValueError, "`since` is not a time: `soon`"),
    ("filter", {"until": ""}, ValueError, "`until` is not a time: ``"),
    ("filter", {"until": dt.datetime(2026, 1, 1)}, ValueError, "`until` is a datetime without a time zone"),  # noqa: DTZ001
    (
        "filter",
        {"since": "2026-01-02", "until": "2026-01-01"},
        ValueError,
        "2026-01-02 is not before `until` 2026-01-01",
    ),
    ("filter", {"since": 2026}, TypeError, "`since`: expected a str, a date or an aware datetime, got int"),
    ("filter", {"until": True}, TypeError, "`until`: expected .*, got bool"),
    ("filter", {"ids": "31"}, TypeError, "`ids`: expected several ids, got str; pass a list"),
    ("filter", {"ids": 31}, TypeError, "`ids`: expected several ids, got int; pass a list"),
    ("filter", {"ids": {"31": 1}}, TypeError, "`ids`: expected several ids, got dict; pass a list"),
    ("filter", {"ids": [31.0]}, TypeError, "`ids`: expected a str or an int, got float"),
    ("filter", {"ids": [True]}, TypeError, "`ids`: expected a str or an int, got bool"),
    ("filter", {"ids": [None]}, TypeError, "`ids`: expected a str or an int, got NoneType"),
    ("filter", {"ids": [""]}, ValueError, "an id of `ids` is empty"),
    ("filter", {"ids": ["a/b"]}, ValueError, "an id of `ids` contains '/'"),
    ("farm", {"year": "2026"}, TypeError, "`year`: expected a year"),
    *(("farm", {"year": year}, TypeError, "^`year`: expected a year such as 2026, or several") for year in WRONG_YEARS),
    ("farm", {"year": []}, ValueError, "`year` is empty; omit it"),
    ("farm", {"job_type": b"Yield"}, TypeError, "^`job_type`: expected a str such as 'Yield', or several, got bytes"),
    ("farm", {"job_type": np.array(3)}, TypeError, "^`job_type`: expected a str such as .*, or several, got int64"),
    ("farm", {"job_type": 3}, TypeError, "`job_type`: expected a str such as 'Yield', or several, got int"),
    ("farm", {"job_type": ["Yield", None]}, TypeError, "`job_type`: expected a str such as .*, got NoneType"),
    ("farm", {"job_type": []}, ValueError, "`job_type` is empty; omit it"),
    ("farm", {"job_type": "Yeild"}, ValueError, "no job type 'Yeild'.*: AsApplied, Soil Sampling, Yield"),
    ("farm", {"columns": np.array("PASS")}, TypeError, "^`columns`: expected a list of names, got one ndarray"),
    ("farm", {"columns": b"PASS"}, TypeError, "^`columns`: expected a list of names, got one bytes"),
    ("farm", {"columns": "PASS"}, TypeError, "`columns`: expected a list of names"),
    *(
        ("farm", {"bbox": box}, TypeError, "^`bbox`: expected west, south, east and north, .*, got")
        for box in WRONG_BOXES
    ),
    *(
        ("farm", {"bbox": box}, ValueError, "^`bbox`: expected west, south, east and north, .*, got")
        for box in ((0, 0, 10**400, 1), (1, 0, 0, 1))
    ),
]


@pytest.mark.parametrize(("call", "given", "error", "message"), CASES)
def test_wrong_argument_is_an_error_that_names_it(
    farm: Farm, call: str, given: dict[str, Any], error: type[Exception], message: str
) -> None:
    for each in CALLS[call] or (farm.to_geopandas,):
        with pytest.raises(error, match=message):
            each(**given)
    assert not Path(FOLDER).exists()


@pytest.mark.parametrize("layer", [None, 3, "job.zip", [1, 2], {"a": 1}, np.zeros(3)])
def test_wrong_layer_of_clean_is_a_type_error(layer: Any) -> None:
    with pytest.raises(TypeError, match="`layer`"):
        hl.clean(layer)


@pytest.mark.parametrize("shape", [shapely.Point(0, 0), shapely.LineString([(0, 0), (1, 1)])])
def test_boundary_and_plots_must_be_polygons(shape: Any) -> None:
    around = gpd.GeoDataFrame({"a": [1]}, geometry=[shape], crs=plane()).to_crs(4326)
    with pytest.raises(ValueError, match="`boundary`"):
        hl.clean(harmonized(rows()), boundary=around)
    with pytest.raises(ValueError, match="`plots`"):
        hl.grid(hl.clean(harmonized(rows())), plots=around)


def test_boundary_and_plots_need_a_coordinate_system() -> None:
    around = gpd.GeoDataFrame({"a": [1]}, geometry=[shapely.box(-98, 40, -97, 42)])
    with pytest.raises(ValueError, match="coordinate system"):
        hl.clean(harmonized(rows()), boundary=around)
    with pytest.raises(ValueError, match="coordinate system"):
        hl.grid(hl.clean(harmonized(rows())), plots=around)


def test_boundary_and_plots_need_a_geometry() -> None:
    table = pd.DataFrame({"a": [1]})
    with pytest.raises(ValueError, match="`boundary`"):
        hl.clean(harmonized(rows()), boundary=table)
    with pytest.raises(ValueError, match="`plots`"):
        hl.grid(hl.clean(harmonized(rows())), plots=table)


def test_map_of_a_layer_is_a_type_error() -> None:
    with pytest.raises(TypeError, match=r"`cleaned`: expected the result of `headland\.clean`, got Layer"):
        hl.grid(harmonized(rows()))  # type: ignore[arg-type]
