"""The demo: pulls, stores, measures and maps every job of the service, as a user would."""

from __future__ import annotations

import json as json_text
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import headland as hl
from headland.client import Client
from headland.escaping import printable
from headland.sandbox import Sandbox

from .archives import find_archives
from .draw import draw_field
from .page import check_page, write_page
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
    check_page(out)
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
    for card in dict.fromkeys(job.card for job in pulled):
        draw_field([job for job in pulled if job.card == card], out)
    page = write_page(out, pulled, calls=calls, seconds=time.monotonic() - started)
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
