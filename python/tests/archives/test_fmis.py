"""Jobs as FMIS folders and as XML trees: rows, totals and units equal those of their shapefiles (specification 4.4)."""

from __future__ import annotations

import asyncio
import datetime as dt
import io
import json
import math
import zipfile
from typing import TYPE_CHECKING, Any

import pytest

import headland as hl
from headland.cli import main

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def small(service: hl.Sandbox, small_job: str) -> dict[str, Any]:
    """Return the truth of the smallest job."""
    return dict(next(truth for truth in service.truth if truth["job_id"] == small_job))


def smallest(service: hl.Sandbox, client: hl.Client) -> list[dict[str, Any]]:
    """Return the truth of the smallest job of each kind on each display."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for truth in sorted(service.truth, key=lambda truth: truth["rows"]):
        if truth["rows"] < 20_000:
            detail = client.job_data.get(truth["job_id"])
            found.setdefault((truth["sub_type"], str(detail["field_computer_id"])), dict(truth))
    return list(found.values())


def test_fmis_and_shp_of_one_job_give_equal_rows_totals_and_units_4_4(service: hl.Sandbox, client: hl.Client) -> None:
    jobs = smallest(service, client)
    assert len(jobs) >= 6
    for truth in jobs:
        fmis = hl.read(client.job_data.download(truth["job_id"], format="FMIS"))
        shp = client.job_data.read(truth["job_id"], layer=truth["layer"])
        assert len(fmis) == len(shp) == truth["rows"]
        for column, unit, total in truth["totals"]:
            values = fmis.values(column)
            assert values == shp.values(column), column
            assert math.fsum(value for value in values if value is not None) == pytest.approx(total, rel=1e-9), column
            assert fmis.units[column] == shp.units[column], column
            assert fmis.units[column] in (unit, "unknown"), column
        assert fmis.crs == "EPSG:4326"


def test_a_job_is_read_as_fmis_by_both_clients(
    client: hl.Client, service: hl.Sandbox, small: dict[str, Any], tmp_path: Path
) -> None:
    layer = client.job_data.read(small["job_id"], format="fmis", columns=["SECTION", "TIMESTAMP"])
    assert (layer.name, len(layer)) == ("Product_1", small["rows"])
    assert layer.columns == ["TIMESTAMP", "SECTION", "geometry"]
    first = layer.values("TIMESTAMP")[0]
    assert first.tzinfo == dt.UTC
    assert layer.metadata["ID"] == small["job_id"]
    schema = layer.to_arrow().schema
    assert str(schema.field("TIMESTAMP").type) == "timestamp[us, tz=UTC]"
    collection = layer.__geo_interface__
    assert collection["features"][0]["properties"]["TIMESTAMP"] == first.isoformat(
        timespec="milliseconds" if first.microsecond else "seconds"
    ).replace("+00:00", "Z")
    layer.write_parquet(tmp_path / "job.parquet")
    frame = layer.to_geopandas()
    assert len(frame) == small["rows"]

    async def read() -> hl.Layer:
        async with hl.AsyncClient(**service.credentials, rate_limits=()) as other:
            return await other.job_data.read(small["job_id"], format="FMIS")

    assert asyncio.run(read()).values("SECTION") == layer.values("SECTION")


def test_an_fmis_folder_inside_a_bin_is_read_4_4(client: hl.Client, small: dict[str, Any]) -> None:
    fmis = client.job_data.download(small["job_id"], format="FMIS")
    display = io.BytesIO(client.job_data.download(small["job_id"], format="BIN"))
    with zipfile.ZipFile(display, "a") as archive, zipfile.ZipFile(io.BytesIO(fmis)) as folder:
        for name in folder.namelist():
            archive.writestr(f"DISPLAY/{name.upper()}", folder.read(name))
    assert hl.layers(display.getvalue()) == ["PRODUCT_1"]
    assert len(hl.read(display.getvalue())) == small["rows"]


def test_xml_is_no_layer_and_the_error_names_read_tree(client: hl.Client, service: hl.Sandbox) -> None:
    before = len(service.requests)
    with pytest.raises(ValueError, match=r"headland\.read_tree"):
        client.job_data.read("1", format="XML")
    assert len(service.requests) == before


def test_the_tree_of_a_job_has_the_rows_of_its_shapefile_4_4(client: hl.Client, small: dict[str, Any]) -> None:
    tree = hl.read_tree(client.job_data.download(small["job_id"], format="XML"))["ParsedJobData"]
    assert tree["JobDataDetail"]["ID"] == small["job_id"]
    records = tree["Records"]["Record"]
    shp = client.job_data.read(small["job_id"], layer=small["layer"])
    assert len(records) == len(shp) == small["rows"]
    for column, _unit, _total in small["totals"]:
        found = [float(record[f"@{column}"]) if f"@{column}" in record else None for record in records]
        assert found == shp.values(column), column


TREES = [
    ("<a/>", {"a": ""}),
    ("<a> x </a>", {"a": " x "}),
    ("<a b='1'/>", {"a": {"@b": "1"}}),
    ("<a b='1'>x</a>", {"a": {"@b": "1", "#text": "x"}}),
    ("<a>\n <b>1</b>\n <b c='2'/>\n <d/>\n</a>", {"a": {"b": ["1", {"@c": "2"}], "d": ""}}),
    ("<p:a xmlns:p='u'><p:b/></p:a>", {"p:a": {"@xmlns:p": "u", "p:b": ""}}),
    ("<a>x <b>1</b> y<b/></a>", {"a": {"b": ["1", ""], "#content": ["x ", {"b": "1"}, " y", {"b": ""}]}}),
    ("<a>&lt;<![CDATA[&]]>&#233;</a>", {"a": "<&é"}),
]


@pytest.mark.parametrize(("text", "expected"), TREES)
def test_a_tree_follows_its_rule(text: str, expected: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "t.xml"
    path.write_text(text, encoding="utf-8")
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w") as archive:
        archive.write(path, "in/t.xml")
    for source in (text.encode(), path, str(path), path.open("rb"), tmp_path, zipped.getvalue()):
        assert hl.read_tree(source) == expected
        if isinstance(source, io.BufferedReader):
            source.close()


def test_malformed_tree_is_an_error_with_its_position() -> None:
    with pytest.raises(hl.ArchiveError, match="line 2") as broken:
        hl.read_tree(b"<a>\n<b></a>")
    assert broken.value.member == "bytes"
    assert broken.value.offset is not None
    with pytest.raises(hl.ArchiveError, match="256 deep"):
        hl.read_tree(b"<a>" * 100_000)
    with pytest.raises(hl.ArchiveError, match=r"raise Limits\(bytes"):
        hl.read_tree(b"<a>                </a>", limits=hl.Limits(bytes=10))
    with pytest.raises(hl.ArchiveError, match="read_tree"):
        hl.read(b"<a/>")
    with pytest.raises(hl.ArchiveError, match="no such file"):
        hl.read_tree("nowhere.xml")
    with pytest.raises(TypeError, match="`member`: expected a str"):
        hl.read_tree(b"<a/>", member=1)  # type: ignore[arg-type]


def test_the_command_line_reads_fmis_and_trees(
    client: hl.Client, small: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fmis = client.job_data.download(small["job_id"], format="FMIS", to=tmp_path / "job_fmis.zip")
    assert main(["read", str(fmis), "--json", "--to", str(tmp_path / "job.geojson")]) == 0
    assert json.loads(capsys.readouterr().out)["records"] == small["rows"]
    tree = client.job_data.download(small["job_id"], format="XML", to=tmp_path / "job.xml")
    assert main(["read", str(tree), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == hl.read_tree(tree)
    assert main(["read", str(tree)]) == 0
    assert small["job_id"] in capsys.readouterr().out
    assert main(["read", str(tree), "--to", str(tmp_path / "tree.parquet")]) != 0
    assert "not a table" in capsys.readouterr().err
