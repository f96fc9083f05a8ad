"""Suggests the right name for a wrong one."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, ClassVar, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def without_separators(word: str) -> str:
    """Return a word in lower case without separators, such as `jobdata` for `Job-Data`."""
    return "".join(letter for letter in word.casefold() if letter.isalnum())


def did_you_mean(name: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """Return the end of a message, with the known name most similar to a wrong one; empty if none is similar.

    `cutoff` is the least similarity, from 0 to 1.

    >>> did_you_mean("jobdata", ["job_data", "field_hubs"])
    ': did you mean `job_data`?'
    """
    # Case and separators are the most frequent differences: `JobData`, `job-data`.
    words = {without_separators(each): each for each in known}
    found = difflib.get_close_matches(without_separators(name), words, n=1, cutoff=cutoff)
    return f": did you mean `{words[found[0]]}`?" if found else ""


def missing_attribute(owner: object, name: str, *, hint: str = "", other: str = "") -> AttributeError:
    """Return the error of a wrong attribute, for ``__getattr__``; it suggests a similar public one.

    Consoles and notebooks probe names with an underscore on each display, so those are not compared.

    Args:
        owner: The object.
        name: The attribute.
        hint: The end of the message, instead of a suggestion.
        other: The end of the message if no attribute is similar.
    """
    kind = type(owner)
    if hasattr(kind, name):
        # A property has raised the error, which Python has dropped: it is raised again.
        object.__getattribute__(owner, name)
    if not hint and not name.startswith("_"):
        hint = did_you_mean(name, [each for each in dir(owner) if not each.startswith("_")]) or other
    # Without `name`, Python does not add a second suggestion to the traceback.
    return AttributeError(f"`{kind.__name__}` has no attribute `{name}`{hint}", obj=owner)


class Suggesting:
    """An object that names what to use instead of an attribute that it does not have."""

    __slots__ = ()

    _instead: ClassVar[Mapping[str, str]] = {}
    """What to use instead of names that users expect."""

    _table: ClassVar[str] = ""
    """The expression of the layer of its rows, if it has one."""

    _table_class: ClassVar[type] = object
    """The class of that layer."""

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            """Raise an error that names the right attribute, that of its layer, or a similar one."""
            hint = self._instead.get(name, "").replace("{name}", name)
            if not hint and not name.startswith("_") and hasattr(self._table_class, name):
                hint = f"its rows have it, `{self._table}.{name}`"
            raise missing_attribute(self, name, hint=hint and f": {hint}")
