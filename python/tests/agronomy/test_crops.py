"""Crops by the names of farms: market moisture, weight of a bushel, and what is said of a name that is not known."""

from __future__ import annotations

from typing import Any

import geopandas as gpd
import numpy as np
import pytest
import shapely

import headland as hl

UNITS = {"Distance": "m", "Swath": "m", "Yield": "kg/ha", "Moisture": "%"}


def harvest(crop: str | None = None, **columns: object) -> gpd.GeoDataFrame:
    """Return 300 rows of 9 t/ha at 18 % water."""
    rows = 300
    logged = {"Distance": 2.0, "Swath": 6.0, "Yield": 9000.0, "Moisture": 18.0} | columns
    frame = gpd.GeoDataFrame(
        {name: np.full(rows, value) for name, value in logged.items()},
        geometry=shapely.points(-93 + np.arange(rows) * 2.4e-5, 42.0),
        crs=4326,
    )
    return frame if crop is None else frame.assign(Crop=crop)


def harmonized(frame: gpd.GeoDataFrame, **options: Any) -> hl.Layer:
    known = {name: unit for name, unit in UNITS.items() if name in frame}
    return hl.harmonize(frame, kind="yield", units=known, columns={"yield_wet_mass": "Yield"}, **options)


@pytest.mark.parametrize(
    ("name", "moisture"),
    [
        ("Corn - Grain", 15.5),
        ("SOYBEANS-RR", 13.0),
        ("Spring Barley", 14.5),
        ("Wheat (Hrd Rd Wtr)", 13.5),
        ("Winterweizen", 13.5),
        ("Rice", 12.0),
        ("Field Peas", 16.0),
        ("Lentils", 14.0),
        ("Flax", 10.0),
        ("Triticale", 14.0),
        ("Feijão", 15.0),
    ],
)
def test_dry_mass_is_at_the_market_moisture_of_the_named_crop(name: str, moisture: float) -> None:
    layer = harmonized(harvest(name))
    dry = 9000 * 12 / 10_000 * (100 - 18) / (100 - moisture)
    np.testing.assert_allclose(layer.values("dry_mass"), dry, rtol=1e-12)
    assert not [each for each in layer.diagnostics if each.code.startswith("crop-")]


def test_name_that_is_not_known_is_quoted() -> None:
    layer = harmonized(harvest("Maize silage"))
    assert "dry_mass" not in layer.columns
    messages = [each.message for each in layer.diagnostics if each.code == "crop-unknown"]
    assert len(messages) == 1
    assert "the crop `Maize silage` is not known" in messages[0]
    assert "`crop` states it" in messages[0]


@pytest.mark.parametrize("name", ["Potatoes", "Zuckerrüben", "Cotton"])
def test_crop_that_is_sold_as_harvested_has_no_dry_mass_and_no_bushel(name: str) -> None:
    layer = harmonized(harvest(name))
    assert "dry_mass" not in layer.columns
    assert [each.code for each in layer.diagnostics if "no market moisture" in each.message] == ["crop-unknown"]
    with pytest.raises(ValueError, match="needs the weight of a bushel"):
        layer.to_units({"yield_wet_mass": "bu/ac"})


def test_stated_crop_that_the_rows_contradict_is_said() -> None:
    for rows, stated, expected in (("Soybeans", "corn", 1), ("Corn - Grain", "maize", 0), ("Kale", "corn", 0)):
        layer = harmonized(harvest(rows), crop=stated)
        found = [each.message for each in layer.diagnostics if each.code == "crop-contradicts"]
        assert len(found) == expected
        assert all("`crop` is `corn`, but the job or its rows name `Soybeans`" in message for message in found)


def test_unknown_crop_argument_names_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"crop `kale` is not known; known crops: barley, bean, .* wheat"):
        hl.harmonize(harvest(), kind="yield", crop="kale")


@pytest.mark.parametrize(
    ("name", "unit", "expected"),
    [
        ("Dry_Yield", "kg/ha", "yield_dry_mass"),
        ("DryYield", "bu/ac", "yield_dry_volume"),
        ("YIELD_DRY", "dt/ha", "yield_dry_mass"),
        ("Wet_Yield", "t/ha", "yield_wet_mass"),
        ("ErtragTroc", "q/ha", "yield_dry_mass"),
        ("YldMassDry", "Mg/ha", "yield_dry_mass"),
        ("Rendimien", "qq/ha", "yield"),
        ("Produtivid", "kg/ha", "yield"),
        ("DRYMATTER", "kg/ha", "yield_dry_matter"),
    ],
)
def test_yield_by_the_names_of_farms_is_found(name: str, unit: str, expected: str) -> None:
    frame = harvest().drop(columns=["Yield", "Moisture"]).assign(**{name: 9000.0})
    layer = hl.harmonize(frame, kind="yield", crop="corn", units={"Distance": "m", "Swath": "m", name: unit})
    computed = ["yield_wet"] if expected == "yield_wet_mass" else [] if expected == "yield" else ["yield_dry"]
    assert [column for column in layer.columns if column.startswith("yield")] == [expected, *computed]
    assert next(entry for entry in layer.provenance if entry["column"] == expected)["source"] == name


def test_wet_and_dry_yield_of_one_file_are_both_found() -> None:
    frame = harvest().drop(columns="Yield").assign(Dry_Yield=8.0, Wet_Yield=9.0)
    units = {"Distance": "m", "Swath": "m", "Dry_Yield": "t/ha", "Wet_Yield": "t/ha"}
    layer = hl.harmonize(frame, kind="yield", crop="corn", units=units)
    assert (layer.values("yield_dry_mass")[0], layer.values("yield_wet_mass")[0]) == (8000.0, 9000.0)
    unknown = hl.harmonize(frame, kind="yield", crop="corn", units={"Distance": "m", "Swath": "m"})
    said = {each.code for each in unknown.diagnostics if "Yield" in each.message}
    assert said == {"unit-unknown", "column-not-used"}


def test_dry_matter_is_a_yield_of_its_own_and_gives_the_masses() -> None:
    frame = harvest().drop(columns="Yield").assign(DRYMATTER=8200.0)
    layer = hl.harmonize(frame, kind="yield", crop="corn", units={"Distance": "m", "Swath": "m", "DRYMATTER": "kg/ha"})
    assert next(entry for entry in layer.provenance if entry["column"] == "yield_dry_matter")["moisture_basis"] == 0
    np.testing.assert_allclose(layer.values("wet_mass"), 8200 * 12 / 10_000 / 0.82, rtol=1e-12)
    np.testing.assert_allclose(layer.values("dry_mass"), 8200 * 12 / 10_000 / 0.845, rtol=1e-12)
