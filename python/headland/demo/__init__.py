"""The demo: pulls, stores, measures and maps every job of the service, as a user would."""

from __future__ import annotations

import json as json_text
import sys
import time
from collections import Counter
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import headland as hl
from headland import files
from headland.client.client import Client
from headland.display.escaping import printable
from headland.report import INDEX, Field, check_page, draw_field, field_card, number_jobs, write_index
from headland.sandbox.sandbox import Sandbox

from .pull import Pulled, pull
from .uploads import find_uploads

if TYPE_CHECKING:
    from collections.abc import Callable

    from .uploads import Archive

# Rate limits of service and client: those of the specification, in seconds instead of minutes, for a short demo.
SERVICE_WINDOWS = ((30, 2.0),)
CLIENT_WINDOWS = ((30, 2.0), (15, 1.0))


def run(
    archives: Path | None, out: Path | None, *, json: bool = False, quiet: bool = False, geojson: bool = False
) -> int:
    """Start the service, pull every job, and write files, maps and one page that shows them.

    Archives of the folder `archives` are uploaded first. The exit code is 1 if a job that should have a map has none.
    """

    def say(line: str) -> None:
        if not quiet:
            print(printable(line), file=sys.stderr, flush=True)

    out = Path("demo") if out is None else out
    check_page(out / INDEX)
    found, left_out = find_uploads(archives) if archives is not None else ([], [])
    for name in left_out:
        say(f"left out {name}: a table without shapes has no place on a map")
    started = time.monotonic()
    with (
        Sandbox.demo(rate_limits=SERVICE_WINDOWS) as service,
        Client(**service.credentials, rate_limits=CLIENT_WINDOWS, limiter_state="memory") as client,
    ):
        say(f"the service runs at {service.base_url}, with windows of seconds in place of minutes")
        uploaded, refused = upload(client, found, say)
        truth = {row["job_id"]: row for row in service.truth}
        pulled = pull(client, out, uploaded, truth, say, geojson=geojson) + refused
        calls = len(service.requests)
        by_path = Counter(request.path.lower() for request in service.requests)
    for job in pulled:
        job.calls = by_path[f"/jobdata/{job.id}".lower()]
        job.origin = [f"{job.calls} calls"]
    page = write_all(out, pulled, calls=calls, seconds=time.monotonic() - started)
    failed = [job for job in pulled if job.problem is not None and not job.is_expected]
    for job in failed:
        say(f"{job.name}: {job.problem}")
    summary = {"page": str(page), "calls": calls, "jobs": [job.summary() for job in pulled]}
    print(json_text.dumps(summary) if json else page.resolve())
    return 1 if failed else 0


def upload(client: Client, found: list[Archive], say: Callable[[str], None]) -> tuple[dict[str, str], list[Pulled]]:
    """Upload each archive as job data; returns the archive of each new id, and the archives that failed."""
    uploaded: dict[str, str] = {}
    refused = []
    for number, archive in enumerate(found, 1):
        message = f"uploaded {archive.name}"
        try:
            uploaded[client.job_data.upload(archive.content())["id"]] = archive.name
        except (hl.HeadlandError, OSError, ValueError) as error:
            message = f"cannot upload {archive.name}: {error}"
            refused.append(Pulled("", archive.name, "", archive.name, archive.name, problem=message))
        say(f"[{number}/{len(found)}] {message}")
    return uploaded, refused


def write_all(out: Path, pulled: list[Pulled], *, calls: int, seconds: float) -> Path:
    """Draw every field, and write the maps and the page that shows all of them."""
    cards = dict.fromkeys(job.card for job in pulled)
    small = {card: draw_field([job for job in pulled if job.card == card]) for card in cards}
    ordered = number_jobs(pulled)
    mapped = [job for job in ordered if job.is_mapped]
    for job in pulled:
        if job.is_mapped:
            files.write_text(out / f"{job.stem}.svg", job.svg)
            job.files.append(f"{job.stem}.svg")
    fields = [
        Field(card[1], list(jobs), small[card], f"#field-{index}")
        for index, (card, jobs) in enumerate(groupby(mapped, lambda job: job.card), 1)
    ]
    links = "<a href='#jobs'>all jobs</a><a href='#fields'>all fields</a>"
    more = "".join(field_card(index, each.name, each.jobs, links) for index, each in enumerate(fields, 1))
    write_index(out / INDEX, lead(pulled, calls, seconds), ordered, fields, more)
    return out / INDEX


def lead(pulled: list[Pulled], calls: int, seconds: float) -> str:
    """Return the summary of the demo: what was pulled, and how many totals equal the truth."""
    known = [job for job in pulled if job.known is not None]
    agreeing, unmeasured = sum(job.agrees is True for job in known), sum(job.difference is None for job in known)
    rest = len(known) - agreeing - unmeasured
    text = f"{sum(job.is_mapped for job in pulled)} of {len(pulled)} jobs mapped, {sum(job.rows for job in pulled):,} "
    text += f"rows, {calls:,} calls, {seconds:.0f} s. The totals of {agreeing} of {len(known)} generated jobs equal "
    text += "the truth within one part in a million"
    text += f"; {unmeasured} have no measured total, for the reason in their card" if unmeasured else ""
    return text + (f"; {rest} differ." if rest else ".")
