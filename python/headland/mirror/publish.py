"""Copying what a mirror has published to an object store.

There, as here, each state has a folder of its own that never changes, `generations/<name>`, and `current.json` says
which is the newest, and by a digest of whose account. It is written last: readers that follow it, or that stay in a
state's folder, never see half of one. What the store has already from the state before is copied inside the store, and
what a broken attempt has left is not sent again. The archives are under their digests, beside the states.

Several publications may go on at one address: the state that `current.json` names when all have ended is whole. Each
removes what is old before it writes `current.json`, and looks after that whether its own state is still there: so the
last one has seen what all others have removed, and has sent it again. Old is the state that `current.json` calls the
one before, and any other to which nothing was written for a day by the store's clock, as one that is younger may be on
its way. A state begins with its manifest, so that its age is known.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from headland import _core, errors
from headland.mirror import object_store
from headland.mirror.summary import JOURNAL

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from headland.mirror.object_store import Store

POINTER = "current.json"
"""The file that says which state is the newest."""

MANIFEST = "manifest.json"
"""The file of a state that lists its files and where their rows come from."""

STATE_NAME = re.compile(r"generations/\d+-[0-9a-f]{12}")
"""What the folder of a state is called there: the number of the generation, and a digest of its manifest."""

STATES_PREFIX = "generations/"
"""What is before the names of states."""

MAX_AGE = timedelta(days=1)
"""How long a state stays that `current.json` does not name: another publication may be writing it."""

CONCURRENCY = 8
"""How many files are sent at a time; there are few large ones, or many small archives."""


REPAIR_HINT = "run `verify()`, which finds what else is damaged, then `sync()`, which writes the dataset anew"
"""What to do about a damaged file; a sync takes one of the same size for whole until `verify()` has read it."""


class File(NamedTuple):
    """A file to publish: its path here, its path in the state, its bytes and its digest."""

    path: Path
    name: str
    bytes: int
    sha256: str


class Pointer(NamedTuple):
    """What `current.json` says: the newest state, the one before, and a digest of the account."""

    state: str | None
    before: str | None
    account: str | None


class Publication(NamedTuple):
    """What publishing did."""

    url: str
    """The address that was published to."""
    state: str
    """The folder of the state there, such as ``generations/000012-0f3a5c77de10``."""
    sent: int
    """Files that were sent."""
    kept: int
    """Files that the store had already."""
    bytes_sent: int
    """Bytes that were sent."""

    @property
    def dataset(self) -> str:
        """The address of the dataset, for readers of folders of Parquet files."""
        return f"{self.url}/{self.state}/dataset"


def publish(folder: Path, url: str, options: dict[str, Any], *, archives: bool) -> Publication:
    """Bring a store to what the mirror has published; `options` may hold credentials and are emptied."""
    reason = object_store.url_problem(url) or _mirror_conflict(url, folder)
    if reason is not None:
        options.clear()
        raise ValueError(reason)
    store = object_store.open_store(url, options)
    state = _core.Dataset(folder)
    text = state.manifest
    account = _core.mirrored_account(folder)
    there = _pointer(store, folder, account)
    name = f"generations/{state.path.name}-{hashlib.sha256(text).hexdigest()[:12]}"
    files = [File(state.path / path, f"{name}/{path}", size, sha256) for path, size, sha256 in state.files]
    files += [_archive(folder, path) for path in state.archives()] if archives else []
    sent = _upload_missing(store, there.state, name, text, files)
    last = _pointer(store, folder, account)
    again: list[int] = []
    if last.state != name:
        _remove(store, last, name)
        said = {"format": 1, "state": name, "before": last.state} | ({"account": account} if account else {})
        store.put(POINTER, json.dumps(said).encode())
        again = _upload_missing(store, name, name, text, files)
    return Publication(store.url, name, len(sent) + len(again), len(files) - len(sent), sum(sent) + sum(again))


def _upload_missing(store: Store, current: str | None, name: str, text: bytes, files: list[File]) -> list[int]:
    """Bring what is missing of a state to the store, and give the bytes of each file that had to be sent.

    Args:
        store: The store.
        current: The state that the store's pointer names, whose files are copied.
        name: The state to bring there.
        text: Its manifest.
        files: Its files, and the archives that go along.
    """
    there = store.sizes(f"{name}/")
    if any(file.name.startswith("archives/") for file in files):
        there |= store.sizes("archives/")
    known = _known(store, current) if current else {}
    manifest = f"{name}/{MANIFEST}"
    if current != name or there.get(manifest) != len(text):
        store.put(manifest, text)
    pool = ThreadPoolExecutor(CONCURRENCY)
    try:
        return [count for count in pool.map(partial(_send, store, known, there), files) if count is not None]
    finally:
        pool.shutdown(cancel_futures=True)


def _remove(store: Store, last: Pointer, name: str) -> None:
    """Remove what nobody needs any more when another state takes the place of the last one."""
    there = store.times(STATES_PREFIX)
    begun = there.get(f"{name}/{MANIFEST}")
    states: dict[str, dict[str, datetime]] = {}
    for file, time in there.items():
        state = "/".join(file.split("/")[:2])
        if STATE_NAME.fullmatch(state) and state not in {last.state, name}:
            states.setdefault(state, {})[file] = time
    for state, times in states.items():
        is_abandoned = begun is not None and begun - max(times.values()) > MAX_AGE
        if state == last.before or is_abandoned:
            store.remove(list(times))


def _mirror_conflict(url: str, folder: Path) -> str | None:
    """Say of which mirror, this or another, an address is the folder, or one in it; None where it is of none."""
    place = object_store.local_path(url)
    if place is None:
        return None
    target, own = place.resolve(), folder.resolve()
    # What may not be looked at is told by the store.
    is_file = os.path.isfile
    around = next((each for each in (target, *target.parents) if is_file(each / JOURNAL)), None)
    if (folder / "current").exists() and target.is_relative_to(own):
        around = own
    if around is None:
        return None
    return (
        f"`url` leads into a mirror, that in `{around}`, whose next sync would take it for its own: "
        "give the address of a folder outside it"
    )


def _entries(manifest: dict[str, Any]) -> list[dict[str, Any]]:
    return [*manifest["parts"], *manifest["catalog"]]


def _archive(folder: Path, path: Path) -> File:
    """Give an archive, which is called by its digest."""
    return File(path, path.relative_to(folder).as_posix(), path.stat().st_size, path.stem)


def _pointer(store: Store, folder: Path, account: str | None) -> Pointer:
    """Give what the store's pointer says, where the mirror of `account` may be published there.

    Raises:
        ArchiveError: The pointer is damaged.
        ConfigurationError: The mirror of another account is published there, or it is not known whose `folder` is.
    """
    content = store.read(POINTER)
    if content is None:
        return Pointer(None, None, None)
    try:
        said = json.loads(content)
        found = Pointer(said["state"], said.get("before"), said.get("account"))
        states = [said["state"], said.get("before") or said["state"]]
        is_whole = all(map(STATE_NAME.fullmatch, states)) and isinstance(found.account, str | None)
        reason = None if is_whole else f"it says {said}"
    except (ValueError, KeyError, TypeError, RecursionError) as cause:
        reason = repr(cause)
    if reason is not None:
        raise errors.ArchiveError(
            f"`{POINTER}` at `{store.url}` is damaged ({reason}): remove that file there and publish again, "
            "which sends what is missing"
        )
    if found.account is not None and account is None:
        raise errors.ConfigurationError(
            f"at `{store.url}` the mirror of an account is published, and without its `{JOURNAL}`, nobody knows "
            f"of which account that in `{folder}` is: `sync()` makes it anew; or give an address of its own"
        )
    if found.account not in {account, None}:
        raise errors.ConfigurationError(
            f"at `{store.url}` the mirror of another account is published (another access key or another base "
            f"address): give this one an address of its own, or remove `{POINTER}` there, and publishing replaces it"
        )
    return found


def _known(store: Store, state: str) -> dict[str, str]:
    """Give where the store has files of the state before, by their digests."""
    there = store.sizes(f"{state}/")
    try:
        said = json.loads(store.read(f"{state}/{MANIFEST}") or b"{}")
        places = {entry["sha256"]: (f"{state}/{entry['path']}", entry["bytes"]) for entry in _entries(said)}
    except (ValueError, KeyError, TypeError, RecursionError):
        # What cannot be known is sent.
        return {}
    return {digest: place for digest, (place, size) in places.items() if there.get(place) == size}


def _send(store: Store, known: dict[str, str], there: dict[str, int], file: File) -> int | None:
    """Bring one file there, and give its bytes where it had to be sent."""
    if there.get(file.name) == file.bytes:
        return None
    if file.sha256 in known and store.copy(known[file.sha256], file.name):
        return None
    try:
        with file.path.open("rb") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()
    except FileNotFoundError:
        raise _missing(file.path) from None
    except OSError as cause:
        raise errors.from_os("ConfigurationError", f"`{file.path}` cannot be read", cause) from None
    if digest != file.sha256:
        raise errors.ConfigurationError(
            f"`{file.path}` is not what the manifest says: its SHA-256 is {digest}, not {file.sha256}; {REPAIR_HINT}"
        )
    store.put(file.name, file.path)
    return file.bytes


def _missing(path: Path) -> Exception:
    """Give the error of a published file that is missing, or that was removed with its state."""
    state = next((each for each in path.parents if each.parent.name == "generations"), path)
    if state.exists():
        reason = "is missing; `verify()` finds what else is lost, and the next `sync()` writes the dataset anew"
    else:
        reason = "is gone; the mirror has published anew since, and has removed the state before: publish again"
    gone = FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    return errors.from_os("ArchiveError", f"`{path}` {reason}", gone)
