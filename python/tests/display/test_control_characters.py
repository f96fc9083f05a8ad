"""Control characters of a service reach no terminal: not in tables, records, statuses, errors or warnings."""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from stub_server import web

import headland as hl
from headland import errors
from headland.cli.main import main
from headland.display.escaping import printable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from http.server import BaseHTTPRequestHandler

NAME = "north\x1b[2J\x07\x9b31m\u202efdp\u2066\n\tend"
SHOWN = "north\\u001b[2J\\u0007\\u009b31m\\u202efdp\\u2066\\u000a\\u0009end"
BAD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def _answer(request: BaseHTTPRequestHandler) -> tuple[int, dict[str, str], bytes]:
    path, _, query = request.path.partition("?")
    status, kind = 200, path.strip("/").replace("jobdata", "JobData")
    body: dict[str, Any] = {"TotalCount": 0, "IsNextPage": False}
    if "format=" in query:
        body = {"status": "CONVERSION_STATUS_FAILED", "errorInfo": f"No {NAME}."}
    elif path == "/jobdata":
        body = {"TotalCount": 1, "IsNextPage": False, kind: [{"ID": "7", "Name": NAME, "SubType": NAME}]}
    elif path == "/jobdata/7":
        body = {"ID": "7", "DeviceFileName": NAME, "New\x1b": [NAME]}
    elif path == "/fieldcomputers":
        status, body = 400, {"status": "INVALID_REQUEST", "errorInfo": f"No {NAME}.", "result": NAME}
    elif path == "/fieldhubs":
        body["TotalCount"] = f"many {NAME}"
    return status, {"Content-Type": "application/json"}, json.dumps(body).encode()


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    with web(_answer) as host:
        keys = {"base_url": f"http://{host}", "api_key": "a-key", "shared_secret": "AAEC", "access_key": "b-key"}
        for name, value in {**keys, "rate_limits": ""}.items():
            monkeypatch.setenv(f"HEADLAND_{name.upper()}", value)
        yield {**keys, "rate_limits": ()}


def test_tables_and_records_are_printed_without_them(keys: dict[str, Any], capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["ls", "jobdata"]) == 0
    assert main(["get", "jobdata", "7"]) == 0
    assert main(["call", "job_data.list"]) == 0
    out = capfd.readouterr().out
    assert not BAD.search(out), repr(out)
    assert f"7\t{SHOWN}\t{SHOWN}" in out.splitlines()[1]
    assert json.loads(out.splitlines()[-1])["name"] == NAME, "JSON gives the name as it is"
    assert hl.Client(**keys).job_data.list().first()["name"] == NAME, "and so does Python"  # type: ignore[index]


@pytest.mark.parametrize("json_flag", [[], ["--json"]])
@pytest.mark.usefixtures("keys")
def test_pulls_and_statuses_are_printed_without_them(
    json_flag: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["pull", "--to", str(tmp_path), "--no-locations", *json_flag]) == 0
    assert main(["pull", "--to", str(tmp_path), "--status", *json_flag]) == 0
    assert main(["pull", "--to", str(tmp_path), "--verify", *json_flag]) == 0
    printed = capfd.readouterr()
    assert not BAD.search(printed.out + printed.err), repr(printed)
    assert "No north\\u001b[2J" in printed.out
    assert "\nend" not in printed.out


@pytest.mark.parametrize("what", ["fieldcomputers", "fieldhubs"])
def test_errors_are_printed_without_them(keys: dict[str, Any], what: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["ls", what]) in (5, 11)
    assert main(["ls", what, "--json"]) in (5, 11)
    err = capfd.readouterr().err
    assert not BAD.search(err), repr(err)
    assert "north\\u001b[2J" in err
    with pytest.raises(hl.HeadlandError) as caught:
        list(getattr(hl.Client(**keys), f"field_{what.removeprefix('field')}").list())
    assert not BAD.search(str(caught.value) + repr(caught.value) + "".join(map(str, caught.value.args)))


def test_every_exception_and_warning_escapes_them() -> None:
    for error in (hl.NotFound(NAME), errors.from_core("NotFound", NAME, {}, None)):
        assert not BAD.search(str(error))
    assert str(errors.from_core("ValueError", NAME, {}, None)) == SHOWN
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        errors.warn(NAME)
    assert str(warned[0].message) == SHOWN


def test_invisible_characters_are_escaped() -> None:
    assert printable("a\u200bb\u2060c\ufeffd") == "a\\u200bb\\u2060c\\ufeffd"


def test_other_texts_stay_as_they_are() -> None:
    for text in ("Äcker, 北の畑, שדה", "a\u200db\u00a0c", "\\u001b", ""):
        assert printable(text) == text
    assert printable("a\n\tb\r", lines=True) == "a\n\tb\\u000d"


def test_command_line_prints_in_one_module() -> None:
    folder = Path(hl.__file__).parent / "cli"
    for path in folder.glob("*.py"):
        assert not re.search(r"(?<![_\w])print\(", path.read_text(encoding="utf-8")), path.name


def test_unknown_candidates_are_an_empty_list() -> None:
    for error in (hl.UploadOutcomeUnknown("x"), hl.UploadOutcomeUnknown("x", candidates=None)):
        assert error.candidates == []
    assert hl.UploadOutcomeUnknown("x", candidates=["7"]).candidates == ["7"]
    assert hl.Conflict("x").candidates is None
    made = errors.from_core("UploadOutcomeUnknown", "x", {"candidates": None}, None)
    assert isinstance(made, hl.UploadOutcomeUnknown)
    assert made.candidates == []
