"""Frames of harmonised layers: they stay harmonised when rows are selected, sorted or joined in pandas."""

from __future__ import annotations

import pandas as pd
import pytest

import headland as hl
from headland.layer.table_input import as_layer


@pytest.fixture(scope="module")
def job(service: hl.Sandbox) -> hl.Layer:
    """Return a harvest with stated units."""
    with hl.Client(**service.credentials, rate_limits=(), limiter_state="memory") as client:
        ids = {job["name"]: job["id"] for job in client.job_data.list()}
        return client.job_data.read(ids["Stone Hill 2025 Harvest"])


def test_harmonised_frame_is_harmonised_also_with_fewer_rows(job: hl.Layer) -> None:
    layer = hl.harmonize(job)
    frame = layer.to_geopandas()
    again = hl.harmonize(frame)
    assert again.columns == layer.columns
    without = [{key: value for key, value in entry.items() if key != "evidence"} for entry in layer.provenance]
    assert again.provenance == without
    assert all(again.values(column) == layer.values(column) for column in layer.columns[:-1])
    part = hl.harmonize(frame[frame.moisture < frame.moisture.median()].sort_values("moisture"))
    assert part.columns == layer.columns
    assert 0 < len(part) < len(layer)
    assert hl.concat([part]).units["dry_mass"] == "kg"
    # Without `attrs`, which some functions of pandas drop, canonical names have their fixed units.
    frame.attrs.clear()
    assert hl.harmonize(frame, kind="yield").columns == layer.columns


def test_wrong_provenance_of_a_frame_is_ignored(job: hl.Layer) -> None:
    frame = job.to_geopandas()
    for wrong in ("{", "[]", 5, '{"layer": {"headland:kind": 5}}'):
        frame.attrs["headland"] = wrong
        assert as_layer("layer", frame).columns == job.columns


def test_joined_frames_of_one_crop_stay_harmonised(client: hl.Client, service: hl.Sandbox) -> None:
    harvests = [truth for truth in service.truth if "2025 Harvest" in truth["job_name"]]
    frames = [hl.harmonize(client.job_data.read(truth["job_id"])).to_geopandas() for truth in harvests]
    by_crop: dict[str, list[pd.DataFrame]] = {}
    for frame in frames:
        by_crop.setdefault(frame["crop"].iloc[0], []).append(frame)
    same = max(by_crop.values(), key=len)[:2]
    assert len(same) == 2
    joined = hl.harmonize(pd.concat(same, ignore_index=True))
    masses = [value for value in joined.values("dry_mass") if value is not None]
    assert sum(masses) == pytest.approx(sum(frame["dry_mass"].sum() for frame in same))
