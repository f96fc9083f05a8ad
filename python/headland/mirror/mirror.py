"""The mirror of an account: plan, sync, status, verify."""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING, Any, NoReturn

from headland import _core, argument_hints, arguments
from headland.agronomy.harmonize import moistures
from headland.display.escaping import printable
from headland.mirror import filters
from headland.mirror.dataset import PublishedDataset, parse_years
from headland.mirror.models import Outcome, Plan, Verification
from headland.mirror.progress import LOG, ProgressReporter, StepReporter
from headland.mirror.status import Status

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from headland.client.client import Client

DAY = 86_400.0

SPAN = re.compile(r"([0-9]+(?:\.[0-9]+)?) *(s|min|h|d|w)")
"""A duration as text, such as ``1d`` or ``36h``."""

UNITS = {"s": 1.0, "min": 60.0, "h": 3_600.0, "d": DAY, "w": 7 * DAY}


class Mirror(PublishedDataset):
    """A local copy of a whole account in a folder, kept up to date with the fewest calls.

    It may be started, watched, killed, resumed and repeated: each finished call is kept, none is repeated, and the
    published state is always complete. One process at a time syncs a folder; any number may read the published state
    meanwhile.

    `job_type`, `since`, `until` and `ids` are filters: they select the jobs whose details and files are requested. The
    lists are always read whole. What is in the mirror stays there and in the dataset, and a sync without a filter
    requests the rest.

    >>> mirror = headland.Mirror("farm", headland.Client.from_env())
    >>> print(mirror.plan())
    >>> mirror.sync()
    >>> yields = mirror.to_geopandas(job_type="Yield")

    Args:
        folder: The folder; a sync creates it.
        client: The client of the account. Without a client the mirror can be read, but neither planned nor synced.
        relist: Maximum age of the last read of all lists, as ``"1d"``, ``"36h"`` or a ``timedelta``. With a newer one,
            a sync requests only new jobs and, with `locations`, the current locations of computers; all other changes,
            such as new grain carts, maps and devices, are found when all lists are read. With ``"0s"``, each sync reads
            all lists.
        overlap: How far back a sync requests before the newest known job.
        locations: Whether the locations of devices are mirrored too; a hub reports every 30 seconds.
        concurrency: Maximum number of concurrent calls.
        publish_every: How often a long sync publishes its progress.
        on_error: Handling of a list value that cannot be read. ``"null"`` keeps the record with None instead, and
            `Outcome.notes` states its path; ``"raise"`` raises ``DecodeError`` for the list.
        job_type: Only jobs of this kind or these kinds, as in ``client.job_data.read_all``: a kind such as
            ``"AsApplied"`` includes every label of lists that may be of it, and the detail of a job is read first if
            its label leaves the kind open. ``"GrainCart"`` are grain cart files, which other kinds leave out.
        since: Only jobs that the service received since this date or aware datetime, as its list states in
            ``CreateDate``. When a job started is only in its detail, which costs a call for each job.
        until: Only jobs that the service received before this datetime, or until the end of this date in UTC. Jobs
            without a ``CreateDate``, and grain carts, are included regardless of the time.
        ids: Only jobs with these ids, and no grain carts. `Outcome.notes` names ids that the list does not have.
        job_types: The former name of `job_type`.
        market_moisture: Percent of water at which the grain is sold, as in ``headland.harmonize``: a sync writes
            ``harvest_rows`` and ``field_means`` with it.
    """

    __slots__ = ("_client", "_core", "folder")

    @argument_hints.explained(argument_hints.MIRROR)
    def __init__(
        self,
        folder: str | os.PathLike[str],
        client: Client | None = None,
        *,
        relist: str | dt.timedelta = "1d",
        overlap: str | dt.timedelta = "48h",
        locations: bool = True,
        concurrency: int = 16,
        publish_every: str | dt.timedelta = "10min",
        on_error: str = "null",
        job_type: str | Iterable[str] | None = None,
        since: str | dt.date | dt.datetime | None = None,
        until: str | dt.date | dt.datetime | None = None,
        ids: Iterable[str | int] | None = None,
        job_types: str | Iterable[str] | None = None,
        market_moisture: float | Mapping[str, float] | None = None,
    ) -> None:
        from headland.client.client import Client

        if client is not None and not isinstance(client, Client):
            raise TypeError(
                f"`client`: expected a headland.Client, or None for reading only, got {type(client).__name__}"
            )
        self.folder = arguments.path("folder", folder)
        self._client = client
        self._core = _core.Mirror(
            path=self.folder,
            client=None if client is None else client._calls.core,  # noqa: SLF001 - the client's own package
            relist=_parse_span("relist", relist),
            overlap=_parse_span("overlap", overlap),
            concurrency=arguments.whole_number("concurrency", concurrency, 1, 1_000),
            publish_every=_parse_span("publish_every", publish_every),
            locations=arguments.flag("locations", locations),
            on_error=arguments.text("on_error", on_error),
            filter=filters.convert(job_type=job_type, job_types=job_types, since=since, until=until, ids=ids),
            market_moisture=moistures(market_moisture),
        )

    @argument_hints.explained(argument_hints.MIRROR)
    def plan(
        self,
        *,
        offline: bool = False,
        progress: Callable[[dict[str, Any]], object] | bool | None = None,
        job_type: str | Iterable[str] | None = None,
        since: str | dt.date | dt.datetime | None = None,
        until: str | dt.date | dt.datetime | None = None,
        ids: Iterable[str | int] | None = None,
        job_types: str | Iterable[str] | None = None,
    ) -> Plan:
        """Plan a sync: number of calls by purpose, duration at the rate limit, number of bytes.

        It reads the lists that are due, details of devices, and those of jobs whose label leaves open whether they are
        of `job_type`; a sync within an hour does not read them again.

        Args:
            offline: Plan from the journal alone, without a call; changes since the last call are unknown.
            progress: As in `sync`, while the lists are read.
            job_type: As for the mirror. If any filter is given here, this plan uses these filters instead of those of
                the mirror.
            since: As for the mirror.
            until: As for the mirror.
            ids: As for the mirror.
            job_types: The former name of `job_type`.

        Returns:
            Number of calls, duration and number of bytes; printing it shows a line for each purpose of calls.

        Raises:
            ValueError: A wrong filter, such as an unknown job type.
            ConfigurationError: The mirror has no client, or the folder mirrors another account.
            Conflict: Another process syncs the folder.

        >>> plan = mirror.plan()
        >>> print(plan, plan.new, plan.calls)
        >>> mirror.plan(job_type="Yield", since="2026-01-01").files
        """
        given = filters.convert(job_type=job_type, job_types=job_types, since=since, until=until, ids=ids)
        selected = given if any(value is not None for value in given.values()) else None
        try:
            with ProgressReporter(progress) as reporter:
                return Plan.of(self._core.plan(arguments.flag("offline", offline), reporter, selected))
        finally:
            self._warn_pending()

    @argument_hints.explained(argument_hints.MIRROR)
    def sync(self, progress: Callable[[dict[str, Any]], object] | bool | None = None) -> Outcome:
        """Download everything new or changed, and publish it.

        Ctrl-C leaves a consistent state: the next sync resumes from there, with the lists that were read. Later changes
        are found by the sync after it, or by the resumed one at its end if the lists are older than an hour. Files and
        details in flight have a second to arrive, unless Ctrl-C is pressed again. The log ``headland.mirror`` contains
        beginning and end, each unavailable file with the reason, and each publication.

        Args:
            progress: ``None`` shows a progress bar in a terminal or a notebook, with tqdm if it is installed; ``False``
                shows nothing. A callable receives a dict after each change and once a second, in this thread: ``phase``
                (``waiting``, ``lists``, ``pulling``, ``publishing``, ``done``), ``calls_done``, ``calls_left``
                (minimum), ``jobs_done``, ``jobs_left``, ``bytes``, ``converting`` (files in conversion by the service),
                ``waiting_until`` (when the next conversion is ready, if there is nothing else to do), ``limit_until``
                (when the rate limit permits the next call) and ``seconds_left``. An exception of the callable ends the
                sync, as Ctrl-C does.

        Returns:
            The outcome.

        Raises:
            AuthenticationError: The key was revoked. Finished work is kept and published, unless rows would be missing
                because their archives were lost and not downloaded again yet.
            TransportError: The service cannot be reached; finished work is kept likewise.
            ConfigurationError: The mirror has no client, or the folder mirrors another account.
            Conflict: Another process syncs the folder.
            HeadlandError: The disk is full or failed; finished work is kept.

        >>> outcome = mirror.sync(lambda snapshot: print(snapshot["calls_left"], "calls left"))
        """
        with ProgressReporter(progress) as reporter:
            LOG.info("sync of %s begins", self.folder)
            try:
                outcome = Outcome(**self._core.sync(reporter))
            except BaseException as reason:
                LOG.warning("sync of %s was stopped by %s; the next sync resumes", self.folder, type(reason).__name__)
                raise
            finally:
                self._warn_pending()
        for note in outcome.notes:
            LOG.warning("%s", printable(note))
        LOG.info(
            "sync of %s has ended after %d calls: %d new, %d changed, %d gone",
            self.folder,
            outcome.calls,
            outcome.new,
            outcome.changed,
            outcome.gone,
        )
        return outcome

    def status(self) -> Status:
        """Return the status of the mirror, without a call; a sync may run concurrently.

        Returns:
            Numbers, times, and unavailable files.

        Raises:
            ConfigurationError: There is no mirror in the folder.

        >>> mirror.status().jobs["stored"]
        """
        return Status.of(self._core.status(), self.folder, dt.datetime.now(dt.UTC))

    def verify(self, *, deep: bool = False) -> Verification:
        """Read the journal, every archive and every published file, and verify their digests.

        Args:
            deep: Read the rows of every archive again, and compare them with the dataset.

        Returns:
            The findings; ``ok`` if everything is intact. The next sync repairs the findings. A damaged file of the
            dataset is removed immediately: until that sync, readers report it as missing. The list of archives is
            rewritten immediately.

        Raises:
            ConfigurationError: There is no mirror in the folder.
            HeadlandError: The journal or a record in it is damaged. The message lists the files to move away; the next
                sync recreates it, without downloading the archives again.

        >>> assert mirror.verify().ok
        """
        return Verification(*self._core.verify(arguments.flag("deep", deep)))

    @argument_hints.explained()
    def report(
        self,
        folder: str | os.PathLike[str],
        fields: str | Iterable[str] | None = None,
        years: int | Iterable[int] | None = None,
        *,
        progress: bool | None = None,
    ) -> Path:
        """Write a page for each field and an index, for readers without Python: no network and no script is needed.

        A page has the maps of its years, on one scale for each kind and crop; the cleaned yield at its moisture, with
        what was left out and why; totals, products, target and applied; prescriptions; and what could not be read.
        A browser prints it well. The numbers are those of `headland.clean`, `headland.grid` and
        `headland.compare_rates`, so that they can be checked.

        Args:
            folder: The folder of the pages, which is created. An earlier report is replaced, and its pages of other
                fields are removed.
            fields: Only these fields; default: all, and a page for each job whose field is unknown. Fields of one name
                have a page for each place.
            years: Only jobs of these years.
            progress: ``None`` shows a progress bar in a terminal or a notebook; ``False`` shows nothing.

        Returns:
            The path of the index, ``index.html``. With a client, each listed prescription map is read by a call, and
            is on the page of the field that it covers. Without one, the index says that they are missing.

        Raises:
            ConfigurationError: Nothing was published yet.
            ArchiveError: A published file is missing or damaged.
            ValueError: An unknown field, a year without a job, a folder inside a mirror, or one that has a file with
                the name of a page that is no page of headland. Nothing is written.
            HeadlandError: A page cannot be written; also an ``OSError``.
            ImportError: duckdb or pandas is not installed; ``pip install 'headland[sql]'`` installs both.

        >>> index = mirror.report("report", years=2026)
        """
        from headland.mirror.publish import mirror_conflict
        from headland.report.mirror_report import write_report

        target = arguments.path("folder", folder)
        problem = mirror_conflict("folder", target, self.folder)
        if problem is not None:
            raise ValueError(problem)
        names = None if fields is None else [arguments.text("fields", name) for name in arguments.as_list(fields)]
        if names == []:
            raise ValueError("`fields` is empty; omit it to report all fields")
        chosen = None if years is None else parse_years("years", years)
        with StepReporter(is_shown=progress is None or arguments.flag("progress", progress)) as steps:
            return write_report((self.folder, self._client), target, names, chosen, steps)

    def _warn_pending(self) -> None:
        """Issue the client's pending warnings."""
        if self._client is not None:
            self._client._calls.warn_pending()  # noqa: SLF001 - the client's own package

    def __repr__(self) -> str:
        """Return the folder for display."""
        return f"<Mirror {str(self.folder)!r}>"

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled: the pickle would contain the client's secrets."""
        raise TypeError("a mirror cannot be pickled, because its client contains secrets: open it in the other process")


def _parse_span(name: str, span: object) -> float:
    """Return the seconds of a duration."""
    if isinstance(span, dt.timedelta):
        seconds = span.total_seconds()
    elif isinstance(span, str):
        found = SPAN.fullmatch(span.strip())
        if found is None:
            raise ValueError(f"`{name}`: expected a duration such as '1d', '36h' or '10min', got {span!r}")
        seconds = float(found[1]) * UNITS[found[2]]
    else:
        raise TypeError(f"`{name}`: expected a timedelta or a str such as '1d', got {type(span).__name__}")
    if seconds < 0:
        raise ValueError(f"`{name}`: expected a duration >= 0, got {span!r}")
    return seconds
