"""The public API compared with a committed list, so that a removal or an addition is visible in a diff."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import os
from pathlib import Path
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from client_methods import OFFLINE

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Iterator

LIST = Path(__file__).with_name("public_api.txt")
"""Written by `HEADLAND_GENERATE=1 python -m pytest python/tests/package/test_public_api.py`."""

MODULES = ("headland", "headland.groups", "headland.mirror", "headland.records")

T = TypeVar("T")


@dataclasses.dataclass(frozen=True)
class _Plain(Generic[T]):
    field: T


class _Tuple(NamedTuple):
    field: int


def of_python(cls: type) -> set[str]:
    """Return the names that Python adds to a class of that kind; they depend on its version."""
    added = set(dir(_Plain))
    if issubclass(cls, tuple):
        added |= set(dir(_Tuple))
    if issubclass(cls, Exception):
        added |= set(dir(Exception))
    # Pickling an instance adds the last one.
    return added - {"field"} | {"__slotnames__"}


def members(cls: type) -> list[str]:
    """Return the public names of `dir()`, the special ones that the package adds, and the annotated attributes."""
    annotated = {name for base in cls.__mro__ for name in inspect.get_annotations(base)}
    names = {*dir(cls), *annotated} - of_python(cls)
    return sorted(name for name in names if not name.startswith("_") or name.endswith("_"))


def public_names() -> Iterator[str]:
    for module_name in MODULES:
        module = importlib.import_module(module_name)
        for name in module.__all__:
            yield f"{module_name}.{name}"
            value = getattr(module, name)
            # Another test compares the fields of records with the table.
            if inspect.isclass(value) and not issubclass(value, dict):
                yield from (f"{module_name}.{name}.{member}" for member in members(value))
    for instance in (hl.Client(**OFFLINE), hl.AsyncClient(**OFFLINE), hl.HeadlandError("")):
        attributes = sorted(name for name in vars(instance) if not name.startswith("_"))
        yield from (f"headland.{type(instance).__name__}().{name}" for name in attributes)


def test_public_api_is_the_committed_list() -> None:
    found = list(public_names())
    if os.environ.get("HEADLAND_GENERATE"):
        LIST.write_text("".join(f"{name}\n" for name in found), encoding="utf-8")
    listed = LIST.read_text(encoding="utf-8").splitlines()
    assert (sorted(set(listed) - set(found)), sorted(set(found) - set(listed))) == ([], []), "removed, added"
