"""Verbs that call the service: ``get``, ``upload``, ``send``, ``budget``, ``call``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import headland as hl
from headland import _core
from headland.cli.args import bind_arguments
from headland.cli.exit_codes import CONFLICT
from headland.cli.kinds import FILES, KINDS, UPLOADS, kind
from headland.cli.output import print_json, print_text, print_wrapped
from headland.cli.parser import Parser, Verbs, add_verb
from headland.cli.records import print_record
from headland.client import map_file, settings
from headland.suggestions import did_you_mean

ALREADY = {
    None: "",
    "uploaded": "; it was uploaded before, and not again",
    "queued": " since an earlier send; nothing was sent again",
    "delivered": "; nothing was sent: `headland send {map} {computer}` sends it again",
}
"""What an earlier send had done already, in words."""

UNFINISHED = (
    "; the same send of a file continues where this one ended and uploads nothing twice; --plan shows the queue"
)
"""The advice of an interrupted send."""


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


def add_upload(verbs: Verbs) -> None:
    """Add the verb ``upload``."""
    examples = ("upload prescription_maps north-40.zip", "upload job_data harvest.jdp.zip --json")
    text = "Upload job data, a prescription map or a grain cart file."
    upload = add_service_verb(verbs, "upload", _upload, text, examples)
    upload.add_argument("what", type=kind(*UPLOADS), metavar="KIND", help=", ".join(UPLOADS))
    upload.add_argument("file", type=Path, metavar="FILE", help="the file to upload")
    upload.add_argument("--file-type", choices=("RX", "AGX"), help="type of a prescription map: RX (default) or AGX")


def add_send(verbs: Verbs) -> None:
    """Add the verb ``send``."""
    examples = ("send north-40.zip 460 --plan", "send 82 460 --profile farm")
    text = "Send a prescription map to a machine; see --plan and --wait."
    send = add_service_verb(verbs, "send", _send, text, examples)
    send.add_argument("map", metavar="MAP", help="id of the prescription map, or a .zip or .shp to upload first")
    send.add_argument(
        "computer", metavar="COMPUTER", help="id of the field computer, as `headland ls field_computers` shows it"
    )
    how = send.add_mutually_exclusive_group()
    how.add_argument("--plan", action="store_true", help="send nothing; two calls")
    how.add_argument("--wait", action="store_true", help="wait until the field computer has fetched the map")
    send.add_argument("--timeout", type=float, metavar="SECONDS", help="the longest wait (default: 600)")
    send.set_defaults(interrupted=UNFINISHED)


def add_budget(verbs: Verbs) -> None:
    """Add the verb ``budget``."""
    examples = ("budget", "budget --profile farm --json")
    add_service_verb(verbs, "budget", _budget, "Show the remaining calls of the rate limit.", examples)


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


def _get(given: argparse.Namespace) -> int:
    with client_of(given) as client:
        if given.to is None:
            record = getattr(client, given.what).get(given.id)
            if record is None:
                raise hl.NotFound(f"the service has no record `{given.id}` in {given.what}")
            _show(record, as_json=given.json)
        elif given.what in FILES:
            group = getattr(client, given.what)
            path = group.download(
                given.id, format=given.format or FILES[given.what], to=given.to, overwrite=given.overwrite
            )
            _show(path, as_json=given.json)
        elif given.what == "grain_carts":
            _show(client.grain_carts.download(given.id, to=given.to, overwrite=given.overwrite), as_json=given.json)
        else:
            raise ValueError(f"{given.what} have no file to download")
    return 0


def _upload(given: argparse.Namespace) -> int:
    options = {} if given.file_type is None else {"file_type": given.file_type}
    if options and given.what != "prescription_maps":
        raise ValueError("`--file-type` is valid only with prescription_maps")
    with client_of(given) as client:
        _show(getattr(client, given.what).upload(given.file, **options), as_json=given.json)
    return 0


def _send(given: argparse.Namespace) -> int:
    if given.timeout is not None and not given.wait:
        raise ValueError("`--timeout` is the longest wait: add `--wait`")
    with client_of(given) as client:
        maps = client.prescription_maps
        if given.plan:
            if map_file.is_map_file(given.map):
                map_file.prepare(given.map)
            return _show_plan(maps.plan(given.map, given.computer), as_json=given.json)
        map_id, is_delivered, already = maps._calls.send_map(  # noqa: SLF001 - the public method returns nothing
            given.map, given.computer, wait=given.wait, timeout=given.timeout
        )
    if given.json:
        state = {"state": "delivered"} if is_delivered else {}
        before = {"already": already} if already else {}
        print_json({"prescription_map": map_id, "field_computer": given.computer, **state, **before})
        return 0
    text = f"Map {map_id} is {'delivered to' if is_delivered else 'queued for'} field computer {given.computer}"
    print_text(f"{text}{ALREADY[already].format(map=map_id, computer=given.computer)}.")
    return 0


def _show_plan(plan: hl.SendPlan, *, as_json: bool) -> int:
    """Print a plan; a map that would be refused has the exit code of the refusal."""
    if as_json:
        print_json(plan._asdict())
    else:
        print_wrapped(repr(plan), indent="    ")
    return CONFLICT if plan.conflicts else 0


def _budget(given: argparse.Namespace) -> int:
    with client_of(given) as client:
        budget = client.budget()
    if given.json:
        print_json({**budget._asdict(), "windows": [window._asdict() for window in budget.windows]})
    else:
        print_text(repr(budget))
    return 0


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


def _show(value: Any, *, as_json: bool) -> None:
    if isinstance(value, bytes):
        sys.stdout.buffer.write(value)
    elif isinstance(value, Path):
        _show({"path": str(value)}, as_json=as_json)
    elif as_json or not isinstance(value, Mapping):
        print_json(value)
    else:
        print_record(value)
