"""The independent checker against the service of the command line, with a manual clock."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from checker import RULES, results
from checker_service import TAKES, Service
from checkout import SPECIFICATION

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent


@contextmanager
def sandbox(*options: str) -> Iterator[tuple[dict[str, str], subprocess.Popen[str]]]:
    """Start ``headland sandbox --json`` and yield its keys and its process."""
    command = [sys.executable, "-m", "headland", "sandbox", "--json", *options]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline()), process
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(10) == 0


def moved(keys: dict[str, str], process: subprocess.Popen[str]) -> Service:
    """Return a service whose clock advances where the checker would wait."""

    def pause(seconds: float) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        print(seconds, file=process.stdin, flush=True)
        assert json.loads(process.stdout.readline()) == {"advanced": seconds}

    return Service(keys, pause)


@pytest.mark.timeout(300)
def test_every_rule_holds() -> None:
    with sandbox("--clock", "moved") as (keys, process):
        found = list(results(moved(keys, process)))
    assert [f"{section} {text}: {wrong}" for section, text, wrong, _ in found if wrong] == []
    assert found[-1][3] == "30 calls in 60 s"
    assert len(found) == len(RULES) > 20


def test_a_broken_rule_is_found() -> None:
    # A variant of a real service that the text of the specification does not have.
    variants = "page-size-asked,text-ids"
    with sandbox("--clock", "moved", "--rate-limit", "off", "--variants", variants) as (keys, process):
        broken = [text for _, text, wrong, _ in results(moved(keys, process)) if wrong]
    assert [text for text in broken if text.startswith("pages of any size")]
    assert [text for text in broken if text.startswith("the call after the last")], "there is no limit"
    assert [text for text in broken if text.startswith("ids are integers")]
    assert not [text for text in broken if "customer" in text or "signature" in text]


ALONE = """
import sys
folder, *given = sys.argv[1:]
sys.path.insert(0, folder)
import checker
code = checker.main(given)
assert not [name for name in sys.modules if name.split(".")[0] == "headland"], "it shares nothing with headland"
sys.exit(code)
"""


def test_checker_runs_without_headland_and_prints_a_line_for_each_rule() -> None:
    with sandbox("--rate-limit", "off") as (keys, _):
        given = [keys[name] for name in ("base_url", "api_key", "shared_secret", "access_key", "other_access_key")]
        # Isolated: the environment and the parent folder provide nothing.
        command = [sys.executable, "-I", "-c", ALONE, str(HERE), *given]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
    *lines, summary = done.stdout.splitlines()
    assert len(lines) == len(RULES), done.stderr
    assert [line.split()[0] for line in lines] == ["ok"] * (len(RULES) - 1) + ["BROKEN"], "only the limit is missing"
    assert summary == f"{len(RULES) - 1} of {len(RULES)} rules hold"
    assert done.returncode == 1


def test_paths_of_the_checker_are_those_of_table_4_2() -> None:
    if not SPECIFICATION.is_file():
        pytest.skip("no specification at HEADLAND_SPEC or ../shared/spec/service.md")
    section = SPECIFICATION.read_text(encoding="utf-8").split("### 4.2")[1].split("### 4.3")[0]
    stated = {
        (method, re.sub(r"{\w+}", "{}", path)) for method, path in re.findall(r"\n\| ([A-Z]+) \| (/\S+) ", section)
    }
    # This row is not implemented by the service, and has its own rule.
    stated.remove(("GET", "/fieldcomputers/all/locations"))
    known = {(method, re.sub(r"{\w+}", "{}", path)) for path, methods in TAKES.items() for method in methods}
    assert known == stated


def test_checker_without_arguments_prints_its_usage() -> None:
    done = subprocess.run(
        [sys.executable, HERE / "checker.py"], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 2
    assert "BASE_URL KEY SECRET ACCESS_KEY" in done.stderr


def test_invalid_input_to_the_manual_clock_is_an_error_and_does_not_move_it() -> None:
    with sandbox("--clock", "moved") as (keys, process):
        service = moved(keys, process)
        before = service.call("/accesskey").date
        assert process.stdin is not None
        assert process.stdout is not None
        print("soon", file=process.stdin, flush=True)
        assert "soon" in json.loads(process.stdout.readline())["error"]
        assert service.call("/accesskey").date == before
        service.pause(90)
        assert service.call("/accesskey").date == before + 90
