"""Clients: their settings, groups of calls and own methods."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NoReturn, Self

from headland import _core, arguments
from headland.client import doctor_report, settings
from headland.client.bearer_tokens import TokenSource
from headland.client.budget import Budget, budget_of
from headland.client.calls import PAGE_SIZE, AsyncCalls, Calls, OpenClient
from headland.client.settings import Timeout
from headland.groups import AsyncClientRows, ClientRows
from headland.suggestions import Suggesting

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from headland.client.conversion import AsyncConversion, Conversion
    from headland.client.delivery import AsyncDelivery, Delivery
    from headland.client.doctor_report import Checkup

    _Parts = tuple[_core.Client, Mapping[str, TokenSource], str, Sequence[tuple[int, float]]]

DEFAULT_TIMEOUT = Timeout()

HIDDEN = "(hidden)"
"""Placeholder of a secret in the local variables of a frame."""

RATE_LIMITS = ((30, 60.0), (15, 30.0))
"""Both limits of the interface: 30 calls in 60 seconds, 15 in 30."""


Token = str | Callable[[], str] | Callable[[], Awaitable[str]]
"""A bearer token, or a callable that returns one."""


class _ClientBase(Suggesting):
    """Settings of both clients."""

    _calls: OpenClient[Any, Any]
    _instead: ClassVar = {
        **dict.fromkeys(("jobs", "list", "list_jobs", "get_jobs"), "`client.job_data.list()` lists the jobs"),
        **dict.fromkeys(("read", "get", "download", "request", "upload"), "`client.job_data.{name}` has it for jobs"),
        "read_all": "`client.job_data.read_all` reads the jobs of a year or a name",
        "mirror": "`headland.Mirror(folder, client)` is a copy of the account",
        **dict.fromkeys(("maps", "prescriptions", "send"), "`client.prescription_maps` lists, uploads and sends maps"),
        **dict.fromkeys(("computers", "displays"), "`client.field_computers.list()` lists the displays"),
    }

    def __new__(cls, *_: object, **given: object) -> Self:
        """Refuse to be created without keys, or with some of them."""
        name = cls.__name__
        missing = [each for each in settings.REQUIRED if each not in given]
        if missing and len(missing) < len(settings.REQUIRED):
            raise TypeError(
                f"`{name}` lacks {', '.join(f'`{each}`' for each in missing)}: pass them too, or `{name}.from_env()` "
                f"reads all keys from the environment and `{name}.from_profile()` from the file of `headland login`"
            )
        if not given:
            raise TypeError(
                f"`{name}()` has no keys: `{name}.from_env()` reads them from the environment, `{name}.from_profile()` "
                f"from the file of `headland login`; or pass {', '.join(f'`{each}`' for each in settings.REQUIRED)}"
            )
        return super().__new__(cls)

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
        progress: bool | None = None,
    ) -> None:
        """Check the settings; no call is made.

        Args:
            base_url: The base address of the service.
            api_key: The partner's API key.
            shared_secret: The partner's shared secret, as issued.
            access_key: The customer's access key.
            dispatch_url: The base address of the dispatch service, for ``client.dispatch``.
            dispatch_token: Its bearer token, or a callable that returns one. The callable is called once for all
                threads, and again if the service refuses the token. `AsyncClient` also accepts a coroutine function.
            legacy_dispatch_url: A base address of the legacy order service, for ``client.legacy_orders``.
            legacy_orders_url: The other base address of that service, which is used if both are given.
            legacy_token: The bearer token of that service, or a callable that returns one.
            rate_limits: Pairs of calls and seconds that are never exceeded; an empty sequence disables the limiter.
            limiter_state: Where processes share the state of the limiter: a path, ``"memory"`` for this client alone,
                or ``None`` for a file in the user's state folder.
            accept: The content type in which records are requested, ``"json"`` or ``"xml"``; the values are the same.
            page_size: Records per page of a list, 1 to 1000.
            timeout: Time limits; a tuple of connect, read, call and, optionally, min_throughput is accepted too.
            ca_file: Certificates to trust in addition to the usual ones, as a PEM file: of authorities, or of the
                server itself. A certificate marked as an authority's (``CA:TRUE``) does not identify a server.
            progress: Whether waits of two seconds or longer are shown in one line on standard error, which vanishes
                when the wait ends: for the rate limit, a retry or a conversion. ``None`` shows them in a terminal or a
                notebook; ``True`` also writes a line for each to a log. The logger ``headland`` has them in any case,
                at level INFO, and each request at DEBUG.
        """
        # Secrets are hidden first, because many tools show the variables of a frame when an error occurs.
        keys = _core.Secret(api_key), _core.Secret(shared_secret), _core.Secret(access_key)
        tokens = _core.Secret(dispatch_token), _core.Secret(legacy_token)
        api_key = shared_secret = access_key = dispatch_token = legacy_token = HIDDEN
        connect, read, call, min_throughput = settings.timeout(timeout)
        address, windows = arguments.text("base_url", base_url), arguments.windows(rate_limits)
        self._attach(
            _core.Client(
                base_url=address,
                api_key=keys[0],
                shared_secret=keys[1],
                access_key=keys[2],
                dispatch_url=_address("dispatch_url", dispatch_url),
                dispatch_token=tokens[0],
                legacy_dispatch_url=_address("legacy_dispatch_url", legacy_dispatch_url),
                legacy_orders_url=_address("legacy_orders_url", legacy_orders_url),
                legacy_token=tokens[1],
                rate_limits=windows,
                limiter_state=None if limiter_state is None else arguments.path("limiter_state", limiter_state),
                accept=accept,
                page_size=arguments.whole_number("page_size", page_size, *PAGE_SIZE),
                connect=connect,
                read=read,
                call=call,
                min_throughput=min_throughput,
                ca_file=None if ca_file is None else arguments.path("ca_file", ca_file),
                progress=None if progress is None else arguments.flag("progress", progress),
            ),
            {
                "dispatch": TokenSource("dispatch_token", tokens[0]),
                "legacy_orders": TokenSource("legacy_token", tokens[1]),
            },
            address,
            windows,
        )

    def _attach(self, *parts: *_Parts) -> None:
        """Create the groups of calls."""
        raise NotImplementedError

    @classmethod
    def from_env(cls) -> Self:
        """Create a client from ``HEADLAND_BASE_URL``, ``HEADLAND_API_KEY``, ``HEADLAND_SHARED_SECRET`` and so on.

        The form of windows is ``HEADLAND_RATE_LIMITS=30/60,15/30``, that of time limits ``HEADLAND_TIMEOUT=10,60,600``.
        """
        return cls(**settings.from_env())

    @classmethod
    def from_profile(cls, name: str = "default", path: str | os.PathLike[str] | None = None) -> Self:
        """Create a client from the table ``[name]`` of ``~/.config/headland/profiles.toml``.

        The file must be readable by its owner only. With ``keyring = "service"`` in the table, the shared secret comes
        from that service of the system's keyring, with the profile's name as the user name.
        """
        return cls(**settings.from_profile(name, path))

    def __repr__(self) -> str:
        """Return the address and the rate limit for display, without keys; makes no call."""
        calls = vars(self).get("_calls")
        return f"<headland.{type(self).__name__} {'not set up' if calls is None else f'of {calls!r}'}>"

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled: the pickle would contain the secrets."""
        raise TypeError("a client cannot be pickled, because it has secrets: create one in the other process")


# Errors of wrong arguments name the public class.
_ClientBase.__init__.__qualname__ = "Client.__init__"
# The signature that `help` shows is not that of `__new__`.
_init: Any = _ClientBase.__init__
_ClientBase.__signature__ = inspect.signature(_init.__get__(0))  # type: ignore[attr-defined]


class Client(_ClientBase, ClientRows):
    """A client of the field data service.

    >>> client = headland.Client.from_env()
    >>> for job in client.job_data.list(date="2026-09-01"):
    ...     print(job["id"], job["name"])
    """

    _calls: Calls

    def _attach(self, *parts: *_Parts) -> None:
        ClientRows.__init__(self, Calls(*parts))

    def conversion(self, id: str) -> Conversion:
        """Resume a conversion that was requested elsewhere, by the ``id`` of its handle."""
        return self._calls.resume(id)

    def delivery(self, id: str) -> Delivery:
        """Resume the wait for a map that was sent elsewhere, by the ``handle`` of a ``NotReady``."""
        return self._calls.delivery(id)

    def get_uri(self, uri: str) -> Any:
        """Follow a ``Uri`` from a record or from an upload.

        Such addresses contain the service's production host, which is not contacted: the same path is requested from
        the configured base address. Specification 2.1.

        Args:
            uri: The absolute address, as returned by the service.

        Returns:
            A dict, ``Pages``, or the bytes of a file if the address requests a format.

        Raises:
            ValueError: The address does not belong to this interface; the message states the reason. No call is made.

        Examples:
            >>> job = client.get_uri(client.job_data.list().first()["uri"])
        """
        return self._calls.follow(uri)

    def budget(self) -> Budget:
        """Return the rest of the rate limit, and when it is available."""
        return budget_of(self._calls.core.budget())

    def doctor(self) -> Checkup:
        """Diagnose failing calls: at most three calls; each step with the observation and the next step.

        Returns:
            The findings; no finding raises an error. If no client can be created, use `headland.doctor`.

        >>> print(client.doctor())
        """
        return doctor_report.run_doctor(self._calls.core)

    def close(self) -> None:
        """Close the connections; later calls raise ``RuntimeError``."""
        self._calls.close()

    def __enter__(self) -> Self:
        """Return the client."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connections."""
        self.close()

    def __aenter__(self) -> NoReturn:
        """Refuse: its calls are not awaited."""
        raise TypeError("a `Client` is opened by `with`; `headland.AsyncClient` is for `async with`")

    def __aexit__(self, *_: object) -> None:
        """Exist, so that `async with` reaches the error of `__aenter__`."""


class AsyncClient(_ClientBase, AsyncClientRows):
    """A client of the field data service with coroutines and asynchronous iterators.

    >>> async with headland.AsyncClient.from_env() as client:
    ...     async for job in client.job_data.list(date="2026-09-01"):
    ...         print(job["id"], job["name"])
    """

    _calls: AsyncCalls

    def _attach(self, *parts: *_Parts) -> None:
        AsyncClientRows.__init__(self, AsyncCalls(*parts))

    def conversion(self, id: str) -> AsyncConversion:
        """Resume a conversion that was requested elsewhere, by the ``id`` of its handle."""
        return self._calls.resume(id)

    def delivery(self, id: str) -> AsyncDelivery:
        """Resume the wait for a map that was sent elsewhere, by the ``handle`` of a ``NotReady``."""
        return self._calls.delivery(id)

    async def get_uri(self, uri: str) -> Any:
        """Follow a ``Uri`` from a record or from an upload.

        Such addresses contain the service's production host, which is not contacted: the same path is requested from
        the configured base address. Specification 2.1.

        Args:
            uri: The absolute address, as returned by the service.

        Returns:
            A dict, ``AsyncPages``, or the bytes of a file if the address requests a format.

        Raises:
            ValueError: The address does not belong to this interface; the message states the reason. No call is made.

        Examples:
            >>> job = await client.get_uri((await client.job_data.list().first())["uri"])
        """
        return await self._calls.follow(uri)

    async def budget(self) -> Budget:
        """Return the rest of the rate limit, and when it is available."""
        return budget_of(await self._calls.core.budget_async())

    async def doctor(self) -> Checkup:
        """Diagnose failing calls: at most three calls; each step with the observation and the next step.

        Returns:
            The findings; no finding raises an error. If no client can be created, use `headland.doctor`.

        >>> print(await client.doctor())
        """
        import asyncio

        return await asyncio.to_thread(doctor_report.run_doctor, self._calls.core)

    async def close(self) -> None:
        """Close the connections; later calls raise ``RuntimeError``."""
        self._calls.close()

    def __enter__(self) -> NoReturn:
        """Refuse: closing awaits the connections."""
        raise TypeError("an `AsyncClient` is opened by `async with`; `headland.Client` is for `with`")

    def __exit__(self, *_: object) -> None:
        """Exist, so that `with` reaches the error of `__enter__`."""

    async def __aenter__(self) -> Self:
        """Return the client."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the connections."""
        await self.close()


def _address(name: str, address: str | None) -> str | None:
    return None if address is None else arguments.text(name, address)
