"""The verb ``pull``: mirrors accounts into folders concurrently, and shows their status."""

from __future__ import annotations

import argparse
import contextlib
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import headland as hl
from headland import _core, shell_words
from headland.cli.argument_parser import Verbs, add_verb
from headland.cli.call_arguments import count
from headland.cli.error_output import doctor_advice, print_error
from headland.cli.exit_codes import INTERRUPTED, exit_code
from headland.cli.job_selection import Jobs
from headland.cli.message_options import named_by_options
from headland.cli.output import print_json, print_text
from headland.client import settings
from headland.display import progress_bar
from headland.display.escaping import printable
from headland.mirror import formatting, progress, summary

if TYPE_CHECKING:
    from collections.abc import Iterator

RELIST = "1d"
"""Default of the maximum age of the last read of all lists."""

POLL_INTERVAL = 0.1
"""Seconds between two checks for Ctrl-C; an unlimited wait would not detect it on every system."""

FIRST_LINE, NEXT_LINES = 60.0, 600.0
"""Seconds of a pull without a display until its first line of progress, and between the others."""

VERIFICATION_FAILED = 11
"""The exit code if verifying finds a problem."""

OPTIONS = {"job_type": "--type", "since": "--since", "until": "--until", "ids": "--id"}
"""Filters of the mirror, with the options that set them."""

RESUME_HINT = "interrupted: finished work is kept; run the same command again to resume"


FILTERS = (
    (
        ("--type", "--job-type"),
        "job_type",
        "TYPE",
        "only files of jobs of these kinds: Yield, Planter, AsApplied, GrainCart, or of a label such as Sprayer",
    ),
    (("--id",), "ids", "ID", "only files of jobs with these ids"),
)
"""Filters with several values: options, argument of the mirror, placeholder, help."""

MirrorAction = Callable[["Account", hl.Mirror, argparse.Namespace], int]
"""An action on a mirror that returns an exit code."""


class Account(NamedTuple):
    """An account to mirror: its profile, ``None`` for the keys of the environment, and its folder."""

    profile: str | None
    folder: Path
    name: str | None
    """Name among several accounts."""


class Pulled(NamedTuple):
    """The result of an account."""

    account: Account
    plan: hl.mirror.Plan
    outcome: hl.mirror.Outcome | None
    status: hl.mirror.Status | None


def add_pull(verbs: Verbs) -> None:
    """Add the verb ``pull``."""
    examples = ("pull --to farm --plan", "pull --to farm --type Yield --since 2025-01-01")
    pull = add_verb(verbs, "pull", _pull, "Mirror a whole account into a folder, or update the mirror.", examples)
    pull.add_argument("--to", type=_folder, metavar="DIR", required=True, help="the folder of the mirror")
    pull.add_argument(
        "--profile",
        action="extend",
        nargs="+",
        metavar="NAME",
        help="read the keys from this profile; several are mirrored concurrently into DIR/NAME",
    )
    what = pull.add_mutually_exclusive_group()
    for name, text in (
        ("plan", "only show what a pull would do"),
        ("status", "only show the status of the mirrors in DIR, without a call"),
        ("verify", "only compare archives and dataset with their digests, without a call"),
    ):
        what.add_argument(f"--{name}", dest="what", action="store_const", const=name, help=text)
    pull.add_argument("--deep", action="store_true", help="with --verify: also read the rows of every archive again")
    pull.add_argument(
        "--relist", default=RELIST, metavar="SPAN", help="maximum age of the last read of all lists: 1d, 36h, ..."
    )
    for names, dest, metavar, text in FILTERS:
        pull.add_argument(*names, dest=dest, action="extend", nargs="+", metavar=metavar, help=text)
    pull.add_argument("--since", metavar="DATE", help="only jobs that the service received since this date or time")
    pull.add_argument("--until", metavar="DATE", help="only jobs that it received until the end of this date, in UTC")
    pull.add_argument(
        "--year",
        type=count,
        metavar="YYYY",
        help="only jobs that started in this year; a call for each job of the list",
    )
    pull.add_argument(
        "--name", metavar="TEXT", help="only jobs whose name contains TEXT; * and ? match as in file names"
    )
    pull.add_argument("--no-locations", dest="locations", action="store_false", help="omit locations of devices")
    silence = "show no progress, but a line on standard error after a minute without one and then every ten minutes"
    pull.add_argument("--quiet", action="store_true", help=silence)


def _folder(text: str) -> Path:
    """Parse a folder; an empty text, such as from an unset variable, would mean the working folder."""
    if not text:
        raise argparse.ArgumentTypeError("expected a folder, got an empty string; `.` is the working folder")
    if "\0" in text:
        raise argparse.ArgumentTypeError(f"{text!r} contains a null character, which paths cannot contain")
    return Path(text)


def _pull(given: argparse.Namespace) -> int:
    if given.deep and given.what != "verify":
        raise ValueError("`--deep` is valid only with --verify")
    if given.what in {"status", "verify"} and any(
        value is not None for value in (*_filters(given).values(), given.year, given.name)
    ):
        raise ValueError(f"filters such as `--type` are not valid with --{given.what}")
    if given.what == "status":
        return _run_each(_existing(given), given, _status)
    if given.what == "verify":
        return _run_each(_existing(given), given, _verify)
    return _pull_concurrently(_accounts(given), given)


def _filters(given: argparse.Namespace) -> dict[str, Any]:
    """Return the filters of the mirror."""
    return {name: getattr(given, name) for name in OPTIONS}


def _accounts(given: argparse.Namespace) -> list[Account]:
    """Return the accounts to mirror, with their folders."""
    profiles: list[str] = given.profile or []
    if len(profiles) <= 1:
        homes = _mirror_folders(given.to)
        if homes and not (given.to / summary.JOURNAL).exists():
            raise ValueError(_wrong_folder_message(given, homes, profiles[0] if profiles else None))
        return [Account(profiles[0] if profiles else None, given.to, None)]
    for name in profiles:
        if name != Path(name).name or name.startswith(".") or "\\" in name:
            raise ValueError(f"the profile name [{name}] is not a folder name: mirror it alone, with its own `--to`")
    if len({*profiles}) < len(profiles):
        raise ValueError("`--profile` names a profile twice")
    if (given.to / summary.JOURNAL).exists():
        raise ValueError(f"`{given.to}` is the mirror of one account; for several, pass another folder to `--to`")
    return [Account(name, given.to / name, name) for name in profiles]


def _existing(given: argparse.Namespace) -> list[Account]:
    """Return the existing mirrors, in the folder or one level below it."""
    if given.profile or (given.to / summary.JOURNAL).exists():
        return _accounts(given)
    return [Account(None, home, home.name) for home in _mirror_folders(given.to)] or [Account(None, given.to, None)]


def _mirror_folders(folder: Path) -> list[Path]:
    """Return the mirrors of several accounts below a folder."""
    return sorted(path.parent for path in folder.glob(f"*/{summary.JOURNAL}"))


def _wrong_folder_message(given: argparse.Namespace, homes: list[Path], profile: str | None) -> str:
    """Return an error that lists the mirrors of several accounts, and the command for one of them."""
    there = ", ".join(f"`{home}`" for home in homes)
    home = homes[0] if profile is None else given.to / profile
    one = f"none belongs to the profile [{profile}]"
    if home in homes:
        one = f"for one account, run `{_command(given, home, [profile] if profile else [])}`"
    several = _command(given, given.to, [each.name for each in homes])
    return f"`{given.to}` contains the mirrors of several accounts ({there}): {one}; for all, run `{several}`"


def _command(given: argparse.Namespace, folder: Path, profiles: list[str]) -> str:
    """Return the given command for another folder and other profiles."""
    words = ["headland", "pull", "--to", str(folder), *(["--profile", *profiles] if profiles else [])]
    flags = {given.what: given.what, "deep": given.deep, "no-locations": not given.locations}
    flags |= {"quiet": given.quiet, "json": given.json}
    words += [f"--{name}" for name, is_set in flags.items() if is_set]
    words += ["--relist", given.relist] if given.relist != RELIST else []
    filters = {"type": given.job_type, "since": given.since, "until": given.until, "id": given.ids}
    filters |= {"year": given.year, "name": given.name}
    for name, value in filters.items():
        words += [] if value is None else [f"--{name}", *(value if isinstance(value, list) else [str(value)])]
    return shell_words.joined(*words)


def _run_each(accounts: list[Account], given: argparse.Namespace, action: MirrorAction) -> int:
    """Run an action on each mirror, and return the highest exit code."""
    codes = []
    for account in accounts:
        try:
            codes.append(action(account, hl.Mirror(account.folder, relist=given.relist), given))
        except Exception as error:  # noqa: BLE001 - what has no code is raised again
            codes.append(_failed(error, account, given))
    return max(codes)


def _status(account: Account, mirror: hl.Mirror, given: argparse.Namespace) -> int:
    status = mirror.status()
    if given.json:
        print_json(_account_fields(account) | {"status": status.to_dict()})
    else:
        print_text(str(status))
    return 0


def _verify(account: Account, mirror: hl.Mirror, given: argparse.Namespace) -> int:
    found = mirror.verify(deep=given.deep)
    if given.json:
        print_json(_account_fields(account) | {"verification": found.to_dict()})
    else:
        print_text(f"{account.folder}: {found}" if found.ok else f"{account.folder}:\n{found}")
    if found.ok:
        return 0
    print_text("the next pull downloads missing and damaged archives again", sys.stderr)
    return VERIFICATION_FAILED


def _pull_concurrently(accounts: list[Account], given: argparse.Namespace) -> int:
    """Mirror all accounts concurrently and return the highest exit code; a failure does not stop the others.

    Each result or error is printed when its account is done.
    """
    display = None if given.quiet else progress_bar.choose_display()
    stop = threading.Event()
    codes = []
    with ThreadPoolExecutor(len(accounts)) as pool:
        running = {pool.submit(_pull_account, account, given, display, stop): account for account in accounts}
        try:
            while running:
                for each in wait(running, timeout=POLL_INTERVAL, return_when=FIRST_COMPLETED).done:
                    if len(running) == 1 and display is not None:
                        display.close()
                    with _paused(display):
                        codes.append(_report(each, running.pop(each), given))
        except KeyboardInterrupt:
            stop.set()
    if display is not None:
        display.close()
    codes += [_report(each, account, given) for each, account in running.items()]
    if stop.is_set():
        print_text(RESUME_HINT, sys.stderr)
        return INTERRUPTED
    return max(codes)


def _paused(display: progress_bar.Display | None) -> contextlib.AbstractContextManager[None]:
    return contextlib.nullcontext() if display is None else display.paused()


def _report(done: Future[Pulled], account: Account, given: argparse.Namespace) -> int:
    """Print the result or the error of an account and return its exit code."""
    error = done.exception()
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    if error is not None:
        return _failed(error, account, given)
    _summarize(done.result(), given)
    return 0


def _failed(error: BaseException, account: Account, given: argparse.Namespace) -> int:
    code = exit_code(error)
    if code is None:
        raise error
    print_error(error, as_json=given.json, profile=account.name, advice=doctor_advice(error, account.profile))
    return code


@named_by_options({**OPTIONS, "year": "--year", "name": "--name", "relist": "--relist"})
def _pull_account(
    account: Account, given: argparse.Namespace, display: progress_bar.Display | None, stop: threading.Event
) -> Pulled:
    """Mirror an account, in a thread of its own."""
    listener = _ProgressListener(account.name or "", display, stop)
    profile = settings.choose_profile(account.profile)
    keys = settings.from_env() if profile is None else settings.from_profile(profile, None)
    # The progress of the pull states what it waits for.
    with hl.Client(**keys, progress=False) as client:
        options = {"relist": given.relist, "locations": given.locations, **_filters(given)}
        if given.year is not None or given.name is not None:
            options["ids"] = _selected(client, given)
        mirror = hl.Mirror(account.folder, client, **options)
        plan = mirror.plan(progress=listener)
        if given.what == "plan":
            return Pulled(account, plan, None, None)
        # Without work, the summary has the calls for the lists.
        if not (given.quiet or given.json) and plan.calls_left[1]:
            with _paused(display):
                print_text(_named(account, plan.text))
        outcome = mirror.sync(progress=listener)
        return Pulled(account, plan, outcome, mirror.status())


def _selected(client: hl.Client, given: argparse.Namespace) -> list[str]:
    """Return the ids of the jobs of a year or a name, which the list and the details state, of the wanted kinds."""
    wanted = Jobs(client, job_type=given.job_type, since=given.since, year=given.year, name=given.name)
    found = [job["id"] for job in wanted]
    if given.ids is not None:
        found = [each for each in found if each in given.ids]
    if not found:
        raise ValueError("no job matches the filters: `headland ls job_data` lists the jobs")
    return found


class _ProgressListener:
    """Shows the progress of an account, and ends it on Ctrl-C.

    Without a display, a long pull would be silent for minutes, as if it hung: it writes a line now and then.
    """

    def __init__(self, name: str, display: progress_bar.Display | None, stop: threading.Event) -> None:
        self._name, self._display, self._stop = name, display, stop
        self._last: dict[str, Any] = {}
        self._changed = 0.0
        self._next_line = time.monotonic() + FIRST_LINE

    def __call__(self, snapshot: dict[str, Any]) -> None:
        """Receive the progress."""
        if self._stop.is_set():
            raise KeyboardInterrupt
        now = time.monotonic()
        if snapshot != self._last:
            self._last, self._changed = snapshot, now
        line = progress.line(snapshot, now - self._changed)
        if self._display is not None:
            self._display.show(self._name, progress.fraction(snapshot), line)
        elif now >= self._next_line and snapshot["phase"] != "done":
            self._next_line = now + NEXT_LINES
            print_text(f"{self._name}: {line}" if self._name else line, sys.stderr)


def _account_fields(account: Account) -> dict[str, Any]:
    return {"profile": account.profile, "folder": str(account.folder)}


def _named(account: Account, text: str) -> str:
    return text if account.name is None else f"{account.name}: {text}"


def _summarize(pulled: Pulled, given: argparse.Namespace) -> None:
    account, plan, outcome, status = pulled
    if given.json:
        facts = {"plan": plan, "outcome": outcome, "status": status}
        print_json(
            _account_fields(account) | {name: each.to_dict() for name, each in facts.items() if each is not None}
        )
    elif outcome is None or status is None:
        print_text(_named(account, str(plan)))
    else:
        # The calls of the plan are part of this pull, also if it is not shown.
        calls = outcome.calls + sum(each.made for each in plan.by_purpose.values())
        print_text("\n".join(map(printable, _summary(account, outcome, status, calls))))


def _summary(account: Account, outcome: hl.mirror.Outcome, status: hl.mirror.Status, calls: int) -> Iterator[str]:
    """Return the summary of a pull and the next step."""
    counts = [f"{outcome.new:,} new", f"{outcome.changed:,} changed", f"{outcome.gone:,} gone"]
    counts += [
        f"{files:,} {state}"
        for state in ("no coverage", "failed", "quarantined")
        if (files := status.jobs.get(state, 0) + status.grain_carts.get(state, 0))
    ]
    done = f"{formatting.counted(calls, 'call')}, {_core.format_size(outcome.bytes)}"
    yield _named(account, f"{', '.join(counts)}; {done}")
    for each in status.unavailable:
        yield f"  {each.state}: {each.kind} {each.id} ({each.name}): {each.reason}"
    for note in outcome.notes:
        yield f"  note: {note}"
    if status.rows:
        yield f"  {formatting.counted(status.rows, 'row')} in {account.folder / 'dataset'}"
        mirror = f"headland.Mirror({str(account.folder)!r})"
        query = "SELECT * FROM field_means"
        yield f"  next in Python: {mirror}.sql({query!r}), means of all jobs in one unit each;"
        yield f"  {mirror}.to_geopandas(), the rows as logged"
