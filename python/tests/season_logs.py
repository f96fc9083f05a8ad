"""Logs of several days and jobs in one table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:
    import geopandas as gpd


def later(log: gpd.GeoDataFrame, days: float, **columns: object) -> gpd.GeoDataFrame:
    """Return the same log some days later, with other columns."""
    return keep(log.assign(Time=log["Time"] + pd.Timedelta(days=days), **columns), log)


def keep(frame: gpd.GeoDataFrame, log: gpd.GeoDataFrame) -> gpd.GeoDataFrame:
    """Give a table the units of a log."""
    frame.attrs = log.attrs
    return frame


def together(*frames: gpd.GeoDataFrame) -> gpd.GeoDataFrame:
    """Return the rows of several logs in one table."""
    return keep(pd.concat(frames, ignore_index=True), frames[0])
