"""Verbs that call the service: ``ls``, ``get``, ``upload``, ``send``, ``budget``, ``call``."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import headland as hl
from headland import _core, settings
from headland.cli.args import bind_arguments, count
from headland.cli.output import Verbs, add_verb, print_json, print_record, print_table

if TYPE_CHECKING:
    import argparse

LISTS = {
    "fieldcomputers": "field_computers",
    "prescriptionmaps": "prescription_maps",
    "jobdata": "job_data",
    "fieldhubs": "field_hubs",
    "graincart": "grain_carts",
    "grain_carts": "grain_carts",
}
"""Words for lists, from the service and from the groups, with the group of each."""

FILES = {"jobdata": "SHP", "prescriptionmaps": "bin"}
"""Words with files in several formats, with the default format."""

COLUMNS = {
    "field_computers": ("id", "name"),
    "prescription_maps": ("id", "name", "sub_type"),
    "field_hubs": ("id", "name"),
    "job_data": ("id", "name", "sub_type", "create_date", "update_date"),
    "grain_carts": ("id", "name"),
}


def add_verbs(verbs: Verbs) -> None:
    """Add the verbs."""
    ls = _add(verbs, "ls", _ls, "List job data, prescription maps, field computers, field hubs or grain cart files.")
    ls.add_argument("what", choices=LISTS)
    ls.add_argument("--date", help="only job data between this time and now")
    ls.add_argument("--limit", type=count, metavar="N", help="only the first N")

    get = _add(verbs, "get", _get, "Describe one record, or download its file with --to.")
    get.add_argument("what", choices=LISTS)
    get.add_argument("id")
    get.add_argument("--to", type=Path, metavar="FILE", help="a folder or a file for the download")
    get.add_argument(
        "--format", help="BIN, SHP (default), FMIS or XML of jobdata; bin (default) or shp of prescriptionmaps"
    )
    get.add_argument("--overwrite", action="store_true", help="replace an existing file")

    upload = _add(verbs, "upload", _upload, "Upload a file of job data or of a grain cart, or a prescription map.")
    upload.add_argument("what", choices=(*FILES, "graincart", "grain_carts"))
    upload.add_argument("file", type=Path)
    upload.add_argument("--file-type", choices=("RX", "AGX"), help="type of a prescription map: RX (default) or AGX")

    send = _add(verbs, "send", _send, "Queue a prescription map for a field computer.")
    send.add_argument("map", metavar="MAP", help="id of the prescription map")
    send.add_argument("computer", metavar="COMPUTER", help="id of the field computer")

    _add(verbs, "budget", _budget, "Show the remaining calls of the rate limit.")

    call = _add(verbs, "call", _call, "Make any call: GROUP.METHOD [ARG...] [--name value].")
    call.add_argument("name", choices=[*_core.rows(), "get_uri"], metavar="GROUP.METHOD", help=", ".join(_core.rows()))
    call.add_argument("arguments", nargs="...", metavar="ARG", help="arguments, by position or as --name value")


def _add(verbs: Verbs, name: str, run: Any, help: str) -> argparse.ArgumentParser:
    verb = add_verb(verbs, name, run, help)
    verb.add_argument("--profile", metavar="NAME", help="read the keys from this profile, not the environment")
    verb.add_argument("--accept", metavar="TYPE", help="request records as json (the default) or xml")
    return verb


def _client(given: argparse.Namespace) -> hl.Client:
    found = settings.from_env() if given.profile is None else settings.from_profile(given.profile, None)
    return hl.Client(**found if given.accept is None else {**found, "accept": given.accept})


def _ls(given: argparse.Namespace) -> int:
    options = {} if given.date is None else {"date": given.date}
    if options and given.what != "jobdata":
        raise ValueError("`--date` is valid only with jobdata")
    with _client(given) as client:
        records = islice(getattr(client, LISTS[given.what]).list(**options), given.limit)
        if given.json:
            for record in records:
                print_json(record)
        else:
            print_table(records, COLUMNS[LISTS[given.what]])
    return 0


def _get(given: argparse.Namespace) -> int:
    with _client(given) as client:
        if given.to is None:
            _show_record(getattr(client, LISTS[given.what]).get(given.id), given)
        elif given.what in FILES:
            group = getattr(client, LISTS[given.what])
            path = group.download(
                given.id, format=given.format or FILES[given.what], to=given.to, overwrite=given.overwrite
            )
            _show(path, as_json=given.json)
        elif LISTS[given.what] == "grain_carts":
            _show(client.grain_carts.download(given.id, to=given.to, overwrite=given.overwrite), as_json=given.json)
        else:
            raise ValueError(f"{given.what} have no file to download")
    return 0


def _upload(given: argparse.Namespace) -> int:
    options = {} if given.file_type is None else {"file_type": given.file_type}
    if options and given.what != "prescriptionmaps":
        raise ValueError("`--file-type` is valid only with prescriptionmaps")
    with _client(given) as client:
        _show(getattr(client, LISTS[given.what]).upload(given.file, **options), as_json=given.json)
    return 0


def _send(given: argparse.Namespace) -> int:
    with _client(given) as client:
        client.prescription_maps.send(given.map, given.computer)
    return 0


def _budget(given: argparse.Namespace) -> int:
    with _client(given) as client:
        budget = client.budget()
    record = budget._asdict()
    record["windows"] = [window._asdict() for window in budget.windows]
    _show(record, as_json=given.json)
    return 0


def _call(given: argparse.Namespace) -> int:
    arguments = _take_own_options(given)
    with _client(given) as client:
        method: Any = client
        for part in given.name.split("."):
            method = getattr(method, part)
        places, names = bind_arguments(given.name, arguments, method)
        outcome = method(*places, **names)
        if isinstance(outcome, hl.Pages | hl.Table):
            for record in outcome:
                print_json(record)
        elif isinstance(outcome, hl.Conversion):
            _show({"id": outcome.id, "ready": outcome.ready()}, as_json=given.json)
        elif isinstance(outcome, hl.Layer):
            print_json(outcome.__geo_interface__)
        elif outcome is not None:
            _show(outcome, as_json=given.json)
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


def _show_record(record: Any, given: argparse.Namespace) -> None:
    if record is None:
        raise hl.NotFound(f"the service has no record `{given.id}` in {given.what}")
    _show(record, as_json=given.json)


def _show(value: Any, *, as_json: bool) -> None:
    if isinstance(value, bytes):
        sys.stdout.buffer.write(value)
    elif isinstance(value, Path):
        _show({"path": str(value)}, as_json=as_json)
    elif as_json or not isinstance(value, Mapping):
        print_json(value)
    else:
        print_record(value)
