"""Field hubs, locations and prescription maps through both clients and the command line."""

from __future__ import annotations

import asyncio
import datetime as dt
import io
import zipfile
from typing import TYPE_CHECKING

import commands
import pytest
from commands import lines

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

# The service's clock advances while clients use the machine's, and they warn about it.
pytestmark = pytest.mark.filterwarnings("ignore::headland.HeadlandWarning")


@pytest.fixture
def moved() -> Iterator[hl.Sandbox]:
    with hl.Sandbox(rate_limits=(), clock="moved") as running:
        yield running


@pytest.fixture
def user(moved: hl.Sandbox) -> Iterator[hl.Client]:
    with hl.Client(**moved.credentials, rate_limits=()) as client:
        yield client


def shapefile(*stems: str, name: str = "rx.zip") -> io.BytesIO:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for stem in stems:
            for extension in ("shp", "shx", "dbf"):
                archive.writestr(f"{stem}.{extension}", b"x")
    content.seek(0)
    content.name = name
    return content


def test_a_report_is_nested_with_documented_values_after_the_raw_ones(user: hl.Client) -> None:
    """Sections 2.4 and 6."""
    hub = user.field_hubs.get(next(iter(user.field_hubs.list()))["id"])
    assert hub is not None
    assert hub["make"]
    report = hub["report"]
    assert report is not None
    assert list(report)[-3:] == ["rssi_bars", "event_meaning", "roaming"]
    assert report["rssi_bars"] in range(6)
    assert report["event_meaning"]
    assert report["sub_type"] == "Field Hub"
    assert [row["id"] for row in user.field_hubs.reports()] == [row["id"] for row in user.field_hubs.list()]


def test_locations_are_dicts_with_times_and_none_where_there_was_no_fix(user: hl.Client) -> None:
    """Section 2.3."""
    hub = next(iter(user.field_hubs.list()))["id"]
    pages = user.field_hubs.locations(hub, page_size=1000, page=0)
    found = list(pages)
    assert len(found) == 1000
    times = [record["gps_date_time"] for record in found]
    assert all(time is None or time.tzinfo is dt.UTC or time.utcoffset() == dt.timedelta(0) for time in times)
    assert None in times
    assert all(record["valid"] is (time is not None) for record, time in zip(found, times, strict=True))
    newest = user.field_hubs.current_location(hub)
    assert newest == found[0]


def test_a_computer_shows_the_records_of_its_hub_and_each_gives_its_own_dict(user: hl.Client) -> None:
    """Section 2.3."""
    first, _, last = user.field_computers.list()
    place = user.field_computers.current_location(first["id"])
    own = user.field_computers.current_location(last["id"])
    assert place is not None
    assert own is not None
    assert (place["sub_type"], own["sub_type"]) == ("Field Hub", "Field Computer")
    assert own["device_id"] == last["id"]
    assert [row["id"] for row in user.field_computers.current_locations()][::2] == [place["id"], own["id"]]


def test_a_map_is_followed_from_queued_to_delivered(moved: hl.Sandbox, user: hl.Client) -> None:
    """Sections 3 and 4.3: the send sequence, both conflicts, the lists by state."""
    computer = next(iter(user.field_computers.list()))["id"]
    created = user.prescription_maps.upload(shapefile("north"))
    assert created["uri"].endswith(created["id"])
    assert user.prescription_maps.list().first()["id"] == created["id"]  # type: ignore[index]
    assert user.prescription_maps.send(created["id"], computer) is None  # type: ignore[func-returns-value]
    with pytest.raises(hl.Conflict, match="wait"):
        user.prescription_maps.send(created["id"], computer)
    twin = user.prescription_maps.upload(shapefile("north"))
    with pytest.raises(hl.Conflict, match="same name"):
        user.prescription_maps.send(twin["id"], computer)
    assert [row["id"] for row in user.field_computers.prescription_maps(computer, state="queued")] == [created["id"]]
    assert created["id"] not in [row["id"] for row in user.field_computers.prescription_maps(computer)]
    moved.advance(1800)
    assert not list(user.field_computers.prescription_maps(computer, state="queued"))
    assert user.field_computers.prescription_maps(computer).first()["id"] == created["id"]  # type: ignore[index]
    assert user.prescription_maps.get(created["id"])["status"] == "SENT_TO_DEVICE"


@pytest.mark.parametrize("kind", ["lost-reply", "unavailable", "truncated"])
def test_a_repeated_send_after_a_lost_reply_is_success(moved: hl.Sandbox, user: hl.Client, kind: str) -> None:
    """Design, section 4: "already queued" after a lost reply means that the first request arrived."""
    computer = next(iter(user.field_computers.list()))["id"]
    created = user.prescription_maps.upload(shapefile("north"))
    moved.faults.add(endpoint="prescription_maps.send", kind=kind)
    user.prescription_maps.send(created["id"], computer)
    assert len([request for request in moved.requests if request.method == "PUT"]) == 2
    with pytest.raises(hl.Conflict):
        user.prescription_maps.send(created["id"], computer)


def test_a_lost_reply_to_an_upload_of_a_map_is_settled_by_its_detail(moved: hl.Sandbox, user: hl.Client) -> None:
    """The list of maps has no dates, so the detail shows which map is new."""
    first = user.prescription_maps.upload(shapefile("a", name="same.zip"))
    moved.advance(86_400)
    user.access_key()
    moved.faults.add(endpoint="prescription_maps.upload", kind="lost-reply")
    second = user.prescription_maps.upload(shapefile("a", name="same.zip"))
    assert second["id"] != first["id"]
    assert len([request for request in moved.requests if request.method == "POST"]) == 2


def test_rules_of_uploads_are_checked_before_anything_is_sent(moved: hl.Sandbox, user: hl.Client) -> None:
    """Section 4.3."""
    several = io.BytesIO()
    with zipfile.ZipFile(several, "w") as archive:
        archive.writestr("one/a.shp", b"x")
        archive.writestr("two/b.shp", b"x")
    several.name = "jobs.jdp.zip"
    several.seek(0)
    attempts: list[tuple[Callable[[], object], str]] = [
        (lambda: user.prescription_maps.upload(shapefile("a", "b")), "one shapefile"),
        (lambda: user.prescription_maps.upload(shapefile("a", name="a.zip"), file_type="AGX"), r"\.rdp\.zip"),
        (lambda: user.job_data.upload(several), "several directories"),
    ]
    for attempt, rule in attempts:
        with pytest.raises(hl.InvalidRequest, match=rule) as caught:
            attempt()
        assert caught.value.status is None
    assert moved.requests == []
    with pytest.raises(ValueError, match="RX, AGX"):
        user.prescription_maps.upload(shapefile("a"), file_type="BIN")
    assert user.prescription_maps.upload(shapefile("a", name="a.rdp.zip"), file_type="agx")["id"]


@pytest.mark.parametrize("file_type", ["RX", "AGX"])
def test_a_map_given_as_bytes_gets_a_name_that_fits_either_type(user: hl.Client, file_type: str) -> None:
    """Section 4.3: AGX must end in `.rdp.zip`, and RX is a zip."""
    created = user.prescription_maps.upload(shapefile("a").getvalue(), file_type=file_type)
    assert user.prescription_maps.get(created["id"])["device_file_name"] == "upload.rdp.zip"


def test_a_map_is_downloaded_and_read(user: hl.Client) -> None:
    """Sections 2.5 and 4.2: bin by default; AGX and RAD are refused by the service."""
    rx = next(iter(user.prescription_maps.list()))
    assert zipfile.ZipFile(io.BytesIO(user.prescription_maps.download(rx["id"]))).namelist()[0].endswith(".bin")
    layer = hl.read(user.prescription_maps.download(rx["id"], format="shp"))
    assert len(layer) > 20
    for refused in ("AGX", "RAD"):
        with pytest.raises(hl.InvalidRequest):
            user.prescription_maps.download(rx["id"], format=refused)
    with pytest.raises(ValueError, match="expected letters"):
        user.prescription_maps.download(rx["id"], format="../x")


def test_jobs_and_maps_know_each_other(user: hl.Client) -> None:
    """Section 4.2: the maps of a job, the jobs of a computer from an id up."""
    used = {job["id"]: [rx["id"] for rx in user.job_data.prescription_maps(job["id"])] for job in user.job_data.list()}
    assert sum(map(len, used.values())) == len(user.prescription_maps.list())
    computer = next(iter(user.field_computers.list()))["id"]
    ids = sorted(int(job["id"]) for job in user.field_computers.job_data(computer))
    assert [job["id"] for job in user.field_computers.job_data(computer, min_id=ids[-1])] == [str(ids[-1])]


def test_the_asynchronous_client_does_the_same(moved: hl.Sandbox, user: hl.Client) -> None:
    async def run() -> None:
        async with hl.AsyncClient(**moved.credentials, rate_limits=()) as client:
            computer = next(iter(user.field_computers.list()))["id"]
            created = await client.prescription_maps.upload(shapefile("a"), file_type="RX")
            await client.prescription_maps.send(created["id"], computer)
            with pytest.raises(hl.Conflict):
                await client.prescription_maps.send(created["id"], computer)
            assert await client.field_computers.current_location(computer) == user.field_computers.current_location(
                computer
            )
            hub = await client.field_hubs.list().first()
            assert hub is not None
            assert await client.field_hubs.get(hub["id"]) == user.field_hubs.get(hub["id"])

    asyncio.run(run())


def test_the_command_line_lists_shows_uploads_and_sends(moved: hl.Sandbox, tmp_path: Path) -> None:
    def headland(*words: object) -> list[dict[str, str]]:
        return lines(commands.headland(*words, "--json", service=moved))

    file = tmp_path / "rx.zip"
    file.write_bytes(shapefile("a").getvalue())
    (created,) = headland("upload", "prescriptionmaps", file)
    computer = headland("ls", "fieldcomputers")[0]["id"]
    assert headland("send", created["id"], computer) == [
        {"prescription_map": created["id"], "field_computer": computer}
    ]
    assert commands.headland("send", created["id"], computer, service=moved).returncode == 5
    assert headland("ls", "prescriptionmaps", "--limit", 1)[0]["id"] == created["id"]
    hub = headland("ls", "fieldhubs")[0]["id"]
    assert "report" in headland("get", "fieldhubs", hub)[0]
    (where,) = headland("get", "prescriptionmaps", created["id"], "--to", tmp_path / "back.zip")
    assert where["path"].endswith("back.zip")
    assert (
        headland("call", "field_computers.prescription_maps", computer, "--state", "queued")[0]["id"] == created["id"]
    )
    assert headland("call", "field_hubs.current_location", hub)[0]["sub_type"] == "Field Hub"
