"""Times, special values and proofs of harmonised layers."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import geopandas as gpd
import pytest
from checkout import CORPUS
from harmonized_tables import YIELD, archives, codes, dated, table, timed
from shapely.geometry import Point, box

import headland as hl

if TYPE_CHECKING:
    from pathlib import Path

UTC = dt.UTC


def utc(*parts: int) -> dt.datetime:
    return dt.datetime(*parts, tzinfo=UTC)  # type: ignore[misc,arg-type]


def times(layer: hl.Layer, **options: Any) -> list[Any]:
    return hl.harmonize(layer, **options).values("time")


def form(layer: hl.Layer) -> object:
    """Return how the times were read."""
    return next(entry["rule"] for entry in hl.harmonize(layer).provenance if entry["column"] == "time")


FORMS: list[tuple[str, hl.Layer, list[dt.datetime], str, bool]] = [
    (
        "date and time of day",
        dated([("20250703", "23:59:59"), ("20250704", "00:00:01")], "D"),
        [utc(2025, 7, 3, 23, 59, 59), utc(2025, 7, 4, 0, 0, 1)],
        "date and time",
        True,
    ),
    (
        "dates with a day above 12",
        dated([("03/04/2025", "01:00:00 PM"), ("03/25/2025", "01:00:01 PM")]),
        [utc(2025, 3, 4, 13), utc(2025, 3, 25, 13, 0, 1)],
        "date and time",
        True,
    ),
    (
        "day before month",
        dated([("13/04/2025", "10:00:00"), ("03/05/2025", "10:00:01")]),
        [utc(2025, 4, 13, 10), utc(2025, 5, 3, 10, 0, 1)],
        "date and time",
        True,
    ),
    (
        "points between day and month",
        dated([("03.04.2025", "10:00:00"), ("03.05.2025", "10:00:01")]),
        [utc(2025, 4, 3, 10), utc(2025, 5, 3, 10, 0, 1)],
        "date and time",
        True,
    ),
    (
        "ISO text in UTC",
        timed(["2025-07-03T10:00:00Z", "2025-07-03T10:00:01.250Z"]),
        [utc(2025, 7, 3, 10), utc(2025, 7, 3, 10, 0, 1, 250_000)],
        "text",
        False,
    ),
    (
        "ISO text with an offset",
        timed(["2025-07-03T10:00:00-05:00"]),
        [utc(2025, 7, 3, 15)],
        "text",
        False,
    ),
    ("ISO text without a zone", timed(["2025-07-03T10:00:00"]), [utc(2025, 7, 3, 10)], "text", True),
    (
        "text of Deere displays",
        timed(["7/13/2025 1:05:06 PM", "7/13/2025 1:05:07 PM"]),
        [utc(2025, 7, 13, 13, 5, 6), utc(2025, 7, 13, 13, 5, 7)],
        "text",
        True,
    ),
    (
        "days of a spreadsheet",
        timed(["45841.5", "45841.75"], "N6"),
        [utc(2025, 7, 3, 12), utc(2025, 7, 3, 18)],
        "days of a spreadsheet",
        True,
    ),
    (
        "seconds since 1970",
        timed(["1751536800", "1751536801"], "N"),
        [utc(2025, 7, 3, 10), utc(2025, 7, 3, 10, 0, 1)],
        "seconds since 1970",
        False,
    ),
    (
        "milliseconds since 1970",
        timed(["1751536800250"], "N"),
        [utc(2025, 7, 3, 10, 0, 0, 250_000)],
        "milliseconds since 1970",
        False,
    ),
]


@pytest.mark.parametrize(
    ("layer", "expected", "rule", "is_local"), [case[1:] for case in FORMS], ids=[case[0] for case in FORMS]
)
def test_time_is_read_from_its_form(layer: hl.Layer, expected: list[dt.datetime], rule: str, *, is_local: bool) -> None:
    assert times(layer) == expected
    assert form(layer) == rule
    assert ("no-zone" in codes(hl.harmonize(layer))) == is_local


def test_fractions_of_a_second_in_some_rows_are_read() -> None:
    layer = dated([("07/13/2025", "10:00:00"), ("07/13/2025", "10:00:00.5"), ("07/13/2025", "10:00:01")])
    assert times(layer) == [utc(2025, 7, 13, 10), utc(2025, 7, 13, 10, 0, 0, 500_000), utc(2025, 7, 13, 10, 0, 1)]


def test_ambiguous_order_of_day_and_month_gives_no_time() -> None:
    layer = hl.harmonize(dated([("03/04/2025", "10:00:00"), ("05/06/2025", "10:00:01")]))
    assert "time" not in layer.to_arrow().column_names
    assert "date-order-unknown" in codes(layer)


LATE = ["23:59:58", "23:59:59", "00:00:01", "00:00:02"]


def test_times_of_day_past_midnight_continue_on_the_next_day_of_the_job() -> None:
    found = times(timed(LATE), job={"start_date": utc(2025, 7, 3, 20)})
    assert found == [
        utc(2025, 7, 3, 23, 59, 58),
        utc(2025, 7, 3, 23, 59, 59),
        utc(2025, 7, 4, 0, 0, 1),
        utc(2025, 7, 4, 0, 0, 2),
    ]
    assert "date-assumed" not in codes(hl.harmonize(timed(LATE), job={"start_date": utc(2025, 7, 3, 20)}))


def test_times_of_day_without_job_are_on_1970_with_a_diagnostic() -> None:
    layer = hl.harmonize(timed(LATE))
    assert layer.values("time")[0] == utc(1970, 1, 1, 23, 59, 58)
    assert layer.values("time")[-1] == utc(1970, 1, 2, 0, 0, 2)
    assert "date-assumed" in codes(layer)


def test_day_of_the_job_is_that_of_the_display_clock() -> None:
    # 22:00 of 3 July in Chicago is 03:00 of 4 July in UTC, the start that the service states.
    found = times(timed(["22:00:00", "22:00:01"]), job={"start_date": utc(2025, 7, 4, 3)}, timezone="America/Chicago")
    assert found == [utc(2025, 7, 4, 3), utc(2025, 7, 4, 3, 0, 1)]


def test_timezone_follows_the_change_of_clocks() -> None:
    forward = timed(["2025-03-09T01:59:59", "2025-03-09T03:00:01"])
    assert times(forward, timezone="America/Chicago") == [utc(2025, 3, 9, 7, 59, 59), utc(2025, 3, 9, 8, 0, 1)]
    assert "no-zone" not in codes(hl.harmonize(forward, timezone="America/Chicago"))
    back = timed(["2025-11-02T00:59:59", "2025-11-02T01:30:00", "2025-11-02T02:00:00"])
    assert times(back, timezone="America/Chicago") == [utc(2025, 11, 2, 5, 59, 59), None, utc(2025, 11, 2, 8)]
    assert "ambiguous-time" in codes(hl.harmonize(back, timezone="America/Chicago"))
    gap = timed(["2025-03-09T01:59:59", "2025-03-09T02:30:00"])
    assert times(gap, timezone="America/Chicago") == [utc(2025, 3, 9, 7, 59, 59), None]
    assert "nonexistent-time" in codes(hl.harmonize(gap, timezone="America/Chicago"))


def test_timezone_leaves_times_that_state_a_zone() -> None:
    layer = timed(["2025-07-03T10:00:00Z"])
    assert times(layer, timezone="America/Chicago") == [utc(2025, 7, 3, 10)]


def test_timezone_of_a_harmonised_layer_is_that_of_its_originals() -> None:
    layer = timed(["2025-07-03T10:00:00"])
    assert times(hl.harmonize(layer), timezone="America/Chicago") == [utc(2025, 7, 3, 15)]


def test_whole_seconds_of_a_day_are_no_days_of_a_spreadsheet() -> None:
    rows = [(40_000 + row, 5) for row in range(300)]
    layer = hl.harmonize(table([("TIME", "N"), YIELD], rows))
    times = layer.values("time")
    assert (times[299] - times[0]).total_seconds() == 299
    assert "date-assumed" in codes(layer)
    # Fewer rows, or numbers that do not grow by one step, are no clock.
    for others in (rows[:100], [(row[0] ** 2 % 40_009, 5) for row in rows]):
        layer = hl.harmonize(table([("TIME", "N"), YIELD], others))
        assert "time" not in layer.columns
        assert "time-unreadable" in codes(layer)


def test_one_moisture_out_of_range_leaves_the_others() -> None:
    rows = [(14.0, 5)] * 300
    layer = hl.harmonize(table([("MOISTURE", "N1"), YIELD], [*rows, (120.0, 5), (-0.1, 5)]))
    assert layer.values("moisture")[:300] == [14.0] * 300


def test_yield_keeps_its_name_where_another_column_has_that_of_its_basis() -> None:
    rows = [(4_000 + row, 4_000 + row, 10 + row % 10) for row in range(300)]
    layer = table([("WETMASS", "N1"), ("YIELD", "N1"), ("MOISTURE", "N1")], rows)
    layer = hl.harmonize(layer, units={"WETMASS": "kg/ha", "YIELD": "kg/ha"})
    assert layer.values("yield_wet_mass") == layer.values("yield") == [4_000.0 + row for row in range(300)]


def test_no_wet_mass_follows_from_dry_matter_of_pure_water() -> None:
    rows = [(5_000, moisture, 2, 10) for moisture in (20, 100, 20)]
    layer = table([("DRYMATTER", "N1"), ("MOISTURE", "N1"), ("DISTANCE", "N1"), ("SWATHWIDTH", "N1")], rows)
    layer = hl.harmonize(layer, units={"DRYMATTER": "kg/ha", "DISTANCE": "m", "SWATHWIDTH": "m"})
    assert layer.values("wet_mass") == [pytest.approx(12.5), None, pytest.approx(12.5)]


def test_times_out_of_order_keep_the_rows_and_add_their_rank() -> None:
    layer = hl.harmonize(timed(["2025-07-03T10:00:02Z", "2025-07-03T10:00:00Z", "2025-07-03T10:00:01Z"]))
    assert [time.second for time in layer.values("time")] == [2, 0, 1]
    assert layer.values("order") == [2, 0, 1]


RATES = table([("TARGETRATE", "N1"), ("APPLDRATE", "N1")], [(0, 100)] * 3)


@pytest.mark.parametrize("units", [{}, {"TARGETRATE": "kg/ha"}], ids=["unknown unit", "stated unit"])
def test_target_of_zero_in_every_row_was_not_logged(units: dict[str, str]) -> None:
    layer = hl.harmonize(RATES, units=units)
    assert "target-not-logged" in codes(layer)
    if units:
        assert layer.values("target_rate") == [None] * 3
    assert layer.values("TARGETRATE") == [0.0] * 3


def test_target_of_zero_in_some_rows_is_a_rate() -> None:
    some = table([("TARGETRATE", "N1"), ("APPLDRATE", "N1")], [(0, 0), (50, 40)])
    layer = hl.harmonize(some, units={"TARGETRATE": "lb/ac", "APPLDRATE": "gal/ac"})
    assert layer.values("target_rate") == pytest.approx([0.0, 50 * 1.120851156194456])
    assert layer.values("applied_rate") == pytest.approx([0.0, 40 * 9.353956228956228])
    quantities = {entry["column"]: entry.get("quantity") for entry in layer.provenance}
    assert quantities == {"target_rate": "mass", "applied_rate": "volume"}
    assert "target-not-logged" not in codes(layer)


def packed(frame: gpd.GeoDataFrame, folder: Path) -> hl.Layer:
    """Write a shapefile and read it."""
    frame.to_file(folder / "layer.shp")
    return hl.read(folder / "layer.shp")


def test_polygons_that_share_times_have_no_interval(tmp_path: Path) -> None:
    # A coverage layer: dissolved polygons, each second on many of them.
    rows = [(f"2025-07-03T10:00:{second:02}Z", 100.0) for second in range(10, 40) for _ in range(8)]
    frame = gpd.GeoDataFrame(
        {"IsoTime": [time for time, _ in rows], "AppldRate": [rate for _, rate in rows]},
        geometry=[box(10 + i / 1e4, 50, 10 + (i + 1) / 1e4, 50.0001) for i in range(len(rows))],
        crs="EPSG:4326",
    )
    layer = hl.harmonize(packed(frame, tmp_path))
    assert "time" in layer.to_arrow().column_names
    assert not {"interval", "speed"} & set(layer.to_arrow().column_names)
    assert sum(layer.values("worked_area")) == pytest.approx(layer.area())


@pytest.mark.skipif(not (CORPUS / "ag").is_dir(), reason=f"no corpus at {CORPUS}: set HEADLAND_CORPUS")
def test_real_coverage_polygons_have_no_interval() -> None:
    layer = hl.harmonize(hl.read(archives()["AA1617_2016_POLY_AA_N_sec1west.zip"]))
    assert {"time", "order"} <= set(layer.to_arrow().column_names)
    assert not {"interval", "speed"} & set(layer.to_arrow().column_names)


def line_of_points(step: float, distance: float, rows: int = 300) -> gpd.GeoDataFrame:
    """Return points `step` metres apart on a meridian, with a logged distance."""
    return gpd.GeoDataFrame(
        {"YIELD": [5.0] * rows, "DISTANCE": [distance] * rows},
        geometry=[Point(10, 50 + i * step / 111_200) for i in range(rows)],
        crs="EPSG:4326",
    )


@pytest.mark.parametrize(("distance", "unit"), [(2.0, "m"), (2.0 / 0.3048, "ft"), (2.0 / 0.0254, "in"), (200.0, "cm")])
def test_positions_prove_the_unit_of_distance(tmp_path: Path, distance: float, unit: str) -> None:
    layer = hl.harmonize(packed(line_of_points(2.0, distance), tmp_path))
    entry = next(entry for entry in layer.provenance if entry["column"] == "distance")
    assert entry["unit_in"] == unit
    assert "positions" in str(entry["evidence"])
    assert layer.values("distance") == pytest.approx([2.0] * 300)


@pytest.mark.parametrize("rows", [199, 300])
def test_distance_that_no_unit_explains_or_few_rows_prove_nothing(tmp_path: Path, rows: int) -> None:
    distance = 2.0 if rows < 200 else 1.5
    layer = hl.harmonize(packed(line_of_points(2.0, distance, rows), tmp_path))
    assert "distance" not in layer.to_arrow().column_names
    assert "unit-unknown" in codes(layer)


def test_states_in_words_and_in_bits_are_flags() -> None:
    for kind, cells in (("C", ["In", "Out", "In"]), ("N", ["33", "32", "1"])):
        layer = hl.harmonize(table([("WORK_STATE", kind), YIELD], [(cell, 5) for cell in cells]))
        assert layer.values("working") == [True, False, True]


def test_state_in_unknown_words_is_not_used_and_reported() -> None:
    layer = hl.harmonize(table([("WORK_STATE", "C"), YIELD], [("Parked", 5)]))
    assert "working" not in layer.to_arrow().column_names
    assert "column-not-used" in codes(layer)


def test_one_product_of_all_rows_is_the_crop_of_a_harvest() -> None:
    fields = [("PRODUCT", "C"), ("WETMASS", "N1"), ("MOISTURE", "N1"), ("DISTANCE", "N2"), ("SWATH", "N2")]
    units = {"WETMASS": "kg/ha", "DISTANCE": "m", "SWATH": "m"}
    rows = [("Wheat", 5000, 13.5, 2, 10), ("Wheat", 5000, 20, 2, 10)]
    assert hl.harmonize(table(fields, rows), units=units).values("dry_mass") == pytest.approx([10, 10 * 80 / 86.5])
    two = hl.harmonize(table(fields, [rows[0], ("Corn", 5000, 20, 2, 10)]), units=units)
    assert two.values("dry_mass") == pytest.approx([10, 10 * 80 / 84.5]), "each row is dried by its crop"
    assert two.values("market_moisture") == [13.5, 15.5]
    other = hl.harmonize(table(fields, [rows[0], ("Gravel", 5000, 20, 2, 10)]), units=units)
    assert other.values("dry_mass")[1] is None
    assert "crop-unknown" in codes(other)


def test_speed_after_a_gap_is_unknown() -> None:
    seconds = [*range(60), *range(90, 150)]
    rows = [(f"2025-09-01T10:{second // 60:02}:{second % 60:02}Z", 60 if second == 90 else 2, 5) for second in seconds]
    layer = hl.harmonize(table([("TIME", "C"), ("DISTANCE", "N2"), YIELD], rows), units={"DISTANCE": "m"})
    speeds = layer["speed"]
    assert speeds[60] is None
    assert [speed for index, speed in enumerate(speeds) if index != 60] == pytest.approx([2.0] * 119)
