"""Runs one verb, and converts errors to a message and an exit code."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, NoReturn

import headland as hl
from headland.cli import archive, calls, doctor, pull, sandbox
from headland.cli.exit_codes import INTERRUPTED, UsageError, exit_code, print_error
from headland.cli.output import print_text

if TYPE_CHECKING:
    from collections.abc import Sequence


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are printed by `main`, like all others."""

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing and exiting."""
        raise UsageError(message, self.prog, self.format_usage())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    arguments_given = sys.argv[1:] if arguments is None else list(arguments)
    as_json = "--json" in arguments_given
    try:
        given = _parser().parse_args(arguments_given)
        as_json = given.json or as_json
        done: int = given.run(given)
    except KeyboardInterrupt:
        print_text("interrupted", sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of the output has exited, as `head` does.
        sys.stderr.close()
        return 0
    except Exception as error:
        code = exit_code(error)
        if code is None:
            raise
        print_error(error, as_json=as_json)
        return code
    return done


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
    for module in (archive, calls, doctor, pull, sandbox):
        module.add_verbs(verbs)
    return parser
