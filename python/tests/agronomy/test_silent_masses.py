"""Masses and means of logs whose values are missing, codes, edited or of two kinds: right, or said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
from checkout import CORPUS
from generated_logs import harvest, sprayer

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Iterable

LOG = harvest().frame
ROW = np.arange(len(LOG))
HALF = len(LOG) // 2 > ROW
WET = (LOG["Flow"] / (LOG["Distance"] * 7.5) * 10_000).where(LOG["Header"] == 1, 0.0)
POLYGONS = CORPUS / "everyday" / "harvest-polygon-onehertz.zip"
MEAN = 7260.0
"""Of the log as it is; the truth is 7248 kg/ha."""


def changed(frame: pd.DataFrame = LOG, units: dict[str, str] | None = None, **columns: Any) -> Any:
    """Return the log with other columns and the units of all."""
    made = frame.assign(**columns)
    stated = {**LOG.attrs["units"], **sprayer().frame.attrs["units"], **(units or {})}
    made.attrs = {"units": {name: unit for name, unit in stated.items() if name in made}}
    return made


def mean(frame: Any, **given: Any) -> tuple[float, str]:
    """Return the mean of the one field, and all messages of the harmonised layer and of the means."""
    layer = hl.harmonize(frame, kind="yield", **given)
    means = hl.field_means(layer)
    [row] = means
    return row["mean"], text([*layer.diagnostics, *means.diagnostics])


def text(diagnostics: Iterable[hl.Diagnostic]) -> str:
    """Return codes and messages."""
    return "\n".join(f"{said.code}: {said.message}" for said in diagnostics)


@pytest.mark.parametrize("share", [0.02, 0.1, 0.3])
def test_rows_without_a_flow_do_not_lower_the_mean(share: float) -> None:
    is_missing = np.random.default_rng(0).random(len(LOG)) < share
    found, said = mean(changed(Flow=np.where(is_missing, np.nan, LOG["Flow"])))
    assert found == pytest.approx(MEAN, rel=0.01)
    assert ("of the covered ground is of rows without a mass" in said) == (share > 0.05)


def test_stretch_without_a_flow_has_the_mean_of_the_other_ground_and_is_said() -> None:
    found, said = mean(changed(Flow=np.where((ROW > 1500) & (ROW < 1800), np.nan, LOG["Flow"])))
    assert found == pytest.approx(MEAN, rel=0.01)
    assert "5.6 % of the covered ground is of rows without a mass" in said


@pytest.mark.parametrize("code", [0.0, -1.0, 65_535.0])
def test_codes_and_dropouts_of_the_flow_do_not_change_the_mean(code: float) -> None:
    found, _ = mean(changed(Flow=np.where(ROW % 10 == 0, code, LOG["Flow"])))
    assert found == pytest.approx(MEAN, rel=0.01)


def test_flow_that_is_null_until_the_grain_arrives_keeps_the_mass() -> None:
    is_first = LOG["Header"].eq(1) & LOG["Header"].shift(5, fill_value=0).eq(0)
    found, said = mean(changed(Flow=np.where(is_first & (LOG["Flow"] < 0.5), np.nan, LOG["Flow"])))
    assert found == pytest.approx(MEAN, rel=0.005)
    assert "without a mass" not in said


def test_flow_that_one_of_two_sections_logs_is_that_of_the_machine() -> None:
    left, right = (changed(Swath=3.75, Section=number) for number in (1, 2))
    both = gpd.GeoDataFrame(pd.concat([left, right.assign(Flow=np.nan)], ignore_index=True), crs=4326)
    found = hl.field_means(hl.harmonize(changed(both), kind="yield"))
    assert sum(found["dry_mass"]) == pytest.approx(sum(hl.field_means(hl.harmonize(LOG, kind="yield"))["dry_mass"]))


def test_seasons_of_one_table_have_a_mean_each() -> None:
    later = LOG.assign(Time=LOG["Time"] + pd.Timedelta(days=365), Flow=LOG["Flow"] / 2)
    both = gpd.GeoDataFrame(pd.concat([LOG, later], ignore_index=True), crs=4326)
    found = hl.field_means(hl.harmonize(changed(both), kind="yield"))
    assert found["year"] == [2025, 2026]
    assert found["mean"] == pytest.approx([MEAN, MEAN / 2], rel=0.001)


def test_harvest_in_two_layers_is_said() -> None:
    layer = hl.harmonize(LOG, kind="yield")
    other = hl.harmonize(changed(Time=LOG["Time"] + pd.Timedelta(days=3)), kind="yield")
    assert "job-twice" not in text(hl.field_means([layer, other]).diagnostics)
    part = hl.harmonize(changed(LOG.iloc[:2000]), kind="yield")
    for second in (layer, part):
        assert "job-twice: 100 % of the rows" in text(hl.field_means([layer, second]).diagnostics)
    assert "job-twice: 100 % of the rows" in text(hl.field_means([layer, other, layer]).diagnostics), "with one between"


def test_dry_yield_of_unknown_moisture_gives_a_mean_and_says_its_basis() -> None:
    name = "Yld Mass(Dry)"
    rows = changed(
        LOG.drop(columns="Flow"), {name: "kg/ha"}, **{name: WET * (100 - LOG["Moisture"]) / 86.5}
    )  # fmt: skip
    found, said = mean(rows)
    assert found == pytest.approx(7230, rel=0.01)
    assert "masses follow from `yield_dry_mass`, which is assumed to be at the market moisture of 13.5 %" in said
    cleaned = hl.clean(hl.harmonize(rows, kind="yield")).layer
    assert sum(value or 0.0 for value in cleaned["kg"]) > 0
    _, said = mean(rows.drop(columns="Crop"))
    assert "`crop` states it" in said


def test_harmonised_columns_that_were_changed_are_said() -> None:
    frame = hl.harmonize(LOG, kind="yield").to_geopandas()
    edits: dict[str, Any] = {
        "flow": frame["flow"] * 1.08,
        "moisture": frame["moisture"] + 5,
        "dry_mass": frame["dry_mass"] * 2,
        "crop": "corn",
        "swath_width": 7.0,
    }
    assert "columns-contradict" not in text(hl.field_means(frame).diagnostics)
    for name, values in edits.items():
        edited = frame.assign(**{name: values})
        for layer in (hl.field_means(edited), hl.clean(edited).layer):
            assert "columns-contradict" in text(layer.diagnostics), name
    again = hl.harmonize(frame.assign(flow=frame["flow"] * 1.08), kind="yield")
    assert "changes of harmonised ones are lost" in text(again.diagnostics)


MOISTURES: dict[str, Any] = {
    "shares in half of the rows": np.where(HALF, LOG["Moisture"], LOG["Moisture"] / 100),
    "zeros in every second row": np.where(ROW % 2, LOG["Moisture"], 0.0),
    "a code in a twentieth": np.where(ROW % 20 == 0, 99.9, LOG["Moisture"]),
    "other outliers": np.where(ROW % 20 == 0, 60 + ROW % 37, LOG["Moisture"]),
}


@pytest.mark.parametrize("name", MOISTURES)
def test_moistures_that_no_grain_has_do_not_change_the_mean(name: str) -> None:
    found, said = mean(changed(Moisture=MOISTURES[name]))
    assert found == pytest.approx(MEAN, rel=0.004)
    assert ("no-values" in said) == (name != "other outliers")


def test_moisture_that_never_changes_is_said() -> None:
    _, said = mean(changed(Moisture=25.0))
    assert "the moisture is 25.0 % in all rows" in said
    assert "moisture-unusual" not in mean(LOG)[1]


def test_repeated_code_of_a_yield_is_no_value() -> None:
    name = "Yld Mass(Wet)"
    rows = changed(LOG.drop(columns="Flow"), {name: "kg/ha"}, **{name: np.where(ROW % 100 == 0, 65_535, WET)})
    found, said = mean(rows)
    assert found == pytest.approx(7231, rel=0.01)
    assert "no-values" in said


def test_calibrated_yield_beside_the_flow_is_said() -> None:
    name = "Yld Mass(Wet)"
    for factor in (1.0, 1.05, 1.2):
        _, said = mean(changed(LOG, {name: "kg/ha"}, **{name: WET / factor}))
        expected = f"`flow` x `interval`, but yield_wet_mass x worked_area is {1 / factor:.3f} times"
        assert (expected in said) == (factor > 1)


def test_amount_of_rows_without_a_distance_is_that_of_the_map() -> None:
    rows = sprayer().frame
    number = np.arange(len(rows))
    is_missing = (number > 475) & (number < 634)
    layer = hl.harmonize(changed(rows, Distance=np.where(is_missing, np.nan, rows["Distance"])), kind="as_applied")
    whole = hl.harmonize(rows, kind="as_applied")
    assert sum(value or 0.0 for value in layer["amount"]) == pytest.approx(sum(whole["amount"]), rel=0.005)
    assert layer.area() == pytest.approx(whole.area(), rel=0.005)
    assert layer["distance"][500] is None


def test_second_columns_are_listed_as_not_used() -> None:
    second = {"Flow 2": "kg/s", "Moisture 2": "%", "Yield2": "kg/ha"}
    said = text(hl.harmonize(changed(LOG, second, **dict.fromkeys(second, 5.0)), kind="yield").diagnostics)
    assert all(f"`{name}` (it can be one more" in said for name in second)
    rows = changed(sprayer().frame, {"Applied Rate 2": "L/ha"}, **{"Applied Rate 2": 5.0})
    said = text(hl.harmonize(rows, kind="as_applied").diagnostics)
    assert "`Applied Rate 2` (it can be one more `applied_rate`" in said


def test_bushels_of_another_crop_are_said() -> None:
    layer = hl.harmonize(LOG, kind="yield")
    said = text(layer.to_units({"yield_dry": "bu/ac"}, crop="corn").diagnostics)
    assert "crop-contradicts: `crop` is `corn`, but the rows or the layer name `wheat`" in said
    for unit, crop in (("bu/ac", "wheat"), ("t/ha", "corn")):
        assert "crop-contradicts" not in text(layer.to_units({"yield_dry": unit}, crop=crop).diagnostics)


@pytest.mark.skipif(not POLYGONS.exists(), reason=f"no corpus at {CORPUS}: set HEADLAND_CORPUS")
@pytest.mark.parametrize("factor", [0.8, 1.2])
def test_wrong_width_beside_polygons_does_not_change_the_mean(factor: float) -> None:
    frame = hl.read(POLYGONS).to_geopandas()
    other = frame.assign(SWATHWIDTH=frame["SWATHWIDTH"] * factor)
    other.attrs = frame.attrs
    right, wrong = (hl.harmonize(table, kind="yield", crop="corn") for table in (frame, other))
    assert hl.field_means(wrong)["mean"] == pytest.approx(hl.field_means(right)["mean"], rel=0.01)
    assert "yield_wet_mass x distance x swath_width" in {str(entry["source"]) for entry in right.provenance}
    assert "yield_wet_mass x worked_area" in {str(entry["source"]) for entry in wrong.provenance}
