"""Runs each mistake of `python/docs/mistakes.md` and compares the message with the one documented there."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import sys
import traceback
from importlib.abc import MetaPathFinder
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from checkout import DOCS
from mistake_files import names, write

import headland as hl
from headland.cli.main import main

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from types import ModuleType

PAGE = DOCS / "mistakes.md"

SECTION = re.compile(
    r"^### (?P<title>[^\n]+)\n\n```(?P<language>pycon|shell-session)\n(?P<session>.*?)^```$", re.DOTALL | re.MULTILINE
)
"""A section of the page; its last statement, or its command, is the mistake."""

WITHOUT = re.compile(r"# without (\w+)")
"""A comment in the code: the package is not installed."""

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE

MISTAKES = 40
"""The least number of mistakes."""


class Mistake(NamedTuple):
    """A section of the page."""

    title: str
    language: str
    session: str


class NotInstalled(MetaPathFinder):
    """Hides a package, as if it were not installed."""

    def __init__(self, package: str) -> None:
        self._package = package

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        del path, target
        if fullname.partition(".")[0] == self._package:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)


def mistakes() -> list[Mistake]:
    return [Mistake(**section.groupdict()) for section in SECTION.finditer(PAGE.read_text(encoding="utf-8"))]


@pytest.fixture(scope="module")
def known(service: hl.Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """Return the names that mistakes use."""
    folder = tmp_path_factory.mktemp("names")
    write(folder)
    with (
        pytest.MonkeyPatch.context() as patch,
        hl.Client(**service.credentials, rate_limits=(), limiter_state="memory") as client,
    ):
        patch.chdir(folder)
        found = names(service, client)
        patch.undo()
        yield found


def last_lines(error: BaseException) -> str:
    """Return the end of a traceback, as consoles and notebooks show it: the type and the message."""
    return "".join(traceback.format_exception_only(error))


def run_python(mistake: Mistake, known: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """Return the documented message and the message that the last statement has."""
    *before, last = doctest.DocTestParser().get_examples(mistake.session)
    for package in WITHOUT.findall(last.source):
        for name in [name for name in sys.modules if name.partition(".")[0] == package]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setattr(sys, "meta_path", [NotInstalled(package), *sys.meta_path])
    own = dict(known)
    for example in before:
        exec(compile(example.source, mistake.title, "exec"), own)
    with pytest.raises(Exception) as caught:  # noqa: PT011 -- the page states type and message
        exec(compile(last.source, mistake.title, "exec"), own)
    return last.want, last_lines(caught.value)


def run_shell(mistake: Mistake, capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    """Return the documented message and the one that the command prints."""
    line, _, message = mistake.session.partition("\n")
    _, command, *words = shlex.split(line)
    assert command == "headland", line
    assert main(words) != 0, line
    return message, capsys.readouterr().err


@pytest.mark.parametrize("mistake", mistakes(), ids=lambda mistake: mistake.title)
def test_mistake_has_the_documented_message(
    mistake: Mistake,
    known: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write(tmp_path)
    monkeypatch.chdir(tmp_path)
    # A mistake may set variables itself.
    monkeypatch.setattr(os, "environ", os.environ.copy())
    if mistake.language == "shell-session":
        for name, value in {**known["credentials"], "rate_limits": "", "limiter_state": "memory"}.items():
            monkeypatch.setenv(f"HEADLAND_{name.upper()}", value)
        documented, found = run_shell(mistake, capsys)
    else:
        documented, found = run_python(mistake, known, monkeypatch)
    assert doctest.OutputChecker().check_output(documented, found, FLAGS), f"documented:\n{documented}found:\n{found}"


def test_every_section_of_the_page_is_a_mistake() -> None:
    titles = re.findall(r"^### (.*)", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert [mistake.title for mistake in mistakes()] == titles
    assert len({*titles}) == len(titles) >= MISTAKES
