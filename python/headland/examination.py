"""Why calls fail: looks at one thing after the other, and says what to do next.

The calls go the way of all calls, through the limiter, the signature and the connections of the core, but each is made
once. They are at most three: the access key, the same again where the clock or another reading of the address explains
a refusal, and the shortest list of jobs.
"""

from __future__ import annotations

import datetime as dt
import ipaddress
import re
import urllib.request
from typing import TYPE_CHECKING, NoReturn
from urllib.parse import SplitResult, urlsplit

from headland import doctor_words as words
from headland import errors
from headland.checkup import Checkup, Finding

if TYPE_CHECKING:
    from collections.abc import Callable

    from headland import _core

MOST_CALLS = 3
LIST = "job_data.list"
NOTICEABLE = 30
"""Seconds that a clock may be off before it is worth setting; at 120 the service refuses."""
CHECKS = {"API key": r"api[ _-]?key", "signature": r"signature", "access key": r"access[ _-]?key"}
"""How a refusal names the check that failed."""


class _Stop(Exception):
    """Later steps make no sense."""

    def __init__(self, error: Exception) -> None:
        self.error = error


class Visit:
    """The findings so far."""

    def __init__(self, tell: Callable[[Finding], object] = lambda _: None) -> None:
        self._tell = tell
        self._findings: list[Finding] = []
        self.calls = 0

    def note(self, finding: Finding) -> None:
        """Add a finding and report it."""
        self._findings.append(finding)
        self._tell(finding)

    def ok(self, name: str, seen: str, next_step: str | None = None) -> None:
        """Add a step that calls get past."""
        self.note(Finding(name, ok=True, seen=seen, next_step=next_step))

    def fail(self, name: str, error: Exception, next_step: str, seen: str | None = None) -> NoReturn:
        """Add the step that calls fail at, and end the examination."""
        self.note(Finding(name, ok=False, seen=seen or str(error), next_step=next_step))
        raise _Stop(error)

    def end(self, error: Exception | None) -> Checkup:
        """Give all findings."""
        return Checkup(tuple(self._findings), self.calls, error)


def examine(core: _core.Client, source: str = "given to this client", visit: Visit | None = None) -> Checkup:
    """Find out why the calls of a client fail; `source` says where its settings are from."""
    visit = visit or Visit()
    error = None
    try:
        _Steps(visit, core).all(source)
    except _Stop as stop:
        error = stop.error
    # The findings have told what these would tell again.
    core.take_warnings()
    return visit.end(error)


class _Steps:
    """The steps of one visit."""

    def __init__(self, visit: Visit, core: _core.Client) -> None:
        self.visit = visit
        self.core = core
        self.base_url, self.host = core.address()
        self.parts: SplitResult = urlsplit(self.base_url)
        self.name = self.parts.hostname or ""
        self.port = self.parts.port or {"http": 80, "https": 443}[self.parts.scheme]
        self.proxy = _proxy(self.parts)

    def all(self, source: str) -> None:
        """Go through them in order; `_Stop` ends the visit."""
        self.visit.ok("settings", f"{source}: {self.core!r}")
        self.visit.ok("address", f"{self.base_url}, sent and signed as the host `{self.host}`")
        before = self.core.budget()
        seen = self.call("access_key")
        self.reach(seen)
        self.service(seen)
        self.visit.ok("service", "it answers")
        seen = self.clock(seen)
        self.signature(seen)
        self.access_key(seen)
        self.limiter(before, self.list_call())

    def say(self, text: str, **more: str) -> str:
        """Fill in what stands in braces."""
        case = {"base_url": self.base_url, "host": self.host, "name": self.name, "port": self.port, "proxy": self.proxy}
        return text.format(**case, **more)

    def call(self, name: str, *, prefix: str | None = None, signed_host: str | None = None) -> _core._Examined:
        """Make a call once; a limiter without room for it ends the visit."""
        try:
            seen = self.core.examine(name, prefix, signed_host)
        except errors.RateLimited as refused:
            self.visit.fail("limiter", refused, _wait(refused, "programs on this machine have used the limit up"))
        self.visit.calls += 1
        return seen

    def reach(self, seen: _core._Examined) -> None:
        """Name, connection, TLS: what comes before a reply."""
        error, fault = seen["error"], seen["fault"]
        if error is not None and fault == "name":
            named = f"the proxy `{self.proxy}` in HTTPS_PROXY" if self.proxy else f"`{self.name}` in base_url"
            self.visit.fail("name", error, self.say(words.SPELLING, named=named))
        if self.proxy:
            self.visit.ok("name", f"the proxy `{self.proxy}` looks up `{self.name}`")
        else:
            self.visit.ok("name", f"`{self.name}` is " + ("an address already" if _address(self.name) else "known"))
        if error is not None and fault == "connect":
            why = words.NOTHING_LISTENS if "refused" in str(error) else words.BLOCKED
            self.visit.fail("connection", error, self.say(words.PROXY_REFUSES if self.proxy else why))
        way = f"through the proxy `{self.proxy}`" if self.proxy else "direct"
        self.visit.ok("connection", f"port {self.port} takes connections, {way}")
        if error is not None and fault == "tls":
            self.visit.fail("TLS", error, self.say(words.about_certificate(str(error))))
        is_open = self.parts.scheme == "http"
        self.visit.ok("TLS", "plain http, which stays on this machine" if is_open else "the certificate is trusted")

    def service(self, seen: _core._Examined) -> None:
        """End the visit where the reply is not the service's, or says nothing of the keys."""
        error = seen["error"]
        if error is None:
            return
        if seen["fault"] is not None:
            self.visit.fail("service", error, self.say(words.NO_ANSWER))
        if isinstance(error, errors.RateLimited):
            self.visit.fail("limiter", error, f"{_wait(error, 'others have used the limit up')}; {words.SHARE}")
        if isinstance(error, errors.NotFound):
            self.wrong_path(error)
        if isinstance(error, errors.ServiceUnavailable | errors.NotReady):
            self.visit.fail("service", error, words.TROUBLE)
        is_page = "a document of type" in str(error)
        if isinstance(error, errors.AuthenticationError) or (
            isinstance(error, errors.PermissionDenied) and not is_page
        ):
            return
        if is_page or isinstance(error, errors.DecodeError | errors.TransportError):
            self.visit.fail("service", error, self.say(words.STRANGER + (words.STRANGER_PROXY if self.proxy else "")))
        self.visit.fail("service", error, words.REFUSES_ALL)

    def wrong_path(self, error: Exception) -> NoReturn:
        """Look whether the service is at the root of its host."""
        next_step = words.PATH
        if self.parts.path and self.visit.calls < MOST_CALLS:
            found = self.call("access_key", prefix="")["error"]
            if found is None or isinstance(found, errors.AuthenticationError):
                root = self.parts._replace(path="").geturl()
                next_step = self.say(words.AT_ROOT, root=root, path=self.parts.path)
        self.visit.fail("service", error, next_step)

    def clock(self, seen: _core._Examined) -> _core._Examined:
        """Measure the clock; where it explains a refusal, ask again with the right time, as calls do."""
        skew, is_corrected = seen["skew"], seen["is_corrected"]
        if is_corrected:
            seen = self.call("access_key")
            self.service(seen)
        error = seen["error"]
        if error is not None and seen["is_about_time"]:
            if skew is None:
                told = "the service refuses the time of the request, and sends no Date to measure it by"
                self.visit.fail("clock", error, words.SET_CLOCK, told)
            self.visit.fail("clock", error, words.DATES_DIFFER, f"{error}; {_off(skew)}")
        if skew is None:
            self.visit.ok("clock", "not measured: the service sends no Date")
        else:
            told = _off(skew) + ("; corrected for this client" if is_corrected else "")
            self.visit.ok("clock", told, words.SET_CLOCK if abs(skew) > NOTICEABLE else None)
        return seen

    def signature(self, seen: _core._Examined) -> None:
        """API key and signature."""
        error, failed = seen["error"], _failed(seen["error"])
        if not isinstance(error, errors.AuthenticationError) or failed == "access key":
            self.visit.ok("signature", "the service accepts API key and signature")
            return
        if failed == "API key":
            self.visit.fail("signature", error, words.API_KEY)
        self.path_as_written(error)
        self.host_alone(error)
        self.visit.fail("signature", error, ("" if failed else words.UNNAMED) + self.say(words.SIGNED_WRONGLY))

    def path_as_written(self, error: Exception) -> None:
        """Look whether the service signs the path as it is written, against specification 5.4."""
        low = self.parts.path.lower()
        if low == self.parts.path or self.visit.calls >= MOST_CALLS:
            return
        found = self.call("access_key", prefix=low)["error"]
        told = f"{error}; the service signs `{self.parts.path}` as it is written, not in lower case"
        if isinstance(found, errors.NotFound):
            self.visit.fail("signature", error, words.SIGN_LOWER_CASE, told)
        if found is None or _failed(found) == "access key":
            next_step = self.say(words.LOWER_CASE, low=self.parts._replace(path=low).geturl())
            self.visit.fail("signature", error, next_step, told)

    def host_alone(self, error: Exception) -> None:
        """Look whether the service signs the host without the port that is sent."""
        if self.parts.port is None or self.visit.calls >= MOST_CALLS:
            return
        name = self.host.rpartition(":")[0]
        found = self.call("access_key", signed_host=name)["error"]
        if found is None or _failed(found) == "access key":
            told = f"{error}; the service signs the host as `{name}`, without the port that is sent"
            self.visit.fail("signature", error, self.say(words.SIGN_PORT), told)

    def access_key(self, seen: _core._Examined) -> None:
        """What the service says of the access key; it answers for revoked and expired ones, too."""
        if seen["error"] is not None:
            self.visit.fail("access key", seen["error"], words.ACCESS_KEY)
        record = seen["value"]
        contact, expires = record.get("contact"), record.get("expiration_date_time")
        ask = f"{words.ASK_CUSTOMER} (contact: {contact})" if contact else words.ASK_CUSTOMER
        now = dt.datetime.now(dt.UTC) + dt.timedelta(seconds=seen["skew"] or 0)
        if isinstance(expires, dt.datetime) and expires <= now:
            refused = errors.AuthenticationError(f"the access key expired at {expires:%Y-%m-%d %H:%M} UTC")
            self.visit.fail("access key", refused, ask)
        if record.get("is_active") is False:
            refused = errors.AuthenticationError("the access key is not active: its customer has revoked it")
            self.visit.fail("access key", refused, ask)
        until = f", until {expires:%Y-%m-%d}" if isinstance(expires, dt.datetime) else ""
        self.visit.ok("access key", f"active{until}")

    def list_call(self) -> _core._Examined:
        """Ask for the shortest list of jobs."""
        seen = self.call(LIST)
        error, count = seen["error"], seen["value"]
        if isinstance(
            error, errors.AuthenticationError | errors.PermissionDenied | errors.MethodNotAllowed | errors.NotFound
        ):
            self.visit.fail("list call", error, words.SET_CLOCK if seen["is_about_time"] else words.DELEGATE)
        self.service(seen)
        self.visit.ok("list call", f"{LIST} works" + ("" if count is None else f": {count} jobs"))
        return seen

    def limiter(self, before: _core._Budget, seen: _core._Examined) -> None:
        """What is left of the limit, and who else uses it."""
        now, warnings = self.core.budget(), self.core.take_warnings()
        trouble = self.core.limiter_trouble() or next((text for text in warnings if "limiter_state" in text), None)
        if now["remaining"] is None:
            self.visit.ok("limiter", "turned off (rate_limits is empty)")
            return
        used = ", ".join(f"{used} of {calls} calls in {seconds:g} s" for calls, seconds, used in now["windows"])
        others = self.others(before, seen)
        if trouble is not None:
            self.visit.ok("limiter", f"{used}; {trouble}", words.WRITABLE)
        elif others > 0:
            self.visit.ok("limiter", f"{used}; {others} of them were made by others with this API key", words.SHARE)
        else:
            self.visit.ok("limiter", used)

    def others(self, before: _core._Budget, seen: _core._Examined) -> int:
        """How many calls the service counts beyond those that this machine knew of and made."""
        limit, remaining = seen["limit"], seen["remaining"]
        own = next((used for calls, _, used in before["windows"] if calls == limit), None)
        if limit is None or remaining is None or own is None:
            return 0
        return limit - remaining - own - self.visit.calls


def _failed(error: Exception | None) -> str | None:
    """Give the check that the service names, where it names one."""
    if not isinstance(error, errors.AuthenticationError):
        return None
    named = [check for check, words in CHECKS.items() if re.search(words, error.check or "", re.IGNORECASE)]
    return named[0] if len(named) == 1 else None


def _wait(error: errors.HeadlandError, why: str) -> str:
    return f"wait {error.retry_after:.0f} s: {why}" if error.retry_after else f"wait a minute: {why}"


def _off(skew: int) -> str:
    if skew == 0:
        return "agrees with the service's to the second"
    side = "behind" if skew > 0 else "ahead of"
    return f"this machine's clock is {abs(skew)} s {side} the service's"


def _proxy(parts: SplitResult) -> str | None:
    """The proxy that calls go through, without its password; none is used for this machine itself."""
    name = parts.hostname or ""
    address = _address(name)
    is_this_machine = name == "localhost" or (address is not None and address.is_loopback)
    proxies = urllib.request.getproxies()
    proxy = proxies.get("https") or proxies.get("all")
    if is_this_machine or not proxy or urllib.request.proxy_bypass(name):
        return None
    found = urlsplit(proxy if "//" in proxy else f"//{proxy}")
    return f"{found.hostname}:{found.port}" if found.port else found.hostname


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None
