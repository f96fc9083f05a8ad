"""The verb ``send``: sends a prescription map to a field computer, or plans it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headland.cli.exit_codes import CONFLICT
from headland.cli.output import print_json, print_text, print_wrapped
from headland.cli.service_client import add_service_verb, client_of
from headland.client import map_file

if TYPE_CHECKING:
    import argparse

    import headland as hl
    from headland.cli.argument_parser import Verbs

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


def _send(given: argparse.Namespace) -> int:
    if given.timeout is not None and not given.wait:
        raise ValueError("`--timeout` is the longest wait: add `--wait`")
    with client_of(given) as client:
        maps = client.prescription_maps
        if given.plan:
            if map_file.is_map_file(given.map):
                map_file.prepare(given.map)
            return _print_plan(maps.plan(given.map, given.computer), as_json=given.json)
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


def _print_plan(plan: hl.SendPlan, *, as_json: bool) -> int:
    """Print a plan; a map that would be refused has the exit code of the refusal."""
    if as_json:
        print_json(plan._asdict())
    else:
        print_wrapped(repr(plan), indent="    ")
    return CONFLICT if plan.conflicts else 0
