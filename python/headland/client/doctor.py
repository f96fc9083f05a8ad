"""Diagnoses failing calls from the settings on: creates a client and runs its checks."""

from __future__ import annotations

import os  # noqa: TC003 -- for `typing.get_type_hints`
from collections.abc import Callable  # noqa: TC003 -- for `typing.get_type_hints`

from headland import _core, errors
from headland.client import settings
from headland.client.client import Client
from headland.client.doctor_report import Checkup, Finding, run_doctor


def doctor(
    profile: str | None = None,
    path: str | os.PathLike[str] | None = None,
    *,
    tell: Callable[[Finding], object] = lambda _: None,
) -> Checkup:
    """Diagnose failing calls from the settings on; also works if no client can be created.

    The checks are those of the service (specification 5.2 to 5.5, 7, 8), in order, until one fails. At most three calls
    are made. No secret is shown; of keys, at most the last four characters.

    Args:
        profile: The profile to check, as in `Client.from_profile`; default: the environment.
        path: Another file of profiles.
        tell: Called with each finding immediately.

    Returns:
        The findings; no finding raises an error.

    Raises:
        TypeError: `profile` is not a name.

    >>> print(headland.doctor())
    """
    if profile is not None and not isinstance(profile, str):
        kind = type(profile).__name__
        raise TypeError(f"`profile`: expected the name of a profile, got {kind}; `client.doctor()` diagnoses a client")
    from_env = profile is None and path is None
    source = "from the environment" if from_env else f"from the profile [{profile or 'default'}]"
    try:
        found = settings.from_env() if from_env else settings.from_profile(profile or "default", path)
        client = Client(**found)
    except (errors.HeadlandError, OSError, TypeError, ValueError) as error:
        step, next_step = _core.setting_advice(getattr(error, "_setting", None))
        findings = [Finding("settings", ok=True, seen=source, next_step=None)] if step != "settings" else []
        findings.append(Finding(step, ok=False, seen=str(error), next_step=next_step))
        for finding in findings:
            tell(finding)
        return Checkup(tuple(findings), 0, error)
    with client:
        return run_doctor(client._calls.core, source, tell)  # noqa: SLF001 - headland's own attribute
