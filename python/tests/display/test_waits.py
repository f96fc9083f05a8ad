"""Waits: the logger, and the line on standard error that vanishes."""

from __future__ import annotations

import asyncio
import io
import logging
import os
import re
import threading
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

import headland as hl
from headland import activity
from headland.display import terminal as terminals
from headland.display import waiting_line
from headland.display.waiting_line import WaitingLine

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
            while not caplog.records:  # noqa: ASYNC110 - a log has no event
                await asyncio.sleep(0.01)
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


def test_log_has_a_line_for_each_wait_that_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    log = io.StringIO()
    monkeypatch.setattr("sys.stderr", log)
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    line = WaitingLine()
    line.begin(1, "first poll", 30.0, progress=True)
    now = 110.0
    line.begin(1, "second poll", 30.0, progress=True)
    line.begin(2, "another wait", 5.0, progress=True)
    line.end(2)
    now = 170.0
    line.begin(1, "third poll", 30.0, progress=True)
    line.end(1)
    line.begin(3, "next wait", 5.0, progress=True)
    line.clear()
    assert log.getvalue() == "first poll\nthird poll\nnext wait\n"


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
    assert len(terminal.visible()) == terminals.DEFAULT_WIDTH - 1


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


class Failing(logging.Handler):
    """A handler of a program that raises."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self._error = error

    def emit(self, record: logging.LogRecord) -> None:
        del record
        raise self._error


@pytest.fixture
def handler(caplog: pytest.LogCaptureFixture) -> Any:
    """Return a function that adds a handler to the logger for the test."""
    caplog.set_level(logging.INFO, logger="headland")
    added: list[logging.Handler] = []

    def add(handler: logging.Handler) -> None:
        added.append(handler)
        activity.LOG.addHandler(handler)

    yield add
    for each in added:
        activity.LOG.removeHandler(each)


def test_failing_handler_fails_no_call(handler: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = open_terminal(monkeypatch)
    handler(Failing(RuntimeError("broken handler")))
    activity.receive([("wait", 21, "waiting 9 s", 9.0, None), ("resumed", 21, "", 0.0, None)])
    assert "RuntimeError: broken handler" in terminal.getvalue()
    assert 21 not in waiting_line.LINE._waits


def test_interrupt_ends_the_call_after_all_events(handler: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    open_terminal(monkeypatch)
    handler(Failing(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        activity.receive([("wait", 22, "waiting 9 s", 9.0, None), ("resumed", 22, "", 0.0, None)])
    assert 22 not in waiting_line.LINE._waits


def test_handler_may_call_headland_and_block_in_asyncio(service: hl.Sandbox, handler: Any) -> None:
    """The calls of other threads continue while a handler of an asynchronous call waits for their lock."""
    # A call of `work` may be repeated on a loaded machine, and then calls the handler in its own thread.
    lock = threading.RLock()
    sync = hl.Client(**service.credentials, rate_limits=(), limiter_state="memory")
    names: list[str] = []

    class Calling(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            del record
            with lock:
                names.append(str(sync.access_key()["friendly_name"]))

    handler(Calling())

    def work() -> None:
        with lock:
            for _ in range(300):
                sync.access_key()

    async def calls() -> None:
        async with hl.AsyncClient(**{**slow(service), "rate_limits": [(1, 1.5)]}) as client:
            await client.access_key()
            await asyncio.gather(asyncio.to_thread(work), client.access_key())

    asyncio.run(asyncio.wait_for(calls(), 60))
    assert len(names) >= 1


@pytest.mark.parametrize("broken", ["closed", "without isatty", "failing"])
def test_broken_standard_error_fails_no_call(broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Stream:
        def write(self, text: str) -> None:
            raise OSError(text)

        def flush(self) -> None:
            pass

    out: Any = Terminal()
    if broken == "closed":
        out.close()
    elif broken == "without isatty":
        out = Stream()
    else:
        out = Stream()
        out.isatty = lambda: True
    monkeypatch.setattr("sys.stderr", out)
    line = WaitingLine()
    line.begin(1, "waiting 9 s", 9.0, progress=None)
    line.end(1)


def test_log_in_the_terminal_replaces_the_line(handler: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = open_terminal(monkeypatch)
    handler(logging.StreamHandler(terminal))
    activity.receive([("wait", 23, "waiting 9 s", 9.0, None), ("resumed", 23, "", 0.0, None)])
    assert terminal.getvalue() == "waiting 9 s\n"


def test_child_of_a_fork_has_no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = open_terminal(monkeypatch)
    waiting_line.LINE.begin(24, "waiting 9 s", 9.0, progress=None)
    child = os.fork()
    if child == 0:
        os._exit(0 if not waiting_line.LINE._waits else 1)
    assert os.waitpid(child, 0)[1] == 0
    waiting_line.LINE.end(24)
    assert terminal.visible() == ""


def test_overdue_wait_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = open_terminal(monkeypatch)
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    line = WaitingLine()
    line.begin(1, "waiting 9 s", 9.0, progress=None)
    now += 9 + waiting_line.MAX_OVERDUE + 1
    line.begin(2, "waiting 5 s", 5.0, progress=None)
    assert terminal.visible() == "waiting 5 s"


def test_cancelled_task_leaves_no_line(service: hl.Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = open_terminal(monkeypatch)

    async def calls() -> None:
        async with hl.AsyncClient(**{**slow(service), "rate_limits": [(1, 5.0)]}) as client:
            await client.access_key()
            waiting = asyncio.create_task(client.access_key())
            while not terminal.visible():  # noqa: ASYNC110 - a terminal has no event
                await asyncio.sleep(0.01)
            assert re.search(r"waiting \d+ s for the rate limit \(1 call in 5 s\)", terminal.visible())
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
            # The thread that draws the line learns of the cancelled task a moment later.
            while terminal.visible():  # noqa: ASYNC110 - a terminal has no event
                await asyncio.sleep(0.01)

    asyncio.run(calls())
