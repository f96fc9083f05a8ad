"""Renders groups of calls, whose generated classes have no representation of their own."""

from __future__ import annotations

from typing import Any

from headland import groups

MAX_LENGTH = 120
"""Longest line that lists the methods of a group."""


def _name(group: Any) -> str:
    """Return the name of a group in its client, such as ``dispatch.products``; its module has it."""
    module: str = type(group).__module__.rpartition(".")[2]
    return module.removesuffix("_async").replace("dispatch_", "dispatch.")


def _text(group: Any) -> str:
    """Return name, address and, if they fit in a line, the methods; makes no call."""
    members = [name for name in dir(type(group)) if not name.startswith("_")]
    # A group of groups has no calls of its own.
    calls = getattr(group, "_calls", None) or getattr(group, members[0])._calls  # noqa: SLF001
    start = f"<{_name(group)} of {calls.address}"
    text = f"{start}: {', '.join(members)}>"
    return text if len(text) <= MAX_LENGTH else f"{start}>"


def add_representations() -> None:
    """Give every group of calls its representation."""
    for name in groups.__all__:
        group: Any = getattr(groups, name)
        if group not in (groups.ClientRows, groups.AsyncClientRows):
            group.__repr__ = _text
