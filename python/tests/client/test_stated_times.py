"""Dates and times that a caller states: the same answer in lists, in `read_all` and in a mirror."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

STATED = (
    "2026-06-01",
    "2026-06-01T00:00:00Z",
    "2026-06-01 02:00:00+02:00",
    dt.date(2026, 6, 1),
    dt.datetime(2026, 6, 1, tzinfo=dt.UTC),
    pd.Timestamp("2026-06-01"),
    pd.Timestamp("2026-06-01", tz="UTC"),
    np.datetime64("2026-06-01"),
    np.datetime64("2026-06-01T00:00:00.000000000"),
)
WITHOUT_A_ZONE = (
    "2026-06-01T00:00:00",
    "2026-06-01 10:00",
    dt.datetime(2026, 6, 1),  # noqa: DTZ001 - this is what the test is about
    pd.Timestamp("2026-06-01 10:00"),
    np.datetime64("2026-06-01T10:00"),
)
NO_TIMES = ("26-06-01", "01/06/2026", "June", pd.NaT, np.datetime64("NaT"))


@pytest.fixture
def doors(client: hl.Client, tmp_path: Path) -> dict[str, Callable[[Any], object]]:
    """Return the calls that take a time."""
    return {
        "list": lambda since: list(client.job_data.list(date=since)),
        "read_all": lambda since: client.job_data.read_all(since=since, ids=["none"]),
        "Mirror since": lambda since: hl.Mirror(tmp_path / "since", client, since=since),
        "Mirror until": lambda until: hl.Mirror(tmp_path / "until", client, until=until),
    }


@pytest.mark.parametrize("time", STATED, ids=repr)
def test_every_form_of_a_time_selects_the_same(time: Any, client: hl.Client, doors: dict[str, Any]) -> None:
    ids = [job["id"] for job in client.job_data.list(date=time)]
    assert ids == [job["id"] for job in client.job_data.list(date="2026-06-01")]
    for door in doors.values():
        door(time)


@pytest.mark.parametrize("time", WITHOUT_A_ZONE, ids=repr)
def test_time_of_day_without_a_zone_is_an_error(time: Any, doors: dict[str, Any]) -> None:
    for door in doors.values():
        with pytest.raises(ValueError, match=r"without a (time )?zone"):
            door(time)


@pytest.mark.parametrize("time", NO_TIMES, ids=repr)
def test_what_is_no_time_is_an_error(time: Any, doors: dict[str, Any]) -> None:
    for door in doors.values():
        with pytest.raises(ValueError, match=r"is not a time|got NaT"):
            door(time)
