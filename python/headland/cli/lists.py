"""The verb ``ls``: lists records of one kind, filtered as in Python."""

from __future__ import annotations

import sys
from itertools import islice
from typing import TYPE_CHECKING, Any

from headland.cli.args import count
from headland.cli.calls import add_service_verb, client_of
from headland.cli.kinds import KINDS, kind
from headland.cli.output import print_json, print_text
from headland.cli.tables import print_table
from headland.read_all import Selection

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator

    import headland as hl
    from headland.cli.parser import Verbs

COLUMNS = {
    "field_computers": ("id", "name"),
    "prescription_maps": ("id", "name", "sub_type"),
    "field_hubs": ("id", "name"),
    "job_data": ("id", "name", "sub_type", "create_date", "update_date"),
    "grain_carts": ("id", "name"),
}

OPTIONS = {"sub_type": "--type", "year": "--year", "since": "--date", "name": "--name"}
"""Arguments of the Python methods, with the options that set them."""


def add_ls(verbs: Verbs) -> None:
    """Add the verb ``ls``."""
    examples = ("ls job_data --type yield --year 2025", "ls prescription_maps --name north --limit 5 --json")
    ls = add_service_verb(verbs, "ls", _ls, "List records of one kind, such as job_data, with filters.", examples)
    ls.add_argument("what", type=kind(*KINDS), metavar="KIND", help=", ".join(KINDS))
    ls.add_argument(
        "--type",
        dest="sub_type",
        metavar="NAME",
        help="only this kind of job or map, such as Yield, Planter or as_applied, in any letter case",
    )
    ls.add_argument(
        "--year", type=count, metavar="YYYY", help="only jobs that started in this year; makes a call for each job"
    )
    ls.add_argument(
        "--name",
        metavar="TEXT",
        help="only names that contain TEXT, in any letter case; * and ? match as in file names",
    )
    ls.add_argument("--date", help="only job data between this time and now")
    ls.add_argument("--limit", type=count, metavar="N", help="only the first N")


def _ls(given: argparse.Namespace) -> int:
    for option, value, kinds in (
        ("--type", given.sub_type, ("job_data", "prescription_maps")),
        ("--year", given.year, ("job_data",)),
        ("--date", given.date, ("job_data",)),
    ):
        if value is not None and given.what not in kinds:
            raise ValueError(f"`{option}` is valid only with {' and '.join(kinds)}")
    with client_of(given) as client:
        found, wanted = _select(client, given)
        records = islice(found if wanted is None else _of_the_year(client, found, wanted), given.limit)
        if given.json:
            for record in records:
                print_json(record)
        else:
            print_table(records, COLUMNS[given.what], measured=None if wanted is None else found)
    return 0


def _select(client: hl.Client, given: argparse.Namespace) -> tuple[Iterable[dict[str, Any]], Selection | None]:
    """Return the records that match, and the selection whose year is still to be checked, if one is wanted.

    The records are returned as they are received, unless the whole list is needed to filter it.
    """
    group = getattr(client, given.what)
    is_job_data = given.what == "job_data"
    sub_type = given.sub_type if is_job_data else None
    if sub_type is None and given.year is None and given.name is None:
        options = {} if given.date is None else {"date": given.date}
        pages = group.list(**options)
        return pages if given.sub_type is None else pages.filter(sub_type=given.sub_type), None
    try:
        wanted = Selection(
            client._calls.core,  # noqa: SLF001 - headland's own attribute
            sub_type=sub_type,
            year=given.year,
            since=given.date,
            name=given.name,
            ids=None,
        )
        pages = group.list(date=wanted.first_date()) if is_job_data else group.list()
        if given.sub_type is not None and not is_job_data:
            pages = pages.filter(sub_type=given.sub_type)
        found = wanted.filter(pages)
    except ValueError as error:
        raise ValueError(_with_options(str(error))) from None
    return found, None if given.year is None else wanted


def _of_the_year(client: hl.Client, jobs: Iterable[dict[str, Any]], wanted: Selection) -> Iterator[dict[str, Any]]:
    """Yield the jobs that started in the wanted year; only their details state it."""
    for job in jobs:
        try:
            is_other = wanted.is_other_year({**job, **client.job_data.get(job["id"])})
        except ValueError:
            print_text(f"headland: job `{job['id']}` is omitted: it states no start", sys.stderr)
        else:
            if not is_other:
                yield job


def _with_options(message: str) -> str:
    """Return a message that names the options of the command line."""
    for name, option in OPTIONS.items():
        message = message.replace(f"`{name}`", f"`{option}`")
    return message
