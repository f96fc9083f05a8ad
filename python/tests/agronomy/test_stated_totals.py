"""Totals of the service and of weighings, and yields that no field has: what differs from the rows is said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from generated_logs import harvest, sprayer

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import geopandas as gpd


@pytest.fixture(scope="module")
def client(logged_service: Callable[[int], hl.Sandbox]) -> Iterator[hl.Client]:
    """Return a client of a service with logged harvests."""
    with hl.Client(**logged_service(0).credentials, rate_limits=()) as client:
        yield client


def job(client: hl.Client, name: str) -> tuple[gpd.GeoDataFrame, Any]:
    """Return rows and detail of the first job of this name."""
    record = next(record for record in client.job_data.list() if name in (record["name"] or ""))
    return client.job_data.read(record["id"]).to_geopandas(), client.job_data.get(record["id"])


def changed(frame: gpd.GeoDataFrame, **columns: Any) -> gpd.GeoDataFrame:
    """Return rows with other values and their units."""
    other = frame.assign(**{name: values for name, values in columns.items() if values is not None})
    other = other.drop(columns=[name for name, values in columns.items() if values is None])
    other.attrs = frame.attrs
    return other


def said(layer: hl.Layer, code: str) -> str:
    """Return the messages of a code."""
    return "; ".join(str(found.message) for found in layer.diagnostics if found.code == code)


def test_rows_of_jobs_agree_with_their_totals(client: hl.Client) -> None:
    products = []
    for record in client.job_data.list():
        if "2026" in (record["name"] or ""):
            try:
                frame = client.job_data.read(record["id"])
            except hl.NoCoverage:
                continue
            detail = client.job_data.get(record["id"])
            products.append(len(detail["products"]))
            assert not said(hl.harmonize(frame, job=detail), "total-contradicts"), record["name"]
    # Tank mixes report the ground of each product.
    assert max(products) > 1


@pytest.mark.parametrize("factor", [0.8, 0.9, 1.1, 2.2046])
def test_mass_of_rows_that_differs_from_the_total_of_the_job_is_said(client: hl.Client, factor: float) -> None:
    frame, detail = job(client, "2026 Harvest")
    rows = changed(frame, FLOW=frame.FLOW * factor, VRYIELDVOL=None, DRYMATTER=None)
    message = said(hl.harmonize(rows, job=detail), "total-contradicts")
    assert f"{detail['products'][0]['total_weight']:.0f} kg" in message


def test_part_of_the_rows_is_said(client: hl.Client) -> None:
    frame, detail = job(client, "2026 Harvest")
    half = frame.iloc[: len(frame) // 2]
    half.attrs = frame.attrs
    assert " ha, but the rows" in said(hl.harmonize(half, job=detail), "total-contradicts")


def test_job_of_another_field_is_named_as_such(client: hl.Client) -> None:
    frame, detail = job(client, "2026 Harvest")
    others = [record for record in client.job_data.list() if "Harvest" in (record["name"] or "")]
    other = next(
        found
        for found in (client.job_data.get(record["id"]) for record in others)
        if found["products"][0]["total_weight"] != detail["products"][0]["total_weight"]
    )
    assert "`job` is that of other rows" in said(hl.harmonize(frame, job=other), "total-contradicts")


@pytest.mark.parametrize("factor", [0.8, 1.25])
def test_product_of_rows_that_differs_from_the_job_is_said(client: hl.Client, factor: float) -> None:
    frame, detail = job(client, "2026 Spraying")
    rows = changed(frame, APPLDRATE=frame.APPLDRATE * factor)
    assert "of product" in said(hl.harmonize(rows, job=detail), "total-contradicts")


def test_yield_that_no_field_of_the_crop_has_is_said() -> None:
    log = harvest()
    for factor in (3.6, 5, 10):
        rows = changed(log.frame, Flow=log.frame.Flow * factor)
        layer = hl.harmonize(rows, kind="yield")
        assert "t/ha" in said(hl.clean(layer).layer, "yield-high")
        assert "t/ha" in said(hl.field_means(layer), "yield-high")
    assert not said(hl.clean(hl.harmonize(log.frame, kind="yield")).layer, "yield-high")


def test_weighed_total_in_tonnes_is_said() -> None:
    cleaned = hl.clean(hl.harmonize(harvest().frame, kind="yield"))
    assert "not in tonnes" in said(hl.grid(cleaned, total=49.6), "total-contradicts")
    assert not said(hl.grid(cleaned, total=48_000.0), "total-contradicts")


def test_what_a_mean_lacks_is_named() -> None:
    log = harvest()
    without = changed(log.frame, Moisture=None)
    assert "no moisture" in said(hl.field_means(hl.harmonize(without, kind="yield")), "mean-unknown")
    beet = changed(log.frame, Crop="sugar beet")
    assert "market_moisture" in said(hl.field_means(hl.harmonize(beet, kind="yield")), "mean-unknown")


def test_dots_of_thousands_are_refused_like_commas() -> None:
    log = harvest()
    grams = (log.frame.Flow * 1000).map(lambda flow: f"{flow:,.0f}")
    for texts in (grams, grams.str.replace(",", ".")):
        rows = changed(log.frame, Flow=texts)
        rows.attrs = {"units": {**log.frame.attrs["units"], "Flow": "g/s"}}
        layer = hl.harmonize(rows, kind="yield")
        assert "of decimals or of thousands" in said(layer, "column-not-used")


@pytest.mark.parametrize("text", ["Longitude", "deg"])
def test_row_of_a_header_among_positions_is_named(text: str) -> None:
    frame = sprayer().frame
    table = frame.drop(columns="geometry").assign(
        Longitude=[text, *frame.geometry.x.astype(str)[1:]], Latitude=[text, *frame.geometry.y.astype(str)[1:]]
    )
    table.attrs = frame.attrs
    layer = hl.harmonize(table, kind="as_applied")
    assert f"the text `{text}` or others, the first in row 0" in said(layer, "column-not-used")


def test_harvest_that_is_stated_to_be_a_spraying_is_said() -> None:
    layer = hl.harmonize(harvest().frame, kind="as_applied")
    assert "flow" in said(layer, "column-not-used")
