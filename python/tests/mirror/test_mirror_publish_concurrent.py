"""Two concurrent publications to one address: the final state is complete however they interleave."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from mirror_fixtures import Farm, job, published

from headland.mirror import latest
from headland.mirror.object_store import Store, open_store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DAY = 86_400

MOST = 30
"""More operations on the store than a publication here needs."""

EVERY = 1 if os.environ.get("HEADLAND_SERIES") else 3
"""Each number of operations of one is tried with every third number of the other; a long series tries all."""


class Turns:
    """Schedules operations on the store: some of one publication, then some of the other, then the rest of each."""

    def __init__(self, first: int, second: int) -> None:
        self._plan = [0] * first + [1] * second
        self._ended: set[int] = set()
        self._change = threading.Condition()
        self._own = threading.local()
        self.counts = [0, 0]

    def publish(self, which: int, farm: Farm, target: Path) -> None:
        """Publish as one of the two."""
        self._own.which = which
        try:
            farm.publish(target.as_uri())
        finally:
            with self._change:
                self._ended.add(which)
                self._change.notify_all()

    def take(self, action: Callable[[], Any]) -> Any:
        """Run an operation when it is its turn."""
        which = self._own.which
        with self._change:
            assert self._change.wait_for(lambda: self._next() == which, timeout=60), "a publication hangs"
            self.counts[which] += 1
            if self._plan:
                self._plan.pop(0)
            try:
                return action()
            finally:
                self._change.notify_all()

    def _next(self) -> int:
        while self._plan and self._plan[0] in self._ended:
            self._plan.pop(0)
        return self._plan[0] if self._plan else int(0 in self._ended)


class InPlace:
    """Replaces the threads of a publication: its files are sent sequentially."""

    def __init__(self, _: int) -> None:
        pass

    map = staticmethod(map)

    def shutdown(self, *, cancel_futures: bool) -> None:
        """Do nothing."""


@pytest.fixture
def states(tmp_path: Path) -> list[Farm]:
    """Return four states of one mirror, each in its own folder."""
    return [published(tmp_path / f"farm{number}", [job(str(number), rows=number)], number) for number in range(1, 5)]


def current(target: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((target / "current.json").read_text())
    return found


def assert_whole(target: Path, context: object) -> None:
    """Compare the files of the state that the pointer names with its manifest."""
    state = target / current(target)["state"]
    said = json.loads((state / "manifest.json").read_text())
    for entry in [*said["parts"], *said["catalog"]]:
        assert hashlib.sha256((state / entry["path"]).read_bytes()).hexdigest() == entry["sha256"], context


def assert_latest(target: Path, context: object) -> None:
    """Compare `latest/` with the state that the pointer names."""
    assert files_of(target / "latest") == files_of(target / current(target)["state"]), context


def files_of(folder: Path) -> dict[str, bytes]:
    # obstore leaves and hides `name#0` if it copies a file onto its own hard link.
    found = (path for path in folder.rglob("*") if path.is_file() and "#" not in path.name)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def publish_interleaved(
    farms: list[Farm],
    begun: Path,
    target: Path,
    monkeypatch: pytest.MonkeyPatch,
    check: Callable[[Path, object], None],
) -> list[int]:
    """Publish two mirrors in each order of their requests, check each result, and return their numbers of requests."""
    do, turns = Store._do, Turns(0, 0)
    monkeypatch.setattr(Store, "_do", lambda self, *rest, **given: turns.take(lambda: do(self, *rest, **given)))
    monkeypatch.setattr("headland.mirror.object_store.ThreadPoolExecutor", InPlace)
    with ThreadPoolExecutor(2) as pool:
        for first, second in itertools.product(range(MOST), range(1, MOST)):
            if first > turns.counts[0] > 0 or second > turns.counts[1] > 0:
                # One of the two had ended earlier.
                continue
            if (first + second) % EVERY:
                continue
            shutil.copytree(begun, target)
            turns = Turns(first, second)
            done = [pool.submit(turns.publish, which, farm, target) for which, farm in enumerate(farms)]
            for each in done:
                each.result()
            check(target, (first, second))
            shutil.rmtree(target)
    return turns.counts


@pytest.mark.parametrize("pair", [(2, 3), (2, 0), (0, 2), (2, 2)])
def test_final_state_is_complete(
    states: list[Farm], pair: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the start, state 0 was replaced, and state 1 is current."""
    begun, target = tmp_path / "begun", tmp_path / "out"
    for farm in states[:2]:
        farm.publish(begun.as_uri())
    # The lock of `latest/` would wait for another turn; the next test covers that folder.
    monkeypatch.setattr("headland.mirror.latest.update", lambda *_: None)
    counts = publish_interleaved([states[which] for which in pair], begun, target, monkeypatch, assert_whole)
    assert max(counts) < MOST


@pytest.mark.parametrize("pair", [(2, 3), (2, 0), (2, 2)])
def test_latest_is_the_newest_state(
    states: list[Farm], pair: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder stands for an object store, which has no renames; it has all states, and 1 is current."""
    begun, target = tmp_path / "begun", tmp_path / "out"
    names = [farm.publish(tmp_path / str(which)).state for which, farm in enumerate(states)]
    states[1].publish(begun.as_uri())
    for which, name in enumerate(names):
        shutil.copytree(tmp_path / str(which) / name, begun / name, dirs_exist_ok=True)
    monkeypatch.setattr("headland.mirror.latest.local_path", lambda _: None)

    class Replacing(Farm):
        """Only the end of a publication."""

        def publish(self, target: Any, **_: Any) -> Any:
            store = open_store(target, {})
            store.put("current.json", json.dumps({"state": names[int(self.folder.name)]}).encode())
            latest.update(store, lambda: json.loads(store.read("current.json") or b"")["state"])

    farms: list[Farm] = [Replacing(tmp_path / str(state)) for state in pair]
    counts = publish_interleaved(farms, begun, target, monkeypatch, assert_latest)
    assert 0 < max(counts) < MOST


def test_state_of_another_unfinished_publication_stays_for_a_day(states: list[Farm], tmp_path: Path) -> None:
    target = tmp_path / "out"
    for farm in states[:2]:
        farm.publish(target.as_uri())
    left, begun = (target / "generations" / f"{name * 6}-{name * 12}" for name in "89")
    for state in (left, begun):
        state.mkdir()
        for name in ("manifest.json", "part-0.parquet"):
            (state / name).write_bytes(b"so far")
            os.utime(state / name, (0, (state / name).stat().st_mtime - 2 * DAY))
    os.utime(begun / "manifest.json")
    third, fourth = (farm.publish(target.as_uri()).state for farm in states[2:])
    there = {path.parent.name for path in (target / "generations").glob("*/manifest.json")}
    assert there == {third.rpartition("/")[2], fourth.rpartition("/")[2], begun.name}


def test_a_state_that_is_published_again_is_kept(states: list[Farm], tmp_path: Path) -> None:
    target = tmp_path / "out"
    names = []
    for which in (0, 1, 0, 1, 1, 0):
        done = states[which].publish(target.as_uri())
        names.append(done.state)
        assert current(target)["state"] == done.state
        assert_whole(target, names)
        assert_latest(target, names)
    assert len(list((target / "generations").glob("*/manifest.json"))) == 2
