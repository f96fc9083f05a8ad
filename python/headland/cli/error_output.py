"""Prints errors on standard error, for people or as JSON, with the next step."""

from __future__ import annotations

import json
import sys

import headland as hl
from headland import shell_words
from headland.cli.argument_parser import UsageError
from headland.cli.message_options import error_text
from headland.cli.output import RED, print_text, print_wrapped, width_of, wrapped

DIAGNOSED = (hl.AuthenticationError, hl.PermissionDenied, hl.ServiceUnavailable, hl.TransportError, hl.DecodeError)
"""Errors of calls whose reason the doctor finds; others state it."""

HIDDEN_ATTRIBUTES = ("message", "prog", "usage")
"""Attributes of an error that are not printed as JSON fields."""


def doctor_advice(error: BaseException, profile: str | None) -> str:
    """Return how to find the reason of a failed call; empty for other errors, whose message is the reason."""
    is_call = getattr(error, "endpoint", None) is not None
    if not isinstance(error, DIAGNOSED) or not is_call:
        return ""
    option = "" if profile is None else f" --profile {shell_words.joined(profile)}"
    return f"`headland doctor{option}` finds out why calls fail, step by step"


def print_error(error: BaseException, *, as_json: bool, profile: str | None = None, advice: str = "") -> None:
    """Print an error, with its profile if there are several, and the advice on a line of its own."""
    classes = (cls for cls in type(error).__mro__ if cls is not UsageError)
    name = next(cls.__name__ for cls in classes if not cls.__name__.startswith("_"))
    message = error_text(error)
    if as_json:
        facts = {
            key: value
            for key, value in vars(error).items()
            if key[0] != "_" and key not in HIDDEN_ATTRIBUTES and value is not None
        }
        about = {} if profile is None else {"profile": profile}
        print_text(json.dumps({"error": name, "message": message, **about, **facts}, default=str), sys.stderr)
    elif isinstance(error, UsageError):
        lines = wrapped(f"{error.prog}: error: {message}", width_of(sys.stderr))
        print_text("\n".join([error.usage.rstrip("\n"), *lines]), sys.stderr, mark=(RED, "error"))
    else:
        about_text = "" if profile is None else f"{profile}: "
        print_wrapped(f"headland: {about_text}{name}: {message}", sys.stderr, mark=name)
        if advice:
            print_wrapped(f"  next: {advice}", sys.stderr, indent="        ")
