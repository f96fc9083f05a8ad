"""Progress of a mirror in Python: callables, progress bars, the log, and the output of plan and status."""

from __future__ import annotations

import contextlib
import http.client
import io
import json
import logging
import re
import signal
import sys
import threading
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from stub_server import web

import headland as hl
from headland.display import progress_bar
from headland.mirror import progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from http.server import BaseHTTPRequestHandler
    from pathlib import Path

    from stub_server import Answer

JOBS = 6


@pytest.fixture
def service() -> Iterator[hl.Sandbox]:
    with hl.Sandbox(small_jobs=JOBS, rate_limits=(), conversion_time=0.2) as running:
        yield running


@pytest.fixture
def mirror(service: hl.Sandbox, tmp_path: Path) -> Iterator[hl.Mirror]:
    with hl.Client(**service.credentials, rate_limits=()) as client:
        yield hl.Mirror(tmp_path / "farm", client, locations=False)


def names_and_secrets(service: hl.Sandbox) -> list[str]:
    return [service.credentials[name] for name in ("api_key", "shared_secret", "access_key")]


def test_callable_receives_each_change_once_and_the_end(mirror: hl.Mirror) -> None:
    heard: list[dict[str, Any]] = []
    outcome = mirror.sync(heard.append)
    phases = list(dict.fromkeys(snapshot["phase"] for snapshot in heard))
    assert phases[-1] == "done"
    assert "pulling" in phases
    assert heard[-1]["calls_done"] == outcome.calls
    assert heard[-1]["bytes"] == outcome.bytes
    assert (heard[-1]["calls_left"], heard[-1]["jobs_left"], heard[-1]["seconds_left"]) == (0, 0, 0)
    calls = [snapshot["calls_done"] for snapshot in heard]
    assert calls == sorted(calls)
    assert any(snapshot["waiting_until"] for snapshot in heard), "all jobs are asked for before the first one is ripe"
    assert all(snapshot["limit_until"] is None for snapshot in heard), "there is no limit"


def test_exception_of_a_callable_ends_the_sync_and_the_next_one_resumes(tmp_path: Path) -> None:
    class Enough(Exception):
        pass

    def stop(snapshot: dict[str, Any]) -> None:
        if snapshot["waiting_until"] or snapshot["jobs_done"]:
            raise Enough

    with (
        hl.Sandbox(small_jobs=JOBS, rate_limits=(), conversion_time=1) as service,
        hl.Client(**service.credentials, rate_limits=()) as client,
    ):
        # One call at a time: on any machine, at most one is in flight when the sync is ended.
        mirror = hl.Mirror(tmp_path / "farm", client, locations=False, concurrency=1)
        with pytest.raises(Enough):
            mirror.sync(stop)
        before = len(service.requests)
        assert mirror.status().unfinished_since is not None
        assert "unfinished" in str(mirror.status())
        mirror.sync(False)
        assert mirror.status().jobs == {"stored": JOBS}
        assert len(service.requests) > before
        details = [each.path for each in service.requests if each.path.startswith("/jobdata/") and not each.query]
        assert len({*details}) == JOBS
        assert len(details) <= JOBS + 1, "only what was on its way is asked for again"


def test_ending_a_sync_stores_files_in_flight(service: hl.Sandbox, mirror: hl.Mirror) -> None:
    mirror.plan()
    service.faults.add(endpoint="job_data.get", kind="slow", times=JOBS)
    # Each detail arrives a second after its request: by then the sync was ended a while ago, and still waits.
    end = threading.Timer(0.7, signal.raise_signal, (signal.SIGINT,))

    def begin(snapshot: dict[str, Any]) -> None:
        if end.ident is None and snapshot["phase"] == "pulling":
            end.start()

    with pytest.raises(KeyboardInterrupt):
        mirror.sync(begin)
    assert (mirror.status().details_due, mirror.status().generation) == (0, None)
    service.faults.clear()
    assert mirror.sync(False).generation == 1
    details = [each.path for each in service.requests if each.path.startswith("/jobdata/") and not each.query]
    assert len(details) == len({*details}) == JOBS


@contextlib.contextmanager
def behind(service: hl.Sandbox, hold: Callable[[str], None], folder: Path) -> Iterator[hl.Mirror]:
    """Yield a mirror of the service behind a relay, which calls `hold` with the address of each request."""

    def answer(request: BaseHTTPRequestHandler) -> Answer:
        hold(request.path)
        with contextlib.closing(http.client.HTTPConnection(urlsplit(service.base_url).netloc)) as there:
            there.request("GET", request.path, headers=dict(request.headers.items()))
            reply = there.getresponse()
            names = ("Content-Type", "Content-Encoding", "Content-Disposition", "Retry-After", "Date")
            return reply.status, {name: value for name in names if (value := reply.headers[name])}, reply.read()

    with web(answer) as host:
        address = service.base_url.replace(urlsplit(service.base_url).netloc, host)
        keys: dict[str, Any] = {**service.credentials, "base_url": address}
        with hl.Client(**keys, rate_limits=()) as client:
            yield hl.Mirror(folder, client, locations=False)


def test_second_ctrl_c_does_not_wait_for_files_in_flight(service: hl.Sandbox, tmp_path: Path) -> None:
    held, released = threading.Event(), threading.Event()
    late: list[bool] = []
    pressed: list[int] = []

    def hold(path: str) -> None:
        if "format=" in path:
            held.set()
            late.append(not released.wait(60))

    def press() -> None:
        held.wait(60)
        while not released.wait(0.1):
            signal.raise_signal(signal.SIGINT)

    def interrupt(number: int, _: object) -> None:
        if len(pressed) < 2:
            pressed.append(number)
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        with behind(service, hold, tmp_path / "farm") as mirror:
            thread = threading.Thread(target=press)
            thread.start()
            try:
                with pytest.raises(KeyboardInterrupt):
                    mirror.sync(False)
                # The replies are still held.
                assert len(pressed) == 2
            finally:
                held.set()
                released.set()
                thread.join()
    finally:
        signal.signal(signal.SIGINT, before)
    assert late
    assert not any(late)


def test_callable_is_called_while_time_passes(service: hl.Sandbox, tmp_path: Path) -> None:
    calls, held, pending = threading.Semaphore(0), threading.Event(), []

    def hold(_: str) -> None:
        if not held.is_set():
            held.set()
            # No reply comes before the callable was called three times since the request.
            pending.append(all(calls.acquire(timeout=60) for _ in range(3)))

    with behind(service, hold, tmp_path / "farm") as mirror:
        mirror.sync(lambda _: calls.release() if held.is_set() else None)
    assert pending == [True]


@pytest.mark.parametrize("wrong", [1, "yes", []])
def test_progress_is_a_callable_or_a_boolean(mirror: hl.Mirror, wrong: Any) -> None:
    with pytest.raises(TypeError, match="`progress`: expected a callable"):
        mirror.sync(wrong)


def test_nothing_is_printed_without_a_terminal(mirror: hl.Mirror, capfd: pytest.CaptureFixture[str]) -> None:
    mirror.plan()
    mirror.sync()
    mirror.sync(True)
    assert capfd.readouterr() == ("", "")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_terminal_shows_a_line_and_clears_it(
    service: hl.Sandbox, mirror: hl.Mirror, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    mirror.sync(False)
    assert screen.getvalue() == ""
    monkeypatch.setitem(sys.modules, "tqdm", None)
    service.faults.add(endpoint="job_data.list", kind="slow")
    service.add_job()
    mirror.sync()
    assert screen.getvalue().endswith(progress_bar.CLEAR)
    assert "%" in screen.getvalue()


def test_notebook_shows_progress_bars_without_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    class Shell:
        kernel = object()

    class IPython:
        get_ipython = staticmethod(Shell)

    monkeypatch.setattr(sys, "stderr", io.StringIO())
    monkeypatch.setitem(sys.modules, "IPython", IPython)
    assert isinstance(progress_bar.choose_display(), progress_bar.Bars)
    monkeypatch.setitem(sys.modules, "tqdm", None)
    assert isinstance(progress_bar.choose_display(), progress_bar.Lines)
    monkeypatch.delitem(sys.modules, "IPython")
    assert progress_bar.choose_display() is None
    monkeypatch.setattr(sys, "stderr", None)
    assert progress_bar.choose_display() is None


def test_log_contains_unavailable_files_and_no_secret(
    service: hl.Sandbox, mirror: hl.Mirror, caplog: pytest.LogCaptureFixture
) -> None:
    service.faults.add(endpoint="job_data.download", kind="no-coverage")
    service.faults.add(endpoint="job_data.download", kind="not-found")
    with caplog.at_level(logging.INFO, logger="headland.mirror"):
        mirror.sync(False)
    messages = [
        (record.levelname, record.getMessage()) for record in caplog.records if record.name == "headland.mirror"
    ]
    assert messages[0] == ("INFO", f"sync of {mirror.folder} begins")
    assert [text for level, text in messages if level == "WARNING" and ": no coverage: " in text]
    assert [text for level, text in messages if level == "WARNING" and ": failed: " in text]
    assert [text for level, text in messages if level == "INFO" and text.startswith("published generation 1 with ")]
    assert " has ended after " in messages[-1][1]
    assert not any(secret in caplog.text for secret in names_and_secrets(service))
    status = mirror.status()
    assert status.jobs == {"stored": JOBS - 2, "no coverage": 1, "failed": 1}
    assert [each.state for each in status.unavailable] == ["failed"]


def test_log_contains_the_error_that_ended_a_sync(
    service: hl.Sandbox, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    keys: dict[str, Any] = {**service.credentials, "access_key": service.revoked_access_key}
    with hl.Client(**keys, rate_limits=()) as client, pytest.raises(hl.AuthenticationError):
        hl.Mirror(tmp_path / "farm", client).sync(False)
    assert "was stopped by AuthenticationError; the next sync resumes" in caplog.text
    assert service.revoked_access_key not in caplog.text


def test_plan_states_calls_and_their_purposes(service: hl.Sandbox, mirror: hl.Mirror) -> None:
    plan = mirror.plan()
    head, *lines = str(plan).splitlines()
    assert head == plan.text
    least, most = plan.calls_left
    assert head.startswith(f"{least} to {most} calls, no wait at the client's rate limit, ")
    counts = {line.split()[0]: line.split()[1] for line in lines}
    assert counts["details"] == str(plan.by_purpose["details"].least)
    assert "all jobs" in lines[1]
    assert f"{plan.by_purpose['lists'].made} calls made for this plan" in lines[1]
    assert f"{plan.new} new, 0 changed, 0 gone" in lines[-1]
    made = len(service.requests)
    assert sum(of.made for of in plan.by_purpose.values()) == made
    snapshot = plan.to_dict()
    assert snapshot["by_purpose"]["asked"] == {"made": 0, "least": plan.files, "most": plan.files}
    assert json.loads(json.dumps(snapshot)) == snapshot
    mirror.sync(False)
    assert plan.calls[0] <= len(service.requests) <= plan.calls[1]


def test_a_status_is_shown_as_text_and_as_tables_without_anything_that_runs(
    service: hl.Sandbox, mirror: hl.Mirror
) -> None:
    with pytest.raises(hl.ConfigurationError):
        mirror.status()
    mirror.plan()
    assert "published     nothing yet" in str(mirror.status())
    service.faults.add(endpoint="job_data.download", kind="not-found")
    mirror.sync(False)
    status = mirror.status()
    assert status.rows == len(mirror.to_geopandas(columns=[]))
    assert status.parts == len([*mirror.folder.glob("dataset/*/*/*/*.parquet")])
    assert status.rows_bytes is not None
    assert status.disk >= status.bytes + status.rows_bytes
    text, page = str(status), status._repr_html_()
    for said in (f"{status.rows:,} rows", "Unavailable", "everything known", "failed"):
        assert said in text
        assert said in page
    assert not re.search(r"<script|<img|<link|https?:|javascript|\bon\w+=", page, re.IGNORECASE)
    known = status.to_dict()
    assert json.loads(json.dumps(known)) == known
    assert known["types"]["Yield"].keys() <= {"stored", "failed"}
    assert sum(sum(counts.values()) for counts in known["types"].values()) == JOBS


def test_plan_without_a_sync_is_not_unfinished_work(service: hl.Sandbox, mirror: hl.Mirror) -> None:
    mirror.plan()
    planned = mirror.status()
    assert planned.planned_at is not None
    assert planned.unfinished_since is None
    assert "nothing has been pulled yet: sync" in str(planned)
    assert "unfinished" not in str(planned)
    service.faults.add(endpoint="job_data.download", kind="unauthorized")
    with pytest.raises(hl.AuthenticationError):
        mirror.sync(False)
    stopped = mirror.status()
    assert stopped.planned_at is None
    assert stopped.unfinished_since == planned.planned_at
    mirror.plan()
    assert mirror.status().unfinished_since is not None, "a plan ends no sync"
    mirror.sync(False)
    assert (mirror.status().planned_at, mirror.status().unfinished_since) == (None, None)
    service.add_job()
    mirror.plan()
    assert "nothing of it has been pulled yet: sync" in str(mirror.status())


def test_foreign_names_are_escaped_in_html(mirror: hl.Mirror) -> None:
    mirror.plan()
    status = mirror.status()
    status.types["<script>alert(1)</script>"] = {"stored": 1}
    status.unavailable.append(hl.mirror.Unavailable("job", "1", '"><img src=x>', "failed", "<b>"))
    page = status._repr_html_()
    assert "<script" not in page
    assert "<img" not in page
    assert "<b>" not in page


def test_a_line_counts_down_between_two_snapshots() -> None:
    snapshot = {
        "phase": "pulling",
        "calls_done": 3,
        "calls_left": 1_234,
        "jobs_done": 1,
        "jobs_left": 9,
        "bytes": 12_300_000,
        "converting": 0,
        "waiting_until": None,
        "limit_until": None,
        "seconds_left": 70.0,
    }
    assert progress.line(snapshot) == "1,234 calls left, 1/10 files, 12 MB, about 70 s"
    assert progress.line(snapshot, 11.0).endswith("about 59 s")
    assert progress.line(snapshot, 100.0).endswith("about 0 s")
