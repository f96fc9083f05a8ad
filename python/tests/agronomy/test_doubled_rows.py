"""Rows that are there twice: copies count once or are said, and other rates of one place are no copies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
from generated_logs import Log, harvest, planter, sprayer

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Callable


def framed(log: Log, rows: Any) -> gpd.GeoDataFrame:
    """Return rows of a log with its units."""
    frame = gpd.GeoDataFrame(rows.reset_index(drop=True), geometry="geometry", crs=4326)
    units = log.frame.attrs["units"]
    frame.attrs = {"units": {name: unit for name, unit in units.items() if name in frame}}
    return frame


def codes(layer: hl.Layer) -> list[str]:
    """Return the codes of all diagnostics."""
    return [str(found.code) for found in layer.diagnostics]


@pytest.mark.parametrize("log", [harvest, sprayer, planter])
def test_rows_of_a_join_that_repeats_them_are_said(log: Callable[[], Log]) -> None:
    one = log()
    doubled = framed(one, one.frame.loc[one.frame.index.repeat(2)])
    assert "job-twice" in codes(hl.harmonize(doubled, kind=one.kind))
    assert "job-twice" not in codes(hl.harmonize(one.frame, kind=one.kind))


def test_copies_of_rows_are_no_product_that_was_applied_twice() -> None:
    log = sprayer()
    doubled = framed(log, log.frame.loc[log.frame.index.repeat(2)])
    cleaned = hl.clean(hl.harmonize(doubled, kind="as_applied"))
    assert "applied-twice" not in codes(cleaned.layer)
    assert hl.grid(cleaned).to_pandas()["amount"].sum() == pytest.approx(log.truth.total, rel=0.01)


@pytest.mark.parametrize("share", [0.1, 0.5, 2.0])
def test_other_rates_of_the_same_rows_are_products_of_a_mix(share: float) -> None:
    log = sprayer()
    other = log.frame.assign(**{"Applied Rate": log.frame["Applied Rate"] * share})
    both = framed(log, pd.concat([log.frame, other]).drop(columns="Product", errors="ignore"))
    layer = hl.harmonize(both, kind="as_applied")
    cleaned = hl.clean(layer)
    total = log.truth.total * (1 + share)
    assert layer.to_pandas()["amount"].sum() == pytest.approx(total, rel=0.01)
    assert layer.area() == pytest.approx(hl.harmonize(log.frame, kind="as_applied").area(), rel=0.01)
    cells = hl.grid(cleaned).to_pandas()
    assert cells["amount"].sum() == pytest.approx(total, rel=0.01)
    assert cells["covered"].sum() == pytest.approx(log.truth.ground, rel=0.01)
    assert "mass-assumed" in codes(cleaned.layer)
    assert "applied-twice" not in codes(cleaned.layer)


def test_null_widths_of_rows_that_apply_are_filled() -> None:
    log = sprayer()
    widths = np.where(np.arange(len(log.frame)) % 5 == 0, np.nan, 24.0)
    layer = hl.harmonize(framed(log, log.frame.assign(Swath=widths)), kind="as_applied")
    assert layer.to_pandas()["amount"].sum() == pytest.approx(log.truth.total, rel=0.01)


def shifted(log: Log, **columns: Any) -> hl.Layer:
    return hl.harmonize(framed(log, log.frame.assign(**columns)), kind="yield")


def test_second_export_of_a_job_is_said() -> None:
    log = harvest()
    layer = hl.harmonize(log.frame, kind="yield")
    metric = log.frame.to_crs(32633)
    aside = metric.translate(3, 0).to_crs(4326).to_numpy()
    hours = (log.frame["Time"] + pd.Timedelta(hours=2)).dt.tz_localize(None)
    every = np.arange(len(log.frame)) // 2
    means = {"Time": "last", "Distance": "sum", "Swath": "last", "Heading": "last", "Moisture": "mean", "Flow": "mean"}
    points = metric.geometry
    thinned = log.frame.groupby(every).agg(means | {"Header": "last", "Crop": "last"})
    x, y = points.x.groupby(every).mean(), points.y.groupby(every).mean()
    geometry = gpd.GeoSeries(gpd.points_from_xy(x, y), crs=32633).to_crs(4326)
    two_seconds = hl.harmonize(framed(log, thinned.assign(geometry=geometry.to_numpy())), kind="yield")
    for other in (shifted(log, Time=hours), shifted(log, geometry=aside), two_seconds):
        assert "job-twice" in codes(hl.field_means([layer, other]))


def test_two_machines_in_one_field_are_no_copies() -> None:
    log = harvest()
    passes = (log.frame["Header"].diff() == 1).cumsum()
    halves = [hl.harmonize(framed(log, log.frame[passes % 2 == odd]), kind="yield") for odd in (0, 1)]
    assert "job-twice" not in codes(hl.field_means(halves))


def test_harvests_of_two_years_are_no_copies() -> None:
    log = harvest()
    later = shifted(log, Time=log.frame["Time"] + pd.Timedelta(days=364))
    assert "job-twice" not in codes(hl.field_means([hl.harmonize(log.frame, kind="yield"), later]))
