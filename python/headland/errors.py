"""Exceptions of headland.

::

    Exception
    └── HeadlandError
        ├── AuthenticationError     the service refused the keys, the signature, the time or the token (401)
        ├── PermissionDenied        the access key or the token does not permit it (403)
        ├── NotFound                there is no such record or address (404)
        ├── MethodNotAllowed        the address does not accept this HTTP method (405)
        ├── InvalidRequest          the request was invalid (other 4XX)
        ├── Conflict                another record conflicts, such as a map queued twice
        ├── RateLimited             the rate limit leaves no time before the deadline (429)
        ├── ServiceUnavailable      the service had errors until the deadline (5XX)
        ├── NoCoverage              the job recorded nothing, so there is nothing to download
        ├── ConversionFailed        the service could not convert the job
        ├── NotReady                the service needs more time than the deadline leaves
        ├── UploadOutcomeUnknown    the reply to an upload or another POST was lost; see ``candidates``
        ├── TransportError          the connection failed: name, port, TLS, time-out
        ├── DecodeError             the reply does not conform to the interface
        ├── ArchiveError            an archive cannot be read; see ``member``, ``record``, ``offset``
        └── ConfigurationError      the configuration of the client is wrong
    UserWarning
    └── HeadlandWarning             a correction, such as of a clock that is off

An error of a local file can also be caught as the system's error. Uploading a missing file is an ``InvalidRequest`` and
a ``FileNotFoundError``; reading a missing archive is an ``ArchiveError`` and a ``FileNotFoundError``; an existing
target is a ``ConfigurationError`` and a ``FileExistsError``.

An argument of the wrong type is a plain ``TypeError``, a wrong value a plain ``ValueError``; no call was made then.
"""

from __future__ import annotations

import errno
import os
import sys
import warnings
from typing import TYPE_CHECKING, Any, ClassVar, TypedDict, Unpack, cast

from headland.display.escaping import printable

if TYPE_CHECKING:
    from types import FrameType


class Facts(TypedDict, total=False):
    """Details of a failure. Each is an attribute of the exception, ``None`` if unknown."""

    endpoint: str | None
    id: str | None
    method: str | None
    status: int | None
    attempts: int | None
    elapsed: float | None
    retry_after: float | None
    check: str | None
    clock_skew: float | None
    result: str | None
    candidates: list[str] | None
    member: str | None
    record: int | None
    offset: int | None
    field: str | None
    handle: str | None
    _with_options: str | None
    """The message for users of the command line, if it names an argument."""
    _source: str | None
    """The archive named at the beginning of the message."""
    _setting: str | None
    """The invalid setting, by the name used for the doctor's advice."""


class HeadlandError(Exception):
    """Base class of all errors of headland, except wrong arguments."""

    endpoint: str | None
    """The call, such as ``job_data.list``."""
    id: str | None
    """The id of the record that the call was about, such as that of the job."""
    method: str | None
    """The HTTP method."""
    status: int | None
    """The HTTP status of the last reply."""
    attempts: int | None
    """Number of requests sent."""
    elapsed: float | None
    """Seconds from the call to the failure."""
    retry_after: float | None
    """Seconds that the service requests to wait before the next request."""
    check: str | None
    """The failed check of the service, by the service's name."""
    clock_skew: float | None
    """The service's clock minus ours in seconds, if it was measured."""
    result: str | None
    """Details to pass to the operator's support."""
    candidates: list[str] | None
    """Ids of records that the upload may have created; of `UploadOutcomeUnknown`, a list that is empty if none is
    known."""
    member: str | None
    """The member of the archive."""
    record: int | None
    """The record, counted from 0."""
    offset: int | None
    """The offset in bytes inside the member."""
    field: str | None
    """The column of the file, or the field of a reply."""
    handle: str | None
    """Of `NotReady`: the id with which another process waits on, by ``client.delivery(id)`` for a map that was sent and
    ``client.conversion(id)`` for a file."""
    _with_options: str | None
    _source: str | None
    _setting: str | None

    _os_class: ClassVar[type[OSError] | None] = None

    def __init__(self, message: str, **facts: Unpack[Facts]) -> None:
        """Store the message, with control characters escaped, and the details; omitted ones are ``None``."""
        message = printable(message, lines=True)
        super().__init__(message)
        self.message = message
        for name in Facts.__annotations__:
            setattr(self, name, facts.get(name))

    def __str__(self) -> str:
        """Return the message, which ends with the location."""
        return self.message

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the message and the details."""
        facts = {name: value for name, value in self.__dict__.items() if name != "message"}
        # A combined class cannot be found by name, so its two base classes are pickled.
        cls, os_class = type(self), self._os_class
        if os_class is not None:
            cls = cls.__mro__[1]
        return (_revive, (cls, os_class, self.message, facts, getattr(self, "errno", None)))


class AuthenticationError(HeadlandError):
    """The service refused the credentials, the signature or the time stamp (401)."""


class PermissionDenied(HeadlandError):
    """The access key does not permit the data (403)."""


class NotFound(HeadlandError):
    """There is no such record or address (404)."""


class MethodNotAllowed(HeadlandError):
    """The address does not take this HTTP method (405)."""


class InvalidRequest(HeadlandError):
    """The request was invalid, according to the service or to headland."""


class Conflict(HeadlandError):
    """The request conflicts with another record."""


class RateLimited(HeadlandError):
    """The rate limit is exceeded and the deadline leaves no time to wait (429)."""


class ServiceUnavailable(HeadlandError):
    """The service had errors until the deadline (5XX)."""


class NoCoverage(HeadlandError):
    """The job recorded no coverage, so there is nothing to download."""


class ConversionFailed(HeadlandError):
    """The service could not convert the job."""


class NotReady(HeadlandError):
    """The service needs more time than the deadline leaves."""


class UploadOutcomeUnknown(HeadlandError):
    """The reply to an upload was lost and the list does not show its record; or the reply to another POST was lost."""

    candidates: list[str]

    def __init__(self, message: str, **facts: Unpack[Facts]) -> None:
        """Store the message and the details; unknown candidates are an empty list."""
        super().__init__(message, **facts)
        self.candidates = self.candidates or []


class TransportError(HeadlandError):
    """The connection failed."""


class DecodeError(HeadlandError):
    """The reply does not conform to the interface."""


class ArchiveError(HeadlandError):
    """The archive or file of field data cannot be read."""


class ConfigurationError(HeadlandError):
    """The configuration of the client is wrong."""


class HeadlandWarning(UserWarning):
    """A correction that the user should know about."""


for _public in (HeadlandError, HeadlandWarning, *HeadlandError.__subclasses__()):
    # The public location, for tracebacks: `headland.ArchiveError`.
    _public.__module__ = "headland"

_CLASSES: dict[str, type[Exception]] = {
    **{cls.__name__: cls for cls in HeadlandError.__subclasses__()},
    "File": HeadlandError,
    "TypeError": TypeError,
    "ValueError": ValueError,
}
"""Every error kind of the core by name."""

_OS_CLASSES: dict[tuple[str, int], tuple[type[HeadlandError], type[OSError]]] = {
    ("File", errno.ENOENT): (HeadlandError, FileNotFoundError),
    ("File", errno.EACCES): (HeadlandError, PermissionError),
    ("File", errno.EEXIST): (ConfigurationError, FileExistsError),
    ("File", errno.ENOTDIR): (ConfigurationError, NotADirectoryError),
    ("InvalidRequest", errno.ENOENT): (InvalidRequest, FileNotFoundError),
    ("ArchiveError", errno.ENOENT): (ArchiveError, FileNotFoundError),
    ("ConfigurationError", errno.ENOENT): (ConfigurationError, FileNotFoundError),
    ("ConfigurationError", errno.EEXIST): (ConfigurationError, FileExistsError),
    ("ConfigurationError", errno.ENOTDIR): (ConfigurationError, NotADirectoryError),
}
"""The class of a kind and the system's class, by error number; for any other number, ``OSError``."""


LISTED = ("job_data", "prescription_maps", "field_computers", "field_hubs", "grain_carts")
"""Groups of calls whose lists have the ids that their other calls take."""

_COMBINED: dict[tuple[type[HeadlandError], type[OSError]], type[HeadlandError]] = {}
"""Combined classes, created on first use."""


def _combined_class(cls: type[HeadlandError], os_class: type[OSError]) -> type[HeadlandError]:
    """Return the class of an error that is also a system error; tracebacks show its public name."""
    names = {"__doc__": cls.__doc__, "__module__": "headland", "_os_class": os_class}
    made = _COMBINED.get((cls, os_class)) or cast("type[HeadlandError]", type(cls.__name__, (cls, os_class), names))
    # If two threads created it concurrently, the first one is used.
    return _COMBINED.setdefault((cls, os_class), made)


def from_core(kind: str, message: str, facts: Facts, os_error: int | None) -> Exception:
    """Create the exception for an error of the core."""
    cls, message = _CLASSES[kind], printable(message)
    if cls is NotFound:
        message += _ids_of(facts)
    elif cls is AuthenticationError and (facts.get("endpoint") or "").partition(".")[0] in (*LISTED, "access_key"):
        # The command line ends with the verb for it.
        facts = {"_with_options": message, **facts}
        message = f"{message.rstrip('.')}; `client.doctor()` finds out why"
    if not issubclass(cls, HeadlandError):
        return cls(message)
    os_class = None
    if os_error is not None:
        cls, os_class = _OS_CLASSES.get((kind, os_error), (cls, OSError))
    return _revive(cls, os_class, message, facts, os_error)


def _ids_of(facts: Facts) -> str:
    """Return where the ids of a group are listed, if a name was given in place of one; empty otherwise."""
    group, _, method = (facts.get("endpoint") or "").partition(".")
    given = facts.get("id") or ""
    if group not in LISTED or method == "send" or not given.strip() or given.isdigit():
        return ""
    command = f"headland ls {group}" + (" --name TEXT" if group == "job_data" else "")
    return f"; expected an id as of `client.{group}.list()` or `{command}`"


def _revive(
    cls: type[HeadlandError], os_class: type[OSError] | None, message: str, facts: Facts, os_error: int | None
) -> HeadlandError:
    """Create an exception with its details, and with the system's error number if a file was the cause."""
    error = (cls if os_class is None else _combined_class(cls, os_class))(message, **facts)
    if isinstance(error, OSError) and os_error is not None:
        error.errno = os_error
        error.strerror = os.strerror(os_error)
    return error


def from_os(kind: str, message: str, cause: OSError, **facts: Unpack[Facts]) -> Exception:
    """Create the exception for a file that Python could not read or write; it is also an ``OSError``."""
    return from_core(kind, f"{message}: {cause.strerror or cause}", facts, cause.errno or errno.EIO)


def warn(message: str) -> None:
    """Warn at the line of the user's own code, regardless of the frames of headland and the standard library.

    A task of asyncio points at the line that runs the event loop. A thread that runs nothing but a method of headland
    has no line of the user.
    """
    frame: FrameType | None = sys._getframe()  # noqa: SLF001 - the documented way to the frames of callers
    own, level, first_other = __name__.partition(".")[0], 0, 0
    while frame is not None:
        level += 1
        module = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if module != own:
            first_other = first_other or level
            if module not in sys.stdlib_module_names:
                break
        frame = frame.f_back
    else:
        level = first_other or level
    warnings.warn(printable(message), HeadlandWarning, stacklevel=level)
