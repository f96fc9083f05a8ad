"""The verb `login`: what it asks, checks and stores, and what it never shows or changes."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING, Any

import pytest

import headland as hl
from headland.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Login = Callable[..., tuple[int, str, str]]

OTHERS = """\
# Profiles of the farm office.
[north]   # keep
base_url = 'https://north.example'
api_key = \"\"\"
[farm]
api_key = "of north"
\"\"\"
access_key = "n"
shared_secret = "bm9ydGg="

"""
SOUTH = """\
[south]
base_url = "https://south.example"
api_key = "s"
rate_limits = [
    [30, 60],
]
access_key = "s"
shared_secret = "c291dGg="
"""
FARM = """\
[farm]
# The co-operative's account.
base_url = "https://old.example"
api_key = "old"
page_size = 50
access_key = 'old'
shared_secret = \"\"\"b2xk\"\"\"

"""


class Keyring:
    """A keyring of the system."""

    def __init__(self, *, fails: bool = False, forgets: bool = False) -> None:
        self.entries: dict[tuple[str, str], str] = {}
        self._fails, self._forgets = fails, forgets

    def get_password(self, service: str, name: str) -> str | None:
        return self.entries.get((service, name))

    def set_password(self, service: str, name: str, secret: str) -> None:
        if self._fails:
            raise RuntimeError(f"no backend for {secret}")
        if not self._forgets:
            self.entries[service, name] = secret

    def delete_password(self, service: str, name: str) -> None:
        del self.entries[service, name]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / ".config" / "headland" / "profiles.toml"


@pytest.fixture
def login(service: hl.Sandbox, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Login:
    """Return a function that runs the verb with the keys of the service on standard input."""
    monkeypatch.setitem(sys.modules, "keyring", None)

    def run(*words: str, **changed: str) -> tuple[int, str, str]:
        keys: dict[str, Any] = {**service.credentials, **changed}
        text = "".join(f"{keys[name]}\n" for name in ("base_url", "api_key", "access_key", "shared_secret"))
        monkeypatch.setattr(sys, "stdin", io.StringIO(text))
        code = main(["login", *words])
        printed = capfd.readouterr()
        for name in ("api_key", "access_key", "shared_secret"):
            assert not keys[name] or keys[name] not in printed.out + printed.err
        return code, printed.out, printed.err

    return run


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode())
    file.chmod(0o600)


def test_login_stores_a_profile_that_the_client_reads(service: hl.Sandbox, login: Login, file: Path) -> None:
    before = len(service.requests)
    code, out, err = login("--profile", "farm")
    assert (code, err) == (0, "")
    assert len(service.requests) - before == 1
    assert str(file) in out
    assert "headland ls job_data --profile farm" in out
    assert 'hl.Client.from_profile("farm")' in out
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert [each.name for each in file.parent.iterdir()] == [file.name]
    with hl.Client.from_profile("farm") as client:
        assert client.access_key()["is_active"]
    assert main(["ls", "field_hubs", "--profile", "farm", "--limit", "1"]) == 0


def test_default_profile_needs_no_option(
    service: hl.Sandbox, login: Login, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = login()
    assert code == 0
    assert "next: headland ls job_data, or hl.Client.from_profile()" in out
    assert main(["ls", "field_hubs", "--limit", "1"]) == 0
    assert main(["doctor"]) == 0
    # Keys of the environment come first, also incomplete ones.
    monkeypatch.setenv("HEADLAND_BASE_URL", service.credentials["base_url"])
    capfd.readouterr()
    assert main(["ls", "field_hubs", "--limit", "1"]) == 2
    assert "set HEADLAND_API_KEY" in capfd.readouterr().err


def test_missing_keys_and_profiles_suggest_the_verb(login: Login, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["budget"]) == 2
    assert (
        "or store the keys by `headland login`, for `Client.from_profile()` and `--profile`" in capfd.readouterr().err
    )
    assert main(["budget", "--profile", "farm"]) == 12
    assert "; `headland login --profile farm` writes it, or use `Client.from_env()`" in capfd.readouterr().err
    assert login("--profile", "north")[0] == 0
    assert main(["budget", "--profile", "farm"]) == 2
    assert "it has: north; `headland login --profile farm` adds it" in capfd.readouterr().err


def test_json_says_only_where_the_keys_are(login: Login, file: Path) -> None:
    code, out, err = login("--json", "--profile", "farm")
    assert (code, err) == (0, "")
    assert json.loads(out) == {"profile": "farm", "path": str(file), "secret": "profile"}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(("before", "after"), [(OTHERS, SOUTH), ("", SOUTH), (OTHERS, ""), ("", "")])
def test_other_profiles_are_kept_byte_for_byte(
    login: Login, service: hl.Sandbox, file: Path, before: str, after: str, end: str
) -> None:
    before, farm, after = (text.replace("\n", end) for text in (before, FARM, after))
    write(file, before + farm + after)
    assert login("--profile", "farm")[0] == 0
    content = file.read_bytes().decode()
    assert content.startswith(before)
    assert content.endswith(after)
    own = content[len(before) : len(content) - len(after)]
    assert f"# The co-operative's account.{end}" in own
    assert own.count("\n") == farm.count("\n")
    assert own.count("\r\n") == farm.count("\r\n")
    keys = {name: service.credentials[name] for name in ("base_url", "api_key", "access_key", "shared_secret")}
    assert tomllib.loads(content)["farm"] == {**keys, "page_size": 50}


@pytest.mark.parametrize("old", ["", OTHERS, OTHERS.rstrip("\n"), SOUTH, "# nothing"])
@pytest.mark.parametrize("name", ["farm", "home farm", 'the "old" one', "Hof Süd"])
def test_new_profile_is_added_with_any_name(login: Login, file: Path, old: str, name: str) -> None:
    write(file, old)
    assert login("--profile", name)[0] == 0
    assert file.read_text().startswith(old)
    hl.Client.from_profile(name).close()


def test_header_at_the_end_of_the_file_is_a_profile(login: Login, file: Path) -> None:
    write(file, "[farm]")
    assert login("--profile", "farm")[0] == 0
    hl.Client.from_profile("farm").close()


def test_empty_base_url_means_the_stored_one(service: hl.Sandbox, login: Login, file: Path) -> None:
    write(file, FARM.replace("https://old.example", service.base_url))
    assert login("--profile", "farm", base_url="")[0] == 0
    assert tomllib.loads(file.read_text())["farm"]["base_url"] == service.base_url
    code, _, err = login("--profile", "other", base_url="")
    assert code == 2
    assert "the base URL is empty" in err


@pytest.mark.parametrize(
    ("changed", "code", "message"),
    [
        ({"api_key": "unknown-key"}, 3, "AuthenticationError: the profile [farm] is not stored: "),
        ({"shared_secret": "bm90IGl0"}, 3, "the profile [farm] is not stored: "),
        ({"access_key": "revoked"}, 3, "the access key is not active"),
        ({"access_key": "expired"}, 3, "the access key expired at 2025-01-01"),
        ({"shared_secret": "not base64!"}, 2, "the shared secret is not base64"),
        ({"base_url": "http://127.0.0.1:9"}, 7, "TransportError: the profile [farm] is not stored: "),
        ({"base_url": "fields.example"}, 2, "nothing is stored"),
        ({"access_key": ""}, 2, "the access key is empty: nothing is stored"),
    ],
)
def test_keys_that_fail_the_check_are_not_stored(
    service: hl.Sandbox, login: Login, file: Path, changed: dict[str, str], code: int, message: str
) -> None:
    keys = {"revoked": service.revoked_access_key, "expired": service.expired_access_key}
    changed = {name: keys.get(value, value) for name, value in changed.items()}
    write(file, f'{SOUTH}[farm]\ntimeout = "0.5,0.5,0.5"\n')
    before = file.read_bytes()
    found, out, err = login("--profile", "farm", **changed)
    assert (found, out) == (code, "")
    assert message in err
    assert file.read_bytes() == before


def test_no_check_makes_no_call(service: hl.Sandbox, login: Login, file: Path) -> None:
    before = len(service.requests)
    code, out, _ = login("--no-check", api_key="unknown-key")
    assert (code, len(service.requests)) == (0, before)
    assert "not checked" in out
    assert tomllib.loads(file.read_text())["default"]["api_key"] == "unknown-key"
    assert login("--no-check", shared_secret="not base64!")[0] == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{SOUTH}broken = ", "is not TOML at line 9: correct it or move it away, it is not overwritten"),
        ("\xff\n[a", "is not TOML"),
        ('farm = "x"\n', "`farm` in "),
        ('farm = {base_url = "https://old.example"}\n', "has a form that cannot be changed"),
        ("farm.page_size = 50\n", "has a form that cannot be changed"),
        ('[farm]\nbase_uri = "x"\n', "unknown: base_uri"),
    ],
)
def test_invalid_file_is_an_error_and_not_overwritten(login: Login, file: Path, text: str, message: str) -> None:
    write(file, text)
    code, out, err = login("--profile", "farm")
    assert (code, out) == (2, "")
    assert message in err
    assert file.read_bytes() == text.encode()


def test_folder_that_cannot_be_written_is_an_error(login: Login, file: Path) -> None:
    file.parent.parent.mkdir(parents=True)
    file.parent.write_text("a file")
    code, out, err = login()
    assert (code, out) == (12, "")
    assert "profiles.toml" in err


def test_link_to_the_file_stays_a_link(login: Login, file: Path, tmp_path: Path) -> None:
    real = tmp_path / "settings" / "headland.toml"
    write(real, SOUTH)
    file.parent.mkdir(parents=True)
    file.symlink_to(real)
    assert login()[0] == 0
    assert file.is_symlink()
    assert sorted(tomllib.loads(real.read_text())) == ["default", "south"]


def test_keyring_keeps_the_secret(
    service: hl.Sandbox, login: Login, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keyring = Keyring()
    monkeypatch.setitem(sys.modules, "keyring", keyring)
    secret = service.credentials["shared_secret"]
    assert json.loads(login("--profile", "farm", "--json")[1])["secret"] == "keyring"
    assert keyring.entries == {("headland", "farm"): secret}
    assert secret not in file.read_text()
    hl.Client.from_profile("farm").close()
    assert login("--profile", "farm", "--no-keyring")[0] == 0
    assert tomllib.loads(file.read_text())["farm"].keys() == {"base_url", "api_key", "access_key", "shared_secret"}
    write(file, '[farm]\nkeyring = "of the office"\n')
    assert "service `of the office`" in login("--profile", "farm")[1]
    assert keyring.entries["of the office", "farm"] == secret
    assert tomllib.loads(file.read_text())["farm"]["keyring"] == "of the office"


@pytest.mark.parametrize(
    ("keyring", "reason"),
    [
        (Keyring(fails=True), "the keyring cannot be used (RuntimeError); the secret is stored in the file"),
        (Keyring(forgets=True), "the keyring does not store secrets; the secret is stored in the file"),
    ],
)
def test_keyring_that_does_not_work_leaves_the_secret_to_the_file(
    login: Login, monkeypatch: pytest.MonkeyPatch, keyring: Keyring, reason: str
) -> None:
    monkeypatch.setitem(sys.modules, "keyring", keyring)
    code, out, err = login("--profile", "farm", "--json")
    assert (code, json.loads(out)["secret"]) == (0, "profile")
    assert reason in err
    hl.Client.from_profile("farm").close()


@pytest.mark.parametrize("old", [None, "old"])
def test_keyring_is_restored_if_the_file_cannot_be_written(
    login: Login, file: Path, monkeypatch: pytest.MonkeyPatch, old: str | None
) -> None:
    keyring = Keyring()
    keyring.entries = {} if old is None else {("headland", "farm"): old}
    before = dict(keyring.entries)
    monkeypatch.setitem(sys.modules, "keyring", keyring)
    write(file, "farm.page_size = 50\n")
    assert login("--profile", "farm")[0] == 2
    assert keyring.entries == before


def test_input_that_ends_early_is_an_error(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("https://fields.example\nkey\n"))
    assert main(["login"]) == 2
    assert "the input ends before the access key: expected a line for each of base URL," in capfd.readouterr().err


ON_TERMINAL = """
import fcntl, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
from headland.cli import main
sys.exit(main(["login", "--profile", "farm", "--no-keyring"]))
"""
"""Program that runs the verb on its terminal."""


def test_terminal_echoes_no_secret(service: hl.Sandbox, tmp_path: Path, file: Path) -> None:
    write(file, FARM.replace("https://old.example", service.base_url))
    terminal, its_end = pytest.importorskip("pty").openpty()
    credentials: dict[str, Any] = {**service.credentials}
    with subprocess.Popen(
        [sys.executable, "-c", ON_TERMINAL],
        stdin=its_end,
        stdout=its_end,
        stderr=its_end,
        start_new_session=True,
        env={**os.environ, "HOME": str(tmp_path)},
    ) as process:
        os.close(its_end)
        seen = b""

        def answer(question: str, text: Any) -> None:
            nonlocal seen
            while not seen.endswith(question.encode()):
                seen += os.read(terminal, 1024)
            os.write(terminal, f"{text}\n".encode())

        answer(f"base URL [{service.base_url}]: ", "")
        for question, name in (("API key", "api_key"), ("access key", "access_key"), ("secret", "shared_secret")):
            answer(f"{question}: ", credentials[name])
        try:
            while more := os.read(terminal, 1024):
                seen += more
        except OSError:  # the end of the terminal, on Linux
            pass
    os.close(terminal)
    assert process.returncode == 0, seen
    assert b"The profile [farm] is stored in" in seen
    for name in ("api_key", "access_key", "shared_secret"):
        assert credentials[name].encode() not in seen
        assert tomllib.loads(file.read_text())["farm"][name] == credentials[name]
