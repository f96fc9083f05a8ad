"""Prescription maps that are sent to the local service, and what the service received."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from shapefiles import RINGS, WGS84, Field, Shape, dbf, shp, zipped

if TYPE_CHECKING:
    import headland as hl

RATES = (120.0, 80.5)
SQUARES = tuple(
    [(x, 51.0, 0.0, 0.0), (x, 51.001, 0.0, 0.0), (x + 0.001, 51.001, 0.0, 0.0), (x + 0.001, 51.0, 0.0, 0.0)]
    for x in (9.0, 9.001)
)


def members(stem: str = "north", rates: tuple[float, ...] = RATES) -> dict[str, bytes]:
    """Return the files of a prescription with one square for each rate."""
    geometry, index = shp(RINGS, [Shape([[*square, square[0]]]) for square in SQUARES[: len(rates)]])
    table = dbf([Field(b"RATE", "N", 8, 2)], [[b"%8.2f" % rate] for rate in rates])
    return {f"{stem}.shp": geometry, f"{stem}.shx": index, f"{stem}.dbf": table, f"{stem}.prj": WGS84}


class Rx:
    """A prescription as far as an upload needs it."""

    def __init__(self, *diagnostics: hl.Diagnostic) -> None:
        self.name = "north"
        self.diagnostics = list(diagnostics)

    def __bytes__(self) -> bytes:
        return zipped(members())


def made(farm: hl.Sandbox, method: str) -> list[str]:
    """Return the paths of the requests of a method."""
    return [request.path for request in farm.requests if request.method == method]


def environment(farm: hl.Sandbox) -> dict[str, str]:
    keys = {f"HEADLAND_{name.upper()}": str(value) for name, value in farm.credentials.items()}
    return {**os.environ, "HEADLAND_RATE_LIMITS": "", "HEADLAND_LIMITER_STATE": "memory", **keys}
