"""The verb ``send`` from a shell: plans, waits, interruptions, and files and keys that are wrong."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from commands import headland
from sent_maps import environment, made, members
from shapefiles import zipped

import headland as hl
from headland.cli import main

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# The service's clock advances while clients use the machine's, and they warn about it.
pytestmark = pytest.mark.filterwarnings("ignore:this machine.s clock:headland.HeadlandWarning")

HALF_HOUR = 1800.0
"""Seconds in which each computer of the sandbox is online once."""


@pytest.fixture
def farm() -> Iterator[hl.Sandbox]:
    with hl.Sandbox(rate_limits=(), clock="moved") as running:
        yield running


@pytest.fixture
def computer(farm: hl.Sandbox) -> str:
    with farm.client() as client:
        return str(client.field_computers.list()[0]["id"])


def test_command_line_plans_waits_and_resumes_after_a_kill(
    farm: hl.Sandbox, computer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in environment(farm).items():
        monkeypatch.setenv(name, value)
    for name, data in members().items():
        (tmp_path / name).write_bytes(data)
    file = str(tmp_path / "north.shp")

    def headland(*words: str) -> tuple[int, str, str]:
        code = main(["send", *words])
        return code, *capsys.readouterr()

    code, out, _ = headland(file, computer, "--plan")
    assert (code, out.split(" for ")[0]) == (0, "north.zip")
    assert made(farm, "POST") == []
    assert headland(file, "nope")[0] == 4
    assert headland(file, computer, "--timeout", "5")[0] == 2
    waiting = subprocess.Popen(
        [sys.executable, "-m", "headland", "send", file, computer, "--wait"], env=environment(farm)
    )
    deadline = time.monotonic() + 30
    while not made(farm, "PUT"):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    waiting.send_signal(signal.SIGKILL)
    waiting.wait()
    code, _, err = headland(file, computer, "--wait", "--timeout", "0")
    assert (code, "the same command follows it" in err) == (9, True)
    code, out, _ = headland(file, computer, "--plan", "--json")
    assert (code, json.loads(out)["file_name"]) == (5, "north.zip")
    farm.advance(HALF_HOUR)
    code, out, _ = headland(file, computer, "--wait", "--timeout", "0", "--json")
    assert (code, json.loads(out)["state"]) == (0, "delivered")
    delivered = headland(file, computer)[1]
    assert f"is delivered to field computer {computer}; nothing was sent: `headland send" in delivered
    assert (len(made(farm, "POST")), len(made(farm, "PUT"))) == (1, 1)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.parametrize(
    ("slow", "before", "said"),
    [("upload", "GET", "."), ("send", "POST", "uploaded before, and not again.")],
)
def test_interrupted_send_is_continued_by_the_same_command(
    farm: hl.Sandbox, computer: str, tmp_path: Path, number: signal.Signals, slow: str, before: str, said: str
) -> None:
    file = tmp_path / "north.zip"
    file.write_bytes(zipped(members()))
    command = [sys.executable, "-m", "headland", "send", str(file), computer]
    # The service waits for a second before it executes the call, so the signal arrives before that.
    farm.faults.add(endpoint=f"prescription_maps.{slow}", kind="slow", times=1)
    first = subprocess.Popen(command, env=environment(farm), stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 30
    while "/prescriptionmaps" not in made(farm, before):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    first.send_signal(number)
    _, err = first.communicate()
    if number == signal.SIGINT:
        assert "interrupted; the same send of a file continues" in err
    second = headland("send", file, computer, service=farm)
    assert second.stdout.startswith("Map ")
    assert f"is queued for field computer {computer}" in second.stdout
    assert second.stdout.endswith(f"{said}\n")
    assert (len(made(farm, "POST")), len(made(farm, "PUT"))) == (1, 1)


def test_command_line_says_what_is_wrong_with_the_file_or_the_key(
    farm: hl.Sandbox, computer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in environment(farm).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    for name, content in (("zones.gpkg", b"zones"), ("bad.zip", b"no zip"), ("north.zip", zipped(members()))):
        (tmp_path / name).write_bytes(content)
    (tmp_path / "negative.zip").write_bytes(zipped(members(rates=(-120.0, 80.5))))
    before = len(farm.requests)
    for words, code, said in (
        (("zones.gpkg", computer), 2, "is a file, but a map is a .zip or .shp"),
        (("zones.gpkg", computer, "--plan"), 2, "is a file, but a map is a .zip or .shp"),
        (("gone.zip", computer, "--plan"), 12, "cannot read `gone.zip`"),
        (("bad.zip", computer), 5, "is not a zip that can be read"),
    ):
        assert main(["send", *words]) == code
        assert said in capsys.readouterr().err
    assert len(farm.requests) == before
    assert main(["send", "bad.zip", computer, "--plan"]) == 5
    assert "conflict: an RX upload is a zip" in capsys.readouterr().out
    assert main(["send", "negative.zip", computer, "--plan"]) == 0
    assert "note: `negative.zip` has 1 error (rate-negative" in capsys.readouterr().out.replace("\n    ", " ")
    monkeypatch.setenv("HEADLAND_ACCESS_KEY", farm.read_only_access_key)
    assert main(["send", "north.zip", computer]) == 3
    assert "may read but not write" in capsys.readouterr().err
    assert made(farm, "PUT") == []


def test_warning_in_the_command_line_is_a_line_without_code(farm: hl.Sandbox, computer: str, tmp_path: Path) -> None:
    file = tmp_path / "negative.zip"
    file.write_bytes(zipped(members(rates=(-120.0, 80.5))))
    command = [sys.executable, "-m", "headland", "send", str(file), computer]
    sent = subprocess.run(command, env=environment(farm), capture_output=True, text=True, check=True)
    assert "headland: warning: `negative.zip` has 1 error" in sent.stderr
    assert ".py" not in sent.stderr


def test_log_names_the_rate_limit_that_a_send_waits_for(farm: hl.Sandbox, computer: str, tmp_path: Path) -> None:
    file = tmp_path / "north.zip"
    file.write_bytes(zipped(members()))
    command = [sys.executable, "-m", "headland", "send", str(file), computer]
    limited = {**environment(farm), "HEADLAND_RATE_LIMITS": "2/2.5"}
    done = subprocess.run(command, env=limited, capture_output=True, text=True, timeout=60, check=True)
    waits = done.stderr.splitlines()
    assert waits
    assert all(
        re.fullmatch(r"waiting \d s for the rate limit \(2 calls in 2\.5 s\), until .* UTC", each) for each in waits
    )
    assert done.stdout.endswith(f"is queued for field computer {computer}.\n")
