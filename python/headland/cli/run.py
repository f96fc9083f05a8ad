"""Runs one verb, and turns what goes wrong into a message and an exit code."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

import headland as hl
from headland.cli import archive, calls, service

if TYPE_CHECKING:
    from collections.abc import Sequence

INTERRUPTED = 130
EXIT_CODES: tuple[tuple[type[BaseException] | tuple[type[BaseException], ...], int], ...] = (
    ((hl.AuthenticationError, hl.PermissionDenied), 3),
    (hl.NotFound, 4),
    (OSError, 12),
    ((TypeError, ValueError, hl.ConfigurationError), 2),
    ((hl.InvalidRequest, hl.MethodNotAllowed, hl.Conflict), 5),
    (hl.RateLimited, 6),
    ((hl.ServiceUnavailable, hl.TransportError), 7),
    ((hl.NoCoverage, hl.ConversionFailed), 8),
    (hl.NotReady, 9),
    (hl.UploadOutcomeUnknown, 10),
    ((hl.DecodeError, hl.ArchiveError), 11),
    (hl.HeadlandError, 1),
)
"""The first class that fits gives the exit code; the table for users is in ``headland.cli``."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and give its exit code."""
    given = _parser().parse_args(arguments)
    try:
        done: int = given.run(given)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has gone, as `head` does.
        sys.stderr.close()
        return 0
    except Exception as error:
        code = _code(error)
        if code is None:
            raise
        _tell(error, as_json=given.json)
        return code
    return done


def _code(error: Exception) -> int | None:
    return next((code for classes, code in EXIT_CODES if isinstance(error, classes)), None)


def _tell(error: Exception, *, as_json: bool) -> None:
    name = next(cls.__name__ for cls in type(error).__mro__ if not cls.__name__.startswith("_"))
    if as_json:
        facts = {key: value for key, value in vars(error).items() if key != "message" and value is not None}
        print(json.dumps({"error": name, "message": str(error), **facts}, default=str), file=sys.stderr)
    else:
        print(f"headland: {name}: {error}", file=sys.stderr)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="headland",
        description="From an access key to tidy, mapped field data.",
        epilog="Keys come from HEADLAND_BASE_URL, HEADLAND_API_KEY, HEADLAND_SHARED_SECRET and "
        "HEADLAND_ACCESS_KEY, or from --profile NAME. Exit codes: see `python -m pydoc headland.cli`.",
    )
    parser.add_argument("--version", action="version", version=f"headland {hl.__version__}")
    verbs = parser.add_subparsers(title="verbs", metavar="VERB", required=True)
    for room in (archive, calls, service):
        room.add_verbs(verbs)
    return parser
