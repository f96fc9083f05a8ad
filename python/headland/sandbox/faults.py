"""Faults that the local service produces on demand."""

from __future__ import annotations

from headland import _core, arguments
from headland.argument_hints import explained
from headland.suggestions import did_you_mean

MAX_TIMES = 2**32 - 1
"""The largest number of calls with a fault, which no test makes."""

READ_ALL = ": `read_all` makes the calls `job_data.list`, `job_data.get` and `job_data.request`"
"""The end of the error of a fault for a method that makes several calls."""


class Faults:
    """Faults that the service produces on demand (sections 7 and 8 of the interface).

    Replies instead of the normal one: ``unauthorized`` (401), ``forbidden`` (403), ``bad-request`` (400), ``not-found``
    (404), ``method-not-allowed`` (405), ``too-many-requests`` (429), ``unavailable`` (503 with its plain text),
    ``server-error`` (500), ``more-time`` (202 with ``Retry-After``), ``redirect`` (302); for requests of a file
    ``not-ready`` (200 and the wait), ``no-coverage`` and ``web-page``; for sent maps ``already-queued`` and
    ``same-name``. Faults with a code are also known by it, such as ``"503"``.

    Connection faults: ``reset`` (the request has no effect and no reply), ``lost-reply`` (the request takes effect, no
    reply), ``truncated`` (the reply ends half-way). Combined with any of these: ``slow`` (a second of silence first),
    ``no-date`` (no ``Date``), ``skew`` (the service's clock is an hour ahead).

    In the lists of the dispatch service and of the legacy order service: ``foreign-location`` (the link to the next
    page has another host), ``looping-location`` (the link leads to this page), ``repeated-page`` (the previous page
    again).
    """

    __slots__ = ("_added", "_core")

    def __init__(self, core: _core.Sandbox) -> None:
        self._core = core
        self._added: list[str] = []

    @explained()
    def add(self, *, endpoint: str, kind: str | int, times: int | None = 1) -> None:
        """Answer the next calls of an endpoint with a fault.

        Args:
            endpoint: The name of a call, such as ``"job_data.list"``, or ``"*"`` for all. Calls of one address are one
                endpoint: a fault of ``"job_data.read"`` is also one of ``"job_data.download"``. `read_all` makes the
                calls ``job_data.list``, ``job_data.get`` and ``job_data.request``.
            kind: A name above, or a code: ``"unavailable"``, ``"503"`` or ``503``.
            times: The number of calls, by default one; ``None`` is all, until `clear`.

        Raises:
            ValueError: There is no such endpoint or fault; the message suggests one.

        >>> service.faults.add(endpoint="job_data.list", kind=503, times=2)
        """
        name = arguments.text("endpoint", endpoint)
        fault = str(kind) if arguments.is_whole(kind) else arguments.text("kind", kind, '"503"')
        count = MAX_TIMES if times is None else arguments.whole_number("times", times, 1, MAX_TIMES)
        if name != "*" and name not in _core.rows():
            instead = READ_ALL if name == "job_data.read_all" else did_you_mean(name, _core.rows())
            if instead:
                raise ValueError(f"`{name}` is not an endpoint{instead}")
        self._core.add_fault(name, fault, count)
        often = "for all calls" if times is None else f"for {count:,} call{'s'[: count > 1]}"
        self._added.append(f"{fault} of {name} {often}")

    def clear(self) -> None:
        """Remove the faults that have not occurred yet."""
        self._core.clear_faults()
        self._added.clear()

    def __repr__(self) -> str:
        """Return the faults that were added since the last `clear`; some may have occurred."""
        return f"<Faults, as added: {'; '.join(self._added) or 'none'}>"
