"""Arguments of the command line: converted to the type of their parameter, or an error that names the option."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from headland.cli import main

if TYPE_CHECKING:
    from pathlib import Path

    import headland as hl


@pytest.fixture(autouse=True)
def _keys(service: hl.Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in service.credentials.items():
        monkeypatch.setenv(f"HEADLAND_{name.upper()}", str(value))
    monkeypatch.setenv("HEADLAND_RATE_LIMITS", "")


def call(capsys: pytest.CaptureFixture[str], *words: object) -> list[Any]:
    assert main(["call", *map(str, words)]) == 0, capsys.readouterr().err
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.fixture
def one_layer(service: hl.Sandbox, client: hl.Client) -> tuple[str, str, list[str]]:
    """Return a job, its first layer and the columns of that."""
    import headland as hl

    job = min(service.truth, key=lambda truth: truth["rows"])["job_id"]
    archive = client.job_data.download(job)
    name = hl.layers(archive)[0]
    return job, name, hl.read(archive, layer=name).columns


def test_every_kind_of_argument_of_read(
    capsys: pytest.CaptureFixture[str], one_layer: tuple[str, str, list[str]]
) -> None:
    job, layer, columns = one_layer
    first, second = columns[:2]
    how = ["--timeout", "30.5", "--strict", "false", "--threads", "1", "--limits", "members=50,ratio=900"]
    for wanted in (["--columns", f"{first},{second}"], ["--columns", first, f"--columns={second}"]):
        (read,) = call(capsys, "job_data.read", job, "--layer", layer, *how, *wanted)
        assert list(read["features"][0]["properties"]) == [first, second]


def test_flags_are_bare_or_have_a_boolean_value(
    capsys: pytest.CaptureFixture[str], small_job: str, tmp_path: Path
) -> None:
    target = tmp_path / "job.zip"
    words = ["job_data.download", small_job, "--to", target]
    assert main(["call", *map(str, words)]) == 0
    assert target.exists()
    for flag in (["--overwrite"], ["--overwrite", "yes"], ["--overwrite=true"]):
        assert main(["call", *map(str, [*words, *flag])]) == 0
    capsys.readouterr()
    assert main(["call", *map(str, [*words, "--overwrite", "no"])]) == 12
    message = capsys.readouterr().err
    assert "--overwrite" in message
    assert "overwrite=True" not in message


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["call", "job_data.read", "1", "--timeout", "soon"], "`--timeout`: expected a number, got 'soon'"),
        (["call", "job_data.read", "1", "--strict", "perhaps"], "its parameters: id"),
        (["call", "job_data.read", "1", "--strict=perhaps"], "`--strict`: expected true or false, got 'perhaps'"),
        (["call", "job_data.read", "1", "--threads", "two"], "`--threads`: expected a whole number, got 'two'"),
        (["call", "job_data.read", "1", "--limits", "many"], "`--limits`: expected pairs such as members=100"),
        (["call", "job_data.list", "--page=-1"], "`page`: expected a number from 0"),
        (["call", "job_data.list", "--page", "-1"], "`page`: expected a number from 0"),
        (["call", "job_data.list", "--page", "99999999999999999999"], "`page`: expected a number from 0"),
        (["call", "job_data.list", "--page"], "`--page` needs a value"),
        (["call", "job_data.get"], "`job_data.get`: missing a required argument: 'id'"),
        (["call", "job_data.get", "1", "2"], "`job_data.get`: too many positional arguments"),
        (["ls", "jobdata", "--limit", "-1"], "--limit: expected a whole number >= 0, got '-1'"),
        (["ls", "jobdata", "--limit", "few"], "--limit: expected a whole number >= 0, got 'few'"),
        (["sandbox", "--port", "80000"], "`port`: expected a number from 0 to 65535, got 80000"),
        (["sandbox", "--seed", "-1"], "`seed`: expected a number from 0"),
        (["sandbox", "--conversion-time", "inf"], "`conversion_time`: expected finite seconds >= 0, got inf"),
        (["sandbox", "--rate-limit", "30"], "`--rate-limit`: expected CALLS/SECONDS"),
        (["sandbox", "--port", "http"], "--port: invalid int value: 'http'"),
        (["nothing"], "there is no verb `nothing`; the verbs: demo"),
        ([], "VERB"),
    ],
)
def test_wrong_arguments_are_errors_that_name_the_option(
    service: hl.Sandbox, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    before = len(service.requests)
    assert main(words) == 2
    plain = capsys.readouterr()
    assert message in plain.err
    assert plain.out == ""
    assert main([*words, "--json"]) == 2
    error = json.loads(capsys.readouterr().err)
    assert error["error"] == "ValueError"
    assert message in error["message"]
    assert len(service.requests) == before


def test_help_of_quiet_matches_its_effect(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["demo", "--help"])
    assert "bars" not in capsys.readouterr().out


def test_a_mapping_is_json_and_a_raw_list_prints_lines(capsys: pytest.CaptureFixture[str], service: hl.Sandbox) -> None:
    (made,) = call(capsys, "dispatch.field_operations.create", '{"name": "North 40", "rate": 90.10}', "--json")
    assert (made["status"], made["name"], made["rate"]) == ("Pre-Released", "North 40", 90.1)
    (changed,) = call(capsys, "dispatch.field_operations.set_target", made["id"], "--body={}", "--json")
    assert changed["target"] == {}
    assert call(capsys, "dispatch.field_operations.delete", made["id"]) == []
    batches = call(capsys, "dispatch.batches.active", "--page-size", "25")
    assert len({batch["id"] for batch in batches}) == 60
    assert len(call(capsys, "legacy_orders.products", service.accounts[0].id, "--page", "1", "--page_size", "10")) == 10


@pytest.mark.parametrize("text", ["{", "[]", "7", "name=x", '{"a": NaN}'])
def test_invalid_mapping_is_an_error(capsys: pytest.CaptureFixture[str], service: hl.Sandbox, text: str) -> None:
    before = len(service.requests)
    assert main(["call", "dispatch.field_operations.create", text]) == 2
    assert "`body" in capsys.readouterr().err
    assert len(service.requests) == before


def test_a_profile_names_the_services(
    capsys: pytest.CaptureFixture[str], service: hl.Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in service.credentials:
        monkeypatch.delenv(f"HEADLAND_{name.upper()}")
    folder = tmp_path / ".config" / "headland"
    folder.mkdir(parents=True)
    lines = "".join(f"{name} = {json.dumps(value)}\n" for name, value in service.credentials.items())
    (folder / "profiles.toml").write_text(f"[farm]\nrate_limits = []\n{lines}")
    (folder / "profiles.toml").chmod(0o600)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert len(call(capsys, "legacy_orders.blends", "--profile", "farm")) == 70
    text = (folder / "profiles.toml").read_text().replace("dispatch_token", "despatch_token", 1)
    (folder / "profiles.toml").write_text(text)
    assert main(["call", "dispatch.products.list", "--profile", "farm"]) == 2
    assert "unknown: despatch_token" in capsys.readouterr().err
