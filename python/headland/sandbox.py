"""The whole service on loopback, with fields of known truth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, Self, TypedDict

from headland import _core, arguments

if TYPE_CHECKING:
    import datetime as dt
    import os
    from collections.abc import Iterable, Sequence

CONVERSION_TIME = 5.0
"""Seconds that a conversion takes."""

DEMO_CONVERSION_TIME = 0.2
"""Seconds that a conversion takes in the demo: long enough to be seen, short enough not to wait for."""

RATE_LIMITS = ((30, 60.0),)
"""The limit of the interface: 30 calls in 60 seconds."""


class Credentials(TypedDict):
    """What a client needs to know of a service."""

    base_url: str
    api_key: str
    shared_secret: str
    access_key: str
    dispatch_url: str
    dispatch_token: str
    legacy_dispatch_url: str
    legacy_orders_url: str
    legacy_token: str


class Place(NamedTuple):
    """Equipment or an account of dispatch."""

    id: str
    name: str


class Request(NamedTuple):
    """A request that the service got."""

    at: dt.datetime
    method: str
    path: str
    query: str
    status: int


class Total(TypedDict):
    """What a job is about: what was harvested, planted or applied.

    A reader gets the same `value` as `factor` times the sum over the rows of the product of `columns`.
    """

    label: str
    unit: str
    value: float
    factor: float
    columns: list[str]


class Truth(TypedDict):
    """What a generated job must add up to.

    The areas are in square metres: `area` is what the job covers, `field_area` what the field's boundary encloses.
    `totals` gives column, unit and the sum over all rows.
    """

    job_id: str
    job_name: str
    sub_type: str
    field: str
    layer: str
    rows: int
    area: float
    field_area: float
    totals: list[tuple[str, str, float]]
    total: Total


class CartTruth(TypedDict):
    """What a generated grain cart file must add up to, in pounds and dry bushels.

    Each file is uploaded several times as it grows; the newest of a name holds the whole harvest of `field`.
    """

    id: str
    name: str
    field: str
    loads: int
    total_pounds: float
    total_dry_bushels: float
    is_newest: bool


class Faults:
    """Faults that the service shows on demand (sections 7 and 8 of the interface).

    Replies in place of the right one: ``unauthorized`` (401), ``forbidden`` (403), ``bad-request`` (400), ``not-found``
    (404), ``method-not-allowed`` (405), ``too-many-requests`` (429), ``unavailable`` (503 with its plain text),
    ``server-error`` (500), ``more-time`` (202 with ``Retry-After``), ``redirect`` (302); where a file was asked for
    ``not-ready`` (200 and the wait), ``no-coverage`` and ``web-page``; where a map was sent ``already-queued`` and
    ``same-name``. Those with a code are also known by it, such as ``"503"``.

    Trouble on the way: ``reset`` (nothing is carried out, no reply), ``lost-reply`` (carried out, no reply),
    ``truncated`` (the reply breaks off half-way). Together with any of these: ``slow`` (a second of silence first),
    ``no-date`` (no ``Date``), ``skew`` (the service's clock is an hour ahead).

    In the lists of the dispatch service and of the legacy order service: ``foreign-location`` (the next page is said to
    be on another host), ``looping-location`` (it is said to be this one), ``repeated-page`` (it is the one before).
    """

    __slots__ = ("_core",)

    def __init__(self, core: _core.Sandbox) -> None:
        self._core = core

    def add(self, *, endpoint: str, kind: str, times: int = 1) -> None:
        """Answer the next `times` calls of `endpoint` (a name such as ``job_data.list``, or ``*``) with `kind`."""
        self._core.add_fault(
            arguments.text("endpoint", endpoint),
            arguments.text("kind", kind),
            arguments.whole_number("times", times, 1, 2**32 - 1),
        )

    def clear(self) -> None:
        """Forget the faults that have not been shown yet."""
        self._core.clear_faults()


class Sandbox:
    """The whole service on loopback, with an account of synthetic fields whose totals are known.

    >>> with headland.Sandbox.demo() as service:
    ...     client = headland.Client(**service.credentials)

    Hubs report every 30 seconds and field computers every five minutes of its clock. Field computers come online by a
    timetable, the first in the first ten minutes of every half hour (UTC), the second in the next ten, the third in the
    last ten; online, they fetch the prescription maps that are queued for them at the minutes that five divides.

    The dispatch service and the legacy order service stand at addresses of their own and take one bearer token; the
    four headers of a signature are not needed there, and the rate limit does not count them (specification 4.6, 4.7). A
    page holds at most 50 field operations, 100 products, 25 batches, 40 work orders, 60 products of an account or 30
    blends.

    Args:
        data: A folder that keeps the service's state, also through a power cut; without it the state is in memory, and
            uploads are in a temporary folder.
        port: The port; 0 takes a free one.
        seed: The account that is made up; the same seed makes the same account.
        small_jobs: So many small jobs in place of the usual ones, for trying out what is made for many. The files of
            every other one need no conversion.
        rate_limits: Pairs of calls and seconds; empty turns the limit off.
        window: Whether the windows of the limit are fixed or slide.
        conversion_time: Seconds that a conversion takes.
        variants: Habits of real services to take on, by name; ``"wild"`` is all of them.
        clock: ``"moved"`` stands still but for ``advance``.
    """

    __slots__ = ("_core", "faults")

    def __init__(
        self,
        data: str | os.PathLike[str] | None = None,
        *,
        port: int = 0,
        seed: int = 0,
        small_jobs: int | None = None,
        rate_limits: Sequence[tuple[int, float]] = RATE_LIMITS,
        window: Literal["fixed", "sliding"] = "fixed",
        conversion_time: float = CONVERSION_TIME,
        variants: Iterable[str] = (),
        clock: Literal["real", "moved"] = "real",
    ) -> None:
        if isinstance(variants, str):
            raise TypeError("`variants` takes several names, such as `['wild']`, not one str")
        self._core = _core.Sandbox(
            data=None if data is None else arguments.path("data", data),
            port=arguments.whole_number("port", port, 0, 65_535),
            seed=arguments.whole_number("seed", seed, 0, arguments.MAX_INT),
            small_jobs=None if small_jobs is None else arguments.whole_number("small_jobs", small_jobs, 0, 1_000_000),
            rate_limits=arguments.windows(rate_limits),
            sliding=_is_first("window", window, "sliding", "fixed"),
            conversion_time=arguments.seconds("conversion_time", conversion_time),
            variants=list(variants),
            moved_clock=_is_first("clock", clock, "moved", "real"),
        )
        self.faults = Faults(self._core)

    @classmethod
    def demo(
        cls,
        *,
        seed: int = 0,
        rate_limits: Sequence[tuple[int, float]] = (),
        conversion_time: float = DEMO_CONVERSION_TIME,
    ) -> Self:
        """Start a service that does not keep a newcomer waiting: no rate limit, short conversions.

        A client keeps the limit of real services all the same; ``Client(**service.credentials, rate_limits=())`` does
        not.
        """
        return cls(seed=seed, rate_limits=rate_limits, conversion_time=conversion_time)

    @property
    def base_url(self) -> str:
        """The base address."""
        return self._core.base_url

    @property
    def dispatch_url(self) -> str:
        """The address of the dispatch service."""
        return self._core.dispatch_url

    @property
    def legacy_dispatch_url(self) -> str:
        """The first address of the legacy order service."""
        return self._core.legacy_dispatch_url

    @property
    def legacy_orders_url(self) -> str:
        """The second address of the legacy order service; both share what they remember."""
        return self._core.legacy_orders_url

    @property
    def equipment(self) -> list[Place]:
        """The equipment of dispatch, the last without any work: no call of the interface lists it (specification 4.6).

        >>> operations = list(client.dispatch.equipment.operations(service.equipment[0].id))
        """
        return [Place(*known) for known in self._core.equipment()]

    @property
    def accounts(self) -> list[Place]:
        """The accounts, of which the legacy order service lists products: no call of the interface lists them.

        >>> products = list(client.legacy_orders.products(service.accounts[0].id))
        """
        return [Place(*known) for known in self._core.accounts()]

    @property
    def credentials(self) -> Credentials:
        """The keyword arguments for a client of this service."""
        keys = self._core.keys()
        return {
            "base_url": self.base_url,
            "api_key": keys["api_key"],
            "shared_secret": keys["shared_secret"],
            "access_key": keys["access_key"],
            "dispatch_url": self.dispatch_url,
            "dispatch_token": keys["dispatch_token"],
            "legacy_dispatch_url": self.legacy_dispatch_url,
            "legacy_orders_url": self.legacy_orders_url,
            "legacy_token": keys["dispatch_token"],
        }

    @property
    def other_access_key(self) -> str:
        """The access key of another customer, who sees other data."""
        return self._core.keys()["other_access_key"]

    @property
    def revoked_access_key(self) -> str:
        """An access key that its customer revoked."""
        return self._core.keys()["revoked_access_key"]

    @property
    def partial_access_key(self) -> str:
        """An access key of the same customer that gives one field computer and what belongs to it.

        That is its hub, the jobs that it made, the maps that those used and the grain carts of its harvests. Uploads
        belong to no field computer: every key of the customer gives them. The rest is refused as ``PermissionDenied``.
        """
        return self._core.keys()["partial_access_key"]

    @property
    def read_only_access_key(self) -> str:
        """An access key of the same customer that gives everything and may neither upload nor send."""
        return self._core.keys()["read_only_access_key"]

    @property
    def expired_access_key(self) -> str:
        """An access key of the same customer that has expired: only its own summary is answered."""
        return self._core.keys()["expired_access_key"]

    @property
    def other_dispatch_token(self) -> str:
        """The token of that other customer for the dispatch service and for the legacy order service."""
        return self._core.keys()["other_dispatch_token"]

    @property
    def requests(self) -> list[Request]:
        """The requests that arrived so far."""
        return [Request(**request) for request in self._core.requests()]

    @property
    def truth(self) -> list[Truth]:
        """What each generated job must add up to."""
        return self._core.truth()

    @property
    def cart_truth(self) -> list[CartTruth]:
        """What each generated grain cart file must add up to."""
        return self._core.cart_truth()

    def add_job(self) -> str:
        """Add a job, created now, and give its id; it takes ``small_jobs``."""
        return self._core.add_job()

    def change_job(self, id: str) -> None:
        """Change a job: it is updated now and has another file, which has to be converted once more."""
        self._core.change_job(arguments.text("id", id))

    def remove_job(self, id: str) -> None:
        """Remove a job."""
        self._core.remove_job(arguments.text("id", id))

    def advance(self, seconds: float) -> None:
        """Move the service's clock on."""
        self._core.advance(arguments.seconds("seconds", seconds))

    def close(self) -> None:
        """Stop the service."""
        self._core.close()

    def __enter__(self) -> Self:
        """Give the running service."""
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the service."""
        self.close()

    def __repr__(self) -> str:
        """Show the address."""
        return f"<Sandbox {self.base_url}>"


def _is_first(name: str, value: object, first: str, second: str) -> bool:
    if value not in (first, second):
        raise ValueError(f"`{name}` takes {first!r} or {second!r}, not {value!r}")
    return value == first
