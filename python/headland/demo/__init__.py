"""The main job, as a user would do it: every job of the service, pulled, kept and mapped."""

from __future__ import annotations

import json as json_text
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from headland.client import Client
from headland.errors import InvalidRequest
from headland.sandbox import Sandbox

from .archives import find_archives
from .page import write_page
from .pull import pull

if TYPE_CHECKING:
    from collections.abc import Callable

    from .archives import Archive

__all__ = ["run"]

# The windows of the tour: as many calls as the specification allows, in seconds where it says minutes, so that nobody
# waits ten minutes for a tour. Service and client keep the same ones.
SERVICE_WINDOWS = ((30, 2.0),)
CLIENT_WINDOWS = ((30, 2.0), (15, 1.0))


def run(archives: Path | None, out: Path | None, *, json: bool = False, quiet: bool = False) -> int:
    """Start the service, pull every job, and leave files, maps and one page that shows them.

    Args:
        archives: A folder of zipped or loose shapefiles to upload first; none if None.
        out: The folder for the results, made if it is not there; `demo` if None.
        json: Whether to print one JSON line with the results in place of the page's path.
        quiet: Whether to keep progress to itself.

    Returns:
        The exit code: 0, or 1 where a job that should have been mapped was not.

    """
    say = _silent if quiet else _say
    out = Path("demo") if out is None else out
    found = find_archives(archives) if archives is not None else []
    started = time.monotonic()
    with (
        Sandbox.demo(rate_limits=SERVICE_WINDOWS) as service,
        Client(**service.credentials, rate_limits=CLIENT_WINDOWS, limiter_state="memory") as client,
    ):
        say(f"the service runs at {service.base_url}, with windows of seconds in place of minutes")
        uploaded = upload(client, found, say)
        truth = {row["job_id"]: row for row in service.truth}
        pulled = pull(client, out, uploaded, truth, say)
        calls = len(service.requests)
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


def upload(client: Client, found: list[Archive], say: Callable[[str], None]) -> dict[str, str]:
    """Upload each archive as job data; gives the archive's file for each new id."""
    uploaded = {}
    for number, archive in enumerate(found, 1):
        try:
            created = client.job_data.upload(archive.content())
        except InvalidRequest as error:
            say(f"[{number}/{len(found)}] not uploaded: {error}")
            continue
        uploaded[created["id"]] = archive.name
        say(f"[{number}/{len(found)}] uploaded {archive.name}")
    return uploaded


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _silent(line: str) -> None:
    del line
