"""The verb ``doctor``: the reason why calls fail, and the next step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import headland as hl
from headland.cli.argument_parser import Verbs, add_verb
from headland.cli.output import print_json, print_wrapped
from headland.client import settings

if TYPE_CHECKING:
    import argparse


def add_doctor(verbs: Verbs) -> None:
    """Add the verb ``doctor``."""
    examples = ("doctor", "doctor --profile farm --json")
    verb = add_verb(verbs, "doctor", run, "Find out why calls fail, step by step, and what to do.", examples)
    verb.add_argument("--profile", metavar="NAME", help="read the keys from this profile")


def run(given: argparse.Namespace) -> int:
    """Run the diagnosis and print each finding as it is made."""
    checkup = hl.doctor(settings.choose_profile(given.profile), tell=_print_json if given.json else _print)
    if checkup.error is not None:
        # The verb ends with the error that prevents calls.
        raise checkup.error
    return 0


def _print(finding: hl.Finding) -> None:
    print_wrapped(str(finding), indent=" " * 18)


def _print_json(finding: hl.Finding) -> None:
    print_json(finding._asdict())
