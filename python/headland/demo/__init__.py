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
from headland.client import Client
from headland.escaping import printable
from headland.report import INDEX, Field, check_page, draw_field, field_card, number_jobs, write_index
from headland.sandbox import Sandbox

from .archives import find_archives
from .pull import Pulled, pull

if TYPE_CHECKING:
    from collections.abc import Callable

    from .archives import Archive

__all__ = ["run"]

# Rate limits of the demo: the calls of the specification, in seconds instead of minutes, so that the demo is short.
# Service and client have the same ones.
SERVICE_WINDOWS = ((30, 2.0),)
CLIENT_WINDOWS = ((30, 2.0), (15, 1.0))


def run(
    archives: Path | None, out: Path | None, *, json: bool = False, quiet: bool = False, geojson: bool = False
) -> int:
    """Start the service, pull every job, and write files, maps and one page that shows them.

    Args:
        archives: A folder of zipped or loose shapefiles to upload first; none if None.
        out: The folder for the results, created if missing; `demo` if None.
        json: Whether to print one JSON line with the results instead of the page's path.
        quiet: Whether to print no progress.
        geojson: Whether to write each layer as GeoJSON too, which is several times larger than GeoParquet.

    Returns:
        The exit code: 0, or 1 if a job that should have a map has none.
    """

    def say(line: str) -> None:
        if not quiet:
            print(printable(line), file=sys.stderr, flush=True)

    out = Path("demo") if out is None else out
    check_page(out / INDEX)
    found, left_out = find_archives(archives) if archives is not None else ([], [])
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
    if json:
        rows = [job.summary() for job in pulled]
        print(json_text.dumps({"page": str(page), "calls": calls, "jobs": rows}))
    else:
        print(page.resolve())
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
    small = {}
    for card in dict.fromkeys(job.card for job in pulled):
        small[card] = draw_field([job for job in pulled if job.card == card])
    ordered = number_jobs(pulled)
    for job in pulled:
        if job.is_mapped:
            (out / f"{job.stem}.svg").write_text(job.svg, encoding="utf-8")
            job.files.append(f"{job.stem}.svg")
    mapped = [job for job in ordered if job.is_mapped]
    cards = [list(jobs) for _, jobs in groupby(mapped, lambda job: job.card)]
    fields = [Field(jobs[0].field, jobs, small[jobs[0].card], f"#field-{index}") for index, jobs in enumerate(cards, 1)]
    links = "<a href='#jobs'>all jobs</a><a href='#fields'>all fields</a>"
    more = "".join(field_card(index, jobs[0].field, jobs, links) for index, jobs in enumerate(cards, 1))
    write_index(out / INDEX, lead(pulled, calls, seconds), ordered, fields, more)
    return out / INDEX


def lead(pulled: list[Pulled], calls: int, seconds: float) -> str:
    """Return the summary of the demo: what was pulled, and how many totals equal the truth."""
    mapped = sum(job.is_mapped for job in pulled)
    known = [job for job in pulled if job.known is not None]
    agreeing = sum(job.agrees is True for job in known)
    unmeasured = sum(job.difference is None for job in known)
    rest = len(known) - agreeing - unmeasured
    text = f"{mapped} of {len(pulled)} jobs mapped, {sum(job.rows for job in pulled):,} rows, {calls:,} calls, "
    text += f"{seconds:.0f} s. The totals of {agreeing} of {len(known)} generated jobs equal the truth within one part "
    text += "in a million"
    if unmeasured:
        text += f"; {unmeasured} have no measured total, for the reason in their card"
    return text + (f"; {rest} differ." if rest else ".")
