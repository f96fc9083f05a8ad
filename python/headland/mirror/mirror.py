"""The mirror of an account: plan, sync, status, verify."""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING, Any, NoReturn

from headland import _core, arguments
from headland.escaping import printable
from headland.mirror.dataset import PublishedDataset
from headland.mirror.models import Outcome, Plan, Status, Verification
from headland.mirror.progress import LOG, ProgressReporter

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from headland.client import Client

DAY = 86_400.0

SPAN = re.compile(r"([0-9]+(?:\.[0-9]+)?) *(s|min|h|d|w)")
"""A span as people write it, such as ``1d`` or ``36h``."""

UNITS = {"s": 1.0, "min": 60.0, "h": 3_600.0, "d": DAY, "w": 7 * DAY}


class Mirror(PublishedDataset):
    """The mirror of a whole account in a folder, kept fresh with the fewest calls.

    It may be started, watched, killed, resumed and repeated: each finished call is kept, none is made twice, and what
    is published is always whole. One process at a time syncs a folder; any number may read what is published meanwhile.

    >>> mirror = headland.Mirror("farm", headland.Client.from_env())
    >>> print(mirror.plan())
    >>> mirror.sync()
    >>> yields = mirror.to_geopandas(job_type="Yield")

    Args:
        folder: The folder; a sync makes it.
        client: Whose account is mirrored. Without a client the mirror can be read, and neither planned nor synced.
        relist: How old the last list of all jobs may be, as ``"1d"``, ``"36h"`` or a ``timedelta``. A sync with a fresh
            one asks for new jobs alone; what changes without a sign of it in there is found when all are listed.
        overlap: How far back a sync asks before the newest job that it knows.
        locations: Whether the locations of devices are kept, too; a hub reports every 30 seconds.
        concurrency: How many calls are on their way at once.
        publish_every: How often a long sync publishes what it has.
        on_error: What a value in a list does that cannot be read: ``"null"`` keeps the record with None in its place,
            and `Outcome.notes` names its path; ``"raise"`` is a ``DecodeError`` for the list.
    """

    __slots__ = ("_client", "_core", "folder")

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
    ) -> None:
        from headland.client import Client

        if client is not None and not isinstance(client, Client):
            raise TypeError(f"`client` takes a headland.Client, or None to read alone, not {type(client).__name__}")
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
        )

    def plan(self, *, offline: bool = False, progress: Callable[[dict[str, Any]], object] | bool | None = None) -> Plan:
        """Say what a sync has to do: how many calls for what, how long at the limit, how many bytes.

        The lists that are due are read for it, and details of devices; the sync that follows within an hour does not
        read them again.

        Args:
            offline: Go by the journal alone, without a call: what is new since the last one is not in it.
            progress: As in `sync`, while the lists are read.

        Returns:
            How many calls, how long and how many bytes; printed, a line for each purpose of calls, too.

        Raises:
            ConfigurationError: The mirror has no client, or the folder mirrors another account.
            Conflict: Another process syncs the folder.

        >>> plan = mirror.plan()
        >>> print(plan, plan.new, plan.calls)

        """
        try:
            with ProgressReporter(progress) as reporter:
                return Plan.of(self._core.plan(arguments.flag("offline", offline), reporter))
        finally:
            self._warn_pending()

    def sync(self, progress: Callable[[dict[str, Any]], object] | bool | None = None) -> Outcome:
        """Pull all that is new or has changed, and publish it.

        Ctrl-C leaves everything in order: the next sync goes on where this one stopped. It goes on with the
        lists that were read: what has changed since then comes with the sync after it, or, where they were read more
        than an hour before, at its own end. Files and details that are on
        their way have a second to come in, unless it is pressed again. What happens is in the log ``headland.mirror``:
        beginning and end, each file that is not to be had and why, each publication.

        Args:
            progress: ``None`` shows a bar in a terminal or a notebook, with tqdm where it is installed; ``False`` is
                quiet. A callable gets a dict whenever something has changed, in this thread, and once a second:
                ``phase`` (``waiting``, ``lists``, ``pulling``, ``publishing``, ``done``), ``calls_done``,
                ``calls_left`` (at least), ``jobs_done``, ``jobs_left``, ``bytes``, ``converting`` (files that the
                service makes), ``waiting_until`` (when there is nothing to do before a conversion is ripe),
                ``limit_until`` (when the rate limit lets no call start before) and ``seconds_left``. What it raises
                ends the sync, as Ctrl-C does.

        Returns:
            What was done.

        Raises:
            AuthenticationError: The key was revoked; all that was done stays, and is published, unless rows would be
                missing whose archives are gone and still to be fetched.
            TransportError: The service cannot be reached, likewise.
            ConfigurationError: The mirror has no client, or the folder mirrors another account.
            Conflict: Another process syncs the folder.
            HeadlandError: The disk is full or at fault; all that was finished is kept.

        >>> outcome = mirror.sync(lambda snapshot: print(snapshot["calls_left"], "calls left"))
        """
        with ProgressReporter(progress) as reporter:
            LOG.info("sync of %s begins", self.folder)
            try:
                outcome = Outcome(**self._core.sync(reporter))
            except BaseException as reason:
                LOG.warning("sync of %s was ended by %s; the next one goes on", self.folder, type(reason).__name__)
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
        """Tell how the mirror stands, without a call; a sync may run meanwhile.

        Returns:
            Numbers, times, and what could not be had.

        Raises:
            ConfigurationError: There is no mirror in the folder.

        >>> mirror.status().jobs["have"]
        """
        return Status.of(self._core.status(), self.folder, dt.datetime.now(dt.UTC))

    def verify(self, *, deep: bool = False) -> Verification:
        """Read the journal, every archive and every published file, and compare these with their digests.

        Args:
            deep: Read the rows of every archive again, too, and compare them with those of the dataset.

        Returns:
            What was found; ``ok`` where all is as it should be. The next sync mends what was found. A damaged file of
            the dataset is removed at once: until that sync, readers say that it is missing. Records of the journal that
            are not what was written are read anew, and the list of archives is written anew at once.

        Raises:
            ConfigurationError: There is no mirror in the folder.
            HeadlandError: The journal is damaged. The message says which files to move away; the next sync makes it
                anew, without fetching the archives again.

        >>> assert mirror.verify().ok
        """
        return Verification(*self._core.verify(arguments.flag("deep", deep)))

    def _warn_pending(self) -> None:
        """Warn of what the client has to say."""
        if self._client is not None:
            self._client._calls.warn_pending()  # noqa: SLF001 - the client's own package

    def __repr__(self) -> str:
        """Show the folder."""
        return f"<Mirror {str(self.folder)!r}>"

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled: the secrets of the client would be in the pickle."""
        raise TypeError("a mirror may hold a client with secrets and cannot be pickled: make one in the other process")


def _parse_span(name: str, span: object) -> float:
    """Give the seconds of a span."""
    if isinstance(span, dt.timedelta):
        seconds = span.total_seconds()
    elif isinstance(span, str):
        found = SPAN.fullmatch(span.strip())
        if found is None:
            raise ValueError(f"`{name}` takes a span such as '1d', '36h' or '10min', not {span!r}")
        seconds = float(found[1]) * UNITS[found[2]]
    else:
        raise TypeError(f"`{name}` takes a timedelta or a str such as '1d', not {type(span).__name__}")
    if seconds < 0:
        raise ValueError(f"`{name}` takes a span from 0 up, not {span!r}")
    return seconds
