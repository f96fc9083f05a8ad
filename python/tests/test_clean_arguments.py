"""Wrong arguments of `clean` and `grid`: an error that names the argument and says what was expected."""

from __future__ import annotations

import re
from typing import Any

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely
from driven_rows import frame, harmonized, plain, plane, straight

import headland as hl

ROWS = straight((0, -50), (0, 50), flow=5.0, moisture=20.0)
"""One pass of 50 rows."""


def rows() -> gpd.GeoDataFrame:
    return frame(ROWS)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"antenna": "3"}, TypeError, "`antenna`: expected a number, got '3'"),
        ({"antenna": True}, TypeError, "`antenna`: expected a number, got True"),
        ({"antenna": None}, TypeError, "`antenna`: expected a number, got None"),
        ({"antenna": float("nan")}, ValueError, "`antenna`: expected a finite number, got nan"),
        ({"delay": "soon"}, ValueError, "`delay`: expected seconds"),
        ({"delay": [1.0]}, TypeError, "`delay`: expected a number, got [1.0]"),
        ({"delay": float("inf")}, ValueError, "`delay`: expected a finite number, got inf"),
        ({"delay": {"1": 3.0}}, TypeError, "`delay`"),
        ({"delay": {1: "3"}}, TypeError, "`delay`: expected a number, got '3'"),
        ({"moisture_delay": "soon"}, ValueError, "`moisture_delay`: expected seconds"),
        ({"moisture_delay": True}, TypeError, "`moisture_delay`: expected a number, got True"),
        ({"keep": "moisture"}, TypeError, "`keep`: expected names of reasons"),
        ({"keep": 1}, TypeError, "`keep`: expected names of reasons"),
        ({"keep": [1]}, TypeError, "`keep`"),
        ({"keep": ["moist"]}, ValueError, '`keep`: expected names of reasons ("not_working"'),
        ({"boundary": 3}, TypeError, "`boundary`"),
        ({"boundary": "field.zip"}, TypeError, "`boundary`"),
        ({"recipe": 3}, TypeError, "`recipe`: expected the recipe of a cleaning or a mapping, got int"),
        ({"recipe": ["turn"]}, TypeError, "`recipe`: expected the recipe of a cleaning or a mapping, got list"),
        ({"recipe": "turn"}, ValueError, "`recipe`: expected a JSON object"),
        ({"recipe": "[]"}, ValueError, "`recipe`: expected a JSON object"),
        ({"recipe": {"turn": object()}}, TypeError, "`recipe`: the mapping is no JSON"),
        ({"recipe": {"turn": float("nan")}}, ValueError, "`recipe`: the mapping is no JSON"),
        ({"recipe": {"turns": 25}}, ValueError, "`turns`"),
        ({"recipe": {"turn": "much"}}, ValueError, "parameter `turn`"),
        ({"recipe": {"turn": -1}}, ValueError, "parameter `turn`: expected 0 or more, got -1"),
        ({"recipe": {"spike": [0.4]}}, ValueError, "parameter `spike`"),
        ({"recipe": {"spike": [-0.4, 2]}}, ValueError, "parameter `spike`: expected 0 or more"),
        ({"recipe": {"market_moisture": 100}}, ValueError, "parameter `market_moisture`: expected 0 to 100 %, got 100"),
        ({"recipe": {"headland_recipe": 2}}, ValueError, "`recipe`: expected version 1, got 2"),
        ({"recipe": {"delay": {"value": "soon", "from": "user"}}}, ValueError, "parameter `delay`"),
    ],
)
def test_wrong_argument_of_clean_is_an_error_that_names_it(
    arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=re.escape(message)):
        hl.clean(harmonized(rows()), **arguments)


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


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"cells": 0}, ValueError, "`cells`: expected a side in metres above 0, got 0"),
        ({"cells": -10.0}, ValueError, "`cells`: expected a side in metres above 0, got -10"),
        ({"cells": float("nan")}, ValueError, "`cells`: expected a finite number, got nan"),
        ({"cells": "10"}, TypeError, "`cells`: expected a number, got '10'"),
        ({"cells": None}, TypeError, "`cells`: expected a number, got None"),
        ({"cells": True}, TypeError, "`cells`: expected a number, got True"),
        ({"cells": 1e-5}, ValueError, "`cells`: cells of 0.00001 m are too many"),
        ({"by": "hybrid"}, ValueError, "hybrid"),
        ({"by": [3]}, TypeError, "`by`"),
        ({"by": ["pass", "hybrid"]}, ValueError, "hybrid"),
        ({"crs": "EPSG:4326"}, ValueError, "`crs`"),
        ({"crs": 4326}, ValueError, "`crs`"),
        ({"crs": "EPSG:2264"}, ValueError, "`crs`"),
        ({"crs": "nonsense"}, ValueError, "`crs`"),
        ({"crs": 3.5}, TypeError, "`crs`"),
        ({"total": 0}, ValueError, "`total`: expected weighed kilograms above 0, got 0"),
        ({"total": -5.0}, ValueError, "`total`: expected weighed kilograms above 0, got -5"),
        ({"total": float("inf")}, ValueError, "`total`: expected a finite number, got inf"),
        ({"total": "5 t"}, TypeError, "`total`: expected a number, got '5 t'"),
        ({"total": {3: 100.0}}, ValueError, "`total`: the layer has no machine 3; it has 0"),
        ({"total": {"a": 100.0}}, TypeError, "`total`"),
        ({"total": {0: "5"}}, TypeError, "`total`: expected a number, got '5'"),
        ({"plots": 3}, TypeError, "`plots`"),
    ],
)
def test_wrong_argument_of_grid_is_an_error_that_names_it(
    arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=re.escape(message)):
        hl.grid(plain(harmonized(rows())), **arguments)


def test_map_of_a_layer_is_a_type_error() -> None:
    with pytest.raises(TypeError, match=r"`cleaned`: expected the result of `headland\.clean`, got Layer"):
        hl.grid(harmonized(rows()))  # type: ignore[arg-type]
