"""Jobs that the local service sprays from prescription maps, compared with the truth of their model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from sprayed_jobs import sprayed, zones

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Iterator

# The service's clock advances while clients use the machine's, and they warn about it.
pytestmark = pytest.mark.filterwarnings("ignore:this machine.s clock:headland.HeadlandWarning")

SHARE = 0.005
"""The part of the ground by which classes may differ from the truth."""

HALF_HOUR = 1800.0
"""Seconds in which each computer of the sandbox is online once."""


@pytest.fixture(scope="module")
def farm() -> Iterator[hl.Sandbox]:
    with hl.Sandbox(clock="moved", rate_limits=(), conversion_time=0.0) as running:
        yield running


@pytest.fixture(scope="module")
def sent(farm: hl.Sandbox) -> hl.Prescription:
    """Return a prescription that a computer has received, after it was refused before."""
    rx = hl.Prescription(zones(), "RATE", unit="L/ha", product="Fungicide", name="north")
    with farm.client() as client:
        rx_id = client.prescription_maps.upload(rx)["id"]
        for wrong in (rx, rx_id):
            with pytest.raises(ValueError, match=r"deliver.*send it to a field computer"):
                farm.spray(wrong)
        client.prescription_maps.send(rx_id, client.field_computers.list()[0]["id"])
    farm.advance(HALF_HOUR)
    return rx


@pytest.mark.parametrize(
    "plan",
    [
        {},
        {"lag": 3},
        {"overlap": 0.25},
        {"sections_off": True},
        {"lag": 2, "overlap": 0.1, "sections_off": True},
    ],
)
def test_comparison_finds_what_the_sprayer_did(farm: hl.Sandbox, sent: hl.Prescription, plan: dict[str, Any]) -> None:
    truth = farm.spray(sent, **plan)
    with farm.client() as client:
        job = client.job_data.get(truth["job_id"])
        layer = hl.harmonize(client.job_data.read(truth["job_id"]), job=job)
        [used] = client.job_data.prescription_maps(truth["job_id"])
        planned = client.prescription_maps.read(used["id"])
    assert str(job["start_date"]) < str(job["end_date"]) <= str(job["create_date"])
    [product] = job["products"]
    assert product["product_name"] == "Fungicide"
    assert product["applied_volume"] == pytest.approx(truth["applied"], abs=1e-6)
    assert len(layer) == truth["rows"]
    comparison = hl.compare_rates(layer, planned)
    report = comparison.report.to_pandas().set_index(["target", "name"])
    whole = truth["under"] + truth["within"] + truth["over"] + truth["off"]
    for name in ("under", "within", "over", "off"):
        for target in ("logged", "planned"):
            found = report["ha"].get((target, name), 0.0) * 1e4
            assert found == pytest.approx(truth[name], abs=SHARE * whole), (target, name)
    assert report["applied"]["logged", "all"] == pytest.approx(truth["applied"], rel=1e-6)
    assert report["asked"]["logged", "all"] == pytest.approx(truth["asked"], rel=SHARE)
    assert bool(plan.get("lag")) == (truth["under"] + truth["over"] > 0)
    assert bool(plan.get("sections_off")) == (truth["off"] > 0)
    assert (truth["area"] > 1.05 * whole) == bool(plan.get("overlap"))
    assert comparison.job is not None
    [totals] = comparison.job.head(1)
    assert totals["difference"] == pytest.approx(0.0, abs=1e-6)
    assert totals["area_difference"] == pytest.approx(0.0, abs=1e-6)


def test_zone_without_a_rate_is_logged_with_the_boom_off(farm: hl.Sandbox) -> None:
    frame = zones().assign(RATE=[100.0, 0.0, 120.0])
    rx = hl.Prescription(frame, "RATE", unit="L/ha", name="hollow")
    with farm.client() as client:
        client.prescription_maps.send(rx, client.field_computers.list()[0]["id"])
        farm.advance(HALF_HOUR)
        truth = farm.spray(rx, lag=2)
        layer = client.job_data.read(truth["job_id"])
    rows = layer.to_geopandas()
    hollow = rows[rows.within(frame.geometry.iloc[1])]
    assert len(hollow) * 24.0 == pytest.approx(frame.to_crs(32633).area.iloc[1], rel=0.05)
    assert (hollow["TARGETRATE"] == 0.0).mean() > 0.95
    assert not hollow[hollow["TARGETRATE"] == 0.0]["BOOMON"].any()
    comparison = hl.compare_rates(layer)
    report = comparison.report.to_pandas().set_index("name")
    for name in ("under", "within", "over", "off"):
        assert report["ha"].get(name, 0.0) * 1e4 == pytest.approx(truth[name], abs=SHARE * truth["area"])
    assert report["applied"]["all"] == pytest.approx(truth["applied"], rel=1e-6)


def test_map_of_another_unit_or_of_last_year_is_sprayed(farm: hl.Sandbox) -> None:
    rx = hl.Prescription(zones(), "RATE", unit="lb/ac", name="south")
    with farm.client() as client:
        maps = client.prescription_maps
        maps.send(rx, client.field_computers.list()[0]["id"])
        farm.advance(HALF_HOUR)
        generated = next(known["id"] for known in maps.list() if "Spraying" in str(known["name"]))
        for sprayed, unit in ((rx, "lb/ac"), (int(generated), "gal/ac")):
            truth = farm.spray(sprayed)
            assert truth["unit"] == unit
            [job] = [job for job in client.job_data.list() if job["id"] == truth["job_id"]]
            assert job["sub_type"] == {"lb/ac": "As Applied", "gal/ac": "Sprayer"}[unit]
            layer = hl.harmonize(client.job_data.read(job["id"]), job=client.job_data.get(job["id"]))
            comparison = hl.compare_rates(layer)
            assert comparison.job is not None
            [totals] = comparison.job.head(1)
            assert totals["difference"] == pytest.approx(0.0, abs=1e-6)


def test_map_that_cannot_be_sprayed_is_refused(farm: hl.Sandbox, sent: hl.Prescription) -> None:
    seeds = hl.Prescription(zones(), "RATE", unit="seeds/ha", name="seeds")
    crossed = zones().assign(RATE=[100.0, -5.0, 100.0])
    negative = hl.Prescription(crossed, "RATE", unit="L/ha", name="negative")
    with farm.client() as client:
        computer = client.field_computers.list()[0]["id"]
        client.prescription_maps.send(seeds, computer)
        client.prescription_maps.send(client.prescription_maps.upload(negative, force=True)["id"], computer)
    farm.advance(HALF_HOUR)
    wrong: list[tuple[Any, dict[str, Any], str]] = [
        ("nothing", {}, "there is no prescription map `nothing`"),
        (sent, {"overlap": 1.0}, "`overlap`"),
        (sent, {"lag": -1}, "`lag`"),
        (seeds, {}, "in `seeds/ha`; the sprayer applies L/ha"),
        (negative, {}, "a display refuses the prescription map: .*negative"),
    ]
    for rx, plan, message in wrong:
        with pytest.raises(ValueError, match=message):
            farm.spray(rx, **plan)
    with pytest.raises(TypeError, match="`rx_id`"):
        farm.spray(1.5)  # type: ignore[arg-type]


def test_weight_of_planting_is_compared(farm: hl.Sandbox) -> None:
    with farm.client() as client:
        planted = next(job for job in client.job_data.list() if job["sub_type"] == "Planter")
        detail = client.job_data.get(planted["id"])
        layer = client.job_data.read(planted["id"])
    [product] = detail["products"]
    area, per_ha = product["applied_area"], product["average_weight_per_area"]
    assert area is not None
    assert per_ha is not None
    compared = hl.compare_rates(hl.harmonize(layer, job=detail)).job
    assert compared is not None
    [counted] = compared.head(1)
    assert counted["reported"] is None
    assert counted["reported_weight"] == pytest.approx(area * per_ha / 1e4)
    # A drill logs kilograms.
    drill = sprayed(lag=2)
    drill.frame.attrs["units"] |= {"Target Rate": "kg/ha", "Applied Rate": "kg/ha"}
    said = {"applied_area": drill.area, "average_weight_per_area": drill.applied / drill.area * 1e4}
    compared = hl.compare_rates(hl.harmonize(drill.frame, job={"job_type": "Planter", "products": [said]})).job
    assert compared is not None
    [weighed] = compared.head(1)
    assert weighed["reported"] == pytest.approx(drill.applied)
    assert weighed["difference"] == pytest.approx(0.0, abs=1e-6)


def test_sprayed_job_survives_a_restart(tmp_path: Any) -> None:
    with hl.Sandbox(tmp_path, clock="moved", rate_limits=(), conversion_time=0.0) as first, first.client() as client:
        generated = next(known["id"] for known in client.prescription_maps.list() if "Spraying" in str(known["name"]))
        truth = first.spray(generated)
    with hl.Sandbox(tmp_path, clock="moved", rate_limits=()) as second, second.client() as client:
        [product] = client.job_data.get(truth["job_id"])["products"]
        assert product["applied_area"] == pytest.approx(truth["area"], abs=1e-6)
        assert [used["id"] for used in client.job_data.prescription_maps(truth["job_id"])] == [generated]
