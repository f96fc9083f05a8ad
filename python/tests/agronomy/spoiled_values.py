"""Faults of the values of a log: headings, widths, distances, sensors, clocks and what was worked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import geopandas as gpd
import numpy as np
import pandas as pd
from spoiled_logs import changed, column, count, fault, frame_of, moved, numbers, some, without

if TYPE_CHECKING:
    from collections.abc import Callable

    from generated_logs import Log

# Headings.
HEADINGS: dict[str, tuple[bool, Callable[[np.ndarray], object]]] = {
    "constant 0": (False, lambda angle: np.zeros(len(angle))),
    "constant 90": (False, lambda angle: np.full(len(angle), 90.0)),
    "mathematical": (False, lambda angle: (90.0 - angle) % 360),
    "in radians": (False, np.radians),
    "in gons": (False, lambda angle: angle / 0.9),
    "reversed": (False, lambda angle: (angle + 180) % 360),
    "off by 10 degrees": (True, lambda angle: (angle + 10) % 360),
    "off by 45 degrees": (False, lambda angle: (angle + 45) % 360),
    "off by -90 degrees": (False, lambda angle: (angle - 90) % 360),
    "off by 135 degrees": (False, lambda angle: (angle + 135) % 360),
    "from -180 to 180": (True, lambda angle: (angle + 180) % 360 - 180),
    "of another row": (False, lambda angle: np.random.default_rng(7).permutation(angle)),
    "stuck from the middle on": (
        False,
        lambda angle: np.where(np.arange(len(angle)) < len(angle) // 2, angle, angle[len(angle) // 2]),
    ),
    "missing in places": (True, lambda angle: np.where(np.arange(len(angle)) % 13 == 0, np.nan, angle)),
    "a third at 0": (False, lambda angle: np.where(np.arange(len(angle)) % 3 == 0, 0.0, angle)),
    "at 65535 in places": (True, lambda angle: np.where(np.arange(len(angle)) % 19 == 0, 65535.0, angle)),
    "as text": (True, lambda angle: [f"{value:.1f}" for value in angle]),
}
for how, (keeps_, heading) in HEADINGS.items():
    fault(f"heading {how}", lambda log, f: changed(log, "heading", f(numbers(log, "heading"))), heading, keeps=keeps_)
fault("no heading", lambda log: without(log, "heading"), keeps=True)

# Widths and distances.
for factor in (0.04, 0.1, 0.2, 0.3048, 0.5, 0.6, 1.6, 2.0, 1 / 0.3048, 100.0, 1000.0):
    fault(f"width x {factor:.4g}", lambda log, f: changed(log, "swath", f * numbers(log, "swath")), factor, keeps=False)
for factor in (0.0254, 0.3048, 1 / 0.3048, 100.0):
    fault(
        f"distance x {factor:.4g}",
        lambda log, f: changed(log, "distance", f * numbers(log, "distance")),
        factor,
        keeps=False,
    )
for factor in (0.7, 0.8, 0.9144, 1.0936, 1.1):
    fault(
        f"distance x {factor:.4g}",
        lambda log, f: changed(log, "distance", f * numbers(log, "distance")),
        factor,
        keeps=True,
    )
for role_ in ("swath", "distance"):
    for value_ in (np.nan, -1.0, 65535.0):
        fault(f"{role_} {value_:g} in a twentieth", lambda log, r, v: some(log, r, v, 0.05), role_, value_, keeps=True)
    fault(f"{role_} 0 in a third", lambda log, r: some(log, r, 0.0, 0.33), role_, keeps=False)
    fault(f"{role_} null in a half", lambda log, r: some(log, r, np.nan, 0.5), role_, keeps=True)
    fault(f"{role_} null", lambda log, r: changed(log, r, np.nan), role_, keeps=False)
    fault(
        f"{role_} as text with a comma",
        lambda log, r: changed(log, r, [f"{value:.2f}".replace(".", ",") for value in numbers(log, r)]),
        role_,
        keeps=False,
    )
fault("no distance", lambda log: without(log, "distance"), keeps=True)
fault("no width", lambda log: without(log, "swath"), keeps=False)
fault(
    "distance from the start of the log",
    lambda log: changed(log, "distance", np.cumsum(numbers(log, "distance"))),
    keeps=False,
)
for how, rounded in {"rounded": np.round, "cut": np.floor, "in half": lambda metres: np.round(2 * metres) / 2}.items():
    fault(
        f"distance {how} metres",
        lambda log, f: changed(log, "distance", f(numbers(log, "distance"))),
        rounded,
        keeps=how != "in half",
    )


def narrowed(log: Log, width: float, share: float) -> gpd.GeoDataFrame:
    """Return the log with the last rows at a part of the width, and the grain of that part."""
    is_last = np.arange(count(log)) > (1 - share) * count(log)
    flow = column(log, "flow")
    part = np.where(is_last, width, 1.0)
    return frame_of(log, changed(log, "swath", numbers(log, "swath") * part).assign(**{flow: log.frame[flow] * part}))


for width_, share_ in ((2 / 3, 0.33), (0.5, 0.33), (2 / 3, 0.45), (0.5, 0.1)):
    fault(f"width x {width_:.2f} in the last {share_:.0%}", narrowed, width_, share_, keeps=False)


def buffered(log: Log, metres: float, *, is_round: bool) -> gpd.GeoDataFrame:
    """Return the log with a buffer around each point, as of a plan for another purpose."""
    plane = log.frame.to_crs(log.frame.estimate_utm_crs())
    buffers = plane.buffer(metres, cap_style="round" if is_round else "square")
    return moved(log, slice(None), buffers.to_crs(log.frame.crs))


for metres_, round_ in ((0.5, False), (1.0, False), (2.0, True), (6.0, False)):
    shape_ = "circles" if round_ else "squares"
    fault(f"{shape_} of {metres_:g} m", lambda log, m, r: buffered(log, m, is_round=r), metres_, round_, keeps=True)


def scaled(log: Log, factor: float) -> gpd.GeoDataFrame:
    """Return the log with positions whose steps have another length, as those of a wrong coordinate system."""
    middle = log.frame.union_all().centroid
    return moved(log, slice(None), log.frame.geometry.scale(factor, factor, origin=middle))


for factor in (0.7, 0.9, 1.1, 1.4):
    fault(f"positions x {factor:g}", scaled, factor, keeps=False)


def labelled(log: Log, system: int, label: int) -> gpd.GeoDataFrame:
    """Return the log in a coordinate system under the name of another one."""
    return frame_of(log, log.frame.to_crs(system).set_crs(label, allow_override=True))


for system_, label_ in ((3035, 3857), (3857, 2154), (3857, 32633)):
    fault(f"{system_} labelled {label_}", labelled, system_, label_, keeps=False)


def resampled(log: Log, rows: int, position: str) -> gpd.GeoDataFrame:
    """Return a log of fewer rows, each with the sum of distances, the mean of values and one of the positions."""
    group = np.arange(count(log)) // rows
    names = {
        log.columns["distance"]: "sum",
        **{log.columns[role]: "mean" for role in ("flow", "moisture") if role in log.columns},
    }
    frame = log.frame.groupby(group).agg(dict.fromkeys(log.frame.columns, position) | names)
    return frame_of(log, gpd.GeoDataFrame(frame, geometry="geometry", crs=log.frame.crs))


for rows_ in (5, 10, 15):
    for position_ in ("first", "last"):
        fault(f"{rows_} rows as one at the {position_}", resampled, rows_, position_, keeps=False)
fault("distance constant", lambda log: changed(log, "distance", np.full(count(log), 9.0)), keeps=False)

# Sensors. A sentinel is no value: what it replaced is lost, which is within 3 % for these shares.
SENTINELS = (
    (65_535.0, 0.01),
    (65_535.0, 0.002),
    (9_999.0, 0.01),
    (32_767.0, 0.02),
    (1e30, 0.01),
    (-999.0, 0.01),
    (-1.0, 0.02),
    (-9_999.0, 0.002),
)
for value_, share_ in SENTINELS:
    fault(f"flow {value_:g} in {share_:.1%}", lambda log, v, s: some(log, "flow", v, s), value_, share_, keeps=True)
for value_, share_ in ((0.0, 0.02), (np.nan, 0.02)):
    fault(f"flow {value_:g} in {share_:.0%}", lambda log, v, s: some(log, "flow", v, s), value_, share_, keeps=True)
for value_, share_ in ((0.0, 0.10), (np.nan, 0.15), (np.nan, 0.4), (-999.0, 0.15), (65_535.0, 0.12)):
    fault(f"flow {value_:g} in {share_:.0%}", lambda log, v, s: some(log, "flow", v, s), value_, share_, keeps=False)
fault(
    "flow as text with a comma",
    lambda log: changed(log, "flow", [f"{value:.2f}".replace(".", ",") for value in numbers(log, "flow")]),
    keeps=False,
)
fault("no flow", lambda log: without(log, "flow"), keeps=False)
for value_, share_ in ((np.nan, 0.1), (np.nan, 0.5), (-999.0, 0.02), (0.0, 0.03), (65_535.0, 0.02), (127.0, 0.02)):
    fault(
        f"moisture {value_:g} in {share_:.0%}",
        lambda log, v, s: some(log, "moisture", v, s),
        value_,
        share_,
        keeps=True,
    )
for value_ in (0.0, np.nan, 65_535.0, -1.0):
    fault(f"moisture always {value_:g}", lambda log, v: changed(log, "moisture", v), value_, keeps=False)
fault("moisture as a share", lambda log: changed(log, "moisture", numbers(log, "moisture") / 100), keeps=False)
fault(
    "moisture as text",
    lambda log: changed(log, "moisture", [f"{value:.2f}" for value in numbers(log, "moisture")]),
    keeps=False,
)
fault(
    "moisture as text with a comma",
    lambda log: changed(log, "moisture", [f"{value:.2f}".replace(".", ",") for value in numbers(log, "moisture")]),
    keeps=False,
)
fault("moisture of silage", lambda log: changed(log, "moisture", numbers(log, "moisture") + 50), keeps=False)
fault("no moisture", lambda log: without(log, "moisture"), keeps=False)
for value_, share_ in (
    (np.nan, 0.1),
    (np.nan, 0.35),
    (np.inf, 0.01),
    (-999.0, 0.05),
    (-1.0, 0.1),
    (65_535.0, 0.01),
    (1e30, 0.005),
    (9_999_999.0, 0.01),
):
    fault(f"rate {value_:g} in {share_:.1%}", lambda log, v, s: some(log, "rate", v, s), value_, share_, keeps=False)
fault("rate always null", lambda log: changed(log, "rate", np.nan), keeps=False)
fault(
    "rate as text with a comma",
    lambda log: changed(log, "rate", [f"{value:.2f}".replace(".", ",") for value in numbers(log, "rate")]),
    keeps=False,
)
fault(
    "rate a thousandth of its target",
    lambda log: frame_of(
        log, changed(log, "rate", numbers(log, "rate") / 1000).assign(**{"Target Rate": numbers(log, "rate")})
    ),
    keeps=False,
)

# Clocks.
CLOCKS: dict[str, tuple[bool, Callable[[pd.Series], object]]] = {
    "with years of two digits": (False, lambda time: time.dt.strftime("%d/%m/%y %H:%M:%S")),
    "in American form": (True, lambda time: time.dt.strftime("%m/%d/%Y %I:%M:%S %p")),
    "with the first without seconds": (
        True,
        lambda time: [time.iloc[0].strftime("%Y-%m-%d %H:%M"), *time.iloc[1:].dt.strftime("%Y-%m-%d %H:%M:%S")],
    ),
    "in days since 1899": (True, lambda time: (time - pd.Timestamp("1899-12-30", tz="UTC")) / pd.Timedelta(days=1)),
    "in seconds since 1970": (
        True,
        lambda time: (time - pd.Timestamp("1970-01-01", tz="UTC")) // pd.Timedelta(seconds=1),
    ),
    "in milliseconds since 1970": (
        True,
        lambda time: (time - pd.Timestamp("1970-01-01", tz="UTC")) // pd.Timedelta(milliseconds=1),
    ),
    "in seconds since 1980": (
        True,
        lambda time: (time - pd.Timestamp("1980-01-06", tz="UTC")) // pd.Timedelta(seconds=1) + 18,
    ),
    "in seconds since the start": (False, lambda time: (time - time.iloc[0]) / pd.Timedelta(seconds=1)),
    "half missing": (False, lambda time: time.where(np.random.default_rng(8).random(len(time)) < 0.5)),
    "a tenth missing": (False, lambda time: time.where(np.random.default_rng(9).random(len(time)) < 0.9)),
    "constant": (False, lambda time: pd.Series(time.iloc[0], index=time.index)),
    "null": (False, lambda time: pd.Series(pd.NaT, index=time.index, dtype=time.dtype)),
    "in whole minutes": (False, lambda time: time.dt.floor("min")),
    "in whole minutes as text": (False, lambda time: time.dt.strftime("%Y-%m-%d %H:%M")),
    "an hour back in the middle": (False, lambda time: jumped(time, -3600)),
    "an hour on in the middle": (True, lambda time: jumped(time, 3600)),
    "ten seconds back in the middle": (False, lambda time: jumped(time, -10)),
    "a year on in the middle": (False, lambda time: jumped(time, 365 * 86_400)),
    "of twelve hours without AM and PM": (False, lambda time: time.dt.strftime("%Y-%m-%d %I:%M:%S")),
    "without a date": (False, lambda time: time.dt.strftime("%H:%M:%S")),
    "one far away": (
        True,
        lambda time: time.where(np.arange(len(time)) != len(time) // 2, time + pd.Timedelta(days=4000)),
    ),
    "one at 1980": (
        True,
        lambda time: time.where(np.arange(len(time)) != len(time) // 2, pd.Timestamp("1980-01-06", tz="UTC")),
    ),
}


def jumped(time: pd.Series, seconds: float) -> pd.Series:
    """Return times that are later from the middle on."""
    later = np.arange(len(time)) >= len(time) // 2
    return time + pd.to_timedelta(later * seconds, unit="s")


for how, (keeps_, clock) in CLOCKS.items():
    fault(f"clock {how}", lambda log, f: changed(log, "time", f(log.frame[column(log, "time")])), clock, keeps=keeps_)

# What was worked.
fault(
    "two crops",
    lambda log: changed(log, "crop", np.where(np.arange(count(log)) < count(log) // 2, "Wheat", "Corn")),
    keeps=False,
)
fault("an unknown crop", lambda log: changed(log, "crop", "Sorte 17"), keeps=False)
fault(
    "crop missing in a half",
    lambda log: changed(log, "crop", log.frame[column(log, "crop")].where(np.arange(count(log)) % 2 > 0)),
    keeps=False,
)
fault("crop in other letters", lambda log: changed(log, "crop", " WHEAT "), keeps=True)
fault("no crop", lambda log: without(log, "crop"), keeps=False)


def mixed(log: Log, share: float, seconds: float = 0.0) -> gpd.GeoDataFrame:
    """Return the log with rows of a second product at each place, at a share of the rate."""
    name = column(log, "product")
    second = log.frame.assign(**{name: "Second", column(log, "rate"): share * numbers(log, "rate")})
    second[column(log, "time")] = second[column(log, "time")] + pd.Timedelta(seconds=seconds)
    both = pd.concat([log.frame, second]).sort_values(column(log, "time"), kind="stable")
    return frame_of(log, gpd.GeoDataFrame(both.reset_index(drop=True), geometry="geometry", crs=log.frame.crs))


fault("a product of nothing added", lambda log: mixed(log, 0.0), keeps=False)


def later(log: Log, role: str, factor: float) -> gpd.GeoDataFrame:
    """Return the frame whose column is another number of times as large in its second half."""
    is_later = np.arange(count(log)) >= count(log) // 2
    return changed(log, role, np.where(is_later, factor, 1.0) * numbers(log, role))


def slower(log: Log, rows: int) -> gpd.GeoDataFrame:
    """Return the frame of a display that logs the second half in longer steps: ways in sum, else means."""
    early, late = log.frame.iloc[: count(log) // 2], log.frame.iloc[count(log) // 2 :]
    step = late.iloc[rows - 1 :: rows].copy()
    group = late.groupby(np.arange(len(late)) // rows)
    for role, how in (("distance", "sum"), ("flow", "mean"), ("rate", "mean")):
        if role in log.columns:
            step[log.columns[role]] = group[log.columns[role]].agg(how).to_numpy()[: len(step)]
    return frame_of(log, gpd.GeoDataFrame(pd.concat([early, step], ignore_index=True), crs=log.frame.crs))


# What changes on the way, and positions of another kind.
for factor in (1 / 0.45359237, 3.6, 1.25, 0.8):
    fault(f"flow x {factor:.4g} from the middle on", later, "flow", factor, keeps=False)
for rows_ in (3, 4, 5):
    fault(f"a row of {rows_} from the middle on", slower, rows_, keeps=True)
for factor in (0.8, 0.9):
    fault(f"width x {factor:.4g}", lambda log, f: changed(log, "swath", f * numbers(log, "swath")), factor, keeps=False)
fault("a stretch without positions", lambda log: moved(log, slice(1000, 1300), None), keeps=False)
