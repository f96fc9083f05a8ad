"""Copies the published dataset of a mirror to an object store or a local folder.

In the store, as in the mirror, each state has an immutable folder of its own, `generations/<name>`. `current.json`
names the newest state and, by a digest, its account. It is written after all files of the state: readers that follow
it, or that stay in a state's folder, never see an incomplete state. Files that the store has from the previous state
are copied inside the store, and files left by a failed attempt are not sent again. The archives are next to the
states, named by their digests.

Several publications may run concurrently at one address: the state named by `current.json` after all have ended is
complete. Each one removes old states before it writes `current.json`, and then checks whether its own state still
exists. So the last one has seen everything that the others removed, and has sent it again. Old is the previous state
according to `current.json`, and any other state not written to for a day by the store's clock; a younger one may be in
progress. A state begins with its manifest, so its age is known.

After `current.json`, `README.txt`, the styles for QGIS, and the files of the newest state under `latest/` are written,
see `latest.py`.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from headland import _core, arguments, errors, extras
from headland.mirror import latest, object_store, qgis_styles, readme
from headland.mirror.folder_store import FolderStore
from headland.mirror.object_store import concurrently
from headland.mirror.publication import MANIFEST, POINTER, STATE_NAME, STATES_PREFIX, STYLES, Publication
from headland.mirror.summary import JOURNAL, PUBLISHED

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from headland.mirror.object_store import Store

    AnyStore = Store | FolderStore

ABANDONED_AFTER = timedelta(days=1)
"""How long a state not named by `current.json` is kept: another publication may be writing it."""

REPAIR_HINT = "run `verify()` to find other damage, then `sync()` to rewrite the dataset"
"""The solution for a damaged file; until `verify()` has read it, a sync treats one of the same size as intact."""


class File(NamedTuple):
    """A file to publish: its local path, its path in the state, its size and its digest."""

    path: Path
    name: str
    bytes: int
    sha256: str


class Pointer(NamedTuple):
    """The content of `current.json`: the newest state, the previous one, and a digest of the account."""

    state: str | None
    before: str | None
    account: str | None


def publish(folder: Path, target: object, options: dict[str, Any], *, archives: bool) -> Publication:
    """Publish the current state of a mirror; `options` may contain credentials and are emptied."""
    try:
        store = _open(folder, target, options)
    finally:
        # Tracebacks show local variables.
        options.clear()
    state = _core.Dataset(folder)
    text = state.manifest
    accounts = _core.mirrored_accounts(folder)
    there = _pointer(store, folder, accounts)
    # A copy of a mirror may have the state in a folder of another name.
    name = f"generations/{state.generation:06}-{hashlib.sha256(text).hexdigest()[:12]}"
    files = [File(state.path / path, f"{name}/{path}", size, sha256) for path, size, sha256 in state.files]
    files += [_archive(folder, path) for path in state.archives()] if archives else []
    sent = _upload_missing(store, there.state, name, text, files)
    last = _pointer(store, folder, accounts)
    again: list[int] = []
    if last.state != name:
        _remove(store, last, name)
        said = {"format": 1, "state": name, "before": last.state} | ({"account": accounts[0]} if accounts else {})
        store.put(POINTER, json.dumps(said).encode())
        again = _upload_missing(store, name, name, text, files)
    readme.write(store)
    if last.state != name or not store.sizes(f"{STYLES}/"):
        qgis_styles.write(store, state)
    latest.update(store, lambda: _pointer(store, folder, accounts).state)
    return Publication(store.url, name, len(sent) + len(again), len(files) - len(sent), sum(sent) + sum(again))


def _upload_missing(store: AnyStore, current: str | None, name: str, text: bytes, files: list[File]) -> list[int]:
    """Send the missing files of a state to the store, and return the size of each file sent.

    Args:
        store: The store.
        current: The state named by the store's pointer, whose files are copied.
        name: The state to send.
        text: Its manifest.
        files: Its files, and the archives to include.
    """
    there = store.sizes(f"{name}/")
    if any(file.name.startswith("archives/") for file in files):
        there |= store.sizes("archives/")
    known = _known(store, current) if current else {}
    manifest = f"{name}/{MANIFEST}"
    if current != name or there.get(manifest) != len(text):
        store.put(manifest, text)
    return [count for count in concurrently(partial(_send, store, known, there), files) if count is not None]


def _remove(store: AnyStore, last: Pointer, name: str) -> None:
    """Remove states that are obsolete once another state replaces the last one."""
    there = store.times(STATES_PREFIX)
    begun = there.get(f"{name}/{MANIFEST}")
    states: dict[str, dict[str, datetime]] = {}
    for file, time in there.items():
        state = "/".join(file.split("/")[:2])
        if STATE_NAME.fullmatch(state) and state not in {last.state, name}:
            states.setdefault(state, {})[file] = time
    for state, times in states.items():
        is_abandoned = begun is not None and begun - max(times.values()) > ABANDONED_AFTER
        if state == last.before or is_abandoned:
            store.remove(list(times))


def _open(folder: Path, target: object, options: dict[str, Any]) -> AnyStore:
    """Open the store at a URL, or the folder at a path.

    Raises:
        TypeError: The target is neither a text nor a path.
        ValueError: The target leads to no folder of its own, or a path has options.
        ImportError: obstore is not installed, and the target is a URL.
    """
    if not isinstance(target, str | os.PathLike):
        raise TypeError(f"`target`: expected a path or a URL, got {type(target).__name__}")
    if object_store.is_url(target):
        extras.require("s3", "obstore")
        url = arguments.text("target", os.fspath(target))
        problem = object_store.url_problem(url)
        _refuse(problem or mirror_conflict("target", object_store.local_path(url), folder))
        return object_store.open_store(url, options)
    if options:
        raise ValueError(
            f"`{next(iter(options))}` is an option of object stores, but `target` is a path: pass a URL such as "
            "'s3://bucket/farm' or 'file:///srv/farm', or omit the option"
        )
    place = arguments.path("target", target).absolute()
    _refuse(object_store.path_problem(place) or mirror_conflict("target", place, folder))
    return FolderStore(place)


def _refuse(problem: str | None) -> None:
    if problem is not None:
        raise ValueError(problem)


def mirror_conflict(name: str, place: Path | None, folder: Path) -> str | None:
    """Return the error of an argument that leads into a mirror, this or another; None if it is no such path."""
    if place is None:
        return None
    target, own = place.resolve(), folder.resolve()
    # The store reports folders without permission.
    is_file = os.path.isfile
    around = next((each for each in (target, *target.parents) if is_file(each / JOURNAL)), None)
    if any((folder / name).exists() for name in PUBLISHED) and target.is_relative_to(own):
        around = own
    if around is None:
        return None
    return (
        f"`{name}` is inside a mirror, that in `{around}`, whose next sync would treat it as its own: "
        "pass the address of a folder outside it"
    )


def _archive(folder: Path, path: Path) -> File:
    """Return an archive, which is named by its digest."""
    return File(path, path.relative_to(folder).as_posix(), path.stat().st_size, path.stem)


def _pointer(store: AnyStore, folder: Path, accounts: list[str]) -> Pointer:
    """Return the content of the store's pointer, if the mirror of an account with these digests may be published there.

    Raises:
        ArchiveError: The pointer is damaged.
        ConfigurationError: The mirror of another account is published there, or the account of `folder` is unknown.
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
            "which uploads what is missing"
        )
    if found.account is not None and not accounts:
        raise errors.ConfigurationError(
            f"cannot publish to `{store.url}`, which has the mirror of an account: that of `{folder}` is unknown "
            f"without its `{JOURNAL}`; run `sync()`, which recreates it, or pass another URL"
        )
    if found.account not in {*accounts, None}:
        raise errors.ConfigurationError(
            f"cannot publish to `{store.url}`, which has the mirror of another account (another access key or another "
            f"base URL): pass another URL, or remove `{POINTER}` there to replace that mirror"
        )
    return found


def _known(store: AnyStore, state: str) -> dict[str, str]:
    """Return the paths of the previous state's files in the store, by digest."""
    there = store.sizes(f"{state}/")
    try:
        files = _core.manifest_files(store.read(f"{state}/{MANIFEST}") or b"{}")
    except ValueError:
        # Unknown files are sent.
        return {}
    places = {digest: (f"{state}/{path}", size) for path, size, digest in files}
    return {digest: place for digest, (place, size) in places.items() if there.get(place) == size}


def _send(store: AnyStore, known: dict[str, str], there: dict[str, int], file: File) -> int | None:
    """Copy or send one file to the store, and return its size if it was sent."""
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
            f"`{file.path}` differs from the manifest: expected SHA-256 {file.sha256}, got {digest}; {REPAIR_HINT}"
        )
    store.put(file.name, file.path)
    return file.bytes


def _missing(path: Path) -> Exception:
    """Return the error of a published file that is missing, or that was removed with its state."""
    state = next((each for each in path.parents if each.parent.name == "generations"), path)
    if state.exists():
        reason = "is missing; run `sync()` to rewrite the dataset; `verify()` finds other losses"
    else:
        reason = "was removed, because the mirror has published a newer state: publish again"
    gone = FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    return errors.from_os("ArchiveError", f"`{path}` {reason}", gone)
