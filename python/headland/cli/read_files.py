"""Describes many archives with the verb ``read``, and names those that cannot be read."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, cast

from headland.archive_layers import find_archives, has_zips, read_layers
from headland.cli.output import print_json, print_wrapped
from headland.escaping import printable
from headland.job_layers import FailedJob

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    import headland as hl
    from headland.archives import ReadOptions

UNREADABLE, NO_FILE = 11, 12
"""Exit codes of archives that cannot be read, and of files that cannot."""

LIMIT = re.compile(r"raise Limits\(\w+=\.\.\.\)| \(`Limits\(\w+=\.\.\.\)`\)")
"""Advice of the Python package, for which the command line has no option."""


def is_many(given: argparse.Namespace) -> bool:
    """Return whether the words name several archives: files, patterns, or a folder with zips."""
    if len(given.files) != 1:
        return True
    path = given.files[0]
    is_pattern = not path.exists() and any(sign in str(path) for sign in "*?[")
    return is_pattern or (path.is_dir() and (has_zips(path) or not any(path.iterdir())))


def run(given: argparse.Namespace, describe: Callable[[hl.Layer], None]) -> int:
    """Describe the layers of all archives, and print what failed; return the exit code."""
    if given.to is not None:
        raise ValueError(
            f"`--to`: `{given.to}` can have the rows of one archive; several are one table with `read_many`"
        )
    options = cast(
        "ReadOptions",
        {"layer": given.layer, "encoding": given.encoding, "strict": not given.lenient, "to_crs": given.to_crs},
    )
    failed: list[FailedJob] = []
    for path in find_archives(given.files):
        for found in [path] if isinstance(path, FailedJob) else read_layers(path, options):
            if isinstance(found, FailedJob):
                failed.append(found)
            else:
                describe(found.layer)
    for job, error in failed:
        _print_failure(job, error, as_json=given.json)
    return max((NO_FILE if isinstance(error, OSError) else UNREADABLE for _, error in failed), default=0)


def _print_failure(job: dict[str, object], error: Exception, *, as_json: bool) -> None:
    message = getattr(error, "_with_options", None) or str(error)
    message = printable(LIMIT.sub(lambda found: "unpack it" if found[0].startswith("raise") else "", message))
    where = f"{job['source']}" + (f", layer {job['layer']}" if job["layer"] is not None else "")
    if as_json:
        facts = {"error": type(error).__name__.lstrip("_"), "message": message}
        print_json({**facts, "source": job["source"], "layer": job["layer"]}, sys.stderr)
    else:
        print_wrapped(f"headland: not read: {printable(where)}: {message}", sys.stderr)
