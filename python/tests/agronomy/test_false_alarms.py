"""Healthy jobs: what warns of wrong rows, states, widths and losses is silent on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from checkout import CORPUS
from driven_rows import field, job
from generated_logs import LOGS, harvest
from logged_jobs import JOBS, cleaned_of, read

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

EXPORTS = sorted((CORPUS / "everyday").glob("harvest-*.zip"))

ALARMS = {"much-left-out", "machines-unknown", "rows-missing", "rows-not-in-order", "job-twice"}
"""Codes that no healthy job has, besides those that end with `-contradicts`. Logged harvests have `no-values`."""


def alarms(layer: hl.Layer, cleaned: hl.Cleaned | None = None) -> list[str]:
    """Return the alarms of all steps from the rows to the map, with their messages."""
    cleaned = hl.clean(layer) if cleaned is None else cleaned
    parts = (layer, cleaned.layer, hl.grid(cleaned, 10.0))
    found = {str(message.code): message.message for part in parts for message in part.diagnostics}
    return [f"{code}: {text}" for code, text in found.items() if code in ALARMS or "contradict" in code]


@pytest.fixture(scope="module")
def service(logged_service: Callable[[int], hl.Sandbox]) -> hl.Sandbox:
    """Return a service with logged harvests, sprayings and plantings."""
    return logged_service(0)


def test_logged_harvests_have_no_alarm(service: hl.Sandbox) -> None:
    for found in read(service, JOBS):
        assert alarms(found.harmonized, cleaned_of(found)) == [], found.name


def test_sprayings_and_plantings_have_no_alarm(service: hl.Sandbox) -> None:
    names = ("Stone Hill 2026 Spraying", "Cattle Gate 2026 Spreading", "Stone Hill 2026 Planting")
    count = 0
    with hl.Client(**service.credentials, rate_limits=()) as client:
        for record in client.job_data.list():
            if record["name"] in names:
                layer = client.job_data.read(record["id"])
                assert alarms(hl.harmonize(layer, job=client.job_data.get(record["id"]))) == [], record["name"]
                count += 1
    assert count == len(names)


@pytest.mark.parametrize("name", LOGS)
def test_generated_logs_have_no_alarm(name: str) -> None:
    log = LOGS[name]()
    assert alarms(hl.harmonize(log.frame, kind=log.kind)) == []


def test_harvest_without_a_pattern_has_no_alarm() -> None:
    assert alarms(hl.harmonize(harvest(is_uniform=True).frame, kind="yield")) == []


def test_field_of_short_passes_has_no_alarm() -> None:
    assert alarms(job(field(passes=28, length=60.0, delay=8.0))) == []


@pytest.mark.skipif(not EXPORTS, reason=f"no corpus at {CORPUS}: set HEADLAND_CORPUS")
@pytest.mark.parametrize("path", EXPORTS, ids=lambda path: path.stem)
def test_everyday_exports_have_no_alarm(path: Path) -> None:
    assert alarms(hl.harmonize(hl.read(path), kind="yield")) == []
