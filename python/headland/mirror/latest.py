"""Keeps the newest state of a publication under a plain name, `latest/`, for readers without `current.json`.

In a local folder, `latest.new/` is built from hard links and replaces `latest/` by two renames, under a lock of the
folder. Between the renames, the files are in `latest.old/`. After a kill, the next publication removes what is left.

An object store has no renames: files are copied one by one, and while that is done, `latest/manifest.json` lists none.
Files are identified by the digests in that manifest, since a table may change and keep its path and size.

Several publications may run concurrently. Each one reads `current.json` again at its end, and starts over with the new
state if it changed. So `latest/` has the state named by `current.json` after all have ended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headland import _core, errors
from headland.mirror.folder_store import FolderStore
from headland.mirror.object_store import concurrently, local_path
from headland.mirror.publication import LATEST, MANIFEST

if TYPE_CHECKING:
    from collections.abc import Callable

    from headland.mirror.object_store import Store

NEW, OLD = f"{LATEST}.new", f"{LATEST}.old"
"""The folders with the next and with the previous files, during a replacement."""

LATEST_MANIFEST = f"{LATEST}/{MANIFEST}"

File = tuple[str, int, str]
"""Path in the state, size and digest of a file."""

UNFINISHED = b"{}"
"""The manifest of a folder whose files are being replaced."""


def update(store: Store | FolderStore, newest: Callable[[], str | None]) -> None:
    """Make `latest/` equal to the newest state, which `newest` reads from the pointer."""
    # A file URL leads to a local folder too.
    place = None if isinstance(store, FolderStore) else local_path(store.url)
    if place is not None:
        store = FolderStore(place)
    if isinstance(store, FolderStore):
        with store.lock():
            _update(store, newest)
    else:
        _update(store, newest)


def _update(store: Store | FolderStore, newest: Callable[[], str | None]) -> None:
    last = None
    while (state := newest()) is not None and state != last:
        text = store.read(f"{state}/{MANIFEST}")
        # Without a manifest, another publication is removing this state, and replaces `latest/` later.
        if text is not None:
            if isinstance(store, FolderStore):
                _replace_folder(store, state, text, _files(store, state, text))
            else:
                # Files of a state that was replaced meanwhile may have been copied over those of the new one.
                _replace_files(store, state, text, _files(store, state, text), is_known=last is None)
        last = state


def _files(store: Store | FolderStore, state: str, text: bytes) -> list[File]:
    try:
        return _core.manifest_files(text)
    except ValueError as cause:
        raise errors.ArchiveError(
            f"`{state}/{MANIFEST}` at `{store.url}` is damaged ({cause}): remove that file there and publish again"
        ) from None


def _replace_folder(store: FolderStore, state: str, text: bytes, files: list[File]) -> None:
    """Replace the folder `latest/`, unless it has these files."""
    latest = store.folder / LATEST
    if not latest.exists() and (store.folder / OLD).exists():
        # A process was killed between the two renames.
        store.rename(OLD, LATEST)
    for name in (NEW, OLD):
        store.remove_folder(name)
    there = _existing(store)
    if latest.is_symlink() or (latest.exists() and not latest.is_dir()):
        raise _foreign(store)
    expected = {path: size for path, size, _ in files} | {MANIFEST: len(text)}
    if there == {f"{LATEST}/{path}": size for path, size in expected.items()} and store.read(LATEST_MANIFEST) == text:
        return
    if not _copy(store, state, NEW, [*expected]):
        store.remove_folder(NEW)
        return
    if latest.exists():
        store.rename(LATEST, OLD)
    store.rename(NEW, LATEST)
    store.remove_folder(OLD)


def _replace_files(store: Store, state: str, text: bytes, files: list[File], *, is_known: bool) -> None:
    """Replace changed files of `latest/`, or all if its content is unknown."""
    there = _existing(store)
    before = store.read(LATEST_MANIFEST)
    try:
        known = {path: digest for path, _, digest in _core.manifest_files(before or UNFINISHED)} if is_known else {}
    except ValueError:
        known = {}
    changed = [
        path for path, size, digest in files if known.get(path) != digest or there.get(f"{LATEST}/{path}") != size
    ]
    obsolete = there.keys() - {f"{LATEST}/{path}" for path, *_ in files} - {LATEST_MANIFEST}
    if before == text and not changed and not obsolete:
        return
    store.put(LATEST_MANIFEST, UNFINISHED)
    if not _copy(store, state, LATEST, changed):
        return
    if obsolete:
        store.remove(sorted(obsolete))
    store.put(LATEST_MANIFEST, text)


def _existing(store: Store | FolderStore) -> dict[str, int]:
    """Return the files in `latest/` and their sizes, if a publication has written them."""
    there = store.sizes(f"{LATEST}/")
    if there and LATEST_MANIFEST not in there:
        raise _foreign(store)
    return there


def _copy(store: Store | FolderStore, state: str, target: str, paths: list[str]) -> bool:
    """Copy files of a state; returns False if another publication has removed some of them."""
    return all(concurrently(lambda path: store.copy(f"{state}/{path}", f"{target}/{path}"), paths))


def _foreign(store: Store | FolderStore) -> Exception:
    return errors.ConfigurationError(
        f"`{LATEST}` at `{store.url}` was not written by a publication, and its files would be removed: move it away "
        "and publish again; until then, only `current.json` leads to the new state"
    )
