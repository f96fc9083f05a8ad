"""The representation of groups of calls, whose classes are generated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from headland.suggestions import missing_attribute

MAX_LENGTH = 120
"""Longest line that lists the methods of a group."""


class CallGroup:
    """A group of calls of a client, such as ``client.job_data``."""

    __slots__ = ()

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

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            """Raise an error that suggests a method with a similar name."""
            raise missing_attribute(self, name)
