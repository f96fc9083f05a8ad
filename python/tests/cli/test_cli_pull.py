"""The filters `--year` and `--name` of the verb `pull`, which select jobs as `ls` does."""

from __future__ import annotations

import datetime as dt
import json
import re
import threading
from typing import TYPE_CHECKING, Any

import pytest

import headland as hl
from headland.cli import main
from headland.cli import pull as pull_verb
from headland.cli import sandbox as sandbox_verb
from headland.mirror import summary

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Pull = Callable[..., tuple[int, str, str]]


@pytest.fixture
def pull(
    service: hl.Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Pull:
    """Return a function that runs the verb."""
    for name, value in {**service.credentials, "rate_limits": ""}.items():
        monkeypatch.setenv(f"HEADLAND_{name.upper()}", str(value))

    def run(*words: str) -> tuple[int, str, str]:
        code = main(["pull", "--to", str(tmp_path / "farm"), "--no-locations", *words])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


def test_year_and_name_select_jobs(client: hl.Client, pull: Pull) -> None:
    def plan(*words: str) -> Any:
        code, out, err = pull("--plan", "--json", *words)
        assert code == 0, err
        found = json.loads(out)["plan"]
        return found["files"], {purpose: calls["most"] for purpose, calls in found["by_purpose"].items()}

    jobs = list(client.job_data.list())
    starts = {job["id"]: client.job_data.get(job["id"])["start_date"] for job in jobs}
    of_2025 = [job for job in jobs if (start := starts[job["id"]]) is not None and start.year == 2025]
    named = [job for job in of_2025 if "harvest" in str(job["name"]).casefold()]
    assert 0 < len(named) < len(of_2025) < len(jobs)
    for words, wanted in ((("--year", "2025"), of_2025), (("--year=2025", "--name", "HARVEST"), named)):
        assert plan(*words) == plan("--id", *(job["id"] for job in wanted))
    code, out, _ = pull("--plan", "--json", "--year", "2025", "--type", "yield")
    assert (code, json.loads(out)["plan"]["notes"]) == (0, []), "no id was given that a kind leaves out"
    first = named[0]["id"]
    assert plan("--name", "harvest", "--id", first, "9") == plan("--id", first)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--verify", "--name", "x"), "filters such as `--type` are not valid with --verify"),
        (("--year", "12"), "`--year`: expected"),
        (("--name", "no such name"), "no job matches the filters"),
    ],
)
def test_wrong_filter_is_an_error(pull: Pull, tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    code, out, err = pull(*words)
    assert (code, out) == (2, "")
    assert message in err
    assert not (tmp_path / "farm").exists()


def test_suggested_command_keeps_the_filters(pull: Pull, tmp_path: Path) -> None:
    journal = tmp_path / "farm" / "north" / summary.JOURNAL
    journal.parent.mkdir(parents=True)
    journal.touch()
    code, _, err = pull("--plan", "--year", "2025", "--name", "x y")
    assert code == 2
    assert f"run `headland pull --to {journal.parent}" in err
    assert "--year 2025 --name 'x y'`" in err


def test_results_and_errors_of_several_profiles_are_shown_as_they_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = {name: threading.Event() for name in ("south", "east")}

    def pull_account(account: Any, *_: Any) -> Any:
        if account.name == "south":
            raise hl.NotFound("nothing is there")
        wait_for = shown["south" if account.name == "east" else "east"]
        assert wait_for.wait(20), f"{account.name} is done, but nothing of the others is shown"
        return account.name

    def print_error(_: Any, **about: Any) -> None:
        shown[about["profile"]].set()

    def summarize(pulled: Any, _: Any) -> None:
        shown.get(pulled, threading.Event()).set()

    for name, fake in (("_pull_account", pull_account), ("print_error", print_error), ("_summarize", summarize)):
        monkeypatch.setattr(pull_verb, name, fake)
    assert main(["pull", "--to", str(tmp_path), "--profile", "north", "east", "south"]) == 4
    assert capsys.readouterr() == ("", "")


def test_pull_without_a_display_writes_a_line_after_a_minute_and_then_every_ten(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [1000.0]
    monkeypatch.setattr("headland.cli.pull.time.monotonic", lambda: now[0])
    listener = pull_verb._ProgressListener("north", None, threading.Event())
    until = dt.datetime(2026, 10, 1, 14, 3, 24, tzinfo=dt.UTC)
    snapshot = {"phase": "lists", "calls_done": 30, "waiting_until": None, "limit_until": until}
    shown = []
    for now[0] in (1001.0, 1059.0, 1060.0, 1061.0, 1659.0, 1660.0):
        listener(snapshot)
        shown.append(capsys.readouterr().err)
    line = f"north: reading the lists, 30 calls, limit until {until.astimezone():%H:%M:%S}\n"
    assert shown == ["", "", line, "", "", line]


@pytest.mark.parametrize(("limits", "written"), [([(30, 60.0)], "30/60"), ([], "off")])
def test_sandbox_prints_its_own_limit_for_the_command_line(
    service: hl.Sandbox,
    limits: list[tuple[int, float]],
    written: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    sandbox_verb._announce(service, limits, as_json=False)
    *lines, about, other = capsys.readouterr().out.splitlines()
    assert about == "# The access key of another customer:"
    assert other.startswith("# ")
    assert service.other_access_key in other
    variables = dict(re.findall(r"(HEADLAND_\w+)=\"?([^\"\n]*)", "\n".join(lines)))
    assert variables["HEADLAND_RATE_LIMITS"] == written
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with hl.Client.from_env() as client:
        assert [tuple(window[:2]) for window in client.budget().windows] == limits
