"""Maps of several years on one ground: they say that cells cover each other."""

from __future__ import annotations

import geopandas as gpd
import pandas as pd
import pytest
from generated_logs import harvest

import headland as hl


def test_map_of_two_years_says_that_cells_cover_each_other() -> None:
    log = harvest().frame
    later = log.assign(Time=log.Time + pd.Timedelta(days=365))
    both = gpd.GeoDataFrame(pd.concat([log, later], ignore_index=True), crs=log.crs)
    both.attrs = log.attrs
    grid = hl.grid(hl.clean(hl.harmonize(both, kind="yield")), 20.0)
    with pytest.warns(hl.HeadlandWarning, match=r"[\d,]+ of [\d,]+ cells have the ground of another one"):
        grid.plot("yield_dry")
    hl.grid(hl.clean(hl.harmonize(log, kind="yield")), 20.0).plot("yield_dry")
