"""Runs commands of the command line in this process, as a shell runs them in one of their own."""

from __future__ import annotations

import contextlib
import io
import json
from subprocess import CompletedProcess
from typing import TYPE_CHECKING, Any

import pytest

from headland.cli import main

if TYPE_CHECKING:
    import headland as hl


def headland(*words: object, service: hl.Sandbox | None = None, **environment: str) -> CompletedProcess[str]:
    """Run a command with the keys of `service` in its environment, and return its exit code and its output."""
    keys = {} if service is None else {f"HEADLAND_{n.upper()}": str(v) for n, v in service.credentials.items()}
    given = [str(word) for word in words]
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"HEADLAND_RATE_LIMITS": "", **keys, **environment}.items():
            patch.setenv(name, value)
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code: Any = main(given)
            except SystemExit as ended:
                code = ended.code or 0
    return CompletedProcess(given, code, out.getvalue(), err.getvalue())


def lines(done: CompletedProcess[str]) -> list[Any]:
    """Return the lines of JSON of a command that succeeded."""
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]
