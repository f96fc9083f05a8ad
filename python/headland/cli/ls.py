"""The verb ``ls``: lists records of one kind, filtered as in Python."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from headland.cli.call_arguments import count
from headland.cli.job_selection import Jobs
from headland.cli.message_options import named_by_options
from headland.cli.output import print_json
from headland.cli.record_groups import KINDS, kind
from headland.cli.service_client import add_service_verb, client_of
from headland.cli.tables import print_table
from headland.client.job_selection import Selection

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    import headland as hl
    from headland.cli.argument_parser import Verbs

COLUMNS = {
    "field_computers": ("id", "name"),
    "prescription_maps": ("id", "name", "sub_type"),
    "field_hubs": ("id", "name"),
    "job_data": ("id", "name", "sub_type", "create_date", "update_date"),
    "grain_carts": ("id", "name"),
}


OPTIONS = {"job_type": "--type", "year": "--year", "since": "--date", "date": "--date", "name": "--name"}
"""Arguments of the Python method, with the options that set them."""


def add_ls(verbs: Verbs) -> None:
    """Add the verb ``ls``."""
    examples = ("ls job_data --type yield --year 2025", "ls prescription_maps --name north --limit 5 --json")
    ls = add_service_verb(verbs, "ls", _ls, "List records of one kind, such as job_data, with filters.", examples)
    ls.add_argument("what", type=kind(*KINDS), metavar="KIND", help=", ".join(KINDS))
    ls.add_argument(
        "--type",
        "--job-type",
        dest="job_type",
        action="append",
        metavar="NAME",
        help="only this kind of job or map, such as Yield, Planter or AsApplied, in any spelling; may be repeated",
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


@named_by_options(OPTIONS)
def _ls(given: argparse.Namespace) -> int:
    for option, value, kinds in (
        ("--type", given.job_type, ("job_data", "prescription_maps")),
        ("--year", given.year, ("job_data",)),
        ("--date", given.date, ("job_data",)),
    ):
        if value is not None and given.what not in kinds:
            raise ValueError(f"`{option}` is valid only with {' and '.join(kinds)}")
    with client_of(given) as client:
        found = _records(client, given)
        records = islice(found, given.limit)
        if given.json:
            for record in records:
                print_json(record)
        else:
            print_table(records, COLUMNS[given.what], measured=found.listed if isinstance(found, Jobs) else None)
    return 0


def _records(client: hl.Client, given: argparse.Namespace) -> Iterable[dict[str, Any]]:
    """Return the records that match, as they are received if the whole list is not needed to filter it."""
    filters = {"job_type": given.job_type, "year": given.year, "name": given.name}
    if given.what == "job_data" and any(value is not None for value in filters.values()):
        return Jobs(client, since=given.date, **filters)
    options = {} if given.date is None else {"date": given.date}
    records: Any = getattr(client, given.what).list(**options)
    if given.job_type is not None:
        records = records.filter(job_type=given.job_type)
    return records if given.name is None else Selection(name=given.name).filter(records)
