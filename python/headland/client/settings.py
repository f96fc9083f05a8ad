"""Reads the settings of a client from arguments, the environment or a profile."""

from __future__ import annotations

import errno
import os
import re
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from headland import _core, arguments, shell_words
from headland.errors import ConfigurationError, from_core, from_os
from headland.files import missing_reason
from headland.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

FORMS = {
    "rate_limits": "pairs of calls and seconds, such as 30/60,15/30, or off",
    "timeout": "the seconds of connect, read and call, such as 10,60,600, or those and min_throughput: 10,60,600,1024",
}
"""The written form of settings that are not plain text."""

OFF = "off"
"""The written form of no window."""

PREFIX = "HEADLAND_"
PROFILES = Path("~/.config/headland/profiles.toml")
NAMES = (
    "base_url",
    "api_key",
    "shared_secret",
    "access_key",
    "dispatch_url",
    "dispatch_token",
    "legacy_dispatch_url",
    "legacy_orders_url",
    "legacy_token",
    "rate_limits",
    "limiter_state",
    "accept",
    "page_size",
    "timeout",
    "ca_file",
)
REQUIRED = NAMES[:4]
SECRETS = (*NAMES[1:4], "dispatch_token", "legacy_token")


class Timeout(NamedTuple):
    """Time limits: three times in seconds, and the minimum throughput of a file in bytes per second."""

    connect: float = 10
    """For a connection."""
    read: float = 60
    """For the next bytes of a reply."""
    call: float = 600
    """For a whole call, including retries and waits.

    Records, lists and errors must be complete by then. A file must begin to arrive by then; after that `min_throughput`
    applies, so that a large file on a slow connection is not truncated. An upload whose reply is lost may take as long
    again to search the list for its record.
    """
    min_throughput: int = 1024
    """For a file, in bytes per second: the minimum speed, measured over 30 seconds of waiting.

    A slower file is requested again like a truncated one, and finally raises ``TransportError``. 0 disables the check.
    """


def timeout(value: object) -> Timeout:
    """Check time limits; a plain tuple of the first three or of all four values is accepted too."""
    takes = "`timeout`: expected a `headland.Timeout(connect=10, read=60, call=600)` or a tuple of those three, got"
    if not isinstance(value, list | tuple):
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        hint = f"; `headland.Timeout(call={value!r})` limits a whole call" if is_number else ""
        raise TypeError(f"{takes} {value!r}{hint}")
    if len(value) not in (3, 4):
        raise ValueError(f"{takes} {value!r}")
    given = Timeout(*value)
    *times, _ = given._fields
    waits = {name: arguments.seconds(f"timeout.{name}", getattr(given, name)) for name in times}
    least = arguments.whole_number("timeout.min_throughput", given.min_throughput, 0, arguments.MAX_INT)
    return Timeout(**waits, min_throughput=least)


def from_env() -> dict[str, Any]:
    """Read ``HEADLAND_BASE_URL`` and so on; secrets are hidden before any error can occur."""
    found: dict[str, Any] = {}
    for name in NAMES:
        variable = PREFIX + name.upper()
        # An empty variable counts as unset, except for the windows, which it disables.
        if os.environ.get(variable) or (name == "rate_limits" and variable in os.environ):
            found[name] = _core.Secret(os.environ[variable]) if name in SECRETS else os.environ[variable]
    missing = [PREFIX + name.upper() for name in REQUIRED if name not in found]
    if missing:
        known = {PREFIX + name.upper() for name in NAMES}
        others = sorted(variable for variable in os.environ if variable.startswith(PREFIX) and variable not in known)
        shown = ", ".join(f"{variable}{did_you_mean(variable, known)}" for variable in others)
        unknown = f" (no setting: {shown})" if others else ""
        names = ", ".join(missing)
        raise ConfigurationError(
            f"set {names} in the environment{unknown}, or store the keys by `headland login`, for "
            "`Client.from_profile()` and `--profile`",
            _setting="environment",
        )
    return _convert(found, lambda name: PREFIX + name.upper())


def choose_profile(given: str | None) -> str | None:
    """Return the given profile, else ``default`` if the environment has no keys; ``None`` reads the environment."""
    has_keys = any(os.environ.get(PREFIX + name.upper()) for name in REQUIRED)
    return "default" if given is None and not has_keys and PROFILES.expanduser().exists() else given


def from_profile(name: str, path: str | os.PathLike[str] | None) -> dict[str, Any]:
    """Read the table `name` of the profiles; a file readable by other users is refused."""
    file = arguments.path("path", PROFILES if path is None else path)
    hint = f"; another file is `path={name!r}`" if path is None and str(name).endswith(".toml") else ""
    try:
        with file.open("rb") as opened:
            facts = os.fstat(opened.fileno())
            _refuse_open_modes(file, facts.st_mode)
            refuse_foreign(file, facts.st_uid)
            profile = _parse_profile(opened.read(), name, file)
    except FileNotFoundError:
        message = (
            f"cannot read the profile file `{file}`: {missing_reason(file)}; "
            f"`headland login --profile {shell_words.joined(name)}` writes it, or use `Client.from_env()`{hint}"
        )
        raise from_core("ConfigurationError", message, {"_setting": "profiles"}, errno.ENOENT) from None
    except OSError as cause:
        message = f"cannot read the profile file `{file}`"
        raise from_os("ConfigurationError", message, cause, _setting="profiles") from None
    if "keyring" in profile:
        service = profile.pop("keyring")
        profile["shared_secret"] = _from_keyring(service, name, file)
    return from_table(profile, name, file)


def from_table(profile: Mapping[str, Any], name: str, file: Path) -> dict[str, Any]:
    """Check the names in a profile, whose secrets are hidden, and convert its values."""
    unknown = sorted(set(profile) - set(NAMES))
    missing = [setting for setting in REQUIRED if setting not in profile]
    if unknown or missing:
        shown = ", ".join(f"{setting}{did_you_mean(setting, NAMES)}" for setting in unknown)
        wrong = [f"unknown: {shown}"] * bool(unknown) + [f"missing: {', '.join(missing)}"] * bool(missing)
        raise ConfigurationError(f"the profile [{name}] of `{file}` is invalid ({'; '.join(wrong)})", _setting="names")
    return _convert(profile, lambda setting: f"`{setting}` of the profile [{name}] of `{file}`")


def _refuse_open_modes(file: Path, mode: int) -> None:
    if sys.platform != "win32" and mode & 0o077:
        raise ConfigurationError(
            f"`{file}` contains secrets and other users may read it (mode {mode & 0o777:04o}): run `chmod 600 {file}`",
            _setting="mode",
        )


def refuse_foreign(file: Path, owner: int) -> None:
    """Refuse a profile file of another user, or one that another user could replace by their own."""
    if sys.platform == "win32":
        return
    if owner != os.geteuid():
        raise ConfigurationError(
            f"`{file}` belongs to another user (id {owner}), who may have chosen its addresses and keys: use a file of "
            "your own",
            _setting="owner",
        )
    for folder in dict.fromkeys((file.absolute().parent, file.resolve().parent)):
        mode = folder.stat().st_mode
        if mode & 0o022:
            raise ConfigurationError(
                f"`{file}` contains secrets and other users may replace it, because they may write in its folder (mode "
                f"{mode & 0o777:04o}): run `chmod go-w {folder}`",
                _setting="folder",
            )


def parse_toml(content: bytes) -> tuple[dict[str, Any] | None, int]:
    """Return the tables and 0, or ``None`` and the line of the first error; no exception keeps the content."""
    try:
        return tomllib.loads(content.decode()), 0
    except UnicodeDecodeError as cause:
        return None, content[: cause.start].count(b"\n") + 1
    except tomllib.TOMLDecodeError as cause:
        at = re.search(r"\(at line (\d+)", str(cause))
        return None, int(at[1]) if at else len(content.splitlines())


def _parse_profile(content: bytes, name: str, file: Path) -> dict[str, Any]:
    """Parse the profiles and hide the secrets; errors of the parser are not passed on, because they quote the text."""
    profiles, line = parse_toml(content)
    content = b""
    if profiles is None:
        raise ConfigurationError(f"the profile file `{file}` is not TOML at line {line}", _setting="not TOML")
    profile = profiles.get(name)
    known = ", ".join(sorted(profiles)) or "none"
    profiles = None
    if not isinstance(profile, dict):
        profile = None
        message = (
            f"there is no profile [{name}] in `{file}`; it has: {known}; "
            f"`headland login --profile {shell_words.joined(name)}` adds it"
        )
        raise ConfigurationError(message, _setting="no profile")
    return {key: _core.Secret(value) if key in SECRETS else value for key, value in profile.items()}


def _from_keyring(service: object, name: str, file: Path) -> _core.Secret:
    try:
        import keyring
    except ImportError:
        raise ConfigurationError(
            f"the profile [{name}] of `{file}` keeps its secret in the keyring: `pip install headland[keyring]`",
            _setting="no keyring",
        ) from None
    try:
        secret = _core.Secret(keyring.get_password(str(service), name))
    except Exception as cause:  # noqa: BLE001 - every keyring has errors of its own
        raise ConfigurationError(
            f"cannot read the keyring for the profile [{name}]: {cause}", _setting="keyring"
        ) from None
    if secret.is_none():
        raise ConfigurationError(
            f"the keyring has no secret for the profile [{name}]: run `keyring set {service} {name}`",
            _setting="no secret",
        )
    return secret


def _convert(found: Mapping[str, Any], describe: Callable[[str], str]) -> dict[str, Any]:
    """Convert texts to their types: ``30/60,15/30`` for windows, ``10,60,600`` for time limits."""
    readers: dict[str, Callable[[str], Any]] = {
        "rate_limits": windows,
        "page_size": int,
        "timeout": _parse_timeout,
    }
    settings = dict(found)
    for name, read in readers.items():
        text = settings.get(name)
        if name == "timeout" and isinstance(text, list):
            text = ",".join(map(str, text))
        if isinstance(text, str):
            try:
                settings[name] = read(text)
            except (ValueError, TypeError):
                form = FORMS.get(name, "a whole number")
                raise ConfigurationError(f"{describe(name)} is invalid: expected {form}, got {text!r}") from None
    return settings


def _parse_timeout(text: str) -> Timeout:
    """Parse time limits such as ``10,60,600`` or ``10,60,600,1024``."""
    connect, read, call, *least = text.split(",")
    return Timeout(float(connect), float(read), float(call), *(int(number) for number in least))


def windows(text: str) -> list[tuple[int, float]]:
    """Parse windows such as ``30/60,15/30``, calls per seconds; ``off`` or an empty text disables the limiter."""
    if text.strip().lower() == OFF:
        return []
    pairs = [pair.split("/") for pair in text.split(",") if pair.strip()]
    return [(int(calls), float(seconds)) for calls, seconds in pairs]


def written_windows(pairs: Iterable[tuple[int, float]]) -> str:
    """Return windows in the form that `windows` parses: an empty variable would be an unset one in PowerShell."""
    return ",".join(f"{calls}/{seconds:g}" for calls, seconds in pairs) or OFF
