"""Mean yields of fields, worked areas and the moisture of dry figures, on jobs that are driven on paper."""

from __future__ import annotations

from typing import Any

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely
from driven_rows import UNITS, field, frame, harmonized, job, straight

import headland as hl

CORN, SOYBEAN = 15.5, 13.0


def passes(**columns: Any) -> list[pd.DataFrame]:
    """Return two passes of 100 m and 6 m, of which the second overlaps half of the first."""
    return [straight((0, 0), (0, 100), **columns), straight((3, 100), (3, 0), seconds=80.0, **columns)]


def test_mean_is_all_dry_mass_by_ground_that_counts_once() -> None:
    layer = job(*passes())
    means = hl.field_means(layer)
    [row] = means
    mass = sum(layer["dry_mass"])
    assert row["dry_mass"] == pytest.approx(mass)
    assert row["worked_area"] == pytest.approx(1200, rel=1e-6)
    assert row["covered_area"] == pytest.approx(900, rel=0.02)
    assert row["mean"] == pytest.approx(mass / row["covered_area"] * 10_000)
    assert (row["crop"], row["market_moisture"], row["rows"], row["rows_without_yield"]) == ("corn", CORN, 100, 0)
    assert (row["field"], row["job_id"], row["year"]) == (None, None, 2024)
    assert means.units["mean"] == "kg/ha"


def test_grain_that_arrives_with_the_header_up_counts_and_its_drive_does_not() -> None:
    down, up = straight((0, 0), (0, 100)), straight((0, 100), (0, 140), seconds=50.0)
    layer = job(down.assign(working=True, flow=np.r_[np.zeros(5), np.full(45, 5.0)]), up.assign(working=False))
    assert sum(layer["worked_area"]) == pytest.approx(600, rel=1e-6)
    assert layer["worked_area"][-1] == 0.0
    assert layer["yield_wet"][-1] is None
    [row] = hl.field_means(layer)
    assert row["dry_mass"] == pytest.approx(sum(layer["dry_mass"]))
    assert row["covered_area"] == pytest.approx(600, rel=0.02)


def test_long_drive_with_the_header_down_without_grain_is_no_ground() -> None:
    rows = field(delay=6.0)
    last = rows.iloc[-1]
    up = np.arange(1.0, 121.0)
    # Two minutes along a waterway with the header down; nothing grows there.
    drive = pd.DataFrame([last] * len(up)).assign(
        x=60.0, y=2.0 * up, heading=0.0, seconds=last["seconds"] + 60.0 + up, distance=2.0, working=True, flow=0.0
    )
    alone, both = (hl.clean(harmonized(frame(part))) for part in (rows, pd.concat([rows, drive], ignore_index=True)))
    assert both.layer.to_pandas()["m2"].sum() == pytest.approx(alone.layer.to_pandas()["m2"].sum(), rel=1e-6)
    said = [diagnostic.message for diagnostic in both.layer.diagnostics if diagnostic.code == "no-grain"]
    assert len(said) == 1
    assert said[0].startswith("0.14 ha were driven with the header down without grain")
    assert "no-grain" not in [diagnostic.code for diagnostic in alone.layer.diagnostics]


def test_each_field_that_rows_name_and_each_job_of_a_concatenation_has_its_mean() -> None:
    first, second = passes()
    layer = job(first.assign(field="North"), second.assign(field="South"))
    north, south = hl.field_means(layer)
    assert (north["field"], south["field"]) == ("North", "South")
    assert north["covered_area"] == pytest.approx(600, rel=0.02)
    assert south["covered_area"] == pytest.approx(300, rel=0.04)
    other = job(straight((500, 0), (500, 50)), crop="soybean")
    both = hl.field_means(hl.concat([layer, other]))
    assert [row["field"] for row in hl.field_means([layer, other])] == ["North", "South", None]
    assert {row["crop"]: row["market_moisture"] for row in hl.field_means([layer, other])} == {
        "corn": CORN,
        "soybean": SOYBEAN,
    }
    assert sum(row["dry_mass"] for row in both) == pytest.approx(sum(layer["dry_mass"]) + sum(other["dry_mass"]))


def test_mean_without_ground_or_mass_is_null_and_says_why() -> None:
    table = pd.DataFrame({"Moisture": [15.0] * 3, "Distance(m)": [2.0] * 3, "Yld Mass(Wet)(tonne/ha)": [9.0] * 3})
    means = hl.field_means(hl.harmonize(table.assign(**{"Swth Wdth(m)": 6.0}), kind="yield", crop="corn"))
    [row] = means
    assert (row["mean"], row["covered_area"], row["dry_mass"]) == (None, None, None)
    [said] = [diagnostic for diagnostic in means.diagnostics if diagnostic.code == "mean-unknown"]
    assert "has no geometry" in said.message
    with pytest.raises(ValueError, match="is as_applied; field means are those of harvests"):
        hl.field_means(job(straight((0, 0), (0, 50)).assign(applied_rate=100.0), kind="as_applied"))


def test_worked_area_is_that_of_logged_polygons_and_counts_once_for_several_products() -> None:
    shapes = [shapely.box(x, 4_500_000, x + 2, 4_500_006) for x in range(500_000, 500_020, 2)]
    rows = {"Distance_m": 3.0, "swath_width": 6.0, "applied_rate": 150.0, "time": pd.Timestamp("2024-05-01", tz="UTC")}
    mix = [pd.DataFrame({**rows, "product": name}, index=range(10)) for name in ("A", "B", "C")]
    table = gpd.GeoDataFrame(pd.concat(mix, ignore_index=True), geometry=shapes * 3, crs=32614)
    units = {"Distance_m": "m", "swath_width": "m", "applied_rate": "L/ha"}
    layer = hl.harmonize(table, kind="as_applied", units=units)
    assert sum(layer["worked_area"]) == pytest.approx(120, rel=2e-3)
    assert sum(layer["amount"]) == pytest.approx(3 * 150 * 120 / 10_000, rel=2e-3)


def test_dry_is_at_the_market_moisture_that_is_stated() -> None:
    layer = job(*passes())
    assert layer["yield_dry"][0] == pytest.approx(layer["yield_wet"][0] * 80 / (100 - CORN))
    at_14 = hl.harmonize(layer, market_moisture=14)
    assert at_14["yield_dry"][0] == pytest.approx(layer["yield_wet"][0] * 80 / 86)
    assert basis(at_14) == {"dry_mass": 14.0, "yield_dry": 14.0}
    assert hl.harmonize(layer, market_moisture={"soybean": 9.0})["dry_mass"] == layer["dry_mass"]
    assert hl.concat([layer], market_moisture={"corn": 14})["dry_mass"] == pytest.approx(at_14["dry_mass"])
    unknown = job(*passes(), crop=None)
    assert "dry_mass" not in unknown.columns
    assert hl.harmonize(unknown, market_moisture=14)["dry_mass"] == pytest.approx(at_14["dry_mass"])
    for wrong in (-1, 41, float("nan")):
        for call in (hl.harmonize, lambda layer, **given: hl.concat([layer], **given)):
            with pytest.raises(ValueError, match="`market_moisture`: expected a percentage of water from 0 to 40"):
                call(layer, market_moisture=wrong)
    with pytest.raises(ValueError, match=r"0\.145 is a share, but a percentage is expected: did you mean 14\.5\?"):
        hl.harmonize(layer, market_moisture=0.145)
    with pytest.raises(ValueError, match="crop `gravel`"):
        hl.harmonize(layer, market_moisture={"gravel": 10})
    with pytest.raises(TypeError, match="`market_moisture`: expected a number"):
        hl.harmonize(layer, market_moisture="14")  # type: ignore[arg-type]


def basis(layer: hl.Layer) -> dict[str, Any]:
    """Return the moisture of the dry columns that were computed."""
    dry = ("dry_mass", "yield_dry")
    return {str(entry["column"]): entry["moisture_basis"] for entry in layer.provenance if entry["column"] in dry}


def test_file_with_two_crops_is_dried_and_cleaned_by_row() -> None:
    rows = frame(pd.concat([rows.assign(flow=5.0, moisture=20.0) for rows in passes()], ignore_index=True))
    rows["crop"] = ["Maize"] * 50 + ["Soybeans"] * 50
    layer = harmonized(rows, crop=None)
    assert set(layer["crop"]) == {"corn", "soybean"}
    wet, dry = np.array(layer["wet_mass"]), np.array(layer["dry_mass"])
    assert dry / wet == pytest.approx([80 / (100 - CORN)] * 50 + [80 / (100 - SOYBEAN)] * 50)
    assert layer["market_moisture"] == [CORN] * 50 + [SOYBEAN] * 50
    assert basis(layer) == {"dry_mass": "several", "yield_dry": "several"}
    cleaned = hl.clean(layer, delay=None, moisture_delay=None).layer
    used = [index for index, is_used in enumerate(cleaned["used"]) if is_used]
    ratio = [cleaned["yield_dry"][index] / cleaned["yield_wet"][index] for index in used if cleaned["yield_wet"][index]]
    assert {round(one, 6) for one in ratio} == {round(80 / (100 - CORN), 6), round(80 / (100 - SOYBEAN), 6)}
    unknown = harmonized(rows.assign(crop=["Maize"] * 50 + ["Hazel"] * 50), crop=None)
    assert [value is None for value in unknown["dry_mass"]] == [False] * 50 + [True] * 50
    assert "the crop of 50 rows is unknown" in next(
        said.message for said in unknown.diagnostics if said.code == "crop-unknown"
    )


def test_concatenation_keeps_what_was_stated_of_each_layer() -> None:
    corn, unknown = job(*passes()), job(*passes(), crop=None)
    at_14 = hl.harmonize(corn, market_moisture=14)
    both = hl.concat([at_14, unknown])
    assert both["crop"] == ["corn"] * 100 + [None] * 100
    assert both["market_moisture"] == [14.0] * 100 + [None] * 100
    assert both["dry_mass"] == pytest.approx([*at_14["dry_mass"], *[None] * 100])
    stated = hl.harmonize(both, crop="soybean")
    assert stated["crop"] == ["corn"] * 100 + ["soybean"] * 100
    assert stated["market_moisture"] == [14.0] * 100 + [SOYBEAN] * 100
    expected = hl.harmonize(job(*passes(), crop=None), market_moisture=SOYBEAN)["dry_mass"]
    assert stated["dry_mass"] == pytest.approx([*at_14["dry_mass"], *expected])
    assert hl.harmonize(stated, market_moisture=12)["market_moisture"] == [12.0] * 200


def test_concatenation_is_in_wgs_84_and_names_layers_without_a_way_there() -> None:
    rows = frame(pd.concat(passes(), ignore_index=True)).assign(flow=5.0, moisture=20.0)
    one, other = harmonized(rows.to_crs(32614)), harmonized(rows.to_crs(32614))
    assert hl.concat([one, other]).crs == "EPSG:4326"
    without = hl.harmonize(
        gpd.GeoDataFrame(rows.drop(columns="geometry"), geometry=rows.geometry.to_numpy(), crs=None),
        kind="yield",
        units={name: unit for name, unit in UNITS.items() if name in rows},
    )
    with pytest.raises(ValueError, match=r"coordinate system is unknown; .*`crs=`"):
        hl.concat([one, without])


def test_field_of_a_concatenation_is_that_of_the_row_or_of_the_same_ground() -> None:
    named = job(*(rows.assign(field="North") for rows in passes()))
    again, elsewhere = job(*passes()), job(straight((500, 0), (500, 100)))
    both = hl.concat([named, again, elsewhere])
    assert both["field"] == ["North"] * 200 + [None] * 50
    [said] = [diagnostic for diagnostic in both.diagnostics if diagnostic.code == "field-unknown"]
    assert said.message.startswith("`field` is null for `GeoDataFrame`:")


def test_default_map_is_the_dry_yield_and_states_its_water() -> None:
    layer = job(*passes(flow=np.linspace(4, 6, 50)))
    shown = layer.plot()
    assert shown.column == "yield_dry"
    assert "Yield at 15.5 % water" in shown.svg
    assert "Yield at 15.5 % water of" in repr(shown)
    assert "Dry mass at 15.5 % water" in layer.plot("dry_mass").svg
    assert "Mine" in layer.plot(label="Mine").svg
    assert job(*passes(flow=np.linspace(4, 6, 50)), crop=None).plot().column == "yield_wet"
