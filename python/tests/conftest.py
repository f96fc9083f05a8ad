"""Fixtures: a service for the tests, and clients of it that keep no state on this machine."""

from __future__ import annotations

import contextlib
import functools
import os
import signal
from typing import TYPE_CHECKING, Any

import pytest
from doc_examples import opened
from hypothesis import settings

import headland as hl
from headland.client.settings import NAMES, PREFIX

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Series are short in CI, where each commit runs the same cases, and `HEADLAND_SERIES` times as long in a soak.
SERIES = int(os.environ.get("HEADLAND_SERIES", "1"))
settings.register_profile("series", max_examples=100 * SERIES, deadline=None, derandomize=SERIES == 1)
settings.load_profile("series")

# A shell starts what it runs in the background with Ctrl-C ignored, and Python keeps that: tests that press it need
# Python's own handler, which the processes that they start then have too.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _no_settings_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    """Isolate the tests from the environment, the terminal, the profiles and the state folder of the user."""
    for name in NAMES:
        monkeypatch.delenv(f"{PREFIX}{name.upper()}", raising=False)
    # pytest-xdist states the size of a terminal, where tests in one process have none.
    for name in ("COLUMNS", "LINES"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path))


@pytest.fixture(scope="module")
def service() -> Iterator[hl.Sandbox]:
    """Return one service for all tests of a file: no test changes what the others see."""
    with hl.Sandbox.demo() as running:
        yield running


@pytest.fixture(scope="session")
def logged_service() -> Iterator[Callable[[int], hl.Sandbox]]:
    """Return the service with logged harvests of a seed, one for all tests: its account takes seconds to generate."""
    with contextlib.ExitStack() as stack:
        yield functools.cache(lambda seed: stack.enter_context(hl.Sandbox.demo(seed=seed, harvest="logged")))


@pytest.fixture
def fresh() -> Iterator[hl.Sandbox]:
    """Return a service that the test may change."""
    with hl.Sandbox.demo() as running:
        yield running


@pytest.fixture
def faulty(service: hl.Sandbox) -> Iterator[hl.Sandbox]:
    """Return the service, and remove its faults afterwards."""
    yield service
    service.faults.clear()


@pytest.fixture
def client(service: hl.Sandbox) -> Iterator[hl.Client]:
    """Return a client without a limiter."""
    with hl.Client(**service.credentials, rate_limits=()) as client:
        yield client


@pytest.fixture
def small_job(service: hl.Sandbox) -> str:
    """Return the id of the generated job with the fewest rows."""
    return min(service.truth, key=lambda truth: truth["rows"])["job_id"]


@pytest.fixture(scope="module")
def given() -> Iterator[dict[str, Any]]:
    """Return the names that examples use, on one service for a file."""
    with opened() as names:
        yield names
