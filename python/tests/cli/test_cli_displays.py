"""What the command line shows a person in a terminal of 80 columns, and that programs still get everything."""

from __future__ import annotations

import datetime as dt
import json
import sys
import zipfile
from typing import TYPE_CHECKING

import pytest

from headland.cli import main
from headland.cli.records import print_record
from headland.cli.tables import print_table

if TYPE_CHECKING:
    from pathlib import Path

    import headland as hl

WIDTH = 80
SECRETS = {
    "OrgId": "223031",
    "ClientId": "46234f43-0000-1000",
    "FieldOperationId": "MTIzNF81ZGMx",
    "Product": {"ProductName": "Tank mix", "Rate": {"Value": 12.5}},
    "ClientName": "North Farms",
}
"""Texts of a sidecar, of which the last is for people."""


@pytest.fixture(autouse=True)
def _keys(service: hl.Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in service.credentials.items():
        monkeypatch.setenv(f"HEADLAND_{name.upper()}", str(value))
    monkeypatch.setenv("HEADLAND_RATE_LIMITS", "")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", str(WIDTH))


def use_terminal(monkeypatch: pytest.MonkeyPatch, *, is_terminal: bool = True) -> None:
    """Let standard output and error be a terminal, or a pipe."""
    for stream in (sys.stdout, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: is_terminal)


@pytest.fixture
def archive(client: hl.Client, small_job: str, tmp_path: Path) -> Path:
    """Return the archive of a job, whose sidecar names its organisation."""
    path = client.job_data.download(small_job, to=tmp_path / "job.zip")
    with zipfile.ZipFile(path) as read:
        members = {name: read.read(name) for name in read.namelist()}
    with zipfile.ZipFile(path, "w") as written:
        for name, content in members.items():
            is_sidecar = name.endswith("-Deere-Metadata.json")
            text = json.dumps({**json.loads(content), **SECRETS}).encode() if is_sidecar else content
            written.writestr(name, text)
    return path


def shown(capsys: pytest.CaptureFixture[str], *words: object, code: int = 0) -> str:
    """Run a verb and return what it prints, which fits the terminal."""
    with pytest.MonkeyPatch.context() as patch:
        use_terminal(patch)
        assert main([str(word) for word in words]) == code
    captured = capsys.readouterr()
    text = captured.out if code == 0 else captured.err
    assert max(map(len, text.splitlines())) <= WIDTH
    return text


def test_ls_keeps_the_names_and_shortens_the_times(client: hl.Client, capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(capsys, "ls", "job_data", "--limit", 30)
    jobs = list(client.job_data.list())[:30]
    assert all(f"{job['name']}  " in text for job in jobs)
    assert "…" not in text
    assert f"{jobs[0]['create_date']:%Y-%m-%d}" in text


def test_times_are_as_long_as_the_terminal_allows(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    time = dt.datetime(2026, 10, 2, 23, 54, 7, tzinfo=dt.UTC)
    use_terminal(monkeypatch)
    for columns, form in ((60, "2026-10-02 23:54Z"), (40, "2026-10-02")):
        monkeypatch.setenv("COLUMNS", str(columns))
        print_table([{"id": "7", "name": "North 40 of the farm", "update_date": time}], ("id", "name", "update_date"))
        assert capsys.readouterr().out.splitlines()[1] == f"7   North 40 of the farm  {form}"
    print_table([{"id": "7", "name": "x" * 300, "update_date": time}], ("id", "name", "update_date"))
    assert {len(line) for line in capsys.readouterr().out.splitlines()} <= set(range(41))
    use_terminal(monkeypatch, is_terminal=False)
    print_table([{"update_date": time}], ("update_date",))
    assert capsys.readouterr().out.splitlines()[1] == "2026-10-02T23:54:07Z"


def test_get_shows_lists_as_tables_with_units(
    client: hl.Client, small_job: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = shown(capsys, "get", "job_data", small_job)
    detail = client.job_data.get(small_job)
    assert "{" not in text
    assert "http://" not in text
    assert "applied_area (m2)" in text
    assert all(str(each["file_name"]) in text for each in detail["available_files"])
    assert "file_name" in text.splitlines()[[*map(str.strip, text.splitlines())].index("available_files:") + 1]
    assert json.loads(run_json(capsys, "get", "job_data", small_job))["available_files"][0]["uri"]


def run_json(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    """Return what a verb prints for programs."""
    assert main([*map(str, words), "--json"]) == 0
    return capsys.readouterr().out


def test_budget_is_a_table(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("HEADLAND_RATE_LIMITS", "30/60,15/30")
    monkeypatch.setenv("HEADLAND_LIMITER_STATE", "memory")
    assert [line.split() for line in shown(capsys, "budget").splitlines()] == [
        ["15", "calls", "may", "start", "now"],
        ["window", "calls", "used", "free"],
        ["60", "s", "30", "0", "30"],
        ["30", "s", "15", "0", "15"],
    ]
    assert json.loads(run_json(capsys, "budget"))["windows"][0]["calls"] == 30


def test_read_shows_rows_and_units_and_no_id_of_an_organisation(
    archive: Path, small_job: str, service: hl.Sandbox, capsys: pytest.CaptureFixture[str]
) -> None:
    name = next(known["layer"] for known in service.truth if known["job_id"] == small_job)
    text = shown(capsys, "read", archive, "--layer", name)
    assert "first 5 rows:" in text
    assert "DISTANCE (m)" in text
    assert "whole number" in text
    assert "Float64" not in text
    assert "ClientName: North Farms" in text
    assert "{" not in text
    for key in ("OrgId", "ClientId", "FieldOperationId"):
        assert str(SECRETS[key]) not in text
        assert key not in text
    metadata = json.loads(run_json(capsys, "read", archive, "--layer", name))["metadata"]
    assert metadata["OrgId"] == "223031"


def test_read_shows_xml_as_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "job.xml"
    rows = "".join(f"<Row><Name>row {n} &lt;b&gt;</Name><Area>{n}</Area></Row>" for n in range(9))
    file.write_text(f"<Job><Field>North 40</Field><Rows>{rows}</Rows></Job>", encoding="utf-8")
    text = shown(capsys, "read", file)
    assert "Field  North 40" in text
    assert "Row, first 5 of 9:" in text
    assert "row 4 <b>" in text
    assert "row 5" not in text
    assert "{" not in text
    assert len(json.loads(run_json(capsys, "read", file))["Job"]["Rows"]["Row"]) == 9


@pytest.mark.parametrize(("key", "value"), [("HEADLAND_ACCESS_KEY", "unknown-key"), ("HEADLAND_API_KEY", "unknown")])
def test_failed_call_names_the_doctor(
    key: str, value: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(key, value)
    text = shown(capsys, "ls", "job_data", code=3)
    assert text.splitlines()[-1] == "  next: `headland doctor` finds out why calls fail, step by step"
    assert main(["ls", "job_data", "--json"]) == 3
    assert "next:" not in capsys.readouterr().err
    assert main(["doctor"]) == 3
    assert "headland doctor" not in capsys.readouterr().err


def test_answer_of_the_service_needs_no_doctor(capsys: pytest.CaptureFixture[str]) -> None:
    assert "doctor" not in shown(capsys, "get", "job_data", "12345678901", code=4)
    assert "doctor" not in shown(capsys, "read", "missing.zip", code=12)


def test_hostile_record_is_harmless(capsys: pytest.CaptureFixture[str]) -> None:
    name = "\x1b[31m\u202e\"'<script>" + "x " * 150
    print_record({name: name, "products": [{name: name, "ingredients": [{"id": name}]}], "words": [name, None]})
    text = capsys.readouterr().out
    assert not {"\x1b", "\u202e"} & set(text)
    assert "\\u001b[31m" in text
