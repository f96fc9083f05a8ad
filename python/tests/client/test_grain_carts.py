"""Grain carts from the list to pandas (specification 2.8 and 4.2; field notes, Grain cart files)."""

from __future__ import annotations

import asyncio
import io
import json
import math
from typing import TYPE_CHECKING

import pandas as pd
import pyarrow as pa
import pytest

import headland as hl
from headland.cli import main

if TYPE_CHECKING:
    from pathlib import Path

    from headland.sandbox.job_truth import CartTruth


@pytest.fixture
def whole(service: hl.Sandbox) -> CartTruth:
    """Return the truth of the smallest file that is the newest of its name."""
    return min((cart for cart in service.cart_truth if cart["is_newest"]), key=lambda cart: cart["loads"])


def test_the_newest_of_each_name_add_up_to_their_truth(client: hl.Client, service: hl.Sandbox) -> None:
    files = list(client.grain_carts.list(page_size=7))
    truths = {cart["id"]: cart for cart in service.cart_truth}
    assert [file["id"] for file in files] == list(truths)
    newest = hl.newest(client.grain_carts.list())
    assert [file["id"] for file in newest] == [key for key, cart in truths.items() if cart["is_newest"]]
    assert 0 < len(newest) < len(files)
    for file in newest:
        truth = truths[file["id"]]
        frame = client.grain_carts.read(file["id"]).to_geopandas()
        assert len(frame) == truth["loads"]
        assert frame["Weight"].sum() == pytest.approx(truth["total_pounds"], rel=1e-9)
        assert frame["DryBushels"].sum() == pytest.approx(truth["total_dry_bushels"], rel=1e-9)
        assert frame["LoadNumber"].tolist() == list(range(1, truth["loads"] + 1))
        assert frame.crs == "EPSG:4326"
        assert (frame.geometry.x == frame["Longitude"]).all()
        assert (frame.geometry.y == frame["Latitude"]).all()


def test_times_are_texts_until_the_user_names_the_zone(client: hl.Client, whole: CartTruth) -> None:
    frame = client.grain_carts.read(
        whole["id"], columns=["LoadDate", "LoadTime", "LocalDate", "LocalTime"]
    ).to_geopandas()
    assert all(isinstance(cell, str) for cell in frame["LoadTime"])
    # As the documentation of `read` states; the fields of this account are seven hours west of UTC.
    local = pd.to_datetime(frame["LocalDate"] + " " + frame["LocalTime"]).dt.tz_localize("Etc/GMT+7")
    labelled = pd.to_datetime(frame["LoadDate"] + " " + frame["LoadTime"]).dt.tz_localize("UTC")
    assert (local == labelled).all()


def test_path_bytes_file_object_and_service_give_equal_layers(
    client: hl.Client, whole: CartTruth, tmp_path: Path
) -> None:
    path = client.grain_carts.download(whole["id"], to=tmp_path)
    assert path.name == whole["name"]
    content = client.grain_carts.download(whole["id"])
    assert path.read_bytes() == content
    expected = client.grain_carts.read(whole["id"])
    assert expected.source == f"grain_carts.read/{whole['id']}/BIN"
    assert expected.metadata["Field"] == whole["field"]
    assert float(expected.metadata["TotalPounds"]) == math.floor(whole["total_pounds"] + 0.5)
    assert expected.units["Weight"] == "lb"
    assert expected.units["TestWeight"] == "lb/bu"
    assert expected.diagnostics == []
    for source in (path, str(path), content, memoryview(content), io.BytesIO(content)):
        layer = hl.read(source)
        assert pa.table(layer) == pa.table(expected)
        assert (layer.metadata, layer.units, layer.crs) == (expected.metadata, expected.units, expected.crs)
    table = pa.table(expected)
    assert json.loads(table.schema.metadata[b"headland.metadata"]) == expected.metadata


def test_a_file_is_described_or_there_is_none(client: hl.Client, service: hl.Sandbox, whole: CartTruth) -> None:
    expected = {"id": whole["id"], "name": whole["name"]}
    assert client.grain_carts.get(whole["id"]) == expected
    assert client.grain_carts.get(int(whole["id"])) == expected
    keys = service.credentials
    keys["access_key"] = service.other_access_key
    with hl.Client(**keys, rate_limits=()) as other:
        assert whole["id"] not in {file["id"] for file in other.grain_carts.list()}
        for call in (other.grain_carts.get, other.grain_carts.download, other.grain_carts.read):
            with pytest.raises(hl.NotFound):
                call(whole["id"])


@pytest.mark.parametrize("variants", [["odd-grc"], ["odd-grc", "latin1-grc"], ["wild"]])
def test_every_irregularity_is_read_and_reported(variants: list[str]) -> None:
    with (
        hl.Sandbox(variants=variants, rate_limits=()) as odd,
        hl.Client(**odd.credentials, rate_limits=()) as client,
    ):
        truth = max(odd.cart_truth, key=lambda cart: cart["loads"])
        layer = client.grain_carts.read(truth["id"])
        assert client.grain_carts.get(truth["id"]) == {"id": truth["id"], "name": truth["name"]}
    codes = {note.code for note in layer.diagnostics}
    expected = {"total-differs", "bushels-truncated", "time-cut", "utc-doubtful", "no-position", "trailing-comma"}
    assert expected <= codes <= expected | {"latin-1"}
    frame = layer.to_geopandas()
    assert frame["Weight"].sum() == pytest.approx(truth["total_pounds"], rel=1e-9)
    assert layer.metadata["Farm"] == "Rivière Farm"
    assert {"Silo Süd", "Bin 4, north"} <= set(frame["Destination"])
    assert frame.geometry.isna().sum() == frame["Latitude"].isna().sum() > 0
    typed = frame["Comment"].notna()
    assert typed.any()
    assert frame.loc[typed, "Moisture"].isna().all()
    assert frame["LoadTime"].str.len().min() == 7


def test_a_growing_file_is_uploaded_again_under_a_higher_id(tmp_path: Path) -> None:
    with hl.Sandbox.demo() as fresh, hl.Client(**fresh.credentials, rate_limits=()) as client:
        truth = fresh.cart_truth[0]
        content = client.grain_carts.download(truth["id"])
        path = tmp_path / truth["name"]
        path.write_bytes(content)
        created = client.grain_carts.upload(path)
        assert created["uri"].endswith(f"/graincart/{created['id']}")
        assert client.grain_carts.download(created["id"]) == content
        newest = {file["name"]: file["id"] for file in hl.newest(client.grain_carts.list())}
        assert newest[truth["name"]] == created["id"]
        unnamed = client.grain_carts.upload(content)
        assert client.grain_carts.get(unnamed["id"]) == {"id": unnamed["id"], "name": "upload.grc"}
        named = io.BytesIO(content)
        named.name = "loads.zip"
        with pytest.raises(hl.InvalidRequest, match="extension"):
            client.grain_carts.upload(named)
        fresh.faults.add(endpoint="grain_carts.upload", kind="lost-reply")
        with pytest.raises(hl.UploadOutcomeUnknown) as caught:
            client.grain_carts.upload(path)
        stored = {file["name"]: file["id"] for file in hl.newest(client.grain_carts.list())}[truth["name"]]
        assert stored in (caught.value.candidates or [])
        assert created["id"] not in (caught.value.candidates or []), "that one came of another upload of this client"
        sent = [request for request in fresh.requests if request.method == "POST"]
        assert len(sent) == 4, "nothing is sent twice"


def test_other_body_than_a_file_is_not_saved(whole: CartTruth, tmp_path: Path) -> None:
    with hl.Sandbox.demo() as fresh, hl.Client(**fresh.credentials, rate_limits=()) as client:
        fresh.faults.add(endpoint="grain_carts.download", kind="web-page")
        with pytest.raises(hl.DecodeError, match="expected a grain cart file"):
            client.grain_carts.download(whole["id"], to=tmp_path)
        for kind in ("truncated", "unavailable", "reset"):
            fresh.faults.add(endpoint="grain_carts.download", kind=kind)
            assert client.grain_carts.download(whole["id"])[-2:] == b"\r\n", kind
        broken = client.grain_carts.upload(b"GrcVersion,1.6,\r\nno loads\r\n")
        with pytest.raises(hl.ArchiveError, match="LoadNumber and Weight"):
            client.grain_carts.read(broken["id"])
    assert list(tmp_path.iterdir()) == []


def test_format_is_sent_without_an_argument(client: hl.Client, whole: CartTruth) -> None:
    for call in (client.grain_carts.download, client.grain_carts.read):
        with pytest.raises(TypeError, match="format"):
            call(whole["id"], format="BIN")  # type: ignore[call-overload,call-arg]


def test_asynchronous_client_does_the_same(client: hl.Client, service: hl.Sandbox, whole: CartTruth) -> None:
    async def walk() -> None:
        async with hl.AsyncClient(**service.credentials, rate_limits=()) as twin:
            files = [file async for file in twin.grain_carts.list()]
            assert hl.newest(files) == hl.newest(client.grain_carts.list())
            assert await twin.grain_carts.get(whole["id"]) == client.grain_carts.get(whole["id"])
            content = await twin.grain_carts.download(whole["id"])
            layer = await twin.grain_carts.read(whole["id"])
            assert pa.table(layer) == pa.table(hl.read(content))

    asyncio.run(walk())


def test_the_highest_number_is_the_newest() -> None:
    records: list[dict[str, str | None]] = [
        {"id": "9", "name": "a.grc"},
        {"id": "x", "name": "alone.grc"},
        {"id": "10", "name": "a.grc"},
        {"id": "2", "name": None},
        {"id": "1", "name": None},
        {"id": "8", "name": "a.grc"},
    ]
    assert [record["id"] for record in hl.newest(records)] == ["x", "10", "2", "1"]
    assert hl.newest([]) == []
    with pytest.raises(ValueError, match="not a number"):
        hl.newest([{"id": "1", "name": "a"}, {"id": "x1", "name": "a"}])


def test_the_command_lists_gets_and_reads_carts(
    service: hl.Sandbox,
    whole: CartTruth,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, value in service.credentials.items():
        monkeypatch.setenv(f"HEADLAND_{name.upper()}", str(value))
    monkeypatch.setenv("HEADLAND_LIMITER_STATE", "memory")
    monkeypatch.setenv("HEADLAND_RATE_LIMITS", "1000/1")
    for word in ("grain_carts", "graincart"):
        assert main(["ls", word, "--json"]) == 0
        listed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert [file["id"] for file in listed] == [cart["id"] for cart in service.cart_truth]
    assert main(["get", "grain_carts", whole["id"], "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["name"] == whole["name"]
    assert main(["get", "grain_carts", whole["id"], "--to", str(tmp_path), "--json"]) == 0
    path = json.loads(capsys.readouterr().out)["path"]
    assert main(["read", path, "--json"]) == 0
    read = json.loads(capsys.readouterr().out)
    assert (read["records"], read["metadata"]["Field"]) == (whole["loads"], whole["field"])
    assert main(["upload", "grain_carts", path]) == 0
