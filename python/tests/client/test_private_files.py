"""Files with secrets: whose profile files are refused, and the rights of files of the sandbox."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

import headland as hl
from headland.cli import main

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes")


@pytest.fixture
def profiles(service: hl.Sandbox, tmp_path: Path) -> Path:
    folder = tmp_path / "settings"
    folder.mkdir(mode=0o700)
    file = folder / "profiles.toml"
    lines = (f"{name} = '{value}'" for name, value in service.credentials.items())
    file.write_text("\n".join(["[default]", *lines]))
    file.chmod(0o600)
    return file


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o1777])
def test_profile_file_in_a_folder_that_others_may_write_is_refused(profiles: Path, tmp_path: Path, mode: int) -> None:
    hl.Client.from_profile(path=profiles).close()
    link = tmp_path / "link.toml"
    link.symlink_to(profiles)
    profiles.parent.chmod(mode)
    for path in (profiles, link):
        with pytest.raises(hl.ConfigurationError, match=f"chmod go-w {profiles.parent}`"):
            hl.Client.from_profile(path=path)


def test_profile_file_of_another_user_is_refused(
    profiles: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    other = profiles.stat().st_uid + 1
    monkeypatch.setattr(os, "geteuid", lambda: other)
    with pytest.raises(hl.ConfigurationError, match="belongs to another user"):
        hl.Client.from_profile(path=profiles)
    home = profiles.parent / ".config" / "headland"
    home.mkdir(parents=True, mode=0o700)
    profiles.rename(home / "profiles.toml")
    monkeypatch.setenv("HOME", str(profiles.parent))
    before = (home / "profiles.toml").read_bytes()
    assert main(["login", "--no-check", "--profile", "farm"]) == 2
    assert "belongs to another user" in capsys.readouterr().err
    assert (home / "profiles.toml").read_bytes() == before


@pytest.mark.parametrize(
    ("content", "line"),
    [(b"[a]\nb = 1\nc = hunter2\n", 3), (b"[a]\n[a]\n", 2), (b"[a]\nb = '''\nhunter2", 3), (b"[a]\n\n\xff = 1", 3)],
)
def test_error_of_a_file_that_is_not_toml_has_its_line(profiles: Path, content: bytes, line: int) -> None:
    profiles.write_bytes(content)
    with pytest.raises(hl.ConfigurationError, match=f"is not TOML at line {line}$") as caught:
        hl.Client.from_profile(path=profiles)
    assert "hunter2" not in str(caught.value)


def test_state_of_the_sandbox_is_for_its_owner_alone(tmp_path: Path) -> None:
    old = os.umask(0o022)
    try:
        data = tmp_path / "new" / "state"
        with hl.Sandbox(data, rate_limits=()) as service, service.client() as client:
            cart = tmp_path / "a.grc"
            cart.write_bytes(b"GrcVersion,1.6,\nTotalPounds,100,\n,Pounds\nLoadNumber,Weight\n1,100\n")
            client.grain_carts.upload(cart)
            found = {path: path.stat().st_mode & 0o777 for path in [data, *data.rglob("*")]}
            wrong = {path: oct(mode) for path, mode in found.items() if mode != (0o700 if path.is_dir() else 0o600)}
    finally:
        os.umask(old)
    assert wrong == {}
    assert len(found) >= 4


@pytest.mark.parametrize("words", [["--version"], ["sandbox", "--port", "0"]])
def test_interrupt_during_the_imports_of_the_command_prints_no_traceback(tmp_path: Path, words: list[str]) -> None:
    # Interrupts the process when it imports a module that every verb needs.
    (tmp_path / "sitecustomize.py").write_text(
        "import os, signal, sys\n"
        "class Interrupt:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'headland.client.client':\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupt())\n"
    )
    environment: dict[str, Any] = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{os.pathsep.join(sys.path)}"}
    done = subprocess.run(
        [sys.executable, "-m", "headland", *words],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")
