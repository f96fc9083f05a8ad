"""The doctor on invalid settings, and the command: its output, and its exit code."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING

import pytest
from doctor_runs import OTHER_SECRET, assert_fails, everything_of

import headland as hl
from headland.cli import main

if TYPE_CHECKING:
    from pathlib import Path


def in_environment(monkeypatch: pytest.MonkeyPatch, **names: object) -> None:
    for name, value in {"limiter_state": "memory", "timeout": "5,5,2", **names}.items():
        monkeypatch.setenv(f"HEADLAND_{name.upper()}", str(value))


# Settings without which no client can be constructed.
@pytest.mark.parametrize(
    ("name", "value", "step", "seen", "next_step"),
    [
        ("shared_secret", "not base64!", "settings", "is not base64", "copy shared_secret again"),
        ("shared_secret", None, "settings", "set HEADLAND_SHARED_SECRET", "export these variables"),
        ("api_key", "an-api-key-with-a-blank ", "settings", "api_key contains a blank", "copy api_key again"),
        (
            "access_key",
            "an-access-key-with-a-blank ",
            "settings",
            "access_key contains a blank",
            "copy access_key again",
        ),
        ("base_url", "http://fields.example", "address", "plain http", "write `https://`"),
        ("base_url", "fields.example", "address", "is not a URL", "the URL from the operator"),
        ("rate_limits", "thirty", "settings", "HEADLAND_RATE_LIMITS is invalid", "correct that setting"),
        ("accept", "yaml", "settings", "'json' or 'xml'", "correct that setting"),
        ("ca_file", "missing.pem", "TLS", "cannot be read", "PEM"),
    ],
)
def test_invalid_settings_are_findings(
    faulty: hl.Sandbox,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    value: str | None,
    step: str,
    seen: str,
    next_step: str,
) -> None:
    in_environment(monkeypatch, **{**faulty.credentials, name: value or ""})
    checkup = hl.doctor()
    assert_fails(checkup, step, seen, next_step, Exception)
    assert checkup.calls == 0
    shown = everything_of(checkup)
    for secret in ("api_key", "shared_secret", "access_key"):
        assert not (kept := os.environ[f"HEADLAND_{secret.upper()}"]) or kept not in shown


def test_keys_in_the_wrong_places_are_not_shown(faulty: hl.Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = faulty.credentials
    in_environment(monkeypatch, **{**keys, "base_url": keys["shared_secret"], "shared_secret": keys["base_url"]})
    checkup = hl.doctor()
    assert_fails(checkup, "address", "(not shown)", "the URL from the operator", hl.ConfigurationError)
    assert keys["shared_secret"] not in f"{checkup} {checkup!r} {checkup._repr_html_()} {checkup.error}"


def test_misspelt_variable_is_named(faulty: hl.Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    in_environment(monkeypatch, **faulty.credentials)
    monkeypatch.delenv("HEADLAND_API_KEY")
    monkeypatch.setenv("HEADLAND_APIKEY", faulty.credentials["api_key"])
    assert "no setting: HEADLAND_APIKEY" in hl.doctor().findings[-1].seen


@pytest.mark.parametrize(
    ("text", "mode", "seen", "next_step"),
    [
        ("[farm]\n", 0o644, "mode 0644", "chmod"),
        ("farm = [", 0o600, "not TOML", "fix the file"),
        ("[barn]\n", 0o600, "no profile [farm]", "name a profile that the file has"),
        ("[farm]\nbase_uri = 'x'\n", 0o600, "unknown: base_uri", "correct the names in that table"),
        ("[farm]\nkeyring = 'headland'\n", 0o600, "headland[keyring]", "run that `pip install`"),
        (None, 0o600, "cannot read the profile file", "mode 0600"),
    ],
)
def test_invalid_profiles_are_findings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None, mode: int, seen: str, next_step: str
) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    file = tmp_path / "profiles.toml"
    if text is not None:
        file.write_text(text)
        file.chmod(mode)
    assert_fails(hl.doctor("farm", file), "settings", seen, next_step, hl.ConfigurationError)


def test_a_keyring_that_has_no_secret_or_is_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Keyring:
        def get_password(self, service: str, name: str) -> None:
            if service == "locked":
                raise OSError(f"the keyring of {name} is locked")

    monkeypatch.setitem(sys.modules, "keyring", Keyring())
    file = tmp_path / "profiles.toml"
    file.touch(mode=0o600)
    for service, seen, next_step in (
        ("headland", "keyring set headland farm", "run that `keyring set`"),
        ("locked", "is locked", "unlock the system's keyring"),
    ):
        file.write_text(f"[farm]\nkeyring = '{service}'\n")
        assert_fails(hl.doctor("farm", file), "settings", seen, next_step, hl.ConfigurationError)


# The command line: the lines, and the exit code of a call.
@pytest.mark.parametrize(
    ("wrong", "fault", "code"),
    [
        ({}, None, 0),
        ({"shared_secret": "not base64!"}, None, 2),
        ({"base_url": "http://fields.example"}, None, 2),
        ({"api_key": "an-unknown-api-key"}, None, 3),
        ({"shared_secret": OTHER_SECRET}, None, 3),
        ({}, "forbidden", 3),
        ({"base_url": "/nothing/here"}, None, 4),
        ({}, "redirect", 7),
        ({}, "unavailable", 7),
        ({"base_url": "http://127.0.0.1:9"}, None, 7),
    ],
)
def test_command_exits_with_the_code_of_a_call(
    faulty: hl.Sandbox,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    wrong: dict[str, str],
    fault: str | None,
    code: int,
) -> None:
    keys: dict[str, str] = {**faulty.credentials, **wrong}  # type: ignore[dict-item]
    if keys["base_url"].startswith("/"):
        keys["base_url"] = faulty.base_url + keys["base_url"]
    in_environment(monkeypatch, **keys, rate_limits="")
    shown = ""
    for words in (["ls", "jobdata"], ["doctor"], ["doctor", "--json"]):
        if fault is not None:
            faulty.faults.add(endpoint="*", kind=fault, times=20)
        assert main(words) == code, words
        faulty.faults.clear()
        written = capfd.readouterr()
        if words[0] == "doctor":
            shown += written.out + written.err
        if words[-1] == "--json":
            findings = [hl.Finding(**json.loads(line)) for line in written.out.splitlines()]
            assert [each.ok for each in findings] == [True] * (len(findings) - 1) + [code == 0]
            assert ("error" in json.loads(written.err)) if code else written.err == ""
    for secret in ("api_key", "shared_secret", "access_key"):
        assert keys[secret] not in shown


def test_each_line_is_printed_as_its_step_ends(faulty: hl.Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    in_environment(monkeypatch, **faulty.credentials)
    before = len(faulty.requests)
    seen: list[tuple[str, int]] = []
    checkup = hl.doctor(tell=lambda finding: seen.append((finding.name, len(faulty.requests) - before)))
    assert [name for name, _ in seen] == [finding.name for finding in checkup.findings]
    assert dict(seen) | {"settings": 0, "address": 0, "access key": 1, "list call": 2} == dict(seen)


def test_command_accepts_a_profile(faulty: hl.Sandbox, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / ".config" / "headland"
    folder.mkdir(parents=True)
    file = folder / "profiles.toml"
    file.touch(mode=0o600)
    file.write_text("[farm]\n" + "".join(f'{name} = "{value}"\n' for name, value in faulty.credentials.items()))
    assert main(["doctor", "--profile", "farm"]) == 0
    assert capfd.readouterr().out.startswith("ok    settings    from the profile [farm]: ")
    assert main(["doctor", "--profile", "barn"]) == 2
    assert "next: name a profile that the file has" in capfd.readouterr().out
