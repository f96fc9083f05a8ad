"""The client of verbs that call the service, its options, and the output of its results."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import headland as hl
from headland.cli.argument_parser import Parser, Verbs, add_verb
from headland.cli.output import print_json
from headland.cli.records import print_record
from headland.client import settings

if TYPE_CHECKING:
    import argparse


def add_service_verb(verbs: Verbs, name: str, run: Any, help: str, examples: tuple[str, str]) -> Parser:
    """Add a verb that makes calls, with the options of the client."""
    verb = add_verb(verbs, name, run, help, examples)
    verb.add_argument("--profile", metavar="NAME", help="read the keys from this profile")
    verb.add_argument("--accept", metavar="TYPE", help="request records as json (the default) or xml")
    return verb


def client_of(given: argparse.Namespace) -> hl.Client:
    """Return the client of the given profile, of the environment, or of the default profile."""
    profile = settings.choose_profile(given.profile)
    found = settings.from_env() if profile is None else settings.from_profile(profile, None)
    # A verb without output for half a minute looks hung, also in a log.
    options = {"progress": True} | ({} if given.accept is None else {"accept": given.accept})
    return hl.Client(**{**found, **options})


def print_result(value: Any, *, as_json: bool) -> None:
    """Print a result: bytes unchanged, a path, and records as JSON or for people."""
    if isinstance(value, bytes):
        sys.stdout.buffer.write(value)
    elif isinstance(value, Path):
        print_result({"path": str(value)}, as_json=as_json)
    elif as_json or not isinstance(value, Mapping):
        print_json(value)
    else:
        print_record(value)
