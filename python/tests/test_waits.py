"""Waits: the logger, and the line on standard error that vanishes."""

from __future__ import annotations

import asyncio
import io
import logging
import re
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

import headland as hl
from headland import activity, waiting_line
from headland.waiting_line import WaitingLine

WAIT = re.compile(r"waiting \d+ s for the rate limit \(2 calls in 1\.5 s\), until \d\d:\d\d:\d\d UTC")


class Terminal(io.StringIO):
    """Standard error as a terminal, which also shows what a reader sees at the end."""

    def isatty(self) -> bool:
        return True

    def visible(self) -> str:
        """Return the last line, with each carriage return overwriting it."""
        shown = ""
        for part in self.getvalue().split("\r"):
            shown = part + shown[len(part) :]
        return shown.rstrip()


def open_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Make standard error a terminal; a fixture cannot, since pytest replaces it before the test."""
    made = Terminal()
    monkeypatch.setattr("sys.stderr", made)
    return made


def slow(service: hl.Sandbox) -> dict[str, Any]:
    """Return the settings of a client that may make two calls in 1.5 s."""
    return {**service.credentials, "rate_limits": [(2, 1.5)], "limiter_state": "memory"}


def make_calls(client: hl.Client) -> None:
    for _ in range(3):
        client.field_computers.list().first()


def test_requests_and_waits_are_logged_without_secrets(service: hl.Sandbox, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger="headland")
    with hl.Client(**slow(service)) as client:
        make_calls(client)
    found = [(record.levelname, record.getMessage()) for record in caplog.records]
    assert [level for level, _ in found] == ["DEBUG", "DEBUG", "INFO", "DEBUG"]
    assert re.fullmatch(r"field_computers.list: GET /\S+, status 200 after \d+ ms", found[0][1])
    assert WAIT.fullmatch(found[2][1])
    assert not any(str(secret) in message for secret in service.credentials.values() for _, message in found)


def test_asynchronous_calls_are_logged_while_they_wait(service: hl.Sandbox, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="headland")

    async def calls() -> None:
        async with hl.AsyncClient(**slow(service)) as client:
            await asyncio.gather(*(client.field_computers.list().first() for _ in range(2)))
            third = asyncio.create_task(client.field_computers.list().first())
            done, _ = await asyncio.wait([third], timeout=0.3)
            assert not done
            assert WAIT.fullmatch(caplog.records[0].getMessage())
            await third

    asyncio.run(calls())


def test_line_of_a_long_wait_vanishes(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = open_terminal(monkeypatch)
    activity.receive([("wait", 7, "waiting 19 s for the rate limit", 19.0, None)])
    assert terminal.visible() == "waiting 19 s for the rate limit"
    activity.receive([("resumed", 7, "", 0.0, None)])
    assert terminal.visible() == ""
    assert "\n" not in terminal.getvalue()


@pytest.mark.parametrize(
    ("seconds", "progress", "is_terminal", "is_shown"),
    [
        (19.0, None, True, True),
        (1.9, None, True, False),
        (19.0, False, True, False),
        (19.0, None, False, False),
        (19.0, True, False, True),
    ],
)
def test_line_by_length_and_switch(
    seconds: float, progress: bool | None, is_terminal: bool, is_shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = Terminal() if is_terminal else io.StringIO()
    monkeypatch.setattr("sys.stderr", out)
    activity.receive([("wait", 8, "waiting", seconds, progress)])
    assert ("waiting" in out.getvalue()) == is_shown
    activity.receive([("resumed", 8, "", 0.0, progress)])


def test_short_waits_of_one_conversion_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = open_terminal(monkeypatch)
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    line = WaitingLine()
    line.begin(1, "first poll", 1.0, progress=None)
    assert terminal.visible() == ""
    now = 101.0
    line.begin(1, "second poll", 1.0, progress=None)
    assert terminal.visible() == "second poll"


def test_several_waits_share_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = open_terminal(monkeypatch)
    line = WaitingLine()
    line.begin(1, "waiting 5 s", 5.0, progress=None)
    line.begin(2, "waiting 9 s", 9.0, progress=None)
    assert terminal.visible() == "waiting 9 s (2 calls wait)"
    line.end(2)
    assert terminal.visible() == "waiting 5 s"
    shown: list[str] = []
    line.redirect(shown.append)
    assert terminal.visible() == ""
    line.begin(3, "waiting 7 s", 7.0, progress=None)
    assert shown == ["waiting 7 s (2 calls wait)"]
    line.restore(shown.append)
    assert terminal.visible() == "waiting 7 s (2 calls wait)"
    line.end(1)
    line.end(3)
    assert terminal.visible() == ""


def test_line_fits_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = open_terminal(monkeypatch)
    line = WaitingLine()
    line.begin(1, "w" * 200, 5.0, progress=None)
    assert len(terminal.visible()) == waiting_line.DEFAULT_WIDTH - 1


def test_wrong_switch_is_refused(service: hl.Sandbox) -> None:
    with pytest.raises(TypeError, match=r"^`progress`: expected True or False, got 'no'$"):
        hl.Client(**service.credentials, progress="no")  # type: ignore[arg-type]


def test_line_of_a_notebook_vanishes_from_its_outputs() -> None:
    begin = "from headland import activity\nactivity.receive([('wait', 1, 'waiting 19 s & more', 19.0, None)])"
    end = "activity.receive([('resumed', 1, '', 0.0, None)])"
    code: Any = nbformat.v4
    notebook = code.new_notebook(cells=[code.new_code_cell(cell) for cell in (f"{begin}\n{end}\n" * 2, begin)])
    NotebookClient(notebook, timeout=100, kernel_name="python3").execute()
    ended, waiting = ([output["data"] for output in cell.outputs] for cell in notebook.cells)
    assert ended == [{"text/plain": "", "text/html": ""}]
    assert waiting == [{"text/plain": "waiting 19 s & more", "text/html": "<small>waiting 19 s &amp; more</small>"}]
