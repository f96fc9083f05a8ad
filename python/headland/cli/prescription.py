"""Verbs of prescriptions that need no service: ``rx`` and ``check``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import headland as hl
from headland.agronomy.check_prescription import with_rate_column
from headland.agronomy.zone_files import read_zones
from headland.cli.argument_parser import Verbs, add_verb
from headland.cli.output import print_json, print_text, print_wrapped
from headland.cli.tables import print_table
from headland.display.escaping import printable

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable


REFUSED = 1
"""Exit code of a prescription with errors."""


def add_rx(verbs: Verbs) -> None:
    """Add the verb ``rx``."""
    examples = (
        "rx zones.zip --rate N --unit kg/ha --to rx.zip",
        "rx zones.parquet --rate N --unit lb/ac --step 5 --to rx.zip",
    )
    text = "Write a prescription from zones and rates."
    rx = add_verb(verbs, "rx", _rx, text, examples)
    rx.add_argument("file", type=Path, metavar="FILE", help="a shapefile or a zip of one, .parquet, .geojson or .gpkg")
    rx.add_argument("--rate", required=True, metavar="COLUMN", help="the column of rates, or one number for all zones")
    rx.add_argument("--unit", required=True, help="the unit of the rates, such as kg/ha")
    rx.add_argument("--to", type=Path, required=True, metavar="FILE", help="write FILE: .zip")
    rx.add_argument("--step", type=float, metavar="NUMBER", help="round rates to multiples of NUMBER")
    rx.add_argument("--min-area", type=float, metavar="M2", help="merge ground below M2 square metres into neighbours")
    rx.add_argument("--product", metavar="NAME", help="the product, written with the rates")
    _add_field(rx)
    rx.add_argument("--default", type=float, metavar="NUMBER", help="a rate for ground of the boundary without a zone")


def add_check(verbs: Verbs) -> None:
    """Add the verb ``check``."""
    examples = ("check rx.zip", "check rx.zip --display FieldView")
    text = "Check a prescription as a display would."
    check = add_verb(verbs, "check", _check, text, examples)
    check.add_argument("file", type=Path, metavar="FILE", help="a zip, a .shp or a folder")
    check.add_argument("--rate", metavar="COLUMN", help="the column of rates")
    _add_field(check)


def _add_field(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--boundary", type=Path, metavar="FILE", help="compare the zones with the field in FILE")
    verb.add_argument(
        "--display", metavar="NAME", help="check the limits of FieldView, Raven, Seed Hawk or Agrotax too"
    )


def _rx(given: argparse.Namespace) -> int:
    if given.to.suffix.lower() != ".zip":
        raise ValueError(f"`--to`: expected a name that ends in .zip, got `{given.to}`")
    rx = hl.Prescription(
        read_zones(given.file),
        _number(given.rate),
        unit=given.unit,
        step=given.step,
        default=given.default,
        boundary=None if given.boundary is None else read_zones(given.boundary),
        min_area=given.min_area,
        product=given.product,
        name=given.to.stem,
        display=given.display,
    )
    rx.write(given.to)
    if given.json:
        totals = rx.totals
        print_json(
            {
                "written": given.to,
                "unit": rx.unit,
                "totals": {**totals._asdict(), "rates": [each._asdict() for each in totals.rates]},
                "diagnostics": [each._asdict() for each in rx.diagnostics],
            }
        )
    else:
        rows = [
            {
                "rate": f"{each.rate:g}",
                "zones": each.zones,
                "ha": f"{each.area:.2f}",
                rx.totals.unit: f"{each.amount:.0f}",
            }
            for each in rx.totals.rates
        ]
        numbers = ["rate", "zones", "ha", rx.totals.unit]
        print_table(rows, numbers, whole=numbers, right=numbers)
        _print(rx.diagnostics)
        print_text(printable(f"written: {given.to}"))
    return _code(rx.diagnostics)


def _check(given: argparse.Namespace) -> int:
    boundary = None if given.boundary is None else read_zones(given.boundary)
    found, column = with_rate_column(given.file, boundary, given.rate, given.display)
    if given.json:
        print_json({"file": given.file, "rate": column, "diagnostics": [each._asdict() for each in found]})
    else:
        if column is not None and column.upper() != "RATE":
            print_wrapped(printable(f"rates are read from column `{column}`"))
        _print(found)
        if not found:
            print_text(printable(f"{given.file}: nothing that a display would refuse"))
    return _code(found)


def _print(found: Iterable[hl.Diagnostic]) -> None:
    for each in found:
        print_wrapped(printable(f"{each.severity} {each.code}: {each.message}"))


def _code(found: Iterable[hl.Diagnostic]) -> int:
    return REFUSED if any(each.severity == "error" for each in found) else 0


def _number(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text
