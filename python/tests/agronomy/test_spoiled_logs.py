"""Logs that are spoiled in every way: the same value, an error or a new diagnostic, never another value in silence."""

from __future__ import annotations

import math
import os
import warnings
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import pytest
import spoiled_values
from checkout import DOCS
from generated_logs import LOGS, Log
from spoiled_logs import FAULTS, MissingColumnError

import headland as hl

if TYPE_CHECKING:
    import geopandas as gpd

assert spoiled_values.CLOCKS, "the faults of values are entered"

TOLERANCE = 0.03

GENERIC = {"field-unknown", "not-shifted", "no-zone", "steps-computed", "interval-assumed", "positions-wander"}
"""Codes that accompany too many results to warn of this one."""


class Outcome(NamedTuple):
    """What a log gives: the mean on the map, the worked ground, the mean of the field, and all codes."""

    values: dict[str, float]
    codes: set[str]


def outcome(frame: object, kind: str) -> Outcome:
    """Harmonise, clean and map a log."""
    layer = hl.harmonize(frame, kind=kind)  # type: ignore[arg-type]
    cleaned = hl.clean(layer)
    grid = hl.grid(cleaned, 10.0)
    codes = {str(found.code) for part in (layer, cleaned.layer, grid) for found in part.diagnostics}
    cells = grid.to_pandas()
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        values = {"ground": float(cells["covered"].sum()), "area": layer.covered_area()}
    amount, ground = ("kg_dry", "m2") if kind == "yield" else ("amount", "covered")
    worked = float(cells[ground].sum())
    values["mean"] = float(cells[amount].sum() / worked * 1e4) if amount in cells and worked else math.nan
    if kind == "yield":
        means = hl.field_means(layer)
        values["field"] = float(means.to_pandas()["mean"].iloc[0])
        codes |= {str(found.code) for found in means.diagnostics}
    return Outcome(values, codes)


@cache
def whole(name: str) -> Outcome:
    """Return the outcome of a log that is not spoiled."""
    log = LOGS[name]()
    return outcome(log.frame, log.kind)


def agree(one: dict[str, float], other: dict[str, float]) -> bool:
    """Return whether all values are the same."""
    return all(math.isclose(one[name], other[name], rel_tol=TOLERANCE, abs_tol=1e-9) for name in one)


@pytest.mark.parametrize("name", LOGS)
def test_log_as_it_is_gives_the_truth_without_a_warning(name: str) -> None:
    log = LOGS[name]()
    values, codes = whole(name)
    assert values["ground"] == pytest.approx(log.truth.ground, rel=0.02)
    assert values["area"] == pytest.approx(log.truth.ground, rel=0.02)
    assert values["mean"] == pytest.approx(log.truth.mean, rel=0.015)
    assert values.get("field", log.truth.mean) == pytest.approx(log.truth.mean, rel=0.01)
    assert codes <= GENERIC


# Each fault is tried on one log; a series tries it on all.
SERIES = len(LOGS) if "HEADLAND_SERIES" in os.environ else 1


def spoiled(fault: str, turn: int) -> tuple[str, Log, gpd.GeoDataFrame]:
    """Return the name of a log that has the columns for a fault, the log, and its spoiled rows."""
    first = list(FAULTS).index(fault) + turn
    names = list(LOGS)
    for name in (names[(first + further) % len(names)] for further in range(len(names))):
        log = LOGS[name]()
        with suppress(MissingColumnError):
            return name, log, FAULTS[fault].spoil(log)
    raise AssertionError(fault)


def test_page_of_evidence_states_the_number_of_faults() -> None:
    page = (DOCS / "how_we_know.md").read_text(encoding="utf-8")
    assert f"| {len(FAULTS)} faults on one log each" in page


@pytest.mark.parametrize("turn", range(SERIES))
@pytest.mark.parametrize("fault", FAULTS)
def test_spoiled_log_gives_the_same_or_says_so(fault: str, turn: int) -> None:
    name, log, frame = spoiled(fault, turn)
    keeps = FAULTS[fault].keeps
    known = whole(name)
    try:
        values, codes = outcome(frame, log.kind)
    except ValueError:
        if keeps:
            raise
        return
    is_same = agree(known.values, values)
    assert is_same or not keeps, (known.values, values, codes - known.codes)
    assert is_same or codes - known.codes - GENERIC, (known.values, values)
