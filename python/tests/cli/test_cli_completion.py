"""The verb `completion`: scripts that complete words in a shell, without Python and without a call."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from headland import _core
from headland.cli import main
from headland.cli.main import _parser
from headland.cli.record_groups import KINDS

if TYPE_CHECKING:
    from pathlib import Path

COMPLETE = """
source "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_headland
printf '%s\\n' "${COMPREPLY[@]}"
"""
"""Program that completes the last of its words."""

NEEDS_BASH = pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")


@pytest.fixture
def scripts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Path]:
    """Return the scripts of all shells."""
    found = {}
    for shell in ("bash", "zsh", "fish"):
        assert main(["completion", shell]) == 0
        found[shell] = tmp_path / f"completion.{shell}"
        found[shell].write_text(capsys.readouterr().out)
    return found


def complete(script: Path, *words: str) -> list[str]:
    """Return what bash offers for the last word; no other program can be run."""
    bash = str(shutil.which("bash"))
    done = subprocess.run(
        [bash, "-c", COMPLETE, "complete", str(script), "headland", *words],
        check=True,
        capture_output=True,
        text=True,
        cwd=script.parent,
        env={"PATH": ""},
    )
    assert done.stderr == ""
    return done.stdout.split("\n")[:-1] if done.stdout != "\n" else []


@NEEDS_BASH
def test_bash_completes_verbs_kinds_calls_and_values(scripts: dict[str, Path]) -> None:
    script = scripts["bash"]
    assert complete(script, "pu") == ["pull"]
    assert {"demo", "login", "ls", "completion", "--version"} <= set(complete(script, ""))
    assert complete(script, "ls", "") == list(KINDS)
    assert complete(script, "get", "fi") == ["field_computers", "field_hubs"]
    assert complete(script, "ls", "--limit", "3", "gr") == ["grain_carts"]
    assert complete(script, "ls", "--limit", "") == []
    assert complete(script, "ls", "job_data", "") == []
    assert complete(script, "upload", "--file-type", "") == ["RX", "AGX"]
    assert complete(script, "completion", "") == ["bash", "zsh", "fish"]
    assert complete(script, "call", "") == [*_core.rows(), "get_uri"]
    assert complete(script, "call", "job_data.dow") == ["job_data.download"]
    assert complete(script, "nothing", "") == []


@NEEDS_BASH
def test_bash_completes_every_option_of_every_verb(scripts: dict[str, Path]) -> None:
    for name, verb in _parser().verbs.choices.items():
        options = [option for action in verb.options() for option in action.option_strings if option[:2] == "--"]
        assert complete(scripts["bash"], name, "--") == options, name


@NEEDS_BASH
def test_bash_completes_files_where_files_are_expected(scripts: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "my job.zip").touch()
    for words in (["read"], ["upload", "job_data"], ["get", "job_data", "7", "--to"], ["openapi", "--out"]):
        assert complete(scripts["bash"], *words, "my") == ["my job.zip"], words


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_script_is_valid_in_its_shell(scripts: dict[str, Path], shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell}")
    subprocess.run([shell, "-n", scripts[shell]], check=True, timeout=30)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_script_has_every_verb_kind_and_call(scripts: dict[str, Path], shell: str) -> None:
    text = scripts[shell].read_text()
    for word in (*_parser().verbs.choices, *KINDS, *_core.rows()):
        assert word in text, word


def test_unknown_shell_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "powershell"]) == 2
    assert "bash" in capsys.readouterr().err
