"""Names that look alike: accents are letters of their own (NFD, as in zips of macOS) or one with theirs (NFC)."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, TypeVar

from headland import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

Given = TypeVar("Given")

Types = bool | list[tuple[str, str]]
"""What is asked of types: whether to scan, or pairs of the names of columns and types."""


def found(
    source: bytes | Path, how: _core._Reading, types: Types, run: Callable[[_core._Reading, Types], Given]
) -> Given:
    """Run what reads an archive; where it knows no such names, once more with the archive's own that look like them."""
    try:
        return run(how, types)
    except ValueError as cause:
        refused = cause
    own = _of_archive(source, how, types)
    if own == (how, types):
        raise refused
    return run(*own)


def alike(argument: str, name: str, names: Sequence[str]) -> str:
    """Give the one of the names that looks like this one; the name itself where it is one of them or none does."""
    if name.isascii() or name in names:
        return name
    looks = unicodedata.normalize("NFC", name)
    same = [known for known in dict.fromkeys(names) if unicodedata.normalize("NFC", known) == looks]
    if len(same) > 1:
        raise ValueError(f"`{argument}` takes one of {', '.join(map(ascii, same))}, which look alike, not {name!a}")
    return same[0] if same else name


def _of_archive(source: bytes | Path, how: _core._Reading, types: Types) -> tuple[_core._Reading, Types]:
    """Give the names that are wanted as the archive writes them."""
    layer, columns, typed = how["layer"], how["columns"], [] if isinstance(types, bool) else types
    if layer is not None and not layer.isascii():
        layer = alike("layer", layer, _core.layers(source, how["strict"], how["limits"]))
    own: _core._Reading = {**how, "layer": layer}
    if not all(name.isascii() for name in [*(columns or []), *dict(typed)]):
        known = _core.open_reader(source, {**own, "columns": None}, types=False, size=1).head().columns
        own["columns"] = None if columns is None else [alike("columns", name, known) for name in columns]
        types = types if isinstance(types, bool) else [(alike("types", name, known), kind) for name, kind in types]
    return own, types
