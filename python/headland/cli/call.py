"""The verb ``call``: makes any call by its name and arguments."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

import headland as hl
from headland import _core
from headland.cli.call_arguments import bind_arguments
from headland.cli.output import print_json
from headland.cli.service_client import add_service_verb, client_of, print_result
from headland.suggestions import did_you_mean

if TYPE_CHECKING:
    from headland.cli.argument_parser import Verbs


def add_call(verbs: Verbs) -> None:
    """Add the verb ``call``."""
    examples = ("call access_key --json", "call job_data.list --page-size 10 --page 0")
    text = "Make any call: GROUP.METHOD [ARG...] [--name value]."
    call = add_service_verb(verbs, "call", _call, text, examples)
    call.add_argument("name", type=_method_name, metavar="GROUP.METHOD", help=", ".join(_core.rows()))
    call.add_argument("arguments", nargs="...", metavar="ARG", help="arguments, by position or as --name value")


def method_names() -> list[str]:
    """Return the names of all calls."""
    return [*_core.rows(), "get_uri"]


def _method_name(text: str) -> str:
    names = method_names()
    if text not in names:
        suggestion = did_you_mean(text, names) or "; `headland call --help` lists them"
        raise argparse.ArgumentTypeError(f"there is no call `{text}`{suggestion}")
    return text


def _call(given: argparse.Namespace) -> int:
    arguments = _take_own_options(given)
    with client_of(given) as client:
        method: Any = client
        for part in given.name.split("."):
            method = getattr(method, part)
        places, names = bind_arguments(given.name, arguments, method)
        outcome = method(*places, **names)
        if isinstance(outcome, hl.Pages | hl.Table):
            for record in outcome:
                print_json(record)
        elif isinstance(outcome, hl.Conversion):
            print_result({"id": outcome.id, "ready": outcome.ready()}, as_json=given.json)
        elif isinstance(outcome, hl.Layer):
            print_json(outcome.__geo_interface__)
        elif outcome is not None:
            print_result(outcome, as_json=given.json)
    return 0


def _take_own_options(given: argparse.Namespace) -> list[str]:
    """Remove the options of the verb from the words after the call, and return the rest."""
    arguments = iter(given.arguments)
    rest = []
    for word in arguments:
        if word == "--json":
            given.json = True
        elif word == "--profile":
            given.profile = next(arguments, None)
        elif word == "--accept":
            given.accept = next(arguments, None)
        else:
            rest.append(word)
    return rest
