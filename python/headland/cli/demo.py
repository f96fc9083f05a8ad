"""The verb ``demo``: starts a service, pulls every job and maps every field."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from headland.cli.argument_parser import Verbs, add_verb
from headland.cli.output import print_text

if TYPE_CHECKING:
    import argparse

PAGE = "index.html"
"""Name of the page that the demo writes."""


def add_demo(verbs: Verbs) -> None:
    """Add the verb ``demo``."""
    examples = ("demo --open", "demo --archives my-shapefiles --out maps")
    demo = add_verb(verbs, "demo", _demo, "Start a service, pull every job and map every field.", examples)
    demo.add_argument("--archives", type=Path, metavar="DIR", help="also upload and map the archives in DIR")
    demo.add_argument("--out", type=Path, metavar="DIR", help="folder for the maps and tables")
    demo.add_argument("--open", action="store_true", help="open the page with the maps in the browser")
    demo.add_argument("--geojson", action="store_true", help="write each layer as GeoJSON too")
    demo.add_argument("--quiet", action="store_true", help="show no progress")


def _demo(given: argparse.Namespace) -> int:
    from headland.demo import run

    code = run(given.archives, given.out, json=given.json, quiet=given.quiet, geojson=given.geojson)
    if given.open:
        _open_in_browser((Path("demo") if given.out is None else given.out) / PAGE)
    return code


def _open_in_browser(page: Path) -> None:
    """Open a page in the browser; without one, the printed path of the page is all that the user needs."""
    import webbrowser

    if page.exists() and not webbrowser.open(page.resolve().as_uri()):
        print_text("headland: there is no browser to open the page in", sys.stderr)
