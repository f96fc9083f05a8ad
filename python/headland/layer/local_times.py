"""Joins dates and times of day to UTC timestamps: Python resolves the zones, the core computes the rest."""

from __future__ import annotations

import datetime as dt
import re
import zoneinfo
from typing import TYPE_CHECKING

from headland import _core, arguments

if TYPE_CHECKING:
    from collections.abc import Iterable

EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - the clock of a zone, which is no time of UTC
"""The epoch of minutes on local clocks."""

MACHINE_ZONES = frozenset(("localtime", "posixrules", "factory"))
"""Names that mean the zone of the machine, or a zone that is not set."""

ZONE_COPIES = ("posix/", "right/")
"""Prefixes of copies of all zones; those of ``right/`` count leap seconds, which timestamps do not."""

OFFSET = re.compile(r"([+-])([01][0-9]|2[0-3]):?([0-5][0-9])")
"""An offset from UTC."""


def with_time(
    layer: _core.Layer,
    name: str,
    *,
    date: str,
    time: str | None,
    zone: str,
    format: str | None,
    fold: object,
) -> _core.Layer:
    """Return the layer with a column of UTC timestamps; see ``Layer.with_time``."""
    wanted, dates = arguments.text("name", name), arguments.text("date", date)
    times = None if time is None else arguments.text("time", time)
    tzinfo = parse_zone("zone", arguments.text("zone", zone, '"America/Chicago"'))
    core_format = None if format is None else _core_format(arguments.text("format", format, '"%m/%d/%Y %H:%M:%S"'))
    which = None if fold is None else arguments.whole_number("fold", fold, 0, 1)
    local = _core.local_times(layer, dates, times, core_format)
    return _core.with_times(layer, wanted, local, offsets(tzinfo, local.minutes), which)


def parse_zone(argument: str, zone: str) -> dt.tzinfo:
    """Return the zone of this name or offset, which `argument` gave."""
    if zone.upper() in ("UTC", "Z"):
        return dt.UTC
    offset = OFFSET.fullmatch(zone)
    if offset is not None:
        length = dt.timedelta(hours=int(offset[2]), minutes=int(offset[3]))
        return dt.timezone(-length if offset[1] == "-" else length)
    if zone.casefold() in MACHINE_ZONES or zone.casefold().startswith(ZONE_COPIES):
        raise ValueError(
            f"`{argument}`: expected a zone that is the same on every machine, such as 'America/Chicago', got {zone!r}"
        )
    try:
        return zoneinfo.ZoneInfo(zone)
    # A name can be that of a folder or a path outside the zone directory: those raise other errors.
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(
            f"`{argument}`: expected 'UTC', an offset such as '+02:00' or a name such as 'America/Chicago', "
            f"got {zone!r}; on systems without time zones, such as Windows, run `pip install tzdata`"
        ) from None


def _core_format(format: str) -> str:
    """Return a format for the core, whose sign for fractions of a second includes the point."""
    core_format = format.replace(".%f", "%.f")
    if "%f" in core_format:
        raise ValueError(f"`format`: expected %f only after a point, as in %S.%f, got {format!r}")
    return core_format


def offsets(zone: dt.tzinfo, minutes: Iterable[int]) -> list[tuple[int, int]]:
    """Return the UTC offsets in seconds of each local minute, for fold 0 and fold 1 (PEP 495)."""
    return [
        (_seconds(zone, local), _seconds(zone, local.replace(fold=1)))
        for local in (EPOCH + dt.timedelta(minutes=minute) for minute in minutes)
    ]


def _seconds(zone: dt.tzinfo, local: dt.datetime) -> int:
    offset = zone.utcoffset(local)
    return 0 if offset is None else round(offset.total_seconds())
