"""Keeps the newest state of a publication under a plain name, `latest/`, for readers without `current.json`.

In a local folder, hard links to all files are collected in another folder, which replaces `latest/` by two renames,
under a lock of the folder. After a kill, the next publication removes or renames what is left. The core does this; the
folders of a mirror are replaced in the same way.

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
                _replace_folder(store, state, _files(store, state, text))
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


def _replace_folder(store: FolderStore, state: str, files: list[File]) -> None:
    """Replace the folder `latest/`, unless it has these files or another publication has removed some of them."""
    latest = store.folder / LATEST
    _existing(store)
    if latest.is_symlink() or (latest.exists() and not latest.is_dir()):
        raise _foreign(store)
    _core.replace_folder(store.folder / state, [MANIFEST, *(path for path, *_ in files)], latest)


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
    copied = concurrently(lambda path: store.copy(f"{state}/{path}", f"{LATEST}/{path}"), changed)
    if not all(copied):
        # Another publication has removed some of them.
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


def _foreign(store: Store | FolderStore) -> Exception:
    return errors.ConfigurationError(
        f"`{LATEST}` at `{store.url}` was not written by a publication, and its files would be removed: move it away "
        "and publish again; until then, only `current.json` leads to the new state"
    )
