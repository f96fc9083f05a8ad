"""The verb ``report``: pages of the fields of a mirror."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

import headland as hl
from headland.cli.argument_parser import Verbs, add_verb
from headland.cli.message_options import in_options, replace_arguments
from headland.cli.output import print_json, print_text
from headland.display.escaping import printable

if TYPE_CHECKING:
    import argparse


def add_report(verbs: Verbs) -> None:
    """Add the verb ``report``."""
    examples = ("report --from farm --to report", 'report --from farm --to report --field "Stone Hill" --year 2026')
    report = add_verb(verbs, "report", _report, "Write a page for each field of a mirror, and an index.", examples)
    report.add_argument("--from", dest="mirror", type=Path, required=True, metavar="DIR", help="the folder of `pull`")
    report.add_argument("--to", type=Path, required=True, metavar="FOLDER", help="the folder of the pages")
    report.add_argument("--field", action="append", metavar="NAME", help="only this field; may be repeated")
    report.add_argument("--year", action="append", type=int, metavar="YEAR", help="only this year; may be repeated")
    report.add_argument("--quiet", action="store_true", help="show no progress")
    report.add_argument("--profile", metavar="NAME", help="read prescription maps with the keys of this profile")


def _report(given: argparse.Namespace) -> int:
    shown = False if given.quiet else None
    no_client = contextlib.nullcontext(None)
    with no_client if given.profile is None else hl.Client.from_profile(given.profile) as client:
        try:
            page = hl.Mirror(given.mirror, client).report(given.to, given.field, given.year, progress=shown)
        except ValueError as error:
            raise ValueError(replace_arguments(in_options(str(error)), {"folder": "--to"})) from None
    if given.json:
        print_json({"page": page})
    else:
        print_text(printable(str(page.resolve())))
    return 0
