"""Rates of zones: which column they are in, their unit and product, and what must not pass without a word."""

from __future__ import annotations

import uuid
import warnings
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import geopandas as gpd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sprayed_jobs import ZONES, mixed, sprayed, zones

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Callable

EDGES = 0.03
"""Part of the ground of swaths on edges of zones, which are a rounding error away from the logged target."""

HECTARES = zones().to_crs("EPSG:32633").area / 1e4


def compared(*arguments: Any, **options: Any) -> hl.RateComparison:
    """Compare rates; warnings are diagnostics, which the tests look at."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hl.HeadlandWarning)
        return hl.compare_rates(*arguments, **options)


def codes(found: list[hl.Diagnostic]) -> list[str]:
    return [each.code for each in found]


def said(found: list[hl.Diagnostic], code: str) -> str:
    """Return the message of the diagnostic with a code."""
    [message] = [each.message for each in found if each.code == code]
    return message


def shares(comparison: hl.RateComparison, product: str | None = None) -> dict[str, float]:
    """Return the share of each class of the prescription."""
    report = comparison.report.to_pandas()
    is_own = (
        (report["target"] == "planned") & (report["product"].fillna("") == (product or "")) & (report["by"] == "class")
    )
    return dict(zip(report["name"][is_own], report["share"][is_own], strict=True))


def rx(**columns: Any) -> gpd.GeoDataFrame:
    return zones().assign(UNIT="L/ha", **columns)


def both(**other: Any) -> gpd.GeoDataFrame:
    """Return the zones of two products."""
    adjuvant = rx(PRODUCT="Adjuvant", RATE=[0.02 * rate for rate in ZONES])
    return gpd.GeoDataFrame(pd.concat([adjuvant, rx(PRODUCT="Fungicide").assign(**other)], ignore_index=True), crs=4326)


# Products.


def test_prescription_of_another_product_is_named() -> None:
    job = sprayed(product="UAN 32").frame
    found = compared(job, rx(PRODUCT="Roundup")).diagnostics
    assert "the prescription is for `Roundup`, but the job applied `UAN 32`" in said(found, "product-contradicts")
    for spelling in ("UAN 32", "uan-32", " UAN  32 "):
        assert "product-contradicts" not in codes(compared(job, rx(PRODUCT=spelling)).diagnostics)
    for column in ("Product", "product_name", "Product Name", "PRODUCT_NA"):
        assert "product-contradicts" in codes(compared(job, rx(**{column: "Roundup"})).diagnostics)
    # A job without names of products contradicts nothing, unless its description has one.
    assert "product-contradicts" not in codes(compared(sprayed().frame, rx(PRODUCT="Roundup")).diagnostics)
    layer = _described(sprayed().frame, "UAN 32")
    assert "product-contradicts" in codes(compared(layer, rx(PRODUCT="Roundup")).diagnostics)
    assert "product-contradicts" not in codes(compared(layer, rx(PRODUCT="uan 32")).diagnostics)


def _described(frame: gpd.GeoDataFrame, *products: str) -> hl.Layer:
    job = {"job_type": "Sprayer", "products": [{"product_name": name, "applied_volume": 640.0} for name in products]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hl.HeadlandWarning)
        return hl.harmonize(frame, job=job)


def test_zones_of_several_products_are_the_target_of_their_own_rows() -> None:
    for product, scale in (("Fungicide", 1.0), ("ADJUVANT", 0.02)):
        found = compared(sprayed(product=product, scale=scale).frame, both())
        assert shares(found, product)["within"] == pytest.approx(1.0, abs=EDGES)
        assert "zones-overlap" not in codes(found.diagnostics)
    job = mixed([sprayed(product="Fungicide"), sprayed(product="Adjuvant", scale=0.02)])
    found = compared(job, both())
    for product in ("Fungicide", "Adjuvant"):
        assert shares(found, product)["within"] == pytest.approx(1.0, abs=EDGES)
    # Each product has its own unit, and zones without a product are none of any.
    gallons = both(UNIT="gal/ac", RATE=[rate / 9.353956228956228 for rate in ZONES])
    assert shares(compared(job, gallons), "Fungicide")["within"] == pytest.approx(1.0, abs=EDGES)
    partly = compared(job, both(PRODUCT=["Fungicide", None, "Fungicide"]))
    assert "1 zones of the prescription name no product" in said(partly.diagnostics, "product-contradicts")
    assert shares(partly, "Fungicide")["no_target"] == pytest.approx(1 / 3, abs=0.05)


@pytest.mark.parametrize(
    ("job", "words"),
    [
        (lambda: sprayed(product="Lime").frame, "for `Adjuvant`, `Fungicide`, but the job has `Lime`"),
        (lambda: sprayed().frame, "zones of `Adjuvant`, `Fungicide`, and the rows name no product"),
        (lambda: _described(sprayed().frame, "Adjuvant", "Fungicide"), "the rows name no product"),
    ],
)
def test_zones_of_several_products_without_that_of_the_job_are_refused(job: Callable[[], Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        compared(job(), both())


def test_job_totals_have_the_products_of_rows_and_description() -> None:
    job = mixed([sprayed(product="Fungicide"), sprayed(product="Adjuvant", scale=0.02)])
    found = compared(_described(job, "FUNGICIDE", "Drift retardant"))
    assert found.job is not None
    totals = found.job.to_pandas().set_index("product")
    assert list(totals.index) == ["FUNGICIDE", "Drift retardant", "Adjuvant"]
    assert totals["applied"]["Adjuvant"] == pytest.approx(0.02 * totals["applied"]["FUNGICIDE"])
    assert totals.loc["Adjuvant", ["reported", "difference", "reported_area"]].isna().all()
    assert totals.loc["Drift retardant", ["applied", "worked_area", "difference"]].isna().all()
    assert totals["reported"]["Drift retardant"] == 640.0
    other = compared(_described(sprayed(product="Lime").frame, "UAN 32"))
    assert "the rows are of product `Lime`, but the job reports `UAN 32`" in said(
        other.diagnostics, "product-contradicts"
    )


# The column.

SIZES = {
    "Shape_Area": 1e4, "Shape_Leng": 7.0, "SHAPE_STAr": 1e4, "AREA_HA": 1.0, "HECTARES": 1.0, "ACRES": 2.471,
    "PERIMETER": 7.0, "OBJECTID_1": 1.0, "TARGET_FID": 1.0,
    "GIS_Acres": 2.471, "TotalAcres": 2.471, "Fläche_ha": 1.0, "SUPERFICIE": 1.0,
    "LENGTH_M": 3.0, "Mgmt_Zone": 1.0, "cluster": 1.0, "left": 5e5, "NDVI": 0.1, "Elevation": 80.0,
    "yld_avg": 4.0, "pH": 2.0,
}  # fmt: skip


@pytest.mark.parametrize("name", SIZES)
def test_sizes_ids_and_measurements_are_no_rates(name: str) -> None:
    # Values that follow no area, so that the name decides.
    frame = zones().drop(columns="RATE").assign(**{name: [3.0 * SIZES[name], SIZES[name], 2.0 * SIZES[name]]})
    assert codes(hl.check_prescription(frame)) == ["rate-missing"]
    with pytest.raises(ValueError, match="no column of numbers that is no id and no size"):
        compared(sprayed().frame, frame)
    named = frame.assign(N=list(ZONES))
    assert codes(hl.check_prescription(named)) == []
    assert shares(compared(sprayed().frame, named))["within"] == pytest.approx(1.0, abs=EDGES)


@pytest.mark.parametrize("factor", [1.0, 2.4710538, 1e4, 1.17e-6], ids=["ha", "ac", "m2", "degrees"])
@pytest.mark.parametrize("decimals", [None, 3], ids=["exact", "rounded"])
def test_column_that_follows_the_areas_is_no_rate(factor: float, decimals: int | None) -> None:
    values = HECTARES * factor
    if decimals is not None and factor >= 1.0:
        values = values.round(decimals)
    frame = zones().drop(columns="RATE").assign(Wert=values)
    assert codes(hl.check_prescription(frame)) == ["rate-missing"]
    bare = gpd.GeoDataFrame(frame.drop(columns="geometry"), geometry=frame.geometry.to_numpy())
    assert sorted(codes(hl.check_prescription(bare))) == ["no-prj", "rate-missing"]
    assert shares(compared(sprayed().frame, frame.assign(N=list(ZONES))))["within"] == pytest.approx(1.0, abs=EDGES)
    with pytest.raises(ValueError, match="no size of the zones"):
        compared(sprayed().frame, frame)


@pytest.mark.parametrize(
    "name",
    ["kg_ha", "kg_per_ha", "Seeds_Acre", "lbs_acre", "N_kg_ha", "rate_ha", "Dose", "Menge", "POPULATION", "Zone_Rate"],
)
def test_names_of_rates_are_rates(name: str) -> None:
    frame = zones().rename(columns={"RATE": name}).assign(UNIT="L/ha", AREA_HA=HECTARES, OBJECTID=[1, 2, 3])
    assert codes(hl.check_prescription(frame)) == []
    found = compared(sprayed().frame, frame)
    assert shares(found)["within"] == pytest.approx(1.0, abs=EDGES)
    assert "rate-assumed" not in codes(found.diagnostics)


def test_column_whose_name_says_nothing_is_named() -> None:
    frame = zones().rename(columns={"RATE": "DN"})
    assert "column `DN` is read as the rate" in said(hl.check_prescription(frame), "rate-assumed")
    assert "rate-assumed" in codes(compared(sprayed().frame, frame).diagnostics)
    assert codes(hl.check_prescription(frame, rate="DN")) == []
    frame.attrs["units"] = {"DN": "L/ha"}
    assert codes(hl.check_prescription(frame)) == []


@pytest.mark.parametrize(
    ("cells", "code"),
    [
        ([-1.0, 2.0, 3.0], "rate-negative"),
        ([None, 2.0, 3.0], "rate-null"),
        ([np.inf, 2.0, 3.0], "rate-not-finite"),
        ([1.0, 1.0, 300.0], "rate-outlier"),
        ([0.0, 0.0, 0.0], "rate-all-zero"),
    ],
)
def test_each_of_several_columns_is_checked(cells: list[float | None], code: str) -> None:
    found = hl.check_prescription(zones().rename(columns={"RATE": "N"}).assign(P=cells))
    assert sorted(codes(found)) == sorted(["rate-ambiguous", code])
    assert "`P`" in said(found, code)
    both = hl.check_prescription(zones().drop(columns="RATE").assign(N=cells, P=cells))
    assert codes(both).count(code) == 2
    assert codes(hl.check_prescription(zones().assign(RATE=cells, N=[1.0, -2.0, 3.0]))) == [code]


# Zeros, units, the rest of a field.


def test_prescription_of_zeros_has_no_target() -> None:
    job = sprayed().frame
    for empty in (0.0, [0.0, np.nan, 0.0], np.nan):
        found = compared(job, rx(RATE=empty))
        assert shares(found)["no_target"] == pytest.approx(1.0)
        assert "no rate above 0 in any zone" in said(found.diagnostics, "target-not-logged")
        assert "there is no target to compare with (planned)" in str(found)
    # One zone with a rate makes the others zones where nothing is asked for.
    found = compared(job, rx(RATE=[0.0, 150.0, 0.0]))
    assert shares(found)["should_be_off"] == pytest.approx(2 / 3, abs=0.05)
    assert "target-not-logged" not in codes(found.diagnostics)
    for made in (hl.Prescription(rx(RATE=0.0), "RATE", unit="L/ha"), hl.Prescription(zones(), 0, unit="L/ha")):
        assert codes(made.diagnostics) == ["rate-all-zero"]
    assert codes(hl.check_prescription(rx(RATE=0.0))) == ["rate-all-zero"]
    assert codes(hl.check_prescription(rx(RATE=[0.0, 0.0, 5.0]))) == []


@pytest.mark.parametrize("column", ["UNIT", "Units", "Rate_Unit"])
def test_units_that_differ_are_an_error_with_their_rows(column: str) -> None:
    frame = zones().assign(**{column: ["kg/ha", "lb/ac", "kg/ha"]})
    [found] = hl.check_prescription(frame)
    assert (found.code, found.severity, found.record) == ("rate-units-mixed", "error", 1)
    assert "`kg/ha` in 2 (rows 0, 2), `lb/ac` in 1 (row 1)" in found.message
    for same in (["kg/ha", "KG/HA", " kg ha-1 "], ["kg/ha", None, "kg/ha"], ["", "", ""]):
        assert hl.check_prescription(zones().assign(**{column: same})) == []
    with pytest.raises(ValueError, match="rates of column `RATE` are in lb/ac"):
        hl.Prescription(frame, "RATE", unit="kg/ha")
    with pytest.raises(ValueError, match="states several units: 'kg/ha', 'sacks'"):
        hl.Prescription(zones().assign(**{column: ["kg/ha", "sacks", "kg/ha"]}), "RATE", unit="kg/ha")
    with pytest.raises(ValueError, match="has `L/ha` and `gal/ac`"):
        compared(sprayed().frame, zones().assign(**{column: ["L/ha", "gal/ac", "L/ha"]}))
    spelled = compared(sprayed().frame, zones().assign(**{column: ["L/ha", "l/ha", "L ha-1"]}))
    assert "unit-unknown" not in codes(spelled.diagnostics)


def test_unit_of_the_column_and_of_the_rows_must_agree() -> None:
    frame = rx()
    frame.attrs["units"] = {"RATE": "gal/ac"}
    with pytest.raises(ValueError, match="in `gal/ac` by the unit of column `RATE`, but in `L/ha` by column `UNIT`"):
        compared(sprayed().frame, frame)


def test_default_does_not_hide_zones_of_another_field() -> None:
    frame = zones()
    whole = frame.dissolve()[["geometry"]]
    west, _, east, _ = whole.total_bounds
    for step in (0.1, east - west, 0.9999 * (east - west)):
        away = whole.set_geometry(whole.translate(step))
        with pytest.raises(ValueError, match="`boundary`: no zone is inside of it"):
            hl.Prescription(frame, "RATE", unit="L/ha", default=50.0, boundary=away)
    half = whole.set_geometry(whole.translate(0.5 * (east - west)))
    assert "boundary-overhang" in codes(
        hl.Prescription(frame, "RATE", unit="L/ha", default=50.0, boundary=half).diagnostics
    )


# Types.


@pytest.mark.parametrize(
    "rate",
    [
        pd.Series([1.0, 2.0, 3.0]), pd.Series([5.0]), np.array([1.0, 2.0, 3.0]), np.array([5.0]), [1.0, 2.0, 3.0],
        (1.0,), pa.array([1.0, 2.0, 3.0]), pa.chunked_array([[1.0]]), {1.0}, None, True, np.True_, pd.NA, 1j, b"RATE",
    ],
    ids=lambda rate: f"{type(rate).__name__}{getattr(rate, 'shape', '')}",
)  # fmt: skip
def test_rates_that_are_no_number_are_refused(rate: Any) -> None:
    with pytest.raises(TypeError, match=r"^`rate`: expected (one|a) number, got [^\n]*$"):
        hl.Prescription(zones(), rate, unit="L/ha")


@pytest.mark.parametrize(
    "rate",
    [80, 80.5, np.float32(80.1), np.int8(5), np.array(80.5), Decimal("80.5"), pa.scalar(80.5), np.uint64(7)],
    ids=lambda rate: type(rate).__name__,
)
def test_numbers_of_all_kinds_are_one_rate(rate: Any) -> None:
    made = hl.Prescription(zones(), rate, unit="L/ha")
    expected = 80.1 if isinstance(rate, np.float32) else float(rate)
    assert [each.rate for each in made.totals.rates] == [expected]
    assert made.diagnostics == []


@pytest.mark.parametrize("value", [1e13, np.inf, np.nan])
def test_numbers_that_no_machine_applies_are_refused(value: float) -> None:
    with pytest.raises(ValueError, match="`rate`"):
        hl.Prescription(zones(), value, unit="L/ha")


OTHERS: dict[str, Any] = {
    "list": [[1], [2], [3]],
    "dict": [{}, {"a": 1}, {}],
    "mixed": [1, "a", 3.0],
    "interval": pd.cut([1, 2, 3], 2),
    "large": np.array([2**64 - 1, 2, 3], "uint64"),
    "span": pd.to_timedelta([1, 2, 3], unit="s"),
    "complex": [1j, 2j, 3j],
    "set": [{1}, {2}, {3}],
    "period": pd.period_range("2020", periods=3),
    "shape": list(zones().representative_point()),
    "bytes": [b"a", b"b", b"c"],
    "path": [Path("a")] * 3,
    "uuid": [uuid.UUID(int=1)] * 3,
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_columns_of_zones_do_not_matter(name: str) -> None:
    frame = rx(extra=OTHERS[name])
    assert codes(hl.Prescription(frame, "RATE", unit="L/ha").diagnostics) == []
    assert codes(hl.Prescription(zones(), "RATE", unit="L/ha", boundary=frame).diagnostics) == []
    assert hl.Prescription(frame, 5, unit="L/ha").totals.rates[0].rate == 5.0
    assert hl.Prescription(frame.assign(zone=[1, 2, 3]), {1: 5, 2: 6, 3: 7}, unit="L/ha").totals.rates[0].rate == 5.0
    assert hl.check_prescription(frame) == []
    assert shares(compared(sprayed().frame, frame))["within"] == pytest.approx(1.0, abs=EDGES)
    for wrong in (
        lambda: hl.Prescription(frame, "extra", unit="L/ha"),
        lambda: hl.check_prescription(frame, rate="extra"),
    ):
        with pytest.raises(ValueError, match="column `extra`"):
            wrong()


def test_mixed_values_can_be_the_rate_and_are_not_left_out() -> None:
    frame = zones().rename(columns={"RATE": "N"}).assign(P=[1, "2", 3.0])
    for take in (hl.check_prescription, lambda frame: compared(sprayed().frame, frame)):
        with pytest.raises(ValueError, match="column `P`"):
            take(frame)
    nested = zones().assign(RATE=[[1], [2], [3]], N=[1.0, 2.0, 3.0])
    for take in (hl.check_prescription, lambda frame: compared(sprayed().frame, frame)):
        with pytest.raises(ValueError, match="column `RATE`"):
            take(nested)
