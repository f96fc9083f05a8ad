"""The sandbox: the complete service on loopback, with synthetic fields whose true totals are known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, TypedDict

from headland import _core, arguments
from headland.argument_hints import SANDBOX_DEMO, explained
from headland.client import map_file
from headland.client.client import AsyncClient, Client
from headland.sandbox.faults import Faults
from headland.sandbox.harvest_truth import HarvestTruth
from headland.sandbox.job_truth import CartTruth, CartTruths, SprayTruth, Truth, Truths

if TYPE_CHECKING:
    import datetime as dt
    import os
    from collections.abc import Iterable, Sequence

    from headland.client.map_file import MapFile

CONVERSION_TIME = 5.0
"""Seconds per conversion."""

DEMO_CONVERSION_TIME = 0.2
"""Seconds per conversion in the demo: long enough to be visible, short enough not to delay."""

MAX_OVERLAP = 0.9
"""The largest part of the boom that covers the pass before."""

RATE_LIMITS = ((30, 60.0),)
"""The rate limit of the interface: 30 calls in 60 seconds."""


class Credentials(TypedDict):
    """Settings that a client of the service needs."""

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
    """A request received by the service."""

    at: dt.datetime
    method: str
    path: str
    query: str
    status: int


class Sandbox:
    """The complete service on loopback, with an account of synthetic fields whose totals are known.

    >>> with headland.Sandbox.demo() as service:
    ...     client = service.client()

    Hubs report every 30 seconds and field computers every five minutes of its clock. Field computers are online by a
    timetable (UTC): of every half hour, the first is online in the first ten minutes, the second in the next ten, the
    third in the last ten. Online, they fetch queued prescription maps at minutes divisible by five.

    The dispatch service and the legacy order service have addresses of their own and accept one bearer token. They need
    no signature headers, and the rate limit does not count them (specification 4.6, 4.7). A page has at most 50 field
    operations, 100 products, 25 batches, 40 work orders, 60 products of an account or 30 blends.

    Args:
        data: A folder for the service's state, which survives a power failure; without it the state is in memory, and
            uploads are in a temporary folder.
        port: The port; 0 selects a free one.
        seed: The seed of the synthetic account; the same seed generates the same account.
        harvest: ``"logged"`` writes harvests as machines log them: with delays of the sensors, turns, overlaps, two
            machines on large fields, and planted faults. `truth` then has a
            :class:`~headland.sandbox.harvest_truth.HarvestTruth` for each. Some spraying jobs are tank mixes of two or
            three products, as with the variant ``tank-mixes``. ``"ideal"`` accounts have none of that.
        small_jobs: Number of small jobs instead of the usual ones, for tests with many jobs. The files of every second
            one need no conversion.
        rate_limits: Pairs of calls and seconds; an empty sequence disables the limit.
        window: Whether the windows of the limit are fixed or sliding.
        conversion_time: Seconds per conversion.
        variants: Behaviours of real services to enable, by name; ``"wild"`` enables all but ``tank-mixes``,
            which changes values, not only how they are sent.
        clock: ``"moved"`` advances only by ``advance``.
    """

    __slots__ = ("_core", "_rate_limits", "faults")

    @explained()
    def __init__(
        self,
        data: str | os.PathLike[str] | None = None,
        *,
        port: int = 0,
        seed: int = 0,
        harvest: Literal["ideal", "logged"] = "ideal",
        small_jobs: int | None = None,
        rate_limits: Sequence[tuple[int, float]] = RATE_LIMITS,
        window: Literal["fixed", "sliding"] = "fixed",
        conversion_time: float = CONVERSION_TIME,
        variants: Iterable[str] = (),
        clock: Literal["real", "moved"] = "real",
    ) -> None:
        if isinstance(variants, str):
            raise TypeError("`variants`: expected several names, such as `['wild']`, got one str")
        self._core = _core.Sandbox(
            data=None if data is None else arguments.path("data", data),
            port=arguments.whole_number("port", port, 0, 65_535),
            seed=arguments.whole_number("seed", seed, 0, arguments.MAX_INT),
            logged_harvests=_is_first("harvest", harvest, "logged", "ideal"),
            small_jobs=None if small_jobs is None else arguments.whole_number("small_jobs", small_jobs, 0, 1_000_000),
            rate_limits=arguments.windows(rate_limits),
            sliding=_is_first("window", window, "sliding", "fixed"),
            conversion_time=arguments.seconds("conversion_time", conversion_time),
            variants=list(variants),
            moved_clock=_is_first("clock", clock, "moved", "real"),
        )
        self._rate_limits = tuple(rate_limits)
        self.faults = Faults(self._core)

    @classmethod
    @explained(SANDBOX_DEMO)
    def demo(
        cls,
        *,
        seed: int = 0,
        harvest: Literal["ideal", "logged"] = "ideal",
        rate_limits: Sequence[tuple[int, float]] = (),
        conversion_time: float = DEMO_CONVERSION_TIME,
    ) -> Self:
        """Start a service for a demo: no rate limit, short conversions.

        Clients of :meth:`client` keep no limit then; ``Client(**service.credentials)`` keeps that of real services.
        """
        return cls(seed=seed, harvest=harvest, rate_limits=rate_limits, conversion_time=conversion_time)

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
        """The second address of the legacy order service; both have the same state."""
        return self._core.legacy_orders_url

    @property
    def equipment(self) -> list[Place]:
        """The equipment of dispatch, the last one without operations; not listed by the interface (specification 4.6).

        >>> operations = list(client.dispatch.equipment.operations(service.equipment[0].id))
        """
        return [Place(*known) for known in self._core.equipment()]

    @property
    def accounts(self) -> list[Place]:
        """The accounts for which the legacy order service lists products; no call of the interface lists them.

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

    def client(self, **options: Any) -> Client:
        """Make a client of this service with the rate limits of the service.

        >>> jobs = service.client().job_data.list().to_pandas()

        Args:
            options: Arguments of `Client`, such as ``page_size=`` or the ``access_key=`` of another customer.

        Returns:
            The client. Clients with `credentials` keep the limits of real services.
        """
        return Client(**{**self._options, **options})

    def async_client(self, **options: Any) -> AsyncClient:
        """Make an `AsyncClient` of this service with the rate limits of the service, as `client` does.

        >>> async with service.async_client() as client:
        ...     jobs = [job async for job in client.job_data.list()]
        """
        return AsyncClient(**{**self._options, **options})

    @property
    def _options(self) -> dict[str, Any]:
        # Other services of this machine have the same keys, but limits of their own.
        return {**self.credentials, "rate_limits": self._rate_limits, "limiter_state": "memory"}

    @property
    def other_access_key(self) -> str:
        """The access key of another customer, with other data."""
        return self._core.keys()["other_access_key"]

    @property
    def revoked_access_key(self) -> str:
        """An access key revoked by its customer."""
        return self._core.keys()["revoked_access_key"]

    @property
    def partial_access_key(self) -> str:
        """An access key of the same customer with the scope of one field computer.

        The scope is its hub, its jobs, the maps used by these and the grain carts of its harvests. Uploads belong to no
        field computer and are in the scope of every key of the customer. Everything else raises ``PermissionDenied``.
        """
        return self._core.keys()["partial_access_key"]

    @property
    def read_only_access_key(self) -> str:
        """An access key of the same customer that can read everything, but neither upload nor send."""
        return self._core.keys()["read_only_access_key"]

    @property
    def expired_access_key(self) -> str:
        """An access key of the same customer that has expired: only its own summary is returned."""
        return self._core.keys()["expired_access_key"]

    @property
    def other_dispatch_token(self) -> str:
        """The token of the other customer for the dispatch service and the legacy order service."""
        return self._core.keys()["other_dispatch_token"]

    @property
    def requests(self) -> list[Request]:
        """The requests received so far."""
        return [Request(**request) for request in self._core.requests()]

    @property
    def truth(self) -> list[Truth]:
        """True totals of each generated job."""
        return Truths(
            {**known, "harvest": None if facts is None else HarvestTruth(self._core, known["job_id"], facts)}
            for known in self._core.truth()
            for facts in (known["harvest"],)
        )

    @property
    def cart_truth(self) -> list[CartTruth]:
        """True totals of each generated grain cart file."""
        return CartTruths(self._core.cart_truth())

    @explained()
    def spray(
        self, rx_id: str | int | MapFile, *, lag: int = 0, overlap: float = 0.0, sections_off: bool = False
    ) -> SprayTruth:
        """Add the job that a sprayer logs from a delivered prescription map, and return its truth.

        The sprayer has four sections of 6 m, drives at 4 m/s to and fro over the extent of the zones, and logs a row of
        each section every second. Where the rate of a zone is 0, it logs that target with the boom off; where no
        section is in a zone, it logs nothing. The work ends now. Archive, `applied_volume`, `applied_area` and
        ``client.job_data.prescription_maps(id)`` of the job follow from the map.

        Args:
            rx_id: The id of a map that a field computer has fetched; `advance` moves the clock to its delivery. Or the
                prescription, path or bytes that were sent.
            lag: Seconds that the applied rate is behind the target, from 0 to 60.
            overlap: The part of the boom that covers the pass before, from 0 to 0.9; passes are a multiple of 0.5 m
                apart.
            sections_off: Whether the last section is off in a third of every second pass.

        Raises:
            ValueError: There is no such map, it is not delivered, or it has errors that `check_prescription` reports.

        >>> truth = service.spray(rx, lag=2)
        """
        part = arguments.finite_number("overlap", overlap)
        if not 0.0 <= part <= MAX_OVERLAP:
            raise ValueError(f"`overlap`: expected a part of the boom from 0 to {MAX_OVERLAP}, got {part}")
        lag = arguments.whole_number("lag", lag, 0, 60)
        is_off = arguments.flag("sections_off", sections_off)
        if map_file.is_map_file(rx_id):
            known = self._core.delivered_map(map_file.prepare(rx_id, force=True).content)
        else:
            known = arguments.text_for("rx_id", "prescription_maps.get", "id", rx_id, "an id")
        return self._core.spray(known, lag, part, is_off)

    def add_job(self) -> str:
        """Add a job, created now, and return its id; requires ``small_jobs``."""
        return self._core.add_job()

    def change_job(self, id: str) -> None:
        """Change a job: it is updated now and has a different file, which must be converted again."""
        self._core.change_job(arguments.text("id", id))

    def remove_job(self, id: str) -> None:
        """Remove a job."""
        self._core.remove_job(arguments.text("id", id))

    def advance(self, seconds: float) -> None:
        """Advance the service's clock, to later deliveries and reports.

        A client waits for a conversion on its own clock, so `conversion_time` is 0 in tests that move this one.
        """
        self._core.advance(arguments.seconds("seconds", seconds))

    def close(self) -> None:
        """Stop the service."""
        self._core.close()

    def __enter__(self) -> Self:
        """Return the running service."""
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the service."""
        self.close()

    def __repr__(self) -> str:
        """Return the address for display."""
        return f"<Sandbox {self.base_url}>"


def _is_first(name: str, value: object, first: str, second: str) -> bool:
    if value not in (first, second):
        raise ValueError(f"`{name}`: expected {first!r} or {second!r}, got {value!r}")
    return value == first
