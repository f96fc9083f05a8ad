"""The verb `ls`: filters, tables in a terminal and in a pipe, colours, and spellings of the kinds."""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING, Any

import pytest

from headland.cli import main
from headland.cli.tables import print_table

if TYPE_CHECKING:
    import headland as hl

KINDS = "job_data, prescription_maps, field_computers, field_hubs, grain_carts"
BOLD, RED = "\x1b[1m", "\x1b[31m"


@pytest.fixture(autouse=True)
def _keys(service: hl.Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in service.credentials.items():
        monkeypatch.setenv(f"HEADLAND_{name.upper()}", str(value))
    monkeypatch.setenv("HEADLAND_RATE_LIMITS", "")
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)


def use_terminal(monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    """Let standard output and error be a terminal of this width."""
    monkeypatch.setenv("COLUMNS", str(columns))
    for stream in (sys.stdout, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True)


def ids(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    assert main(["ls", *words, "--json"]) == 0, capsys.readouterr().err
    return [json.loads(line)["id"] for line in capsys.readouterr().out.splitlines()]


def test_filters_select_the_jobs_of_read_all(client: hl.Client, capsys: pytest.CaptureFixture[str]) -> None:
    jobs = list(client.job_data.list())
    harvests = [job["id"] for job in jobs if job["sub_type"] == "Yield"]
    assert ids(capsys, "job_data", "--type", "YIELD") == harvests
    starts = {each: client.job_data.get(each)["start_date"] for each in harvests}
    of_2025 = [each for each, start in starts.items() if start is not None and start.year == 2025]
    assert 0 < len(of_2025) < len(harvests)
    assert ids(capsys, "job_data", "--type", "yield", "--year", "2025") == of_2025
    assert ids(capsys, "job_data", "--type", "yield", "--year", "2025", "--limit", "1") == of_2025[:1]
    named = [job["id"] for job in jobs if "stone hill" in str(job["name"]).casefold()]
    assert ids(capsys, "job_data", "--name", "Stone HILL") == named
    assert ids(capsys, "job_data", "--name", "stone*harvest", "--type", "as_applied") == []
    read = client.job_data.read_all(job_type="yield", year=2025, name="stone hill", progress=False)
    assert ids(capsys, "job_data", "--type=yield", "--year=2025", "--name=stone hill") == [job["id"] for job, _ in read]


def test_limit_ends_the_calls_of_the_year(service: hl.Sandbox, capsys: pytest.CaptureFixture[str]) -> None:
    before = len(service.requests)
    assert len(ids(capsys, "job_data", "--type", "yield", "--year", "2026", "--limit", "1")) == 1
    assert len(service.requests) - before <= 3


def test_type_and_name_select_prescription_maps(client: hl.Client, capsys: pytest.CaptureFixture[str]) -> None:
    maps = list(client.prescription_maps.list())
    assert ids(capsys, "prescription_maps", "--type", "prescription_map") == [each["id"] for each in maps]
    assert ids(capsys, "prescription_maps", "--type", "yield") == []
    planting = [each["id"] for each in maps if "Planting" in str(each["name"])]
    assert ids(capsys, "prescription_maps", "--type", "Prescription Map", "--name", "planting") == planting


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["ls"], f"the following arguments are required: KIND; the kinds: {KINDS}"),
        (["ls", "jobdat"], f"there is no kind `jobdat` (did you mean `job_data`?); the kinds: {KINDS}"),
        (["get"], f"the kinds: {KINDS}"),
        (["upload", "fieldhubs", "x"], "there is no kind `fieldhubs`; the kinds: job_data, prescription_maps, grain"),
        (["ls", "job_data", "--limt", "3"], "there is no option `--limt` (did you mean `--limit`?); the options: "),
        (["pull", "--too", "farm"], "there is no option `--too` (did you mean `--to`?)"),
        (["pul"], "there is no verb `pul` (did you mean `pull`?); the verbs: demo, "),
        ([], "the following arguments are required: VERB; the verbs: demo, "),
        (["call", "job_data.gt"], "there is no call `job_data.gt`: did you mean `job_data.get`?"),
        (["call", "job_data.list", "--pag", "3"], "there is no argument `--pag`: did you mean `--page`?"),
        (["ls", "job_data", "more"], "unrecognized arguments: more"),
        (["ls", "job_data", "--type", "yeild"], "`--type`: unknown type `yeild`; known: AsApplied, "),
        (["ls", "prescription_maps", "--type", "x"], "`--type`: unknown type `x`; known: AsApplied, "),
        (["ls", "job_data", "--year", "12"], "`--year`: expected"),
        (["ls", "job_data", "--date", "soon"], "`--date` of job_data.list is not a time: `soon`"),
        (["ls", "job_data", "--date", "soon", "--name", "x"], "`--date` is not a time: `soon`"),
        (["ls", "field_hubs", "--type", "x"], "`--type` is valid only with job_data and prescription_maps"),
        (["ls", "prescription_maps", "--year", "2025"], "`--year` is valid only with job_data"),
        (["get", "field_hubs", "7", "--to", "x"], "field_hubs have no file to download"),
    ],
)
def test_wrong_words_suggest_the_right_ones(capsys: pytest.CaptureFixture[str], words: list[str], message: str) -> None:
    assert main(words) == 2
    printed = capsys.readouterr()
    assert message in printed.err
    assert printed.out == ""


@pytest.mark.parametrize(
    "spellings",
    [
        ("job_data", "jobdata", "job-data", "JobData"),
        ("prescription_maps", "prescriptionmaps", "prescription-map", "prescription_map"),
        ("field_computers", "fieldcomputers", "field-computer"),
        ("field_hubs", "fieldhubs", "field-hub"),
        ("grain_carts", "graincart", "grain-carts"),
    ],
)
def test_every_spelling_of_a_kind_is_accepted(capsys: pytest.CaptureFixture[str], spellings: tuple[str, ...]) -> None:
    first, *others = [ids(capsys, spelling) for spelling in spellings]
    assert first
    assert all(other == first for other in others)


def test_terminal_shows_an_aligned_table_that_fits(
    client: hl.Client, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = list(client.job_data.list())
    use_terminal(monkeypatch, 70)
    assert main(["ls", "job_data"]) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.startswith(BOLD)
    plain = re.sub("\x1b\\[[0-9]*m", "", head)
    assert [row.split()[0] for row in rows] == [job["id"] for job in jobs]
    assert max(map(len, [plain, *rows])) <= 70
    start = plain.index("name")
    for job, row in zip(jobs, rows, strict=True):
        shown = row[start:].split("  ")[0]
        assert str(job["name"]).startswith(shown.removesuffix("…"))
    assert main(["ls", "job_data", "--type", "yield", "--year", "2025"]) == 0
    assert all(" 2025 " in row or "…" in row for row in capsys.readouterr().out.splitlines()[1:])


def test_pipe_receives_tabs_and_no_colour(client: hl.Client, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ls", "job_data"]) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head == "id\tname\tsub_type\tcreate_date\tupdate_date"
    assert [row.split("\t")[:2] for row in rows] == [[job["id"], job["name"]] for job in client.job_data.list()]


@pytest.mark.parametrize(
    ("environment", "is_coloured"),
    [({}, True), ({"NO_COLOR": ""}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)],
)
def test_colours_are_optional(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    environment: dict[str, str],
    is_coloured: bool,
) -> None:
    use_terminal(monkeypatch, 100)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert main(["ls", "field_hubs"]) == 0
    assert (BOLD in capsys.readouterr().out) is is_coloured
    assert main(["get", "job_data", "12345678901"]) == 4
    assert (f"{RED}NotFound" in capsys.readouterr().err) is is_coloured
    assert main(["pul"]) == 2
    assert (f"{RED}error" in capsys.readouterr().err) is is_coloured


def test_ids_are_never_cut_and_wide_letters_count_twice(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    use_terminal(monkeypatch, 20)
    records: list[dict[str, Any]] = [{"id": "1234567890123456789", "name": "田" * 30}, {"id": "2", "name": "\x1b[2Jx"}]
    print_table(records, ["id", "name"])
    _, first, second = capsys.readouterr().out.splitlines()
    assert first == f"1234567890123456789  {'田' * 3}…"
    assert "\x1b" not in second


def test_rows_after_the_measured_ones_are_printed_as_they_come(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    use_terminal(monkeypatch, 80)
    printed = ""

    def records() -> Any:
        nonlocal printed
        for number in range(300):
            printed += capsys.readouterr().out
            assert printed.count("\n") == (0 if number < 200 else number + 1)
            yield {"id": str(number), "name": "wide" * 3 if number == 250 else "x" * (200 * (number == 251))}

    print_table(records(), ["id", "name"])
    printed += capsys.readouterr().out
    assert "\n250  widewidewide\n" in printed
    assert f"\n251  {'x' * 74}…\n" in printed
