"""The verb ``budget``: shows the remaining calls of the rate limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headland.cli.output import print_json, print_text
from headland.cli.service_client import add_service_verb, client_of

if TYPE_CHECKING:
    import argparse

    from headland.cli.argument_parser import Verbs


def add_budget(verbs: Verbs) -> None:
    """Add the verb ``budget``."""
    examples = ("budget", "budget --profile farm --json")
    add_service_verb(verbs, "budget", _budget, "Show the remaining calls of the rate limit.", examples)


def _budget(given: argparse.Namespace) -> int:
    with client_of(given) as client:
        budget = client.budget()
    if given.json:
        print_json({**budget._asdict(), "windows": [window._asdict() for window in budget.windows]})
    else:
        print_text(repr(budget))
    return 0
