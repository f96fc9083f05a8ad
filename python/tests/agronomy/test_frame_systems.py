"""Frames without a coordinate system or in an old one: the error names its argument, and its advice works."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from sprayed_jobs import sprayed, zones

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Callable

    import geopandas as gpd

pytestmark = pytest.mark.filterwarnings("ignore::headland.HeadlandWarning")

JOB = sprayed(passes=2).frame


def cleaned() -> hl.Cleaned:
    return hl.clean(hl.harmonize(JOB, kind="as_applied"))


def prescription(**options: Any) -> hl.Prescription:
    return hl.Prescription(zones(), "RATE", unit="L/ha", **options)


def with_attributes(frame: gpd.GeoDataFrame, of: gpd.GeoDataFrame) -> gpd.GeoDataFrame:
    """Keep the units of a log, which `to_crs` drops."""
    frame.attrs = dict(of.attrs)
    return frame


DOORS: dict[str, tuple[str, gpd.GeoDataFrame, Callable[[Any], Any]]] = {
    "hl.Prescription(zones)": ("zones", zones(), lambda frame: hl.Prescription(frame, "RATE", unit="L/ha")),
    "hl.Prescription(boundary)": ("boundary", zones(), lambda frame: prescription(boundary=frame)),
    "hl.Prescription(default)": ("boundary", zones(), lambda frame: prescription(boundary=frame, default=5)),
    "hl.check_prescription": ("boundary", zones(), lambda frame: hl.check_prescription(zones(), boundary=frame)),
    "hl.compare_rates(layer)": ("layer", JOB, hl.compare_rates),
    "hl.compare_rates(target)": ("target", zones(), lambda frame: hl.compare_rates(JOB, frame)),
    "hl.clean(layer)": ("layer", JOB, lambda frame: hl.clean(hl.harmonize(frame, kind="as_applied"))),
    "hl.clean(boundary)": ("boundary", zones(), lambda frame: hl.clean(JOB, boundary=frame)),
    "hl.grid(plots)": ("plots", zones(), lambda frame: hl.grid(cleaned(), plots=frame)),
}
"""The argument, a frame for it, and the call."""


@pytest.mark.parametrize("door", DOORS)
def test_error_names_its_argument_and_its_advice_works(door: str) -> None:
    argument, frame, call = DOORS[door]
    call(frame)
    unknown = with_attributes(frame.set_crs(None, allow_override=True), frame)
    with pytest.raises(
        ValueError, match=f"`{argument}` has no coordinate system.*" + re.escape("`frame.set_crs(4326)`")
    ):
        call(unknown)
    call(with_attributes(unknown.set_crs(4326), frame))
    if door == "hl.Prescription(default)":  # The rest of the field is computed by geopandas, which knows old systems.
        return
    old = with_attributes(frame.to_crs(4267), frame)
    with pytest.raises(ValueError, match=f"`{argument}` is in `NAD27`.*" + re.escape("`frame.to_crs(4326)`")):
        call(old)
    call(with_attributes(old.to_crs(4326), frame))
