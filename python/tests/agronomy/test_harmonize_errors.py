"""Wrong input of `headland.harmonize`: one table, which the page has too."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from harmonized_tables import YIELD, dated, section, table, timed

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Callable

HARVEST = table([YIELD, ("DISTANCE", "N2"), ("SWATH", "N2"), ("GRADE", "C")], [(5, 2, 9, "a")] * 3)
GRADES = table([("GRADE", "C")], [("a",)])
MASSES = table([("WETMASS", "N1"), ("DISTANCE", "N2"), ("SWATH", "N2")], [(5000, 2, 9)])
MASS_UNITS = {"WETMASS": "kg/ha", "DISTANCE": "m", "SWATH": "m"}
RATES = table([("TARGETRATE", "N1"), ("APPLDRATE", "N1")], [(0, 100)] * 3)


def rates(unit: str) -> hl.Layer:
    """Return an application in a unit."""
    return hl.harmonize(table([("APPLDRATE", "N1")], [(100,)]), kind="as_applied", units={"APPLDRATE": unit})


def lengths(unit: str) -> hl.Layer:
    """Return a harvest whose distances are in a unit."""
    layer = table([("DISTANCE", "N2")], [(2,)])
    return hl.harmonize(layer, kind="yield", units={"DISTANCE": unit}).to_units({"distance": unit})


WRONG: list[tuple[str, Callable[[], hl.Layer], type[Exception] | str, str]] = [
    (
        "`units` with an unknown unit",
        lambda: hl.harmonize(HARVEST, units={"YIELD": "bushels a field"}),
        ValueError,
        "is not a known unit",
    ),
    (
        "`units` with a unit of another quantity",
        lambda: hl.harmonize(HARVEST, units={"YIELD": "mph"}),
        ValueError,
        "which cannot be in `mph`",
    ),
    (
        "`units` with an unknown column",
        lambda: hl.harmonize(HARVEST, units={"Nope": "m"}),
        ValueError,
        "there is no column `Nope`",
    ),
    ("unknown `crop`", lambda: hl.harmonize(HARVEST, crop="kale"), ValueError, "known crops: barley"),
    ("unknown `kind`", lambda: hl.harmonize(HARVEST, kind="mowing"), ValueError, '"yield", "as_applied" or "planting"'),
    (
        "`columns` with an unknown canonical name",
        lambda: hl.harmonize(HARVEST, columns={"colour": "GRADE"}),
        ValueError,
        "has no canonical column `colour`",
    ),
    (
        "`columns` with an unknown column",
        lambda: hl.harmonize(HARVEST, columns={"moisture": "Nope"}),
        ValueError,
        "there is no column `Nope`",
    ),
    (
        "`columns` with a text for a number",
        lambda: hl.harmonize(HARVEST, columns={"moisture": "GRADE"}),
        ValueError,
        "it cannot be `moisture`",
    ),
    ("unknown `timezone`", lambda: hl.harmonize(HARVEST, timezone="Mars/Olympus"), ValueError, "'America/Chicago'"),
    ("no column with a known meaning", lambda: hl.harmonize(GRADES), ValueError, "have no known meaning"),
    (
        "no column with a known meaning, but `kind`",
        lambda: hl.harmonize(GRADES, kind="yield"),
        ValueError,
        "`columns` names them",
    ),
    (
        "columns of no kind of job",
        lambda: hl.harmonize(table([("DISTANCE", "N2")], [(2,)])),
        ValueError,
        "pass `kind=`",
    ),
    (
        "columns of two kinds of jobs",
        lambda: hl.harmonize(table([YIELD, ("TARGETRATE", "N1")], [(5, 100)])),
        ValueError,
        "pass `kind=`",
    ),
    ("no layer", lambda: hl.harmonize({}), TypeError, "expected headland.Layer"),  # type: ignore[arg-type]
    (
        "`units` that is no mapping",
        lambda: hl.harmonize(HARVEST, units=["m"]),  # type: ignore[arg-type]
        TypeError,
        "`units`: expected a mapping",
    ),
    (
        "`units` with a number",
        lambda: hl.harmonize(HARVEST, units={"YIELD": 5}),  # type: ignore[dict-item]
        TypeError,
        "`units`: expected a mapping",
    ),
    (
        "`columns` that is no mapping",
        lambda: hl.harmonize(HARVEST, columns="YIELD"),  # type: ignore[arg-type]
        TypeError,
        "`columns`: expected a mapping",
    ),
    ("`crop` that is no text", lambda: hl.harmonize(HARVEST, crop=5), TypeError, "`crop`: expected a str"),  # type: ignore[arg-type]
    ("`kind` that is no text", lambda: hl.harmonize(HARVEST, kind=5), TypeError, "`kind`: expected a str"),  # type: ignore[arg-type]
    ("`timezone` that is no text", lambda: hl.harmonize(HARVEST, timezone=5), TypeError, "expected a str"),  # type: ignore[arg-type]
    ("`job` that is no dict", lambda: hl.harmonize(HARVEST, job="123"), TypeError, "`job`: expected the dict"),  # type: ignore[arg-type]
    (
        "two columns for one name",
        lambda: hl.harmonize(table([YIELD, ("YLD", "N1")], [(5, 6)])),
        "column-not-used",
        "`YLD` as `yield` (`YIELD` is used)",
    ),
    ("a unit that nothing states or proves", lambda: hl.harmonize(HARVEST), "unit-unknown", "its unit is unknown"),
    (
        "dates whose order is ambiguous",
        lambda: hl.harmonize(dated([("03/04/2025", "10:00:00")])),
        "date-order-unknown",
        "can be `day, month, year` or `month, day, year`",
    ),
    ("times of day without `job`", lambda: hl.harmonize(timed(["10:00:00"])), "date-assumed", "1970-01-01"),
    (
        "times without a zone",
        lambda: hl.harmonize(timed(["2025-07-03T10:00:00"])),
        "no-zone",
        "`timezone` names its zone",
    ),
    ("times of no known form", lambda: hl.harmonize(timed(["noon"])), "time-unreadable", "no known form of time"),
    ("a mass without a crop", lambda: hl.harmonize(MASSES, units=MASS_UNITS), "crop-unknown", "the crop is unknown"),
    (
        "a target rate of 0 in every row",
        lambda: hl.harmonize(RATES, units={"TARGETRATE": "kg/ha"}),
        "target-not-logged",
        "was not logged and is null",
    ),
    (
        "`concat` of two kinds of jobs",
        lambda: hl.concat([hl.harmonize(HARVEST), hl.harmonize(RATES)]),
        ValueError,
        "concatenate layers of one kind",
    ),
    (
        "`concat` of kilograms and litres in one column",
        lambda: hl.concat([rates("kg/ha"), rates("L/ha")]),
        ValueError,
        "the quantity is mass in",
    ),
    (
        "`concat` of two units with `units=None`",
        lambda: hl.concat([lengths("m"), lengths("ft")], units=None),
        ValueError,
        "the unit is m in",
    ),
    ("`concat` without layers", lambda: hl.concat([]), ValueError, "pass at least one layer"),
]
"""Wrong input: its name, the call, the exception or the code of the diagnostic, and a part of the message."""


@pytest.mark.parametrize(("call", "result", "fragment"), [case[1:] for case in WRONG], ids=[case[0] for case in WRONG])
def test_wrong_input_is_an_error_or_a_diagnostic(
    call: Callable[[], hl.Layer], result: type[Exception] | str, fragment: str
) -> None:
    if isinstance(result, str):
        messages = [item.message for item in call().diagnostics if item.code == result]
        assert any(fragment in message for message in messages), messages
    else:
        with pytest.raises(result) as caught:
            call()
        assert fragment in str(caught.value)


def test_page_has_the_table_of_wrong_input() -> None:
    rows = []
    for name, _, result, fragment in WRONG:
        shown = f"`{result}`" if isinstance(result, str) else result.__name__
        rows.append(f"| {name} | {shown} | {fragment} |")
    assert section("Wrong input") == rows
