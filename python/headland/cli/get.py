"""The verb ``get``: describes one record, or downloads its file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import headland as hl
from headland.cli.record_groups import FILES, KINDS, kind
from headland.cli.service_client import add_service_verb, client_of, print_result

if TYPE_CHECKING:
    import argparse

    from headland.cli.argument_parser import Verbs


def add_get(verbs: Verbs) -> None:
    """Add the verb ``get``."""
    examples = ("get job_data 31", "get job_data 31 --to job.zip --format SHP")
    get = add_service_verb(verbs, "get", _get, "Describe one record, or download its file with --to.", examples)
    get.add_argument("what", type=kind(*KINDS), metavar="KIND", help=", ".join(KINDS))
    get.add_argument("id", metavar="ID", help="id of the record, as `headland ls KIND` shows it")
    get.add_argument("--to", type=Path, metavar="FILE", help="a folder or a file for the download")
    get.add_argument(
        "--format", help="BIN, SHP (default), FMIS or XML of job_data; bin (default) or shp of prescription_maps"
    )
    get.add_argument("--overwrite", action="store_true", help="replace an existing file")


def _get(given: argparse.Namespace) -> int:
    with client_of(given) as client:
        if given.to is None:
            record = getattr(client, given.what).get(given.id)
            if record is None:
                raise hl.NotFound(f"the service has no record `{given.id}` in {given.what}")
            print_result(record, as_json=given.json)
        elif given.what in FILES:
            group = getattr(client, given.what)
            path = group.download(
                given.id, format=given.format or FILES[given.what], to=given.to, overwrite=given.overwrite
            )
            print_result(path, as_json=given.json)
        elif given.what == "grain_carts":
            print_result(
                client.grain_carts.download(given.id, to=given.to, overwrite=given.overwrite), as_json=given.json
            )
        else:
            raise ValueError(f"{given.what} have no file to download")
    return 0
