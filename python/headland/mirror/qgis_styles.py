"""Writes styles for QGIS next to the states of a publication: the classes of a map for each table of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headland.mirror.publication import STYLES

if TYPE_CHECKING:
    from headland import _core
    from headland.mirror.folder_store import FolderStore
    from headland.mirror.object_store import Store

MARK = b"<!-- Written by headland, which replaces this file. -->"
"""A style with this mark is replaced; one that a user saved there is kept."""


def write(store: Store | FolderStore, state: _core.Dataset) -> None:
    """Write the styles of a state, and remove those of tables without rows.

    They are not among the files of the state, because readers of folders of Parquet files accept no other files there.
    """
    styles = {f"{STYLES}/{name}": text.encode() for name, text in state.qgis_styles()}
    there = {name: store.read(name) or b"" for name in store.sizes(f"{STYLES}/")}
    for name, content in styles.items():
        old = there.get(name, MARK)
        if MARK in old and old != content:
            store.put(name, content)
    obsolete = [name for name, old in there.items() if name not in styles and MARK in old]
    if obsolete:
        store.remove(obsolete)
