"""A change of the clock inside a job: the order of rows shows which time is meant, or it is said."""

from __future__ import annotations

import datetime as dt
import zoneinfo

import pytest
from harmonized_tables import YIELD, codes, table

import headland as hl

CHICAGO = "America/Chicago"
AUTUMN = dt.datetime(2026, 11, 1, 6, tzinfo=dt.UTC)
"""An hour before clocks go back in Chicago."""


def clock(moments: list[dt.datetime]) -> hl.Layer:
    """Return rows of a harvest with these moments on the clock of Chicago."""
    zone = zoneinfo.ZoneInfo(CHICAGO)
    texts = [moment.astimezone(zone).strftime("%Y-%m-%d %H:%M:%S") for moment in moments]
    return table([("Time", "C"), YIELD], [(text, 5) for text in texts])


def moments(first: int, last: int, step: int = 1) -> list[dt.datetime]:
    """Return moments in minutes after the first ambiguous one."""
    return [AUTUMN + dt.timedelta(minutes=minute) for minute in range(first, last, step)]


@pytest.mark.parametrize(
    "rows",
    [
        moments(-30, 150),
        moments(40, 90),
        moments(-10, 50),
        moments(70, 130),
        moments(20, 110, 15),
        moments(-30, 40) + moments(75, 150),
    ],
    ids=["whole night", "around the change", "before it", "after it", "coarse rows", "with a break"],
)
def test_order_of_rows_shows_which_time_is_meant(rows: list[dt.datetime]) -> None:
    layer = clock(rows)
    timed = layer.with_time("W", date="Time", zone=CHICAGO)
    assert timed.values("W") == rows
    assert "ambiguous-time" not in codes(timed)
    harmonized = hl.harmonize(layer, timezone=CHICAGO)
    assert harmonized.values("time") == rows
    assert "ambiguous-time" not in codes(harmonized)


@pytest.mark.parametrize(
    "rows",
    [moments(10, 50), moments(70, 110), moments(70, 150)[::-1], moments(-90, -80) + moments(10, 20)],
    ids=["inside the first hour", "inside the second hour", "backwards", "after a break"],
)
def test_time_that_rows_do_not_prove_is_said(rows: list[dt.datetime]) -> None:
    layer = clock(rows)
    for found, name in (
        (layer.with_time("W", date="Time", zone=CHICAGO), "W"),
        (hl.harmonize(layer, timezone=CHICAGO), "time"),
    ):
        assert all(value in (None, row) for value, row in zip(found.values(name), rows, strict=True))
        assert None in found.values(name)
        assert "ambiguous-time" in codes(found)


def test_display_that_did_not_change_its_clock_is_said() -> None:
    standard = [moment - dt.timedelta(hours=5) for moment in moments(-10, 90)]
    texts = [moment.strftime("%Y-%m-%d %H:%M:%S") for moment in standard]
    layer = table([("Time", "C"), YIELD], [(text, 5) for text in texts])
    timed = layer.with_time("W", date="Time", zone=CHICAGO)
    assert timed.values("W").count(None) == 60
    assert "ambiguous-time" in codes(timed)


def test_change_is_said_where_no_zone_is_named() -> None:
    message = next(note.message for note in hl.harmonize(clock(moments(40, 90))).diagnostics if note.code == "no-zone")
    assert "goes back at record 20, as at the end of daylight saving time" in message
    assert all("daylight" not in note.message for note in hl.harmonize(clock(moments(-90, -10))).diagnostics)
