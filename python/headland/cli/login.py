"""The verb ``login``: asks for the keys of an account, checks them by one call, and stores them in a profile."""

from __future__ import annotations

import datetime as dt
import getpass
import json
import os
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import headland as hl
from headland import _core, arguments, shell_words
from headland.cli.argument_parser import TEXT_WIDTH, Verbs, add_verb
from headland.cli.output import print_json, print_text
from headland.cli.profile_file import change_table, locked, read_file, read_table, replace_file
from headland.cli.secret_store import SERVICE, Keyring
from headland.client import settings

if TYPE_CHECKING:
    import argparse

QUESTIONS = {
    "base_url": "base URL",
    "api_key": "API key",
    "access_key": "access key",
    "shared_secret": "shared secret",
}
"""The settings to ask for, in order."""


def add_login(verbs: Verbs) -> None:
    """Add the verb ``login``."""
    examples = ("login", "login --profile farm --no-keyring < keys.txt")
    verb = add_verb(verbs, "login", _login, "Check the keys of an account and store them in a profile.", examples)
    lines = f"Without a terminal, standard input has a line for each of: {', '.join(QUESTIONS.values())}."
    verb.description = f"{verb.description}\n\n{textwrap.fill(lines, TEXT_WIDTH)}"
    verb.add_argument("--profile", default="default", metavar="NAME", help="name of the profile (default: default)")
    verb.add_argument("--no-keyring", action="store_true", help="store the secret in the file, not in the keyring")
    verb.add_argument("--no-check", action="store_true", help="store the keys without a call to the service")


def _login(given: argparse.Namespace) -> int:
    name: str = given.profile
    if not name or not name.isprintable():
        raise ValueError(f"`--profile`: expected a name, got {name!r}")
    # A link to the file, such as into a folder of settings, stays a link.
    file = Path(os.path.realpath(arguments.path("path", settings.PROFILES)))
    stored = read_table(read_file(file), name, file)
    answers = _ask(stored.get("base_url"))
    _check({**stored, **answers}, name, file, is_called=not given.no_check)
    keyring = Keyring(str(stored.get("keyring", SERVICE)), name)
    is_in_keyring = not given.no_keyring and keyring.store(answers["shared_secret"])
    if is_in_keyring:
        table = {**answers, "shared_secret": None, "keyring": keyring.service}
    else:
        table = {**answers, "keyring": None}
    try:
        with locked(file):
            # Another login may have changed the file meanwhile.
            replace_file(file, change_table(read_file(file), name, table, file))
    except BaseException:
        keyring.restore()
        raise
    if keyring.problem is not None:
        print_text(f"headland: {keyring.problem}; the secret is stored in the file", sys.stderr)
    _report(given, file, keyring.service if is_in_keyring else None)
    return 0


def _ask(base_url: object) -> dict[str, str]:
    """Ask for the keys, or read them from standard input if it is not a terminal."""
    default = base_url if isinstance(base_url, str) else ""
    if sys.stdin is None:
        raise ValueError("standard input is closed: run it in a terminal, or pass a line for each key")
    is_terminal = sys.stdin.isatty()
    if is_terminal:
        print_text("Keys are not shown while you type them.", sys.stderr)
    answers = {}
    for setting, question in QUESTIONS.items():
        is_base_url = setting == "base_url"
        try:
            answer = _prompt(question, default if is_base_url else "", is_shown=is_base_url) if is_terminal else input()
        except EOFError:
            message = (
                f"the input ends before the {question}: expected a line for each of {', '.join(QUESTIONS.values())}"
            )
            raise ValueError(message) from None
        answers[setting] = answer.strip() or (default if is_base_url else "")
        if is_base_url and answers[setting] and not answers[setting].startswith(("https://", "http://")):
            raise ValueError(
                f"the base URL `{answers[setting]}` has no scheme: write it as `https://host/path`; nothing is stored"
            )
        if not answers[setting]:
            raise ValueError(f"the {question} is empty: nothing is stored")
    return answers


def _prompt(question: str, default: str, *, is_shown: bool) -> str:
    """Ask one question on the terminal; prompts are not part of the output."""
    if not is_shown:
        return getpass.getpass(f"{question}: ")
    sys.stderr.write(f"{question} [{default}]: " if default else f"{question}: ")
    sys.stderr.flush()
    return input()


def _check(table: dict[str, object], name: str, file: Path, *, is_called: bool) -> None:
    """Check the settings, and the keys by the call that also answers for a revoked key."""
    table.pop("keyring", None)
    hidden = {key: _core.Secret(value) if key in settings.SECRETS else value for key, value in table.items()}
    table.clear()
    try:
        with hl.Client(**settings.from_table(hidden, name, file)) as client:
            if is_called:
                _refuse_inactive(dict(client.access_key()))
    except hl.HeadlandError as error:
        text = getattr(error, "_with_options", None) or error.message
        error.message = error._with_options = f"the profile [{name}] is not stored: {text}"  # noqa: SLF001 - of this package
        raise


def _refuse_inactive(key: dict[str, object]) -> None:
    expires = key.get("expiration_date_time")
    if isinstance(expires, dt.datetime) and expires <= dt.datetime.now(dt.UTC):
        raise hl.AuthenticationError(
            f"the access key expired at {expires:%Y-%m-%d %H:%M} UTC: ask its customer for one"
        )
    if key.get("is_active") is False:
        raise hl.AuthenticationError("the access key is not active, its customer has revoked it: ask for another one")


def _report(given: argparse.Namespace, file: Path, service: str | None) -> None:
    """Print where the keys are, and what to do next."""
    if given.json:
        print_json({"profile": given.profile, "path": file, "secret": "profile" if service is None else "keyring"})
        return
    where = "in the same file" if service is None else f"in the keyring, service `{service}`"
    checked = "not checked" if given.no_check else "checked by one call"
    print_text(f"The profile [{given.profile}] is stored in {file} ({checked}); its shared secret is {where}.")
    option, argument = "", ""
    if given.profile != "default":
        option, argument = (
            f" --profile {shell_words.joined(given.profile)}",
            json.dumps(given.profile, ensure_ascii=False),
        )
    print_text(f"next: headland ls job_data{option}, or hl.Client.from_profile({argument})")
