"""Files of jobs in every format, read with the standard library alone, and every failure of a conversion."""

from __future__ import annotations

import io
import math
import zipfile
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

import headland as hl

if TYPE_CHECKING:
    from pathlib import Path

STATUSES = {
    "CONVERSION_STATUS_SUCCESS",
    "CONVERSION_STATUS_FAILED",
    "CONVERSION_STATUS_SERVER_ERR",
    "CONVERSION_STATUS_SERVER_RESTART",
    "CONVERSION_STATUS_FILE_NOT_FOUND",
    "CONVERSION_STATUS_FAILED_CONVERT",
    "CONVERSION_STATUS_INVALID_JOB_DATA_FILE",
}
"""The values of section 3."""


@pytest.fixture
def small(service: hl.Sandbox, small_job: str) -> dict[str, Any]:
    """Return the truth of the smallest job."""
    return dict(next(truth for truth in service.truth if truth["job_id"] == small_job))


def assert_true(truth: dict[str, Any], records: list[dict[str, float]]) -> None:
    """Compare the records with the truth: their number, each column's sum, and the fields of the job."""
    assert len(records) == truth["rows"]
    for column, _unit, total in truth["totals"]:
        found = math.fsum(record[column] for record in records if column in record)
        assert found == pytest.approx(total, rel=1e-9), column
    total = truth["total"]
    products = (math.prod(record[column] for column in total["columns"]) for record in records)
    assert total["factor"] * math.fsum(products) == pytest.approx(total["value"], rel=1e-9)


def test_fmis_zip_contains_the_job_its_layout_and_its_records(
    client: hl.Client, small: dict[str, Any], tmp_path: Path
) -> None:
    path = client.job_data.download(small["job_id"], format="FMIS", to=tmp_path)
    assert path.name.endswith("_fmis.zip")
    folder = f"{small['layer']}/{small['layer']}_fmis"
    with zipfile.ZipFile(path) as archive:
        job = ET.fromstring(archive.read(f"{folder}/jobdata.xml"))
        layout = ET.fromstring(archive.read(f"{folder}/advanced.xml"))
        lines = archive.read(f"{folder}/{job.findtext('Tables/Table/FileName')}").decode().splitlines()
    assert job.findtext("ID") == small["job_id"]
    leading = [column.findtext("Name", "") for column in layout.findall("SegmentFormat/Column")]
    assert leading == ["ID", "TIMESTAMP", "LATITUDE", "LONGITUDE", "ELEVATION", "DISTANCE", "SPEED"]
    sections = [
        [ddi.findtext("Name", "") for ddi in section.findall("DDI")]
        for section in layout.findall("SegmentFormat/EquipmentSection")
    ]
    records = []
    for line in lines:
        cells = iter(line.split("\t"))
        step = dict(zip(leading, cells, strict=False))
        for number, names in enumerate(sections, 1):
            own = {name: float(cell) for name in names if (cell := next(cells))}
            if own:
                records.append(
                    {**own, "SECTION": number, **{name: float(step[name]) for name in ("DISTANCE", "SPEED")}}
                )
        assert next(cells, None) is None
    assert_true(small, records)


def test_xml_contains_the_job_and_its_records(client: hl.Client, small: dict[str, Any]) -> None:
    handle = client.job_data.request(small["job_id"], format="XML")
    document = ET.fromstring(handle.wait().result())
    assert document.findtext("JobDataDetail/ID") == small["job_id"]
    units = {column.findtext("Name"): column.findtext("Unit") for column in document.findall("Columns/Column")}
    assert {column: unit for column, unit, _ in small["totals"]}.keys() <= units.keys()
    numbers = [column for column, *_ in small["totals"]]
    records = [
        {name: float(value) for name, value in record.attrib.items() if name in numbers}
        for record in document.findall("Records/Record")
    ]
    assert_true(small, records)
    assert client.job_data.get(small["job_id"])["status"] == "CONVERSION_STATUS_SUCCESS"


@pytest.mark.parametrize("accept", ["json", "xml"])
def test_every_failed_conversion_states_the_reason_of_its_detail(service: hl.Sandbox, accept: Any) -> None:
    known = {truth["job_id"] for truth in service.truth}
    messages: dict[str, str] = {}
    with hl.Client(**service.credentials, rate_limits=(), accept=accept) as client:
        forms: list[Any] = ["SHP", "FMIS", "XML"]
        for index, job_id in enumerate(sorted({job["id"] for job in client.job_data.list()} - known)):
            # A conversion takes a second.
            with pytest.raises((hl.ConversionFailed, hl.NoCoverage)) as failed:
                client.job_data.download(job_id, format=forms[index % len(forms)])
            status = client.job_data.get(job_id)["status"]
            if isinstance(failed.value, hl.NoCoverage):
                assert status == "CONVERSION_STATUS_SUCCESS"
                continue
            assert status is not None
            assert status in str(failed.value)
            messages[status] = str(failed.value)
    assert messages.keys() == STATUSES - {"CONVERSION_STATUS_SUCCESS"}
    assert len(set(messages.values())) == 6
    assert "cannot be accessed" in messages["CONVERSION_STATUS_FILE_NOT_FOUND"]


def test_the_original_is_a_zip_of_the_display(client: hl.Client, small: dict[str, Any]) -> None:
    with zipfile.ZipFile(io.BytesIO(client.job_data.download(small["job_id"], format="BIN"))) as archive:
        assert archive.testzip() is None
        assert small["layer"] in archive.read(f"{small['layer']}/manifest.txt").decode()
