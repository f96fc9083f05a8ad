"""Lists every method of a client and of its groups, and settings for a client without a service."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from headland import groups

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

OFFLINE: dict[str, Any] = {
    "base_url": "https://fields.example",
    "api_key": "k",
    "shared_secret": "c2VjcmV0",
    "access_key": "a",
}


def methods(thing: Any, above: str = "") -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield each method of a client and of its groups, by its public name."""
    for name in dir(thing):
        if name.startswith("_"):
            continue
        value = getattr(thing, name)
        if inspect.ismethod(value) and not inspect.isclass(value.__self__):
            yield above + name, value
        elif type(value).__module__.startswith(groups.__name__):
            yield from methods(value, f"{above}{name}.")
