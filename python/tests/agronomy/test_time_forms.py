"""Forms of times that are chosen over all rows: short years, spreadsheets, GPS, digits, parts, and damaged cells."""

from __future__ import annotations

import datetime as dt
from typing import Any

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
from harmonized_tables import YIELD, codes, table, timed

import headland as hl

START = pd.Timestamp("2026-06-23 14:00", tz="UTC")
TIMES = pd.Series(pd.date_range(START, periods=30, freq="s"))
JOB = {"start_date": START.to_pydatetime()}
COUNT = len(TIMES)


def rows(times: Any = None, **columns: Any) -> gpd.GeoDataFrame:
    """Return rows of a harvest with these times, or with columns of their own."""
    cells = columns if times is None else {"Time": times, **columns}
    points = gpd.points_from_xy(-93 + np.arange(COUNT) * 1e-5, np.full(COUNT, 42.0))
    return gpd.GeoDataFrame({**cells, "Flow_kg_s": np.full(COUNT, 10.0)}, geometry=points, crs=4326)


def read(frame: Any, **options: Any) -> hl.Layer:
    return hl.harmonize(frame, kind="yield", **options)


def times(layer: hl.Layer) -> list[dt.datetime | None]:
    return layer.values("time") if "time" in layer.columns else [None] * len(layer)


def entry(layer: hl.Layer) -> dict[str, Any]:
    return next(dict(entry) for entry in layer.provenance if entry["column"] == "time")


def message(layer: hl.Layer, code: str) -> str:
    return next(note.message for note in layer.diagnostics if note.code == code)


EXPECTED = [time.to_pydatetime() for time in TIMES]

SHORT_YEARS = [
    "%d/%m/%y %H:%M:%S",
    "%m/%d/%y %I:%M:%S %p",
    "%d.%m.%y %H:%M:%S",
    "%d-%m-%y %H:%M:%S",
    "%y-%m-%d %H:%M:%S",
    "%y/%m/%d %H:%M",
    "%d-%b-%y %H:%M:%S",
]


@pytest.mark.parametrize("form", SHORT_YEARS)
def test_years_of_two_digits_are_read_with_the_start_of_the_job_and_never_as_year_26(form: str) -> None:
    texts = TIMES.dt.strftime(form)
    expected = [time.replace(second=0) if "%S" not in form else time for time in EXPECTED]
    assert times(read(rows(texts), job=JOB)) == expected
    alone = read(rows(texts))
    assert times(alone) in (expected, [None] * COUNT)
    if times(alone) != expected:
        assert "`job=" in message(alone, "date-order-unknown")


def test_short_year_whose_order_the_rows_prove_needs_no_job() -> None:
    layer = read(rows(TIMES.dt.strftime("%m/%d/%y %I:%M:%S %p")))
    assert times(layer) == EXPECTED
    assert entry(layer)["evidence"] == "month, day, year, years of two digits"


def test_start_of_the_job_tells_day_and_month_apart() -> None:
    start = pd.Timestamp("2026-06-05 14:00", tz="UTC")
    texts = pd.Series(pd.date_range(start, periods=COUNT, freq="s")).dt.strftime("%d/%m/%Y %H:%M:%S")
    assert "date-order-unknown" in codes(read(rows(texts)))
    assert times(read(rows(texts), job={"start_date": start.to_pydatetime()}))[0] == start


@pytest.mark.parametrize("form", ["%Y-%m-%d %H:%M:%S", "%d/%m/%Y %H:%M:%S", "%m/%d/%Y %I:%M:%S %p"])
def test_first_time_without_seconds_is_read_like_the_others(form: str) -> None:
    texts = list(TIMES.dt.strftime(form))
    texts[0] = texts[0].replace(":00", "", 1)
    layer = read(rows(texts))
    assert times(layer) == EXPECTED
    assert "bad-time" not in codes(layer)


def test_year_26_after_christ_is_no_time() -> None:
    layer = read(rows(TIMES.dt.strftime("0026-%m-%d %H:%M:%S")))
    assert "time" not in layer.columns
    assert "time-unreadable" in codes(layer)


def test_cells_that_are_no_time_are_counted_with_their_share() -> None:
    texts = list(TIMES.dt.strftime("%Y-%m-%dT%H:%M:%SZ"))
    texts[3], texts[7], texts[8] = "n/a", "yesterday", ""
    layer = read(rows(texts))
    assert [row for row, time in enumerate(times(layer)) if time is None] == [3, 7, 8]
    assert "2 of 30 rows (6.7 %)" in message(layer, "bad-time")
    assert "1 of 30 rows (3.3 %)" in message(layer, "times-missing")


def test_missing_half_of_the_times_is_reported() -> None:
    cells = TIMES.copy()
    cells[::2] = pd.NaT
    assert "15 of 30 rows (50.0 %)" in message(read(rows(cells)), "times-missing")
    assert "times-missing" not in codes(read(rows(TIMES)))


@pytest.mark.parametrize("milliseconds", [1000, 200, 50])
def test_days_of_a_spreadsheet_are_the_moments_that_were_written(milliseconds: int) -> None:
    moments = pd.Series(pd.date_range(START, periods=COUNT, freq=f"{milliseconds}ms"))
    days = (moments - pd.Timestamp("1899-12-30", tz="UTC")) / pd.Timedelta(days=1)
    layer = read(rows(days))
    assert times(layer) == [moment.to_pydatetime() for moment in moments]
    assert entry(layer)["rule"] == "days of a spreadsheet"


def test_days_with_few_decimals_keep_their_coarse_clock() -> None:
    # Five decimals are 0.864 s: rows of one second are some of them apart, and the usual step is their mean.
    days = ((TIMES - pd.Timestamp("1899-12-30", tz="UTC")) / pd.Timedelta(days=1)).round(5)
    layer = read(rows(days))
    assert layer.values("interval")[0] == pytest.approx(1.0, rel=0.03)


GPS = (TIMES - pd.Timestamp("1980-01-06", tz="UTC")).dt.total_seconds() + 18


@pytest.mark.parametrize("factor", [1, 1000])
def test_seconds_of_gps_are_told_from_those_since_1970_by_the_job(factor: int) -> None:
    layer = read(rows((GPS * factor).astype("int64")), job=JOB)
    assert times(layer) == EXPECTED
    assert "GPS" in entry(layer)["rule"]
    since_1970 = (TIMES - pd.Timestamp(0, tz="UTC")).dt.total_seconds() * factor
    layer = read(rows(since_1970.astype("int64")), job=JOB)
    assert times(layer) == EXPECTED
    assert "epoch-assumed" not in codes(layer)


def test_seconds_without_a_job_name_both_dates() -> None:
    layer = read(rows(GPS))
    assert "2026-06-23" in message(layer, "epoch-assumed")
    assert "`job=" in message(layer, "epoch-assumed")
    # A column of dates tells them apart as well.
    assert times(read(rows(GPS, Date=[START.date()] * COUNT))) == EXPECTED


def test_week_and_second_of_gps_are_times() -> None:
    seconds = GPS.to_numpy()
    layer = read(rows(GPS_Week=(seconds // 604_800).astype("int64"), GPS_Sec=seconds % 604_800))
    assert times(layer) == EXPECTED
    assert entry(layer)["source"] == "GPS_Week, GPS_Sec"
    # The seconds of a week alone are no date.
    assert times(read(rows(GPS_Week=(seconds // 604_800).astype("int64"))))[0] is None


def test_leap_seconds_before_the_time_count() -> None:
    moment = pd.Timestamp("2008-06-23 14:00", tz="UTC")
    seconds = (moment - pd.Timestamp("1980-01-06", tz="UTC")).total_seconds() + 14
    layer = read(rows([seconds] * COUNT), job={"start_date": moment.to_pydatetime()})
    assert times(layer)[0] == moment


def test_digits_are_a_time_of_day() -> None:
    minutes = pd.Series(pd.date_range(START, periods=COUNT, freq="7s"))
    digits = minutes.dt.strftime("%H%M%S").astype("int64")
    expected = [time.to_pydatetime() for time in minutes]
    assert times(read(rows(digits), job=JOB)) == expected
    assert times(read(rows(digits, Date=minutes.dt.strftime("%Y-%m-%d")))) == expected
    assert times(read(rows(digits, Date=minutes.dt.strftime("%Y%m%d").astype("int64")))) == expected
    assert times(read(rows(minutes.dt.strftime("%Y%m%d%H%M%S").astype("int64")))) == expected
    assert times(read(rows(minutes.dt.strftime("%Y%m%d%H%M%S")))) == expected


def parts(*names: str) -> dict[str, Any]:
    return {name: getattr(TIMES.dt, name.lower()) for name in names}


def test_columns_of_parts_are_one_time() -> None:
    clock = parts("HOUR", "MINUTE", "SECOND")
    layer = read(rows(**parts("YEAR", "MONTH", "DAY"), **clock))
    assert times(layer) == EXPECTED
    assert entry(layer)["source"] == "DAY, MONTH, YEAR, HOUR, MINUTE, SECOND"
    assert times(read(rows(**{**parts("MONTH", "DAY"), "YEAR": TIMES.dt.year % 100}, **clock))) == EXPECTED
    # Without a year it is that of the job, and without a date the day as well.
    assert times(read(rows(**parts("MONTH", "DAY"), **clock), job=JOB)) == EXPECTED
    assert times(read(rows(**clock), job=JOB)) == EXPECTED
    assert "date-assumed" in codes(read(rows(**parts("MONTH", "DAY"), **clock)))


def test_seconds_since_the_start_are_times() -> None:
    lapse = np.arange(COUNT, dtype=float)
    assert times(read(rows(TIMELAPSE=lapse), job=JOB)) == EXPECTED
    layer = read(rows(TIMELAPSE=lapse))
    assert "date-assumed" in codes(layer)
    assert times(layer)[5] == dt.datetime(1970, 1, 1, 0, 0, 5, tzinfo=dt.UTC)
    # A constant is the interval of rows.
    assert "time" not in read(rows(TIMELAPSE=np.ones(COUNT))).columns


def test_running_seconds_of_a_job_are_in_utc() -> None:
    layer = table([("TIME", "N"), YIELD], [(40_000 + row, 5) for row in range(300)])
    found = hl.harmonize(layer, job=JOB, timezone="America/Chicago").values("time")
    assert found[0] == EXPECTED[0]


def test_zone_named_behind_the_time_is_read() -> None:
    layer = hl.harmonize(timed(["2026-06-23 14:00:00 UTC", "2026-06-23 14:00:01 UTC"]))
    assert layer.values("time") == EXPECTED[:2]
    assert "no-zone" not in codes(layer)
