"""One table of dates as texts: each is read alike at every door that takes times, or refused there by name."""

from __future__ import annotations

import datetime as dt
import itertools
from typing import TYPE_CHECKING, Any, Literal

import pytest
from harmonized_tables import codes
from shapefiles import Field, dbf, zipped
from time_tables import fmis

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Callable

Answer = Literal["read", "ambiguous", "no date"]

TABLE: dict[str, tuple[Answer, bool]] = {
    # Text of 2026-06-23: what columns make of it, and whether services and calls accept it.
    "2026-06-23": ("read", True),
    "2026/06/23": ("read", True),
    "20260623": ("read", True),
    "2026-6-23": ("read", True),
    "23/06/2026": ("read", False),
    "06/23/2026": ("read", False),
    "6/23/2026": ("read", False),
    "23.06.2026": ("read", False),
    "23-Jun-2026": ("read", False),
    "23-06-2026": ("read", False),
    "06/23/26": ("read", False),
    "23/06/26": ("ambiguous", False),
    "23.06.26": ("ambiguous", False),
    "26-06-23": ("ambiguous", False),
    "26/06/23": ("ambiguous", False),
    "06/07/2026": ("ambiguous", False),
    "6-7-2026": ("ambiguous", False),
    "06/07/26": ("ambiguous", False),
    "2026-06-31": ("no date", False),
    "31/06/2026": ("no date", False),
    "26": ("no date", False),
    "June": ("no date", False),
}
DAY = dt.date(2026, 6, 23)
NOON = dt.datetime(2026, 6, 23, 12, tzinfo=dt.UTC)
COLUMNS = [pytest.param(text, answer, id=text) for text, (answer, _) in TABLE.items()]
CALLS = [pytest.param(text, accepted, id=text) for text, (_, accepted) in TABLE.items()]


def column(*cells: str, time: str = "", kind: str = "C") -> bytes:
    """Return an archive with a column of these texts, and one of times of day if there is one."""
    fields = [Field(b"Date" if time else b"Time", kind, 10 if kind == "D" else 24), Field(b"Flow_kg_s", "N", 8, 2)]
    fields += [Field(b"Time", "C", 8)] if time else []
    rows = [[cell.ljust(fields[0].width).encode(), b"   10.00", time.encode()] for cell in cells]
    return zipped({"t.dbf": dbf(fields, [row[: len(fields)] for row in rows])})


def harmonized(layer: hl.Layer) -> tuple[Any, Answer]:
    layer = hl.harmonize(layer, kind="yield", timezone="UTC")
    if "time" in layer.columns:
        return layer.values("time")[0], "read"
    return None, "ambiguous" if "date-order-unknown" in codes(layer) else "no date"


def timed(layer: hl.Layer, **columns: str) -> tuple[Any, Answer]:
    try:
        layer = layer.with_time("W", zone="UTC", **columns)  # type: ignore[arg-type]
    except ValueError as error:
        return None, "ambiguous" if str(error).startswith("`format`: the dates of column") else "no date"
    return layer.values("W")[0], "read" if layer.values("W")[0] else "no date"


DOORS: dict[str, Callable[[str], tuple[Any, Answer]]] = {
    "harmonize, one column": lambda text: harmonized(hl.read(column(f"{text} 12:00:00"))),
    "harmonize, two columns": lambda text: harmonized(hl.read(column(text, time="12:00:00"))),
    "with_time, one column": lambda text: timed(hl.read(column(f"{text} 12:00:00")), date="Time"),
    "with_time, two columns": lambda text: timed(hl.read(column(text, time="12:00:00")), date="Date", time="Time"),
}


@pytest.mark.parametrize(("text", "answer"), COLUMNS)
@pytest.mark.parametrize("door", DOORS)
def test_time_of_a_column_is_read_or_refused_alike(door: str, text: str, answer: Answer) -> None:
    assert DOORS[door](text) == (NOON if answer == "read" else None, answer)


@pytest.mark.parametrize(("text", "answer"), COLUMNS)
def test_text_read_as_a_date_is_the_same_date(text: str, answer: Answer) -> None:
    with hl.open(column(text), types={"Time": "date"}) as reader:
        if answer == "read":
            assert [value for batch in reader for value in batch.values("Time")] == [DAY]
        else:
            with pytest.raises(hl.ArchiveError, match=r'types=\{"Time": "string"\}'):
                list(reader)


@pytest.mark.parametrize(
    ("text", "day", "said"),
    [
        ("20260623", DAY, set()),
        ("06/23/2026", DAY, set()),
        ("06/07/2026", dt.date(2026, 6, 7), {"ambiguous-date"}),
        ("23/06/2026", None, {"bad-date", "day-first-date"}),
        ("06/23/26", None, {"bad-date"}),
        ("2026-06-23", None, {"bad-date"}),
    ],
)
def test_field_of_dates_has_eight_digits_or_is_month_first(text: str, day: dt.date | None, said: set[str]) -> None:
    layer = hl.read(column(text, time="12:00:00", kind="D"))
    assert layer.values("Date") == [day]
    assert {code for code in codes(layer) if "date" in code} == said


@pytest.mark.parametrize(("text", "accepted"), CALLS)
def test_services_and_calls_accept_dates_that_begin_with_the_year(text: str, accepted: bool, client: hl.Client) -> None:
    (replied,) = fmis([f"{text} 12:00:00Z"]).values("TIMESTAMP")
    assert replied == (NOON if accepted else None)
    if accepted:
        expected = [job["id"] for job in client.job_data.list(date=DAY)]
        assert [job["id"] for job in client.job_data.list(date=text)] == expected
        assert client.job_data.list(date=f"{text} 12:00:00Z").first()
    else:
        with pytest.raises(ValueError, match=r"`date`.*is not a time"):
            client.job_data.list(date=text)


@pytest.mark.parametrize("order", ["%d/%m/%Y", "%m/%d/%Y", "%d.%m.%y", "%m/%d/%y"])
def test_form_is_chosen_over_all_rows(order: str) -> None:
    days = [dt.date(2026, 6, 3), dt.date(2026, 6, 23)]
    expected = [dt.datetime.combine(day, dt.time(12), dt.UTC) for day in days]
    is_proven = order != "%d.%m.%y"
    for cells in itertools.permutations([f"{day.strftime(order)} 12:00" for day in days]):
        layer = hl.read(column(*cells))
        if is_proven:
            assert sorted(layer.with_time("W", date="Time", zone="UTC").values("W")) == expected
            assert sorted(hl.harmonize(layer, kind="yield", timezone="UTC").values("time")) == expected
        else:
            assert timed(layer, date="Time") == harmonized(layer) == (None, "ambiguous")
        chosen = layer.with_time("W", date="Time", zone="UTC", format=f"{order} %H:%M")
        assert sorted(chosen.values("W")) == expected


def test_first_time_without_seconds_leaves_no_row_null() -> None:
    layer = hl.read(column("23/06/2026 14:00", "23/06/2026 14:00:01", "23/06/2026 14:00:02"))
    assert None not in layer.with_time("W", date="Time", zone="UTC").values("W")
    assert None not in hl.harmonize(layer, kind="yield").values("time")


def test_format_with_four_digits_refuses_two() -> None:
    layer = hl.read(column("23/06/26 12:00")).with_time("W", date="Time", zone="UTC", format="%d/%m/%Y %H:%M")
    assert layer.values("W") == [None]
    assert "bad-time" in codes(layer)
