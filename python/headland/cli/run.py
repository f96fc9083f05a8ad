"""Runs one verb, and turns what goes wrong into a message and an exit code."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, NoReturn

import headland as hl
from headland.cli import archive, calls, service

if TYPE_CHECKING:
    from collections.abc import Sequence

INTERRUPTED = 130
EXIT_CODES: tuple[tuple[type[BaseException] | tuple[type[BaseException], ...], int], ...] = (
    ((hl.AuthenticationError, hl.PermissionDenied), 3),
    (hl.NotFound, 4),
    (OSError, 12),
    ((TypeError, ValueError, OverflowError, hl.ConfigurationError), 2),
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


HIDDEN = ("message", "prog", "usage")
"""Attributes of an error that are no facts."""


class _WrongWords(ValueError):
    """Words that are no command, with how they are written."""

    def __init__(self, message: str, prog: str, usage: str) -> None:
        super().__init__(message)
        self.prog = prog
        self.usage = usage


class _Parser(argparse.ArgumentParser):
    """A parser that lets `main` tell what is wrong, as it tells everything else."""

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing and leaving."""
        raise _WrongWords(message, self.prog, self.format_usage())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and give its exit code."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    as_json = "--json" in words
    try:
        given = _parser().parse_args(words)
        as_json = given.json or as_json
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
        _tell(error, as_json=as_json)
        return code
    return done


def _code(error: Exception) -> int | None:
    return next((code for classes, code in EXIT_CODES if isinstance(error, classes)), None)


def _tell(error: Exception, *, as_json: bool) -> None:
    name = next(cls.__name__ for cls in type(error).__mro__ if not cls.__name__.startswith("_"))
    # What is an argument to Python is an option here.
    message = str(error).replace("overwrite=True", "--overwrite")
    if as_json:
        facts = {key: value for key, value in vars(error).items() if key not in HIDDEN and value is not None}
        print(json.dumps({"error": name, "message": message, **facts}, default=str), file=sys.stderr)
    elif isinstance(error, _WrongWords):
        print(f"{error.usage}{error.prog}: error: {message}", file=sys.stderr)
    else:
        print(f"headland: {name}: {message}", file=sys.stderr)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="headland",
        description="From an access key to tidy, mapped field data.",
        epilog="Keys come from HEADLAND_BASE_URL, HEADLAND_API_KEY, HEADLAND_SHARED_SECRET and "
        "HEADLAND_ACCESS_KEY (for dispatch also HEADLAND_DISPATCH_URL and HEADLAND_DISPATCH_TOKEN), or from "
        "--profile NAME. Exit codes: see `python -m pydoc headland.cli`.",
    )
    parser.add_argument("--version", action="version", version=f"headland {hl.__version__}")
    verbs = parser.add_subparsers(title="verbs", metavar="VERB", required=True)
    for room in (archive, calls, service):
        room.add_verbs(verbs)
    return parser
