"""The representation of groups of calls, whose classes are generated."""

from __future__ import annotations

import inspect
from typing import Any

from headland.argument_hints import FILE, NO_HINTS, explained
from headland.suggestions import Suggesting

MAX_LENGTH = 120
"""Longest line that lists the methods of a group."""


class CallGroup(Suggesting):
    """A group of calls of a client, such as ``client.job_data``."""

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        """Let the calls of the group explain arguments that they do not have."""
        for name, method in [*vars(cls).items()]:
            if name.startswith("_") or not inspect.isfunction(method) or hasattr(method, "__wrapped__"):
                continue
            # Options of reading are checked by the core.
            if not method.__code__.co_flags & inspect.CO_VARKEYWORDS:
                setattr(cls, name, explained(FILE if "to" in method.__code__.co_varnames else NO_HINTS)(method))

    def __repr__(self) -> str:
        """Return name, address and, if they fit in a line, the methods; makes no call."""
        members = [name for name in dir(type(self)) if not name.startswith("_")]
        # A group of groups has no calls of its own.
        calls: Any = getattr(self, "_calls", None) or getattr(self, members[0])._calls  # noqa: SLF001
        # The module has the name of the group in its client, such as `dispatch_products`.
        module = type(self).__module__.rpartition(".")[2]
        name = module.removesuffix("_async").replace("dispatch_", "dispatch.")
        start = f"<{name} of {calls.address}"
        text = f"{start}: {', '.join(members)}>"
        return text if len(text) <= MAX_LENGTH else f"{start}>"
