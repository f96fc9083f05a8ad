"""Formats amounts, areas, the moisture that they refer to, and times."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import datetime as dt

MINUS = "\N{MINUS SIGN}"

HECTARE = 10_000.0
"""Square metres of a hectare."""

SEVERAL = "several"
"""The moisture of a column whose rows have different ones."""


def short_number(value: float) -> str:
    """Return a number with three significant digits or all digits before the point."""
    digits = max(3 - len(str(int(abs(value)))), 0)
    return f"{value:,.{digits}f}".replace("-", MINUS)


def hectares(square_metres: float) -> str:
    """Return an area in hectares with three significant digits."""
    return f"{short_number(square_metres / HECTARE)} ha"


def amount(value: float, unit: str, *, is_grain: bool = False) -> str:
    """Return an amount: grain in tonnes, seeds in thousands, others in their unit."""
    if is_grain and unit.startswith("kg"):
        return f"{short_number(value / 1000.0)} t{unit[2:]}"
    if unit == "seeds":
        return f"{value / 1000.0:,.0f} thousand seeds"
    return f"{value:,.0f} {unit}" if unit.startswith("seeds") else f"{short_number(value)} {unit}"


def at_moisture(basis: str | float | None) -> str:
    """Return the moisture at which grain is stated: percent of water, `several`, or ``None`` for wet grain."""
    if basis is None:
        return "as harvested"
    if basis == SEVERAL:
        return "at the market moisture of each crop"
    try:
        percent = float(basis)
    except ValueError:
        return "dry, at an unknown moisture"
    return "as dry matter" if percent == 0.0 else f"at {percent:g} % water"


def iso_text(value: dt.date) -> str:
    """Return a date or a time as ISO 8601, with ``Z`` for UTC."""
    return value.isoformat().replace("+00:00", "Z")
