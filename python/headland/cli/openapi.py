"""The verb ``openapi``: prints the interface as an OpenAPI document."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from headland import _core, files
from headland.cli.argument_parser import Verbs, add_verb
from headland.cli.output import json_text, print_text

if TYPE_CHECKING:
    import argparse


def add_openapi(verbs: Verbs) -> None:
    """Add the verb ``openapi``."""
    examples = ("openapi", "openapi --out service.json")
    openapi = add_verb(verbs, "openapi", _openapi, "Print the interface as an OpenAPI 3.1 document.", examples)
    openapi.add_argument("--out", type=Path, metavar="FILE", help="write FILE instead")


def _openapi(given: argparse.Namespace) -> int:
    document = _core.openapi()
    if not given.json:
        document = json_text(json.loads(document), indent=2)
    if given.out is None:
        print_text(document)
    else:
        files.write_text(given.out, f"{document}\n")
    return 0
