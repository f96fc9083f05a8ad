"""Tests of checks of prescriptions: one table of files made byte by byte, each with its diagnostics."""

from __future__ import annotations

import re
from typing import get_args

import geopandas as gpd
import pytest
import shapely
from prescription_files import CASES, Case
from prescription_members import SIDE, SOUTH, WEST, archive, members
from shapefiles import Shape

import headland as hl


def check(case: Case) -> list[hl.Diagnostic]:
    """Check a case with its options."""
    options = dict(case.options)
    if "boundary" in options:
        column, width = options["boundary"]
        west, south = WEST + column * SIDE, SOUTH + options.pop("north", 0) * SIDE
        field = shapely.box(west, south, west + width * SIDE, south + SIDE)
        options["boundary"] = gpd.GeoDataFrame(geometry=[field], crs=4326)
    return hl.check_prescription(case.content, **options)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_file_has_its_diagnostics(case: Case) -> None:
    found = check(case)
    assert [each.code for each in found] == case.codes, found
    if case.record is not None:
        assert found[0].record == case.record
        assert re.search(rf"(row|rows|record) {case.record}\b", found[0].message), found
    severities = [each.severity for each in found]
    assert severities == sorted(severities), "errors come first"


def test_every_code_of_prescriptions_has_a_case() -> None:
    covered = {code for case in CASES for code in case.codes}
    from headland.layer.diagnostic_codes import DiagnosticCode

    own = {
        code
        for code in get_args(DiagnosticCode)
        if code.startswith(("rx-", "rate-", "boundary-")) or code in {"sliver", "many-zones"}
    }
    # Of frames and of `Prescription`, which have tests of their own; `rate-high` is of cleaning.
    assert own - covered <= {"rate-not-finite", "rate-rounded", "rate-to-zero", "rate-without-zone", "rate-high"}


def test_zones_made_to_be_slow_are_said_and_end() -> None:
    teeth = 30_000
    comb = [(-111 + n * 1e-6, 45.5 if n % 2 else 45.0 + n % 7 * 1e-7) for n in range(teeth)]
    ring = [(x, y, 0.0, 0.0) for x, y in [*comb, (-111 + teeth * 1e-6, 44.9), (-111.0, 44.9), comb[0]]]
    content = archive(members(rows=[[120]], shapes=[Shape([ring])]))
    assert "geometry-not-checked" in [each.code for each in hl.check_prescription(content)]
