"""Says in one sentence what a cleaned job logged, what is left out and why, and the mean of the rest."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from headland.display import quantities
from headland.display.escaping import shortened

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

REASONS = {
    "not_working": "in turns and outside of passes",
    "ends": "at ends of passes",
    "speed": "at an unusual speed",
    "position": "at a wrong position",
    "duplicate": "logged twice",
    "swath": "with a wrong width",
    "overlap": "on covered ground",
    "moisture": "with an unusual moisture",
    "spike": "with a spike of the flow",
    "local": "unlike their neighbours",
    "limits": "outside the limits",
    "edge": "near the boundary",
}
"""The reasons of rows in words, in the order of their bits; of several, the first is named."""

NOTES = ("swath", "overlap", "moisture")
"""Reasons that exclude no row."""

NO_REASON = "without a pass"

MAX_TITLE = 60
"""Characters of the name of a job."""


def left_out(reasons: Sequence[int], used: Sequence[bool], notes: Collection[str]) -> dict[str, int]:
    """Count the rows that are not used by their first reason, so that the counts add up.

    Args:
        reasons: The sets of reasons of the rows, as sums of bits.
        used: Whether each row is used.
        notes: The reasons that exclude no row.
    """
    counts: Counter[str] = Counter()
    excluding = {1 << place: words for place, (name, words) in enumerate(REASONS.items()) if name not in notes}
    for (bits, is_used), count in Counter(zip(reasons, used, strict=True)).items():
        if not is_used:
            counts[next((words for bit, words in excluding.items() if bits & bit), NO_REASON)] += count
    return {words: counts[words] for words in (*REASONS.values(), NO_REASON) if counts[words]}


def sentence(
    name: str,
    report: Sequence[dict[str, Any]],
    units: dict[str, str],
    basis: str | None,
    *,
    reasons: dict[str, int],
    ground: float,
) -> str:
    """Return points, amount and ground logged, the points left out by reason, and the cleaned mean.

    The ground counts once, as in the mean, so that the amount divided by it is near the mean.

    Args:
        name: The name of the job.
        report: The rows of the report: the first is what was logged, the last what is used.
        units: The units of the columns of the report.
        basis: Percent of water of the masses, or `several`; ``None`` if they are as logged.
        reasons: The points that are left out, by reason.
        ground: Hectares that the points cover.
    """
    logged, used = report[0], report[-1]
    is_grain = "kg" in logged
    column, rate = ("kg", "yield_without") if is_grain else ("amount", "rate_without")
    unit, per_ha = units.get(column, "unknown"), units.get(rate, "unknown")
    moisture = f" {quantities.at_moisture(basis)}" if is_grain else ""
    amount = ""
    if logged[column] and unit not in ("", "unknown"):
        amount = f"{quantities.amount(logged[column], unit, is_grain=is_grain)}{moisture} on "
    points = "1 point" if logged["rows"] == 1 else f"{logged['rows']:,} points"
    once, worked = quantities.short_number(ground), quantities.short_number(logged["ha"])
    area = f"{once} ha of ground" + (f" ({worked} ha with overlaps)" if worked != once else "")
    text = f"{shortened(name, MAX_TITLE)}: {points} logged {amount}{area}; "
    text += f"left out are {_listed([f'{count:,} {words}' for words, count in reasons.items()])}; " if reasons else ""
    if not used["rows"]:
        return f"{text}no point is left."
    kept = f"the other {used['rows']:,} are used, with" if reasons else "all are used, with"
    mean = used[rate]
    if mean is None or per_ha in ("", "unknown"):
        return f"{text}{kept} an unknown mean."
    return f"{text}{kept} a mean of {quantities.amount(mean, per_ha, is_grain=is_grain)}{moisture}."


def _listed(texts: Collection[str]) -> str:
    *first, last = texts
    return f"{', '.join(first)} and {last}" if first else last
