"""Clients: the groups of calls, and how a client is set up."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn, Self

from headland import _core, arguments, doctor_report, settings
from headland.bearer_tokens import TokenSource
from headland.calls import PAGE_SIZE, AsyncCalls, Calls, OpenClient
from headland.groups import AsyncClientRows, ClientRows
from headland.settings import Timeout

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from headland.conversion import AsyncConversion, Conversion
    from headland.doctor_report import Checkup

DEFAULT_TIMEOUT = Timeout()

HIDDEN = "(hidden)"
"""What the variables of a frame show in place of a secret."""

RATE_LIMITS = ((30, 60.0), (15, 30.0))
"""Both figures of the interface: 30 calls in 60 seconds, 15 in 30."""


Token = str | Callable[[], str] | Callable[[], Awaitable[str]]
"""A bearer token, or what gives one."""


class WindowUse(NamedTuple):
    """A window of the limit and how many calls it counts now."""

    calls: int
    seconds: float
    used: int


class Budget(NamedTuple):
    """What is left of the limit now."""

    remaining: int | None
    """Calls that may start now; ``None`` where the limiter is turned off."""
    next_call_in: float
    """Seconds until the next call may start; 0 when one may start now."""
    reset_in: float
    """Seconds until the whole budget is free again."""
    windows: list[WindowUse]
    """Each window with the calls that it counts now."""
    service_wait: float | None = None
    """Seconds that the service asked to wait, 86400 at most, where calls are stopped for that; ``None`` otherwise.
    ``next_call_in`` may be shorter: a wait of more than five minutes is not believed before it was asked for twice."""


class _ClientBase:
    """How both clients are set up.

    Args:
        base_url: The base address of the service.
        api_key: The partner's API key.
        shared_secret: The partner's shared secret, as it was issued.
        access_key: The customer's access key.
        dispatch_url: The base address of the dispatch service, for ``client.dispatch``.
        dispatch_token: Its bearer token, or a callable that gives one: it is called before each request, and once more
            where the service refuses what it gave. `AsyncClient` takes a coroutine function as well.
        legacy_dispatch_url: A base address of the legacy order service, for ``client.legacy_orders``.
        legacy_orders_url: The other base address of that service, which is used where both are given.
        legacy_token: The bearer token of that service, or a callable that gives one.
        rate_limits: Pairs of calls and seconds that are never exceeded; empty turns the limiter off.
        limiter_state: Where processes share what is left of the limit: a path, ``"memory"`` for this client alone,
            or ``None`` for a file in the user's state folder.
        accept: The content type that records are asked for in, ``"json"`` or ``"xml"``; the values are the same.
        page_size: Records for each page of a list, 1 to 1000.
        timeout: How long to wait; a tuple of connect, read, call and, if you like, min_throughput does as well.
        ca_file: Certificates to trust besides the usual ones, as a PEM file: of authorities, or the server's own. One
            that is marked as an authority's (``CA:TRUE``) proves no server.
    """

    _calls: OpenClient

    def __init__(
        self,
        *,
        base_url: str,
        api_key: str,
        shared_secret: str,
        access_key: str,
        dispatch_url: str | None = None,
        dispatch_token: Token | None = None,
        legacy_dispatch_url: str | None = None,
        legacy_orders_url: str | None = None,
        legacy_token: Token | None = None,
        rate_limits: Sequence[tuple[int, float]] = RATE_LIMITS,
        limiter_state: str | os.PathLike[str] | None = None,
        accept: Literal["json", "xml"] = "json",
        page_size: int = 1000,
        timeout: Timeout = DEFAULT_TIMEOUT,
        ca_file: str | os.PathLike[str] | None = None,
    ) -> None:
        # First of all the secrets go out of sight: many tools show the variables of a frame when something fails.
        keys = _core.Secret(api_key), _core.Secret(shared_secret), _core.Secret(access_key)
        tokens = _core.Secret(dispatch_token), _core.Secret(legacy_token)
        api_key = shared_secret = access_key = dispatch_token = legacy_token = HIDDEN
        connect, read, call, min_throughput = settings.timeout(timeout)
        self._attach(
            _core.Client(
                base_url=arguments.text("base_url", base_url),
                api_key=keys[0],
                shared_secret=keys[1],
                access_key=keys[2],
                dispatch_url=_address("dispatch_url", dispatch_url),
                dispatch_token=tokens[0],
                legacy_dispatch_url=_address("legacy_dispatch_url", legacy_dispatch_url),
                legacy_orders_url=_address("legacy_orders_url", legacy_orders_url),
                legacy_token=tokens[1],
                rate_limits=arguments.windows(rate_limits),
                limiter_state=None if limiter_state is None else arguments.path("limiter_state", limiter_state),
                accept=accept,
                page_size=arguments.whole_number("page_size", page_size, *PAGE_SIZE),
                connect=connect,
                read=read,
                call=call,
                min_throughput=min_throughput,
                ca_file=None if ca_file is None else arguments.path("ca_file", ca_file),
            ),
            {
                "dispatch": TokenSource("dispatch_token", tokens[0]),
                "legacy_orders": TokenSource("legacy_token", tokens[1]),
            },
        )

    def _attach(self, core: _core.Client, tokens: Mapping[str, TokenSource]) -> None:
        """Make the groups of calls."""
        raise NotImplementedError

    @classmethod
    def from_env(cls) -> Self:
        """Make a client from ``HEADLAND_BASE_URL``, ``HEADLAND_API_KEY``, ``HEADLAND_SHARED_SECRET`` and so on.

        Windows are written ``HEADLAND_RATE_LIMITS=30/60,15/30``, time-outs ``HEADLAND_TIMEOUT=10,60,600``.
        """
        return cls(**settings.from_env())

    @classmethod
    def from_profile(cls, name: str = "default", path: str | os.PathLike[str] | None = None) -> Self:
        """Make a client from the table ``[name]`` of ``~/.config/headland/profiles.toml``.

        The file must be readable by its owner alone. With ``keyring = "service"`` in the table, the shared secret
        comes from that service of the system's keyring, under the profile's name.
        """
        return cls(**settings.from_profile(name, path))

    def __repr__(self) -> str:
        """Show the address and nothing of the secrets."""
        return f"<{type(self).__name__} {getattr(self, '_calls', 'not set up')!r}>"

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled: the secrets would be in the pickle."""
        raise TypeError("a client holds secrets and cannot be pickled: make one in the other process")


class Client(_ClientBase, ClientRows):
    """A client of the field data service.

    >>> client = headland.Client.from_env()
    >>> for job in client.job_data.list(date="2026-09-01"):
    ...     print(job["id"], job["name"])
    """

    _calls: Calls

    def _attach(self, core: _core.Client, tokens: Mapping[str, TokenSource]) -> None:
        ClientRows.__init__(self, Calls(core, tokens))

    def conversion(self, id: str) -> Conversion:
        """Pick up a conversion that was asked for elsewhere, by the ``id`` of its handle."""
        return self._calls.resume(id)

    def get_uri(self, uri: str) -> Any:
        """Follow a ``Uri`` that a record of the service carries, or that an upload gave.

        Such addresses name the service's production host, which is not contacted: the same path is asked for on the
        configured base. Specification 2.1.

        Args:
            uri: The absolute address as the service gave it.

        Returns:
            A dict, ``Pages``, or the bytes of a file where the address asks for a format.

        Raises:
            ValueError: The address is not one of this interface; the message says why. No call is made.

        Examples:
            >>> job = client.get_uri(client.job_data.list().first()["uri"])

        """
        return self._calls.follow(uri)

    def budget(self) -> Budget:
        """Tell what is left of the rate limit, and when."""
        return _budget(self._calls.core.budget())

    def doctor(self) -> Checkup:
        """Find out why calls fail: at most three calls, each step with what was seen and what to do next.

        Returns:
            The findings; nothing is raised for what is found. Where no client can be made, there is `headland.doctor`.

        >>> print(client.doctor())

        """
        return doctor_report.run_doctor(self._calls.core)

    def close(self) -> None:
        """Let go of the connections; calls afterwards raise ``RuntimeError``."""
        self._calls.close()

    def __enter__(self) -> Self:
        """Give the client."""
        return self

    def __exit__(self, *_: object) -> None:
        """Let go of the connections."""
        self.close()


class AsyncClient(_ClientBase, AsyncClientRows):
    """A client of the field data service with coroutines and asynchronous iterators.

    >>> async with headland.AsyncClient.from_env() as client:
    ...     async for job in client.job_data.list(date="2026-09-01"):
    ...         print(job["id"], job["name"])
    """

    _calls: AsyncCalls

    def _attach(self, core: _core.Client, tokens: Mapping[str, TokenSource]) -> None:
        AsyncClientRows.__init__(self, AsyncCalls(core, tokens))

    def conversion(self, id: str) -> AsyncConversion:
        """Pick up a conversion that was asked for elsewhere, by the ``id`` of its handle."""
        return self._calls.resume(id)

    async def get_uri(self, uri: str) -> Any:
        """Follow a ``Uri`` that a record of the service carries, or that an upload gave.

        Such addresses name the service's production host, which is not contacted: the same path is asked for on the
        configured base. Specification 2.1.

        Args:
            uri: The absolute address as the service gave it.

        Returns:
            A dict, ``AsyncPages``, or the bytes of a file where the address asks for a format.

        Raises:
            ValueError: The address is not one of this interface; the message says why. No call is made.

        Examples:
            >>> job = await client.get_uri((await client.job_data.list().first())["uri"])

        """
        return await self._calls.follow(uri)

    async def budget(self) -> Budget:
        """Tell what is left of the rate limit, and when."""
        return _budget(await self._calls.core.budget_async())

    async def doctor(self) -> Checkup:
        """Find out why calls fail: at most three calls, each step with what was seen and what to do next.

        Returns:
            The findings; nothing is raised for what is found. Where no client can be made, there is `headland.doctor`.

        >>> print(await client.doctor())

        """
        return await asyncio.to_thread(doctor_report.run_doctor, self._calls.core)

    async def close(self) -> None:
        """Let go of the connections; calls afterwards raise ``RuntimeError``."""
        self._calls.close()

    async def __aenter__(self) -> Self:
        """Give the client."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Let go of the connections."""
        await self.close()


def _address(name: str, address: str | None) -> str | None:
    return None if address is None else arguments.text(name, address)


def _budget(facts: _core._Budget) -> Budget:
    return Budget(
        remaining=facts["remaining"],
        next_call_in=facts["next_call_in"],
        reset_in=facts["reset_in"],
        windows=[WindowUse(*window) for window in facts["windows"]],
        service_wait=facts["service_wait"],
    )
