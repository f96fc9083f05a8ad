"""Dates and times of day joined to UTC timestamps with a zone that the user names; never a guess."""

from __future__ import annotations

import datetime as dt
import zoneinfo
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from time_tables import fmis, layer_of

if TYPE_CHECKING:
    from pathlib import Path

    import headland as hl

CHICAGO = "America/Chicago"


def utc(*parts: int) -> dt.datetime:
    """Return a time in UTC."""
    return dt.datetime(*parts, tzinfo=dt.UTC)  # type: ignore[arg-type,misc]


def notes(layer: hl.Layer) -> dict[str, str]:
    """Return the diagnostics about times."""
    return {note.code: note.message for note in layer.diagnostics if "time" in note.code}


@pytest.mark.parametrize(
    ("zone", "hour"), [("UTC", 12), ("+02:00", 10), ("-0530", 17), (CHICAGO, 17), ("Europe/Berlin", 10)]
)
def test_a_date_and_a_time_of_day_become_utc(zone: str, hour: int) -> None:
    layer = layer_of([dt.date(2026, 9, 1)] * 2, ["12:00:00", "12:00:00.25"])
    joined = layer.with_time("WHEN", date="DAY", time="TIME", zone=zone)
    half = 30 if zone == "-0530" else 0
    assert joined.values("WHEN") == [utc(2026, 9, 1, hour, half), utc(2026, 9, 1, hour, half, 0, 250_000)]
    assert joined.columns == ["DAY", "TIME", "WHEN", "geometry"]
    assert layer.columns == ["DAY", "TIME", "geometry"], "the layer itself stays"
    assert str(joined.to_arrow().schema.field("WHEN").type) == "timestamp[us, tz=UTC]"
    assert joined.__geo_interface__["features"][1]["geometry"]["coordinates"] == [1.0, 50.0] if joined.crs else True
    assert len(joined.to_geopandas()) == 2


def test_there_is_no_zone_by_default() -> None:
    with pytest.raises(TypeError, match="zone"):
        layer_of([dt.date(2026, 9, 1)], ["12:00:00"]).with_time("WHEN", date="DAY", time="TIME")  # type: ignore[call-arg]


def test_skipped_and_repeated_times_are_null_and_counted() -> None:
    days = [dt.date(2026, 3, 8), dt.date(2026, 3, 8), dt.date(2026, 11, 1), dt.date(2026, 11, 1)]
    layer = layer_of(days, ["01:59:59", "02:30:00", "01:30:00", "02:00:00"])
    joined = layer.with_time("WHEN", date="DAY", time="TIME", zone=CHICAGO)
    assert joined.values("WHEN") == [utc(2026, 3, 8, 7, 59, 59), None, None, utc(2026, 11, 1, 8)]
    found = notes(joined)
    assert "1 times, first at record 1" in found["nonexistent-time"]
    assert "1 times, first at record 2" in found["ambiguous-time"]
    for fold, hour in ((0, 6), (1, 7)):
        chosen = layer.with_time("WHEN", date="DAY", time="TIME", zone=CHICAGO, fold=fold)  # type: ignore[arg-type]
        assert chosen.values("WHEN")[1:3] == [None, utc(2026, 11, 1, hour, 30)]
        assert set(notes(chosen)) == {"nonexistent-time"}


def test_invalid_times_are_null_and_counted() -> None:
    days = [None, dt.date(2026, 9, 1), dt.date(2026, 9, 1), None]
    joined = layer_of(days, ["", "09:26:4", "noon", "12:00:00"]).with_time("WHEN", date="DAY", time="TIME", zone="UTC")
    assert joined.values("WHEN") == [None] * 4
    assert "3 times, first at record 1" in notes(joined)["bad-time"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-09-01T12:00:00Z", utc(2026, 9, 1, 12)),
        ("2026-09-01 12:00:00.5", utc(2026, 9, 1, 12, 0, 0, 500_000)),
        ("20260901 120000", utc(2026, 9, 1, 12)),
        ("2026/09/01 1:02:03 PM", utc(2026, 9, 1, 13, 2, 3)),
        ("13/09/2026 12:00:00", utc(2026, 9, 13, 12)),
        ("noon", None),
    ],
)
def test_one_column_may_contain_date_and_time(text: str, expected: dt.datetime | None) -> None:
    assert layer_of([text], as_text=True).with_time("WHEN", date="DAY", zone="UTC").values("WHEN") == [expected]


def test_an_ambiguous_date_is_an_error_that_names_the_format() -> None:
    layer = layer_of(["09/01/2026 12:00:00"], as_text=True)
    with pytest.raises(
        ValueError, match="`format`: the dates of column `DAY` can be `day, month, year` or `month, day"
    ):
        layer.with_time("WHEN", date="DAY", zone="UTC")


def test_a_format_reads_other_forms() -> None:
    layer = layer_of(["09/01/2026 12:00:01.5"], as_text=True)
    assert layer.with_time("W", date="DAY", zone="UTC", format="%m/%d/%Y %H:%M:%S.%f").values("W") == [
        utc(2026, 9, 1, 12, 0, 1, 500_000)
    ]
    both = layer_of(["9/1/26"], ["3:04 pm"], as_text=True)
    assert both.with_time("W", date="DAY", time="TIME", zone="UTC", format="%m/%d/%y %I:%M %p").values("W") == [
        utc(2026, 9, 1, 15, 4)
    ]


def test_a_text_that_states_an_offset_must_agree_with_the_zone() -> None:
    layer = layer_of(["2026-11-01T01:30:00-06:00"], as_text=True)
    assert layer.with_time("W", date="DAY", zone=CHICAGO).values("W") == [utc(2026, 11, 1, 7, 30)]
    with pytest.raises(ValueError, match=r"has the UTC offset -06:00, but `zone` has \+00:00"):
        layer.with_time("W", date="DAY", zone="UTC")
    with pytest.raises(ValueError, match=r"has the UTC offset \+00:00"):
        layer_of(["2026-09-01T12:00:00Z"], as_text=True).with_time("W", date="DAY", zone=CHICAGO)


def test_fmis_times_without_a_zone_have_none_until_the_user_names_it(tmp_path: Path) -> None:
    layer = fmis(["2026-09-01T12:00:00", "2026-09-01T12:00:00.5", ""])
    naive = dt.datetime(2026, 9, 1, 12)  # noqa: DTZ001
    assert layer.values("TIMESTAMP") == [naive, naive.replace(microsecond=500_000), None]
    assert str(layer.to_arrow().schema.field("TIMESTAMP").type) == "timestamp[us]"
    assert layer.to_arrow().to_pandas()["TIMESTAMP"][0] == naive
    (message,) = [note.message for note in layer.diagnostics if note.code == "no-zone"]
    assert "Layer.with_time(" in message
    layer.write_parquet(tmp_path / "t.parquet")
    assert str(pq.read_schema(tmp_path / "t.parquet").field("TIMESTAMP").type) == "timestamp[us]"
    joined = layer.with_time("WHEN", date="TIMESTAMP", zone=CHICAGO)
    assert joined.values("WHEN") == [utc(2026, 9, 1, 17), utc(2026, 9, 1, 17, 0, 0, 500_000), None]
    with pytest.raises(ValueError, match="dates with times"):
        layer.with_time("WHEN", date="TIMESTAMP", time="ID", zone="UTC")
    with pytest.raises(ValueError, match="wrong type of column: expected dates, times without a zone"):
        joined.with_time("AGAIN", date="WHEN", zone="UTC")


def test_fmis_times_with_and_without_zones_stay_texts() -> None:
    layer = fmis(["2026-09-01T12:00:00Z", "2026-09-01T12:00:00", "2026-09-01T12:00:00-05:00"])
    assert layer.values("TIMESTAMP") == ["2026-09-01T12:00:00Z", "2026-09-01T12:00:00", "2026-09-01T17:00:00Z"]
    assert layer.with_time("WHEN", date="TIMESTAMP", zone="UTC").values("WHEN") == [
        utc(2026, 9, 1, 12),
        utc(2026, 9, 1, 12),
        utc(2026, 9, 1, 17),
    ]


@given(
    st.lists(st.datetimes(dt.datetime(1950, 1, 1), dt.datetime(2037, 12, 31)), min_size=1, max_size=20),  # noqa: DTZ001
    st.sampled_from([CHICAGO, "Europe/London", "Australia/Lord_Howe", "Asia/Kolkata", "America/St_Johns"]),
    st.sampled_from([0, 1]),
)
def test_the_zone_is_that_of_the_standard_library(moments: list[dt.datetime], zone: str, fold: int) -> None:
    texts = [moment.isoformat(sep=" ", timespec="seconds") for moment in moments]
    found = layer_of(texts, as_text=True).with_time("W", date="DAY", zone=zone, fold=fold).values("W")  # type: ignore[arg-type]
    clocks = zoneinfo.ZoneInfo(zone)
    for moment, value in zip(moments, found, strict=True):
        local = moment.replace(microsecond=0, tzinfo=clocks, fold=fold)
        expected = local.astimezone(dt.UTC)
        exists = expected.astimezone(clocks).replace(tzinfo=None) == local.replace(tzinfo=None)
        assert value == (expected if exists else None)
