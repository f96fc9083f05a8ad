"""Target and applied rates: planted sprayer jobs, products, prescriptions, and input that is refused."""

from __future__ import annotations

import io
import pickle
import re
import warnings
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import shapely
from sprayed_jobs import SPEED, ZONES, mixed, sprayed, zones

import headland as hl

if TYPE_CHECKING:
    from pathlib import Path

    import geopandas as gpd
    import pandas as pd

SHARE = 0.005
"""The part of the ground by which classes may differ from the planted ones."""


def compared(*arguments: Any, **options: Any) -> hl.RateComparison:
    """Compare rates; warnings are diagnostics, which the tests look at."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hl.HeadlandWarning)
        return hl.compare_rates(*arguments, **options)


def lines(comparison: hl.RateComparison, target: str = "logged", product: str | None = None) -> pd.DataFrame:
    """Return the report of a target and product, by name."""
    report = comparison.report.to_pandas()
    product_of = report["product"].fillna("")
    return report[(report["target"] == target) & (product_of == (product or ""))].set_index("name")


def codes(comparison: hl.RateComparison) -> set[str]:
    """Return the codes of the diagnostics of the rows."""
    return {diagnostic.code for diagnostic in comparison.layer.diagnostics}


@pytest.mark.parametrize(
    "plan",
    [
        {},
        {"lag": 3},
        {"overlap": 0.25},
        {"swing": 0.3},
        {"off": (120.0, 200.0)},
        {"lag": 2, "overlap": 0.1, "swing": 0.2, "off": (60.0, 100.0)},
        {"lag": 2, "swing": 0.2, "off": (60.0, 100.0), "is_polygons": True},
    ],
    ids=str,
)
def test_classes_are_the_planted_ground(plan: dict[str, Any]) -> None:
    job = sprayed(**plan)
    comparison = compared(job.frame)
    report = lines(comparison)
    whole = sum(job.ground.values())
    found = {name: report["ha"].get(name, 0.0) * 1e4 for name in job.ground}
    assert found == pytest.approx(job.ground, abs=SHARE * whole)
    everything = report.loc["all"]
    assert everything["ha"] * 1e4 == pytest.approx(whole, rel=SHARE)
    assert everything["applied"] == pytest.approx(job.applied, rel=1e-6)
    assert everything["asked"] == pytest.approx(job.asked, rel=SHARE)
    classes = report[report["by"] == "class"]
    assert classes["ha"].sum() == pytest.approx(everything["ha"])
    assert classes["share"].sum() == pytest.approx(1.0)
    assert classes["applied"].sum() == pytest.approx(everything["applied"])


def test_causes_and_settling_time_are_those_of_the_plan() -> None:
    comparison = compared(sprayed(lag=3).frame)
    report = lines(comparison)
    # Only the lag makes rates wrong, after each step of the target.
    assert report["share"]["step"] == pytest.approx(1.0)
    assert report["share"]["double"] == report["share"]["none"] == 0.0
    steps = comparison.steps.to_pandas()
    assert steps["target_rate"].tolist() == pytest.approx(sorted(ZONES))
    assert steps["settling_time"].tolist() == pytest.approx([3.0, 3.0, 3.0])
    # Six passes, two changes each, seen by two sections.
    assert steps["changes"].sum() == steps["settled"].sum() == 24
    swinging = lines(compared(sprayed(swing=0.3).frame))
    speed = SPEED * (1.0 + 0.3 * np.sin(np.arange(90) / 4.0))
    is_speeding = np.concatenate([np.zeros(3), np.abs(speed[3:] - speed[:-3]) / 3.0]) > 0.2
    is_off = np.abs(SPEED / speed - 1.0) > 0.1
    expected = speed[is_off & is_speeding].sum() / speed[is_off].sum()
    assert swinging["share"]["speeding"] == pytest.approx(expected, abs=SHARE)
    overlapped = lines(compared(sprayed(overlap=0.25).frame))
    # Five of six passes overlap with one of their two sections.
    assert overlapped["rows"]["double"] == 450
    worked = compared(sprayed(lag=3).frame).layer.to_pandas()
    assert worked.loc[worked["rate_class"] == "under", "rate_error"].lt(-0.1).all()


def test_products_are_compared_by_themselves_and_against_the_job() -> None:
    one, other = sprayed(lag=3, product="Fungicide"), sprayed(scale=0.02, swing=0.2, product="Adjuvant")
    job = {
        "job_type": "Sprayer",
        "name": "North 40",
        "products": [
            {"product_name": "Fungicide", "applied_volume": one.applied, "applied_area": one.area},
            {"product_name": "Adjuvant", "applied_volume": other.applied, "applied_area": other.area},
        ],
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hl.HeadlandWarning)
        layer = hl.harmonize(mixed([one, sprayed(scale=0.02, product="Adjuvant")]), job=job)
    comparison = compared(layer)
    for part, name in ((one, "Fungicide"), (sprayed(scale=0.02), "Adjuvant")):
        report = lines(comparison, product=name)
        whole = sum(part.ground.values())
        assert report["ha"]["all"] * 1e4 == pytest.approx(whole, rel=SHARE)
        assert report["ha"]["within"] * 1e4 == pytest.approx(part.ground["within"], abs=SHARE * whole)
        assert report["applied"]["all"] == pytest.approx(part.applied, rel=1e-6)
    assert comparison.job is not None
    totals = comparison.job.to_pandas().set_index("product")
    assert totals["difference"]["Fungicide"] == pytest.approx(0.0, abs=1e-6)
    assert totals["area_difference"]["Fungicide"] == pytest.approx(0.0, abs=1e-6)
    assert comparison.job.units["reported"] == "L"
    assert compared(one.frame).job is None
    said = str(comparison).splitlines()
    assert len(said) == 2
    assert said[0].startswith("North 40, ")


def test_limit_is_within_and_zero_is_not_logged() -> None:
    frame = sprayed().frame
    frame["Applied Rate"] = 1.1 * frame["Target Rate"]
    assert lines(compared(frame))["share"]["within"] == pytest.approx(1.0)
    assert lines(compared(frame, tolerance=0.05))["share"]["over"] == pytest.approx(1.0)
    for value in (0.0, np.nan):
        unlogged = frame.assign(**{"Target Rate": value})
        unlogged.attrs = dict(frame.attrs)
        comparison = compared(unlogged)
        assert lines(comparison)["share"]["no_target"] == pytest.approx(1.0)
        assert "should_be_off" not in lines(comparison).index
        assert "there is no target" in str(comparison)
        assert "target-not-logged" in codes(comparison)
    frame.loc[frame["Target Rate"] == ZONES[1], "Target Rate"] = 0.0
    report = lines(compared(frame))
    assert report["share"]["should_be_off"] == pytest.approx(1 / 3, abs=0.02)
    assert report["applied"]["should_be_off"] > 0.0 == report["asked"]["should_be_off"]


def test_prescription_is_compared_next_to_the_logged_target() -> None:
    job = sprayed(lag=2, overlap=0.1)
    frame = zones()
    comparison = compared(job.frame, frame)
    assert set(comparison.report["target"]) == {"logged", "planned"}
    logged, planned = lines(comparison), lines(comparison, "planned")
    assert planned["share"][["under", "within", "over"]].tolist() == pytest.approx(
        logged["share"][["under", "within", "over"]].tolist(), abs=SHARE
    )
    assert "unit-unknown" in codes(comparison)
    # The unit of the prescription is converted, and one that states it leaves nothing to say.
    gallons = frame.assign(RATE=frame["RATE"] / 9.353956228956228, UNIT="gal/ac")
    stated = compared(job.frame, gallons)
    assert "unit-unknown" not in codes(stated)
    assert lines(stated, "planned")["share"]["within"] == pytest.approx(planned["share"]["within"])
    # A log without a target has the plan alone, and rows outside of the zones have none.
    bare = job.frame.drop(columns="Target Rate")
    bare.attrs = dict(job.frame.attrs)
    alone = compared(bare, frame.iloc[:2])
    assert set(alone.report["target"]) == {"planned"}
    assert lines(alone, "planned")["share"]["no_target"] == pytest.approx(1 / 3, abs=0.05)
    assert "rate_class" not in alone.layer.columns


def test_sentence_has_the_shares_of_the_report() -> None:
    comparison = compared(sprayed(off=(120.0, 200.0), lag=2).frame)
    report = lines(comparison)
    shares = {name: f"{100.0 * report['share'][name]:.1f} %" for name in ("within", "under", "over", "off")}
    assert report["share"]["off"] > 0.01
    said = str(comparison)
    assert f"{shares['within']} of the ground is within" in said
    assert f"{shares['under']} under and {shares['over']} over" in said
    assert f"on {report['ha']['off']:.2f} ha ({shares['off']}) the boom is off" in said
    whole = report["ha"]["all"]
    assert f"L applied on {whole - report['ha']['off']:.2f} of {whole:.2f} ha" in said
    # What is not worked at all is no reason to say that there is no target.
    frame = sprayed().frame
    idle = compared(_with(frame, **{"Applied Rate": 0.0}))
    assert "0.0 % of the ground is within" in str(idle)
    assert "(100.0 %) the boom is off" in str(idle)


def test_few_rows_of_a_section_that_are_alone_in_time_have_ground() -> None:
    frame = sprayed().frame
    seconds = (frame["Time"] - frame["Time"].min()).dt.total_seconds()
    # Before and after them, the section works at the west end of the field.
    of_pass = (frame["Section"] == 2) & (seconds // 110).isin([2, 3])
    kept = of_pass & (seconds // 110 == 2) & (seconds % 110).between(44, 46)
    assert kept.sum() == 3
    few = _with(frame[~of_pass | kept].reset_index(drop=True))
    few.attrs = dict(frame.attrs)
    where = np.flatnonzero(kept[~of_pass | kept])
    rows = compared(few).layer.to_pandas()
    assert rows["m2"].iloc[where].to_numpy() == pytest.approx(12.0 * SPEED, rel=0.01)
    # A position that no machine reaches in that time is wrong all the same.
    few.loc[where, "geometry"] = few.geometry.iloc[where].translate(0.2).to_numpy()
    assert compared(few).layer.to_pandas()["m2"].iloc[where].isna().all()


def test_overlapping_zones_are_named_with_their_ground() -> None:
    job = sprayed()
    frame = zones()
    assert "zones-overlap" not in codes(compared(job.frame, frame))
    west, south, east, north = frame.geometry.iloc[0].bounds
    wider = east + 0.2 * (east - west)
    frame.loc[0, "geometry"] = shapely.box(west, south, wider, north)
    [found] = [each for each in compared(job.frame, frame).layer.diagnostics if each.code == "zones-overlap"]
    ground = frame.to_crs(frame.estimate_utm_crs()).geometry
    worked = 6 * 24.0 * ground.iloc[0].intersection(ground.iloc[1]).area / (200.0)
    ha = float(re.search(r"overlap on ([0-9.]+) ha", found.message)[1])  # type: ignore[index]
    assert ha == pytest.approx(worked / 1e4, abs=0.05)
    assert f"{ha:.2f} ha in zones 0 and 1 (rates 100 and 150)" in found.message
    # The same rate twice is one rate.
    assert "zones-overlap" not in codes(compared(job.frame, frame.assign(RATE=100.0)))


@pytest.mark.parametrize("ending", [".shp", ".gpkg", ".geojson", ".parquet", ".zip"])
def test_path_of_a_prescription_is_read(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"rx{ending}"
    if ending == ".zip":
        path.write_bytes(bytes(hl.Prescription(zones(), "RATE", unit="L/ha")))
    elif ending == ".parquet":
        zones().to_parquet(path)
    else:
        zones().to_file(path)
    job = sprayed(lag=2)
    expected = lines(compared(job.frame, zones()), "planned")["ha"].to_dict()
    for target in (path, str(path)):
        # Written coordinates are rounded, so a row on the edge of a zone may be in the next one.
        assert lines(compared(job.frame, target), "planned")["ha"].to_dict() == pytest.approx(expected, abs=0.05)
    for missing in (tmp_path / f"gone{ending}", str(tmp_path / f"gone{ending}")):
        with pytest.raises(hl.ArchiveError, match=r"gone.*no such file"):
            compared(job.frame, missing)
    path.write_bytes(b"no file of zones")
    with pytest.raises(hl.ArchiveError, match="rx"):
        compared(job.frame, path)


def test_zip_of_a_prescription_is_read(tmp_path: Path) -> None:
    zones().to_file(tmp_path / "rx.shp")

    class Prescription:
        """What builds the bytes of a zip."""

        def __bytes__(self) -> bytes:
            packed = io.BytesIO()
            with zipfile.ZipFile(packed, "w") as archive:
                for member in tmp_path.iterdir():
                    archive.write(member, member.name)
            return packed.getvalue()

    job = sprayed(lag=2)
    by_zip = compared(job.frame, Prescription())
    assert by_zip.report.to_pandas().equals(compared(job.frame, zones()).report.to_pandas())


def test_display_pickles_and_map() -> None:
    comparison = compared(sprayed(lag=3).frame)
    assert "within 10 % of the logged target" in str(comparison)
    shown = comparison._repr_html_()
    assert "<svg" in shown
    assert "settling_time" in shown
    again = pickle.loads(pickle.dumps(comparison))
    assert again.report.to_pandas().equals(comparison.report.to_pandas())
    assert "<svg" in comparison.map("rate_error").svg
    assert repr(comparison).startswith("<headland.RateComparison of ")


def _with(frame: gpd.GeoDataFrame, **columns: Any) -> gpd.GeoDataFrame:
    made = frame.assign(**columns)
    made.attrs = dict(frame.attrs)
    return made


def _renamed(frame: gpd.GeoDataFrame, **units: str) -> gpd.GeoDataFrame:
    made = frame.copy()
    made.attrs = {"units": {**frame.attrs["units"], **units}}
    return made


@pytest.mark.parametrize(
    ("job", "target", "said"),
    [
        (lambda f: f, lambda: zones().assign(RATE="much"), "`target`: column `RATE` is no number"),
        (lambda f: f, lambda: zones().assign(RATE=[100.0, -1.0, 5.0]), "`RATE` is -1 in zone 1"),
        (lambda f: f, lambda: zones().assign(RATE=[100.0, np.inf, 5.0]), "`RATE` is inf in zone 1"),
        (lambda f: f, lambda: zones().rename(columns={"RATE": "A"}).assign(B=1.0), "can be the rate: `A`, `B`"),
        (lambda f: f, lambda: zones().assign(UNIT="kg/ha"), "in `kg/ha`, but those of the job in `L/ha`"),
        (lambda f: f, lambda: zones().set_crs(4326).translate(10.0).to_frame("geometry").assign(RATE=1.0), "no row is"),
        (lambda f: f, lambda: zones().set_geometry(zones().centroid), "`target` needs polygons"),
        (lambda f: f, lambda: "Speed", "Speed"),
        (lambda f: _with(f, Plan=100.0), lambda: "Plan", "the unit of column `Plan` is unknown"),
        (lambda f: f.drop(columns="Applied Rate"), lambda: None, "applied"),
        (lambda f: _with(f.drop(columns="Target Rate")), lambda: None, "has no target rate; pass `target=`"),
        (lambda f: _renamed(f, **{"Target Rate": "kg/ha"}), lambda: None, "in `kg/ha` and the applied rate in `L/ha`"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore")
def test_bad_input_names_row_or_column(job: Any, target: Any, said: str) -> None:
    frame = sprayed(passes=2).frame
    made = job(frame)
    made.attrs = made.attrs or dict(frame.attrs)
    with pytest.raises(ValueError, match=said):
        compared(made, target())


def test_wrong_arguments_are_refused() -> None:
    frame = sprayed(passes=2).frame
    for tolerance in (0.0, 1.0, -0.1):
        with pytest.raises(ValueError, match="`tolerance`"):
            compared(frame, tolerance=tolerance)
    with pytest.raises(TypeError, match="`target`"):
        compared(frame, 3.0)
