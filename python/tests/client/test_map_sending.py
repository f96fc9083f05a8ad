"""Prescription maps on their way to a field computer: upload, reading back, plan, send, wait and restart."""

from __future__ import annotations

import asyncio
import io
import warnings
import zipfile
from typing import TYPE_CHECKING, Any

import geopandas as gpd
import pytest
import shapely
from sent_maps import RATES, Rx, environment, made, members
from shapefiles import zipped

import headland as hl
from headland.cli import main

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# The service's clock advances while clients use the machine's, and they warn about it.
pytestmark = pytest.mark.filterwarnings("ignore:this machine.s clock:headland.HeadlandWarning")

HALF_HOUR = 1800.0
"""Seconds in which each computer of the sandbox is online once."""


def finding(severity: str) -> Any:
    """Return a diagnostic of a severity."""
    return hl.Diagnostic("no-crs", f"zone 1 has an {severity}", None, 1, severity)  # type: ignore[arg-type]


@pytest.fixture
def farm() -> Iterator[hl.Sandbox]:
    with hl.Sandbox(rate_limits=(), clock="moved") as running:
        yield running


@pytest.fixture
def user(farm: hl.Sandbox) -> Iterator[hl.Client]:
    with farm.client() as client:
        yield client


@pytest.fixture
def computer(user: hl.Client) -> str:
    return str(user.field_computers.list()[0]["id"])


def test_map_of_any_source_is_uploaded_with_its_own_bytes(farm: hl.Sandbox, user: hl.Client, tmp_path: Path) -> None:
    content = zipped(members())
    (tmp_path / "north.zip").write_bytes(content)
    for name, data in members("South Field").items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "South Field.qmd").write_text("not a part of the shapefile")
    cases: list[tuple[Any, str]] = [
        (Rx(), "north.zip"),
        (Rx(finding("warning")), "north.zip"),
        (tmp_path / "north.zip", "north.zip"),
        (str(tmp_path / "South Field.shp"), "South Field.zip"),
        (content, "upload.rdp.zip"),
        (bytearray(content), "upload.rdp.zip"),
    ]
    for file, name in cases:
        created = user.prescription_maps.upload(file)
        assert user.prescription_maps.get(created["id"])["device_file_name"] == name
        stored = user.prescription_maps.download(created["id"])
        with zipfile.ZipFile(io.BytesIO(stored)) as archive:
            stem = archive.namelist()[0].rpartition(".")[0]
            assert {each: archive.read(each) for each in archive.namelist()} == members(stem)
        zones = user.prescription_maps.read(created["id"])
        assert zones.values("RATE") == list(RATES)
        assert zones.crs == "EPSG:4326"
        assert zones.bounds == pytest.approx((9.0, 51.0, 9.002, 51.001))
    assert len(made(farm, "POST")) == len(cases)


def test_map_of_a_job_is_read_and_one_without_shapefile_as_it_was_uploaded(farm: hl.Sandbox, user: hl.Client) -> None:
    sprayed = user.prescription_maps.list()[0]["id"]
    zones = user.prescription_maps.read(sprayed)
    assert len(zones) > 20
    assert any(column.startswith("TARGET") for column in zones.columns)
    created = user.prescription_maps.upload(zipped(members()))
    farm.faults.add(endpoint="prescription_maps.download", kind="bad-request", times=1)
    assert user.prescription_maps.read(created["id"]).values("RATE") == list(RATES)
    assert [each.query for each in farm.requests][-2:] == ["format=shp", "format=bin"]


def test_prescription_with_errors_is_refused_before_a_call(farm: hl.Sandbox, user: hl.Client, computer: str) -> None:
    before = len(farm.requests)
    bad: Any = Rx(*[finding("error")] * 5)
    for send in (user.prescription_maps.upload, lambda rx: user.prescription_maps.send(rx, computer)):
        with pytest.raises(
            hl.InvalidRequest, match=r"`north` has 5 errors \(no-crs: zone 1 .*; and 2 more\).*force=True"
        ):
            send(bad)
    with pytest.raises(hl.InvalidRequest, match="is not a zip"):
        user.prescription_maps.send(b"PK", computer)
    assert len(farm.requests) == before
    assert user.prescription_maps.upload(bad, force=True)["id"]
    assert "5 errors" in user.prescription_maps.plan(bad, computer).conflicts[0]
    with pytest.raises(hl.InvalidRequest, match="one shapefile"):
        user.prescription_maps.upload(zipped({"a.txt": b""}), force=True)


def test_content_errors_of_files_are_warnings(user: hl.Client) -> None:
    content = zipped(members(rates=(-120.0, 80.5)))
    with pytest.warns(
        hl.HeadlandWarning, match=r"`upload.rdp.zip` has 1 error \(rate-negative: row 0.*check_prescription"
    ):
        assert user.prescription_maps.upload(content)["id"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        user.prescription_maps.upload(content, force=True)
        agx = io.BytesIO(b"any")
        agx.name = "a.rdp.zip"
        user.prescription_maps.upload(agx, file_type="AGX")
        with pytest.raises(hl.InvalidRequest, match="is not a zip"):
            user.prescription_maps.upload(b"PK")


def test_table_of_zones_is_a_type_error_that_names_the_prescription(
    farm: hl.Sandbox, user: hl.Client, computer: str, tmp_path: Path
) -> None:
    before = len(farm.requests)
    frame = gpd.GeoDataFrame({"rate": [1.0]}, geometry=[shapely.box(9, 51, 9.1, 51.1)], crs=4326)
    (tmp_path / "north.zip").write_bytes(zipped(members()))
    layer = hl.read(tmp_path / "north.zip")
    for table in (
        frame,
        frame.geometry,
        frame.drop(columns="geometry"),
        layer,
        layer.to_arrow(),
        frame.__geo_interface__,
    ):
        bad: Any = table
        for refuse in (
            lambda bad=bad: user.prescription_maps.upload(bad),
            lambda bad=bad: user.prescription_maps.send(bad, computer),
            lambda bad=bad: user.prescription_maps.plan(bad, computer),
        ):
            with pytest.raises(TypeError, match=r"hl\.Prescription\(frame, rate, unit="):
                refuse()
    missing = tmp_path / "north.shp"
    missing.write_bytes(b"")
    with pytest.raises(hl.InvalidRequest, match=r"no `north\.shx`; copy all files"):
        user.prescription_maps.upload(missing)
    with pytest.raises(hl.InvalidRequest, match=r"cannot read .*gone\.shp"):
        user.prescription_maps.upload(tmp_path / "gone.shp")
    assert len(farm.requests) == before


def test_plan_shows_collisions_in_two_calls_and_sends_nothing(farm: hl.Sandbox, user: hl.Client, computer: str) -> None:
    rx: Any = Rx()

    def plan(rx: Any, calls: int = 2, client: hl.Client = user) -> hl.SendPlan:
        before = len(farm.requests)
        planned = client.prescription_maps.plan(rx, computer)
        assert len(farm.requests) == before + calls
        return planned

    free = plan(rx)
    assert (free.file_name, free.conflicts, free.queued) == ("north.zip", (), [])
    assert free.computer["device_type"]
    assert "`north.zip` is overwritten" in free.notes[0]
    assert str(free.computer["device_type"]) in free.notes[0]
    sent = user.prescription_maps.upload(rx)["id"]
    twin = user.prescription_maps.upload(rx)["id"]
    assert plan(sent).file_name == "north.zip"
    user.prescription_maps.send(sent, computer)
    assert "queued for field computer" in plan(sent).conflicts[0]
    assert "twice" in plan(sent).conflicts[0]
    for each in (rx, twin, "north.zip"):
        assert f"as map {sent}" in plan(each).conflicts[0]
    with farm.client() as other:
        assert f"as map {sent}" in plan(twin, 3, other).conflicts[0]
        assert "twice" in plan(sent, 2, other).conflicts[0]
    assert not plan("other.zip").conflicts
    assert "can be sent" in repr(free)
    assert "conflict: " in repr(plan(twin))
    with pytest.raises(hl.NotFound, match=r"client\.field_computers\.list\(\)"):
        user.prescription_maps.plan(rx, "nope")
    assert len(made(farm, "PUT")) == 1


def test_plan_of_a_device_that_the_service_does_not_describe_has_its_record_of_the_list(
    farm: hl.Sandbox,
    user: hl.Client,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    [legacy] = [each for each in user.field_computers.list() if not describes(user, each["id"])]
    rx: Any = Rx()
    before = len(farm.requests)
    plan = user.prescription_maps.plan(rx, legacy["id"])
    assert len(farm.requests) == before + 3
    assert dict(plan.computer) == dict(legacy)
    assert not plan.conflicts
    assert "the service refuses to describe this device" in plan.notes[0]
    assert f"north.zip for {legacy['name']} (unknown device, nothing queued): can be sent" in repr(plan)
    user.prescription_maps.send(rx, legacy["id"])
    assert "as map" in user.prescription_maps.plan(rx, legacy["id"]).conflicts[0]
    for name, value in environment(farm).items():
        monkeypatch.setenv(name, value)
    (tmp_path / "other.zip").write_bytes(zipped(members("other")))
    assert main(["send", str(tmp_path / "other.zip"), legacy["id"], "--plan"]) == 0
    assert "other.zip for" in capsys.readouterr().out
    farm.faults.add(endpoint="field_computers.get", kind="bad-request", times=1)
    with pytest.raises(hl.InvalidRequest):
        user.prescription_maps.plan(rx, "nope")


def describes(client: hl.Client, computer: str) -> bool:
    """Return whether the service has the detail of a field computer."""
    try:
        return bool(client.field_computers.get(computer))
    except hl.InvalidRequest:
        return False


def test_wait_is_resumed_by_its_handle_until_the_map_is_delivered(
    farm: hl.Sandbox, user: hl.Client, computer: str
) -> None:
    sent = user.prescription_maps.upload(zipped(members()))["id"]
    with pytest.raises(
        hl.NotReady, match=r"not fetched prescription map .* `client\.delivery\(error\.handle\)"
    ) as late:
        user.prescription_maps.send(sent, computer, wait=True, timeout=0)
    assert str(late.value.handle).startswith(f"prescription_maps.send/{sent}/{computer}/")
    with pytest.raises(hl.NotReady):
        user.prescription_maps.send(sent, computer, wait=True, timeout=0)
    with farm.client() as later:
        delivery = later.delivery(str(late.value.handle))
        assert (delivery.id, delivery.ready()) == (late.value.handle, False)
        with pytest.raises(hl.NotReady) as again:
            delivery.wait(0)
        assert again.value.handle == delivery.id
        farm.advance(HALF_HOUR)
        assert delivery.ready()
        assert delivery.wait(0) is delivery
    assert len(made(farm, "PUT")) == 2, "the second was refused, and then followed"
    handle = str(late.value.handle)
    damaged = [
        handle[:-1],
        handle + "x",
        handle[1:],
        handle.replace(f"/{sent}/", f"/{sent}x/"),
        handle.rpartition("/")[0],
    ]
    damaged += [handle.replace(f"/{computer}/", f"/{other}/") for other in (computer[:-1], f"{computer}x")]
    for wrong in ("82", "prescription_maps.send/82/460", "job_data.read/1/SHP", *damaged):
        with pytest.raises(
            ValueError, match=r"expected the whole handle .* such as `prescription_maps\.send/82/460/\w+`"
        ):
            user.delivery(wrong)
    user.delivery("prescription_maps.send/82/460/aabc")
    with pytest.raises(ValueError, match="pass `wait=True`"):
        user.prescription_maps.send(sent, computer, timeout=3)


def test_asynchronous_client_plans_sends_and_waits(farm: hl.Sandbox, computer: str) -> None:
    rx: Any = Rx()

    async def run() -> None:
        async with farm.async_client() as client:
            maps = client.prescription_maps
            assert not (await maps.plan(rx, computer)).conflicts
            with pytest.raises(hl.NotReady) as late:
                await maps.send(rx, computer, wait=True, timeout=0)
            handle = str(late.value.handle)
            with pytest.raises(hl.Conflict, match="wait until the queued map is delivered"):
                await maps.send(handle.split("/")[1], computer)
            delivery = client.delivery(handle)
            assert not await delivery.ready()
            farm.advance(HALF_HOUR)
            assert await (await delivery.wait(0)).ready()
            created = await maps.upload(Rx(finding("error")), force=True)
            assert (await maps.read(created["id"])).values("RATE") == list(RATES)

    asyncio.run(run())


def test_computer_that_does_not_exist_gets_nothing(farm: hl.Sandbox, user: hl.Client) -> None:
    rx: Any = Rx()
    with pytest.raises(hl.NotFound, match=r"`nope`.*nothing was sent.*headland ls field_computers"):
        user.prescription_maps.send(rx, "nope")
    assert made(farm, "POST") == []
    sent = user.prescription_maps.upload(rx)["id"]
    with pytest.raises(hl.NotFound, match="headland ls field_computers"):
        user.prescription_maps.send(sent, "nope", wait=True)


def test_file_that_is_sent_again_is_neither_uploaded_nor_queued_twice(
    farm: hl.Sandbox, user: hl.Client, computer: str
) -> None:
    rx: Any = Rx()
    maps = user.prescription_maps
    maps.upload(rx)
    for _ in range(2):
        maps.send(rx, computer)
    with pytest.raises(hl.NotReady):
        maps.send(rx, computer, wait=True, timeout=0)
    other = io.BytesIO(zipped(members(rates=(1.0,))))
    other.name = "north.zip"
    with pytest.raises(hl.Conflict, match=r"another file called `north\.zip`.*nothing was uploaded"):
        maps.send(other, computer)  # type: ignore[arg-type]
    farm.advance(HALF_HOUR)
    maps.send(rx, computer, wait=True, timeout=0)
    assert (len(made(farm, "POST")), len(made(farm, "PUT"))) == (1, 1)


def test_send_that_ends_after_the_upload_names_the_map(farm: hl.Sandbox, user: hl.Client, computer: str) -> None:
    rx: Any = Rx()
    farm.faults.add(endpoint="prescription_maps.send", kind="forbidden", times=1)
    with pytest.raises(hl.PermissionDenied, match=r"the file is uploaded as map \d+, which the same send uses"):
        user.prescription_maps.send(rx, computer)
    user.prescription_maps.send(rx, computer)
    assert len(made(farm, "POST")) == 1
