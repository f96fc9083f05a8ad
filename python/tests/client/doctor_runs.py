"""Runs the doctor once, and asserts properties of every run."""

from __future__ import annotations

import base64
import json
import traceback
from typing import TYPE_CHECKING, Any

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Mapping

STEPS = [
    *("settings", "address", "name", "connection", "TLS", "service"),
    *("clock", "signature", "access key", "list call", "limiter"),
]
OTHER_SECRET = base64.b64encode(b"the secret of somebody else").decode()


def everything_of(checkup: hl.Checkup) -> str:
    shown = [
        str(checkup),
        repr(checkup),
        checkup._repr_html_(),
        *(json.dumps(each._asdict()) for each in checkup.findings),
    ]
    if checkup.error is not None:
        formatted = traceback.TracebackException.from_exception(checkup.error, capture_locals=True)
        shown += [*formatted.format(), repr(vars(checkup.error))]
    return "".join(shown)


def examine(credentials: Mapping[str, Any], **other: Any) -> hl.Checkup:
    """Run the doctor, and assert that it makes at most three calls and shows no secret."""
    with hl.Client(**{**credentials, "limiter_state": "memory", **other}) as client:
        checkup = client.doctor()
    assert checkup.calls <= 3
    shown = everything_of(checkup)
    for secret in ("api_key", "shared_secret", "access_key"):
        assert {**credentials, **other}[secret] not in shown, secret
    assert [each.name for each in checkup.findings[:-1]] == STEPS[: len(checkup.findings) - 1]
    assert [each.ok for each in checkup.findings[:-1]] == [True] * (len(checkup.findings) - 1)
    assert checkup.findings[-1].ok == checkup.ok
    return checkup


def finding(checkup: hl.Checkup, name: str) -> hl.Finding:
    return next(each for each in checkup.findings if each.name == name)


def assert_fails(checkup: hl.Checkup, step: str, seen: str, next_step: str, error: type[Exception]) -> None:
    """Check the last finding, which is the reason."""
    last = checkup.findings[-1]
    assert (last.name, last.ok, checkup.ok) == (step, False, False), str(checkup)
    assert seen in last.seen
    assert next_step in (last.next_step or ""), last.next_step
    assert isinstance(checkup.error, error)
