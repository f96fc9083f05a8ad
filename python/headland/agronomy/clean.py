"""Cleaning of jobs: delays, passes, ground counted once, and reasons why rows mislead."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from headland import _core, arguments
from headland.agronomy.cleaned import Cleaned
from headland.argument_hints import explained
from headland.layer.table_input import TableLike, as_layer

DelayArgument = float | Mapping[int, float | None] | Literal["auto"] | None
"""Seconds, seconds by number of the machine, an estimate, or no shift."""

MoistureDelayArgument = float | Mapping[int, float | None] | Literal["flow"] | None
"""Seconds, seconds by number of the machine, those of the flow, or no shift."""


@explained()
def clean(
    layer: TableLike,
    recipe: str | Mapping[str, Any] | None = None,
    *,
    antenna: float = 0.0,
    delay: DelayArgument = "auto",
    moisture_delay: MoistureDelayArgument = "flow",
    boundary: TableLike | None = None,
    keep: Iterable[str] = (),
) -> Cleaned:
    """Find when grain was cut, which ground it came from, and which rows mislead.

    No row is deleted and no value is smoothed: rows get their reasons, flow and moisture are moved to the ground where
    the grain was cut, and ground that several rows cover is counted once, in order of time. A layer that is not
    harmonised is harmonised. A layer that was cleaned starts again from its originals. Sprayer, spreader and planter
    jobs get passes, reasons and ground; the steps of a yield sensor are left out.

    In a layer of several jobs, such as a concatenation, harvests of one crop without a gap of 60 days are one season,
    in which ground is counted once; delays are those of each job and machine, else of the machine in the season. Other
    seasons are apart, and other jobs by ``job_id``.

    Args:
        layer: One or several jobs: a layer, a GeoDataFrame, or an Arrow table or stream with a geometry column.
        recipe: The ``recipe`` of an earlier cleaning, which is replayed, or a mapping with some of its parameters. The
            arguments override it, unless they have their default.
        antenna: Metres from the antenna forward to the cutter bar. With 0, the delay contains the time that the machine
            needs for this distance; it is still the right shift for a map.
        delay: Seconds from cutting to the flow sensor. ``"auto"`` estimates them for each machine: with the right
            delay, neighbouring passes in opposite directions agree. ``None`` moves nothing. A mapping gives seconds by
            number of the machine.
        moisture_delay: The same for the moisture sensor; ``"flow"`` is the delay of the flow.
        boundary: Polygons around the field. Rows within 10 m of it get the reason ``edge``; the parameter ``edge`` of
            the recipe is another distance.
        keep: Reasons that do not exclude a row, such as ``["moisture"]``.

    Returns:
        The cleaned job. `headland.grid` makes maps of it.

    Raises:
        TypeError: An argument has another type.
        ValueError: The kind of job, a unit or the swath width is unknown, the layer has no coordinate system, or the
            recipe has an unknown parameter or version. The message names the argument that resolves it.

    Rules and references: the guide to yield maps of the documentation.

    >>> cleaned = headland.clean(headland.harmonize(headland.read("job.zip"), kind="yield"))
    >>> cleaned.delay.seconds, cleaned.report.to_pandas()
    """
    given: dict[str, Any] = {}
    if arguments.finite_number("antenna", antenna) != 0.0:
        given["antenna"] = float(antenna)
    for name, value, own in (("delay", delay, "auto"), ("moisture_delay", moisture_delay, "flow")):
        if value != own:
            given[name] = _seconds(name, value, own)
    kept = _names("keep", keep)
    if kept:
        given["keep"] = kept
    job = as_layer("layer", layer)
    around = None if boundary is None else as_layer("boundary", boundary)
    core = _core.clean(job._core, _recipe(recipe), json.dumps(given), None if around is None else around._core)  # noqa: SLF001 - layers of this package
    return Cleaned(core, around)


def _recipe(recipe: object) -> str | None:
    if recipe is None or isinstance(recipe, str):
        return recipe
    if isinstance(recipe, Mapping):
        try:
            return json.dumps(dict(recipe), allow_nan=False)
        except (TypeError, ValueError) as reason:
            raise type(reason)(f"`recipe`: the mapping is no JSON: {reason}") from None
    raise TypeError(f"`recipe`: expected the recipe of a cleaning or a mapping, got {type(recipe).__name__}")


def _seconds(name: str, value: object, own: str) -> object:
    if value is None:
        return None
    if isinstance(value, str):
        expected = f'seconds, "{own}", None or a mapping of machine to seconds'
        raise ValueError(f"`{name}`: expected {expected}, got {value!r}")  # noqa: TRY004 - a text, but a wrong one
    if isinstance(value, Mapping):
        return {
            str(arguments.whole_number(name, machine, -(2**63))): None
            if one is None
            else arguments.finite_number(name, one)
            for machine, one in value.items()
        }
    return arguments.finite_number(name, value)


def _names(name: str, given: object) -> list[str]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise TypeError(f'`{name}`: expected names of reasons, such as ["moisture"], got {type(given).__name__}')
    return [arguments.text(name, one, '"moisture"') for one in given]
