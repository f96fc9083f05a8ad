"""Ways in which logs of machines are spoiled: a table of faults, each with whether the value can stay the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely

if TYPE_CHECKING:
    from collections.abc import Callable

    from generated_logs import Log


class MissingColumnError(LookupError):
    """The log has no column for this fault."""


class Fault(NamedTuple):
    """A way to spoil a log. `keeps` says that nothing is lost, so that the value must stay the same."""

    keeps: bool
    spoil: Callable[[Log], gpd.GeoDataFrame]


FAULTS: dict[str, Fault] = {}
"""All faults by name."""


def fault(name: str, function: Callable[..., gpd.GeoDataFrame], *values: object, keeps: bool) -> None:
    """Enter a fault. The function takes a log and `values`."""
    assert name not in FAULTS, name
    FAULTS[name] = Fault(keeps, lambda log: function(log, *values))


def column(log: Log, role: str) -> str:
    """Return the name of the column with this role."""
    if role not in log.columns:
        raise MissingColumnError(role)
    return log.columns[role]


def numbers(log: Log, role: str) -> np.ndarray:
    """Return a copy of the column with this role."""
    return np.array(log.frame[column(log, role)], dtype=float)


def changed(log: Log, role: str, values: object) -> gpd.GeoDataFrame:
    """Return the frame with other values in a column."""
    return frame_of(log, log.frame.assign(**{column(log, role): values}))


def frame_of(log: Log, frame: gpd.GeoDataFrame) -> gpd.GeoDataFrame:
    """Return a frame with the units of the log."""
    units = {name: unit for name, unit in log.frame.attrs["units"].items() if name in frame}
    frame.attrs = {"units": units}
    return frame


def without(log: Log, role: str) -> gpd.GeoDataFrame:
    """Return the frame without a column."""
    return frame_of(log, log.frame.drop(columns=column(log, role)))


def taken(log: Log, rows: np.ndarray) -> gpd.GeoDataFrame:
    """Return rows by their positions."""
    column(log, "time")
    return frame_of(log, log.frame.iloc[rows].copy())


def moved(log: Log, rows: list[int] | slice, geometry: object) -> gpd.GeoDataFrame:
    """Return the frame with other positions of rows."""
    shapes = log.frame.geometry.copy()
    shapes.iloc[rows] = geometry
    return frame_of(log, log.frame.set_geometry(shapes))


def some(log: Log, role: str, value: float, share: float) -> gpd.GeoDataFrame:
    """Return the frame with one value in a share of the rows of a column."""
    values = numbers(log, role)
    values[np.random.default_rng(round(share * 1e4)).random(len(values)) < share] = value
    return changed(log, role, values)


def count(log: Log) -> int:
    """Return the number of rows."""
    return len(log.frame)


def blocks(log: Log, rows: int) -> np.ndarray:
    """Return the positions of rows with blocks of them in another order."""
    parts = np.array_split(np.arange(count(log)), max(2, count(log) // rows))
    order = np.random.default_rng(rows).permutation(len(parts))
    return np.concatenate([parts[number] for number in order])


def ordered(key: np.ndarray) -> np.ndarray:
    """Return the positions of rows sorted by a key."""
    return np.argsort(key, kind="stable")


# Rows in another order: with times, nothing is lost.
for seed in (1, 2):
    fault(
        f"shuffled {seed}",
        lambda log, s: taken(log, np.random.default_rng(s).permutation(count(log))),
        seed,
        keeps=True,
    )
fault("newest first", lambda log: taken(log, np.arange(count(log))[::-1]), keeps=True)
fault(
    "in the order of a curve",
    lambda log: taken(log, ordered(log.frame.geometry.hilbert_distance().to_numpy())),
    keeps=True,
)
fault("sorted by longitude", lambda log: taken(log, ordered(log.frame.geometry.x.to_numpy())), keeps=True)
fault("sorted by moisture", lambda log: taken(log, ordered(numbers(log, "moisture"))), keeps=True)
fault("sorted by rate", lambda log: taken(log, ordered(numbers(log, "rate"))), keeps=True)
fault("sorted by heading", lambda log: taken(log, ordered(numbers(log, "heading"))), keeps=True)
for size in (7, 100, 900):
    fault(f"blocks of {size} rows moved", lambda log, n: taken(log, blocks(log, n)), size, keeps=True)


def timeless(log: Log, rows: np.ndarray, *, numbered: bool = False) -> gpd.GeoDataFrame:
    """Return rows in another order without their times, with the order of the log in a column if asked for."""
    frame = log.frame.assign(Obj__Id=np.arange(1, count(log) + 1)) if numbered else log.frame
    return frame_of(log, frame.drop(columns=column(log, "time")).iloc[rows].copy())


fault("shuffled without time", lambda log: timeless(log, np.random.default_rng(3).permutation(count(log))), keeps=False)
fault("sorted by heading without time", lambda log: timeless(log, ordered(numbers(log, "heading"))), keeps=False)
fault(
    "in the order of a curve without time",
    lambda log: timeless(log, ordered(log.frame.geometry.hilbert_distance().to_numpy())),
    keeps=False,
)
fault(
    "shuffled with numbers of rows",
    lambda log: timeless(log, np.random.default_rng(4).permutation(count(log)), numbered=True),
    keeps=False,
)
fault("without time", lambda log: timeless(log, np.arange(count(log))), keeps=False)

# Rows that are missing.
for step in (2, 3, 5, 10):
    fault(f"row {step} of {step} only", lambda log, n: taken(log, np.arange(0, count(log), n)), step, keeps=False)
for part in (0.3, 0.5, 0.7):
    fault(
        f"a random {part:.0%} of the rows",
        lambda log, p: taken(log, np.flatnonzero(np.random.default_rng(5).random(count(log)) < p)),
        part,
        keeps=False,
    )
fault(
    "a second of each minute missing",
    lambda log: taken(log, np.flatnonzero(np.arange(count(log)) % 60 != 7)),
    keeps=True,
)
fault(
    "half of each minute missing", lambda log: taken(log, np.flatnonzero(np.arange(count(log)) % 60 < 30)), keeps=False
)


# Rows twice.
def twice(log: Log, copy: gpd.GeoDataFrame) -> gpd.GeoDataFrame:
    """Return the rows of the log followed by those of a copy."""
    return frame_of(
        log, gpd.GeoDataFrame(pd.concat([log.frame, copy], ignore_index=True), geometry="geometry", crs=log.frame.crs)
    )


def rounded(log: Log, size: float) -> gpd.GeoDataFrame:
    """Return a copy of the log with rounded coordinates."""
    shapes = shapely.set_precision(log.frame.geometry.to_numpy(), size)
    return log.frame.set_geometry(gpd.GeoSeries(shapes, index=log.frame.index, crs=log.frame.crs))


fault("a copy appended", lambda log: twice(log, log.frame), keeps=True)
fault("each row twice", lambda log: taken(log, np.repeat(np.arange(count(log)), 2)), keeps=True)
fault(
    "a tenth of the rows twice",
    lambda log: taken(log, np.sort(np.r_[np.arange(count(log)), np.arange(0, count(log), 10)])),
    keeps=True,
)
for size_ in (1e-7, 1e-6, 1e-5):
    fault(f"a copy rounded to {size_:g} degrees", lambda log, s: twice(log, rounded(log, s)), size_, keeps=False)


def later(log: Log, hours: float) -> gpd.GeoDataFrame:
    """Return a copy of the log whose clock has another zone."""
    return log.frame.assign(**{column(log, "time"): log.frame[column(log, "time")] + pd.Timedelta(hours=hours)})


fault("a copy an hour later", lambda log: twice(log, later(log, 1.0)), keeps=False)
fault("a copy six hours earlier", lambda log: twice(log, later(log, -6.0)), keeps=False)

# Positions.
fault("one row at zero", lambda log: moved(log, [count(log) // 3], shapely.Point(0, 0)), keeps=True)
fault("each 50th row at zero", lambda log: moved(log, slice(20, None, 50), shapely.Point(0, 0)), keeps=True)
fault("one row at 180, 90", lambda log: moved(log, [count(log) // 4], shapely.Point(180, 90)), keeps=True)
fault(
    "one row far away",
    lambda log: moved(
        log, [count(log) // 2], shapely.Point(log.frame.geometry.iloc[0].x + 7, log.frame.geometry.iloc[0].y)
    ),
    keeps=True,
)
fault(
    "one row 2 km away",
    lambda log: moved(
        log, [count(log) // 2], shapely.Point(log.frame.geometry.iloc[0].x, log.frame.geometry.iloc[0].y + 0.018)
    ),
    keeps=True,
)
fault("the first row at zero", lambda log: moved(log, [0], shapely.Point(0, 0)), keeps=True)
fault("one position missing", lambda log: moved(log, [5], None), keeps=True)
fault("one position empty", lambda log: moved(log, [7], shapely.Point()), keeps=True)
fault("each 60th position missing", lambda log: moved(log, slice(11, None, 60), None), keeps=True)
fault("in a zone of UTM", lambda log: frame_of(log, log.frame.to_crs(log.frame.estimate_utm_crs())), keeps=True)
fault("in web Mercator", lambda log: frame_of(log, log.frame.to_crs(3857)), keeps=True)
fault("without coordinate system", lambda log: frame_of(log, log.frame.set_crs(None, allow_override=True)), keeps=False)
fault(
    "longitude and latitude exchanged",
    lambda log: frame_of(
        log,
        log.frame.set_geometry(
            gpd.GeoSeries(
                gpd.points_from_xy(log.frame.geometry.y, log.frame.geometry.x), index=log.frame.index, crs=4326
            )
        ),
    ),
    keeps=False,
)
fault("coordinates of 6 digits", lambda log: frame_of(log, rounded(log, 1e-6)), keeps=True)

# States and machines.
STATES: dict[str, Callable[[pd.Series], object]] = {
    "as numbers with decimals": lambda state: state.astype(float),
    "as Y and N": lambda state: np.where(state > 0, "Y", "N"),
    "as 1 and 0 in text": lambda state: state.astype(str),
    "as On and Off": lambda state: np.where(state > 0, "On", "Off"),
    "as down and up": lambda state: np.where(state > 0, "down", "up"),
    "as logicals": lambda state: state > 0,
    "as 33 and 32": lambda state: state + np.int32(32),
    "as wide text": lambda state: np.where(state > 0, "  On ", "Off  "),
}
for how, state_ in STATES.items():
    fault(
        f"state {how}", lambda log, f: changed(log, "header", f(log.frame[column(log, "header")])), state_, keeps=True
    )
fault("state as 2 and 0", lambda log: changed(log, "header", 2 * log.frame[column(log, "header")]), keeps=False)
fault("state as 1 and 2", lambda log: changed(log, "header", 2 - log.frame[column(log, "header")]), keeps=False)
fault("state inverted", lambda log: changed(log, "header", 1 - log.frame[column(log, "header")]), keeps=False)
fault("state always 0", lambda log: changed(log, "header", np.int32(0)), keeps=False)
fault("state always 1", lambda log: changed(log, "header", np.int32(1)), keeps=False)
fault("state missing in a third", lambda log: some(log, "header", np.nan, 0.3), keeps=False)
fault("no state", lambda log: without(log, "header"), keeps=False)
fault("a large serial number", lambda log: frame_of(log, log.frame.assign(Serial=np.int64(2_410_019_049))), keeps=True)
fault("a serial number as text", lambda log: frame_of(log, log.frame.assign(Serial="1H0S680SJD0745321")), keeps=True)
fault(
    "no serial number with the header up",
    lambda log: frame_of(log, log.frame.assign(Serial=np.where(log.frame[column(log, "header")] > 0, 7311, 0))),
    keeps=True,
)


def halves(log: Log, offset: float) -> gpd.GeoDataFrame:
    """Return the log as two machines that work at the same time, in the order of their times."""
    time = log.frame[column(log, "time")].copy()
    middle = count(log) // 2
    time.iloc[middle:] = time.iloc[middle:] - (time.iloc[middle] - time.iloc[0]) + pd.Timedelta(seconds=offset)
    return frame_of(
        log, log.frame.assign(**{column(log, "time"): time}).sort_values(column(log, "time"), kind="stable")
    )


for offset_ in (0.0, 0.4, 1.0, 30.0, 300.5):
    fault(f"two machines {offset_:g} s apart", halves, offset_, keeps=False)
