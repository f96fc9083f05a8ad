"""Reads all jobs that match: requests the conversions, reads what is ready, and reports what failed."""

from __future__ import annotations

import inspect
import time
from typing import TYPE_CHECKING, Any, Literal, Unpack

from headland import _core, arguments
from headland.agronomy.job_layers import FailedJob, JobLayers
from headland.archives import ReadOptions, with_options
from headland.argument_hints import READ_ALL, explained
from headland.client.job_selection import Selection
from headland.display.progress_bar import choose_display
from headland.display.waiting_line import LINE
from headland.errors import HeadlandError
from headland.layer.layer import Layer

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable

    from headland.client.calls import AsyncCalls, Calls

POLL_INTERVAL = 0.05
"""Seconds between two checks of pending conversions. Only those whose requested wait is over make a call."""

TIMEOUT = 3600.0
"""Default seconds for the conversions of all jobs: 200 jobs take 20 minutes at 30 calls a minute."""

OnError = Literal["skip", "raise"]
"""What a job without a layer does."""


class _Results:
    """What was read and what failed, by the place in the list; with a progress bar."""

    def __init__(self, total: int, on_error: OnError, *, progress: bool | None) -> None:
        self._total = total
        self._raises = on_error == "raise"
        self._layers: dict[int, tuple[dict[str, Any], Layer]] = {}
        self._failed: dict[int, FailedJob] = {}
        self._done = 0
        self._wait = ""
        self._display = None if progress is False else choose_display()
        if self._display is not None:
            LINE.redirect(self._show_wait)

    def add(self, index: int, job: dict[str, Any], layer: Layer) -> None:
        self._layers[index] = (job, layer)
        self.advance()

    def fail(self, index: int, job: dict[str, Any], error: Exception) -> None:
        if self._raises:
            raise error
        self._failed[index] = FailedJob(job, error)
        self.advance()

    def advance(self) -> None:
        self._done += 1
        self._show_wait(self._wait)

    def show_conversions(self, count: int) -> None:
        """Show that the service converts files; calls are made again after a pause."""
        self._show_wait(f"waiting for {count} conversions")

    def _show_wait(self, wait: str) -> None:
        self._wait = wait
        if self._display is not None:
            failed = f"{len(self._failed)} failed" if self._failed else ""
            # The reason and the length of the wait are in the log; the line of a terminal is short.
            until = f"waiting until {wait.rpartition(', until ')[2]}" if ", until " in wait else wait
            text = ", ".join(filter(None, (f"{self._done} of {self._total} listed jobs", failed, until)))
            self._display.show("read_all", (self._done, self._total), text)

    def close(self) -> None:
        if self._display is not None:
            LINE.restore(self._show_wait)
            self._display.close()

    def finish(self, missing: list[FailedJob]) -> JobLayers:
        if missing and self._raises:
            raise missing[0].error
        pairs = [self._layers[index] for index in sorted(self._layers)]
        return JobLayers(pairs, [self._failed[index] for index in sorted(self._failed)] + missing)


class ReadAll:
    """Reading all jobs with a synchronous client."""

    __slots__ = ()

    _calls: Calls
    list: Any
    get: Any
    request: Any

    @explained(READ_ALL)
    @with_options
    def read_all(
        self,
        *,
        job_type: str | Iterable[str] | None = None,
        year: int | None = None,
        since: str | dt.date | dt.datetime | None = None,
        name: str | None = None,
        ids: Iterable[str | int] | None = None,
        on_error: OnError = "skip",
        format: str = "SHP",
        timeout: float = TIMEOUT,
        progress: bool | None = None,
        sub_type: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> JobLayers:
        """Read all jobs that match into layers: request all conversions first, then read in order of readiness.

        Args:
            job_type: One kind or several, in any spelling: ``"Yield"``, ``"AsApplied"`` or ``"Planter"``, or an alias
                such as ``"harvest"``, ``"spraying"`` or ``"planting"``. A kind includes every label of the list that
                may be of it: ``Sprayer`` is ``"AsApplied"``; for ``Planter/Sprayer`` and jobs without a label, the
                detail decides. ``"Sprayer"``, ``"Planter/Sprayer"`` and other labels select that label alone.
            year: Only jobs that started in this year, by the clock of the field computer.
            since: Only jobs that the service created since then; with `year`, by default the start of that year.
            name: Only jobs whose name contains this text, in any letter case; `*` and `?` match as in file names. A
                name that contains the text as it is always matches.
            ids: Only jobs with these ids.
            on_error: ``"skip"`` puts a job without a layer into `failed`; ``"raise"`` raises its error.
            format: As for `read`.
            timeout: Seconds for the conversions of all jobs.
            progress: ``None`` shows a progress bar in a terminal or a notebook, ``False`` none.
            sub_type: The former name of `job_type`.
            **options: How to read, as in ``headland.read``.

        Returns:
            The layers with their jobs, in the order of the list, and the jobs that failed. Each job is the dict of
            `get` with `name` and `sub_type` of the list. A job takes three calls: detail, conversion and file.

        Raises:
            ValueError: A wrong value of an argument.
            HeadlandError: The list cannot be read; with ``on_error="raise"`` the first error of a job.

        >>> table = client.job_data.read_all(job_type="yield", year=2025).concat()
        """
        types = arguments.job_types(job_type, sub_type=sub_type)
        wanted = Selection(job_type=types, year=year, since=since, name=name, ids=ids)
        seconds = _check_options(
            self._calls, options, format=format, on_error=on_error, timeout=timeout, progress=progress
        )
        jobs = wanted.filter(self.list(date=wanted.first_date()))
        results = _Results(len(jobs), on_error, progress=progress)
        pending: dict[int, tuple[dict[str, Any], Any]] = {}
        try:
            for index, item in enumerate(jobs):
                try:
                    detail = self.get(item["id"])
                    job = {**item, **detail}
                    if wanted.leaves_out(item, detail):
                        results.advance()
                    else:
                        pending[index] = (job, self.request(item["id"], format=format))
                except (HeadlandError, ValueError) as error:
                    results.fail(index, item, error)
            deadline = time.monotonic() + seconds
            while pending:
                before = len(pending)
                for index, (job, handle) in tuple(pending.items()):
                    try:
                        is_late = time.monotonic() >= deadline
                        if not is_late and not handle.ready():
                            continue
                        # A conversion that is late raises what it waits for.
                        data = handle.wait(0).result() if is_late else handle.result()
                        results.add(index, job, _layer(data, job["id"], format, options))
                    except (HeadlandError, ValueError) as error:
                        results.fail(index, job, error)
                    del pending[index]
                if len(pending) == before:
                    results.show_conversions(len(pending))
                    time.sleep(POLL_INTERVAL)
        finally:
            results.close()
        return results.finish(wanted.missing(jobs))


class AsyncReadAll:
    """Reading all jobs with an asynchronous client."""

    __slots__ = ()

    _calls: AsyncCalls
    list: Any
    get: Any
    request: Any

    @explained(READ_ALL)
    @with_options
    async def read_all(
        self,
        *,
        job_type: str | Iterable[str] | None = None,
        year: int | None = None,
        since: str | dt.date | dt.datetime | None = None,
        name: str | None = None,
        ids: Iterable[str | int] | None = None,
        on_error: OnError = "skip",
        format: str = "SHP",
        timeout: float = TIMEOUT,  # noqa: ASYNC109 - the twin of `ReadAll.read_all`
        progress: bool | None = None,
        sub_type: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> JobLayers:
        """Like `Client.job_data.read_all`, as a coroutine; conversions are awaited concurrently."""
        import asyncio

        types = arguments.job_types(job_type, sub_type=sub_type)
        wanted = Selection(job_type=types, year=year, since=since, name=name, ids=ids)
        seconds = _check_options(
            self._calls, options, format=format, on_error=on_error, timeout=timeout, progress=progress
        )
        jobs = wanted.filter([job async for job in self.list(date=wanted.first_date())])
        results = _Results(len(jobs), on_error, progress=progress)

        async def read(index: int, item: dict[str, Any]) -> None:
            try:
                detail = await self.get(item["id"])
                job = {**item, **detail}
                if wanted.leaves_out(item, detail):
                    results.advance()
                    return
                handle = await self.request(item["id"], format=format)
                data = await (await handle.wait(seconds)).result()
                results.add(index, job, await asyncio.to_thread(_layer, data, job["id"], format, options))
            except (HeadlandError, ValueError) as error:
                results.fail(index, item, error)

        try:
            async with asyncio.TaskGroup() as group:
                for index, item in enumerate(jobs):
                    group.create_task(read(index, item))
        except* (HeadlandError, ValueError) as errors:
            raise errors.exceptions[0] from None
        finally:
            results.close()
        return results.finish(wanted.missing(jobs))


def _check_options(
    calls: Calls | AsyncCalls,
    options: ReadOptions,
    *,
    format: str,
    on_error: object,
    timeout: float,
    progress: object,
) -> float:
    """Check what every job is read with, before any call; return the timeout in seconds."""
    own = inspect.signature(ReadAll.read_all).parameters.keys() - {"self"} - ReadOptions.__annotations__.keys()
    _core.check_read_options(options, sorted(own))
    if arguments.text("on_error", on_error, '"skip"') not in ("skip", "raise"):
        raise ValueError(f"`on_error`: expected 'skip' or 'raise', got {on_error!r}")
    if progress is not None:
        arguments.flag("progress", progress)
    calls.core.check_call("job_data.read", arguments.texts("job_data.read", {"id": "1", "format": format}))
    if timeout is None:
        raise TypeError("`timeout`: expected seconds as a number, got None")
    return arguments.seconds("timeout", timeout)


def _layer(data: bytes, id: str, format: str, options: ReadOptions) -> Layer:
    """Read the file of a job, as `read` does."""
    return Layer(_core.read_job(data, f"job_data.read/{id}/{format}", options))
