"""The exit code of each class of errors."""

from __future__ import annotations

import headland as hl

CONFLICT = 5
INTERRUPTED = 130
EXIT_CODES: tuple[tuple[type[BaseException] | tuple[type[BaseException], ...], int], ...] = (
    ((hl.AuthenticationError, hl.PermissionDenied), 3),
    (hl.NotFound, 4),
    (OSError, 12),
    ((TypeError, ValueError, OverflowError, hl.ConfigurationError), 2),
    ((hl.InvalidRequest, hl.MethodNotAllowed, hl.Conflict), CONFLICT),
    (hl.RateLimited, 6),
    ((hl.ServiceUnavailable, hl.TransportError), 7),
    ((hl.NoCoverage, hl.ConversionFailed), 8),
    (hl.NotReady, 9),
    (hl.UploadOutcomeUnknown, 10),
    ((hl.DecodeError, hl.ArchiveError), 11),
    (hl.HeadlandError, 1),
)
"""The first matching class determines the exit code; ``headland.cli`` documents the codes."""


def exit_code(error: BaseException) -> int | None:
    """Return the exit code of an error; ``None`` for an unexpected one."""
    return next((code for classes, code in EXIT_CODES if isinstance(error, classes)), None)
