"""Runs one verb, and converts errors to a message and an exit code."""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING

import headland as hl
from headland import start_up
from headland.cli import (
    budget,
    call,
    completion,
    demo,
    doctor,
    get,
    login,
    ls,
    openapi,
    prescription,
    pull,
    read,
    report,
    sandbox,
    send,
    upload,
)
from headland.cli.argument_parser import Parser
from headland.cli.error_output import doctor_advice, print_error
from headland.cli.exit_codes import INTERRUPTED, exit_code
from headland.cli.output import print_text
from headland.display.escaping import printable

if TYPE_CHECKING:
    from collections.abc import Sequence


VERBS = (
    demo.add_demo,
    login.add_login,
    doctor.add_doctor,
    ls.add_ls,
    get.add_get,
    pull.add_pull,
    report.add_report,
    read.add_read,
    prescription.add_rx,
    prescription.add_check,
    upload.add_upload,
    send.add_send,
    call.add_call,
    budget.add_budget,
    sandbox.add_sandbox,
    openapi.add_openapi,
    completion.add_completion,
)
"""What adds the verbs, in the order of the help."""

EPILOG = """\
to begin:
  headland demo --open            the whole tour, without keys
  headland login                  store the keys of an account
  headland ls job_data --limit 5  list five of its jobs

Keys are read from HEADLAND_BASE_URL, HEADLAND_API_KEY, HEADLAND_SHARED_SECRET
and HEADLAND_ACCESS_KEY (for dispatch also HEADLAND_DISPATCH_URL and
HEADLAND_DISPATCH_TOKEN), else from the profile `default`; --profile NAME reads
another one. Exit codes: see `python -m pydoc headland.cli`."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    arguments_given = sys.argv[1:] if arguments is None else list(arguments)
    as_json = "--json" in arguments_given
    given = None
    before = warnings.formatwarning
    warnings.formatwarning = _warning_text  # type: ignore[assignment]
    try:
        start_up.restore()
        given = _parser().parse(arguments_given)
        as_json = given.json or as_json
        done: int = given.run(given)
    except KeyboardInterrupt:
        print_text(f"interrupted{getattr(given, 'interrupted', '')}", sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of the output has exited, as `head` does.
        sys.stderr.close()
        return 0
    except Exception as error:
        code = exit_code(error)
        if code is None:
            raise
        is_doctor = given is not None and given.run is doctor.run
        advice = "" if is_doctor else doctor_advice(error, getattr(given, "profile", None))
        print_error(error, as_json=as_json, advice=advice)
        return code
    finally:
        warnings.formatwarning = before
    return done


def _warning_text(message: Warning | str, category: type[Warning], *_: object) -> str:
    """Return a warning without the line of code, which is one of this package."""
    name = "warning" if issubclass(category, hl.HeadlandWarning) else category.__name__
    return f"headland: {name}: {printable(str(message))}\n"


def _parser() -> Parser:
    parser = Parser(prog="headland", description="From an access key to tidy, mapped field data.", epilog=EPILOG)
    parser.add_argument("--version", action="version", version=f"headland {hl.__version__}")
    verbs = parser.add_verbs()
    for add in VERBS:
        add(verbs)
    return parser
