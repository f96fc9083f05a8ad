"""The verb ``upload``: uploads job data, a prescription map or a grain cart file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from headland.cli.record_groups import UPLOADS, kind
from headland.cli.service_client import add_service_verb, client_of, print_result

if TYPE_CHECKING:
    import argparse

    from headland.cli.argument_parser import Verbs


def add_upload(verbs: Verbs) -> None:
    """Add the verb ``upload``."""
    examples = ("upload prescription_maps north-40.zip", "upload job_data harvest.jdp.zip --json")
    text = "Upload job data, a prescription map or a grain cart file."
    upload = add_service_verb(verbs, "upload", _upload, text, examples)
    upload.add_argument("what", type=kind(*UPLOADS), metavar="KIND", help=", ".join(UPLOADS))
    upload.add_argument("file", type=Path, metavar="FILE", help="the file to upload")
    upload.add_argument("--file-type", choices=("RX", "AGX"), help="type of a prescription map: RX (default) or AGX")


def _upload(given: argparse.Namespace) -> int:
    options = {} if given.file_type is None else {"file_type": given.file_type}
    if options and given.what != "prescription_maps":
        raise ValueError("`--file-type` is valid only with prescription_maps")
    with client_of(given) as client:
        print_result(getattr(client, given.what).upload(given.file, **options), as_json=given.json)
    return 0
