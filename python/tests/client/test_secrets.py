"""Secrets are never shown: not in a repr, an error, a pickle, a traceback with local variables, a log."""

from __future__ import annotations

import asyncio
import base64
import copy
import io
import logging
import pickle
import sys
import traceback
from typing import TYPE_CHECKING, Any

import pytest

import headland as hl
from headland import _core

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SECRET = base64.b64encode(b"a secret that must never leak").decode()
API_KEY = "api-key-that-is-never-printed"
ACCESS_KEY = "access-key-that-is-never-printed"
HIDDEN = (SECRET, API_KEY, ACCESS_KEY, "a secret that must never leak")


class _Holder:
    """Hides the credentials from a traceback with local variables: the test's own frames do not count."""

    def __init__(self, **other: Any) -> None:
        self.credentials = {"api_key": API_KEY, "shared_secret": SECRET, "access_key": ACCESS_KEY, **other}

    def __repr__(self) -> str:
        return "<credentials>"

    def make(self, **other: Any) -> hl.Client:
        return hl.Client(**{**self.credentials, "rate_limits": (), **other})


def everything_of(error: BaseException) -> str:
    """Format an error as tools with local variables do, with its causes, its arguments and its attributes."""
    formatted = traceback.TracebackException.from_exception(error, capture_locals=True)
    return "".join(formatted.format()) + repr(error) + repr(error.args) + repr(vars(error))


def assert_hidden(text: str) -> None:
    for secret in HIDDEN:
        assert secret not in text


@pytest.mark.parametrize(
    "wrong",
    [
        {"base_url": "http://fields.example"},
        {"base_url": "nonsense"},
        {"base_url": 7},
        {"shared_secret": "not base64 " + SECRET},
        {"shared_secret": SECRET.encode()},
        {"access_key": SECRET.encode()},
        {"page_size": 0},
        {"rate_limits": 30},
        {"timeout": (1, 2)},
        {"timeout": hl.Timeout(connect=-1)},
    ],
)
def test_no_traceback_of_the_constructor_shows_them(wrong: dict[str, Any]) -> None:
    holder = _Holder(base_url="https://fields.example")
    with pytest.raises(Exception) as caught:  # noqa: PT011 - no exception of any kind may show it
        holder.make(**wrong)
    frames = traceback.TracebackException.from_exception(caught.value, capture_locals=True).stack
    own = [frame for frame in frames if "headland" in frame.filename and "tests" not in frame.filename]
    assert_hidden("".join(f"{frame.line}{frame.locals}" for frame in own) + str(caught.value) + repr(caught.value))


def test_no_error_of_a_call_shows_them(service: hl.Sandbox) -> None:
    client = _Holder(base_url=service.base_url).make()
    with pytest.raises(hl.AuthenticationError) as caught:
        client.access_key()
    assert_hidden(everything_of(caught.value))

    async def call() -> None:
        credentials = _Holder(base_url=service.base_url).credentials
        twin = hl.AsyncClient(**credentials, rate_limits=())
        del credentials
        await twin.access_key()

    with pytest.raises(hl.AuthenticationError) as caught_async:
        asyncio.run(call())
    assert_hidden(everything_of(caught_async.value))


def test_no_repr_shows_them() -> None:
    holder = _Holder(base_url="https://fields.example")
    client = holder.make()
    shown = [repr(client), str(client), repr(vars(client)), repr(client.job_data), repr(_core.Secret(SECRET))]
    assert_hidden("".join(shown))
    assert "https://fields.example" in repr(client)


@pytest.mark.parametrize("take", [pickle.dumps, copy.copy, copy.deepcopy])
def test_a_client_is_not_pickled_or_copied(take: Callable[[object], object]) -> None:
    client = _Holder(base_url="https://fields.example").make()
    for thing in (client, _core.Secret(SECRET)):
        with pytest.raises(TypeError) as caught:
            take(thing)
        assert_hidden(str(caught.value))


def test_nothing_is_logged(service: hl.Sandbox, capfd: pytest.CaptureFixture[str]) -> None:
    text = io.StringIO()
    handler = logging.StreamHandler(text)
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        client = _Holder(base_url=service.base_url).make()
        with pytest.raises(hl.AuthenticationError):
            client.access_key()
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
    written = capfd.readouterr()
    assert_hidden(text.getvalue() + written.out + written.err)


def test_no_attribute_of_a_client_leads_to_them() -> None:
    client = _Holder(base_url="https://fields.example").make()
    seen: set[int] = set()
    queue: list[object] = [client]
    while queue:
        thing = queue.pop()
        if id(thing) in seen or isinstance(thing, type | type(sys)):
            continue
        seen.add(id(thing))
        if isinstance(thing, str):
            assert thing not in HIDDEN
            continue
        for cls in type(thing).__mro__:
            for name in (*getattr(cls, "__slots__", ()), *getattr(thing, "__dict__", ())):
                queue.append(getattr(thing, name, None))  # noqa: PERF401 - it grows while it is walked


def test_environment_configures_a_client(service: hl.Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in service.credentials.items():
        monkeypatch.setenv(f"HEADLAND_{name.upper()}", str(value))
    monkeypatch.setenv("HEADLAND_RATE_LIMITS", "30/60,15/30")
    monkeypatch.setenv("HEADLAND_LIMITER_STATE", "memory")
    monkeypatch.setenv("HEADLAND_TIMEOUT", "1,2,3.5")
    with hl.Client.from_env() as client:
        assert client.access_key()["is_active"]
        assert [(window.calls, window.seconds) for window in client.budget().windows] == [(30, 60.0), (15, 30.0)]


def test_incomplete_environment_is_an_error_that_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLAND_SHARED_SECRET", SECRET)
    with pytest.raises(hl.ConfigurationError, match="HEADLAND_API_KEY") as caught:
        hl.Client.from_env()
    assert_hidden(everything_of(caught.value))
    monkeypatch.setenv("HEADLAND_BASE_URL", "https://fields.example")
    monkeypatch.setenv("HEADLAND_API_KEY", API_KEY)
    monkeypatch.setenv("HEADLAND_ACCESS_KEY", ACCESS_KEY)
    for name, value in (("RATE_LIMITS", "thirty"), ("TIMEOUT", "1,2,3,4,5"), ("PAGE_SIZE", "many")):
        with monkeypatch.context() as patched:
            patched.setenv(f"HEADLAND_{name}", value)
            with pytest.raises(hl.ConfigurationError, match=f"HEADLAND_{name}") as caught:
                hl.Client.from_env()
            assert_hidden(everything_of(caught.value))


def profile(path: Path, text: str, mode: int = 0o600) -> Path:
    path.write_text(text)
    path.chmod(mode)
    return path


GOOD = f"""
[default]
base_url = "https://fields.example"
api_key = "{API_KEY}"
shared_secret = "{SECRET}"
access_key = "{ACCESS_KEY}"
rate_limits = [[30, 60.0]]
limiter_state = "memory"
"""


def test_profile_configures_a_client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / ".config" / "headland"
    folder.mkdir(parents=True)
    profile(folder / "profiles.toml", GOOD)
    monkeypatch.setenv("HOME", str(tmp_path))
    for client in (hl.Client.from_profile(), hl.Client.from_profile("default", folder / "profiles.toml")):
        assert "https://fields.example" in repr(client)
        assert [(window.calls, window.seconds) for window in client.budget().windows] == [(30, 60.0)]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666])
def test_profile_readable_by_others_is_an_error(tmp_path: Path, mode: int) -> None:
    path = profile(tmp_path / "profiles.toml", GOOD, mode)
    with pytest.raises(hl.ConfigurationError, match="chmod 600") as caught:
        hl.Client.from_profile(path=path)
    assert_hidden(everything_of(caught.value))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GOOD.replace("default", "other"), "other"),
        (GOOD.replace("base_url", "base_uri"), "base_uri"),
        (GOOD + f'broken = "{SECRET}', "TOML"),
        (f'default = "{SECRET}"', "default"),
    ],
)
def test_invalid_profile_is_an_error_with_the_reason(tmp_path: Path, text: str, message: str) -> None:
    path = profile(tmp_path / "profiles.toml", text)
    del text
    with pytest.raises(hl.ConfigurationError, match=message) as caught:
        hl.Client.from_profile(path=path)
    frames = traceback.TracebackException.from_exception(caught.value, capture_locals=True).stack
    own = [frame for frame in frames if "tests" not in frame.filename]
    assert_hidden("".join(f"{frame.locals}" for frame in own) + str(caught.value))


def test_a_missing_file_of_profiles(tmp_path: Path) -> None:
    for error in (hl.ConfigurationError, FileNotFoundError):
        with pytest.raises(error, match=r"profiles\.toml"):
            hl.Client.from_profile(path=tmp_path / "profiles.toml")


def test_the_keyring_keeps_the_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Keyring:
        asked: tuple[str, str] | None = None
        answer: str | None = SECRET

        def get_password(self, service: str, name: str) -> str | None:
            self.asked = (service, name)
            return self.answer

    keyring = Keyring()
    monkeypatch.setitem(sys.modules, "keyring", keyring)
    text = "\n".join(line for line in GOOD.splitlines() if "shared_secret" not in line) + '\nkeyring = "farm"\n'
    path = profile(tmp_path / "profiles.toml", text)
    assert "https://fields.example" in repr(hl.Client.from_profile(path=path))
    assert keyring.asked == ("farm", "default")
    keyring.answer = None
    with pytest.raises(hl.ConfigurationError, match="keyring set farm default"):
        hl.Client.from_profile(path=path)
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(hl.ConfigurationError, match=r"headland\[keyring\]"):
        hl.Client.from_profile(path=path)
