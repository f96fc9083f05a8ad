"""The verb ``completion``: prints a completion script, generated from the parser, that makes no call."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from headland.cli.argument_parser import OneOf, Parser, Verbs, add_verb
from headland.cli.call import method_names
from headland.cli.completion_scripts import Option, Verb, bash, fish, zsh
from headland.cli.output import print_text

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

SHELLS: dict[str, Callable[[Sequence[Verb]], str]] = {"bash": bash, "zsh": zsh, "fish": fish}


def add_completion(verbs: Verbs) -> None:
    """Add the verb ``completion``."""
    examples = ("completion bash > ~/.local/share/bash-completion/completions/headland", "completion fish | source")
    run = partial(_print_script, verbs)
    verb = add_verb(verbs, "completion", run, "Print a script that completes the words of a shell.", examples)
    verb.add_argument("shell", choices=SHELLS, metavar="SHELL", help="bash, zsh or fish")


def _print_script(verbs: Verbs, given: argparse.Namespace) -> int:
    print_text(SHELLS[given.shell](described(verbs)))
    return 0


def described(verbs: Verbs) -> list[Verb]:
    """Return what the parser knows about the verbs."""
    return [_verb(name, parser) for name, parser in verbs.choices.items()]


def _verb(name: str, parser: Parser) -> Verb:
    words = [word for argument in parser.words()[:1] for word in _values(argument)]
    has_file = any(argument.type is Path for argument in parser.words())
    summary = (parser.description or "").partition("\n")[0].removesuffix(".")
    return Verb(name, summary, [_option(action) for action in parser.options()], words, has_file)


def _option(action: argparse.Action) -> Option:
    is_path = action.metavar in {"FILE", "DIR"}
    return Option([*action.option_strings], action.help or "", _values(action), action.nargs == 0, is_path)


def _values(action: argparse.Action) -> list[str]:
    if isinstance(action.type, OneOf):
        return action.type.names
    if action.metavar == "GROUP.METHOD":
        return method_names()
    return [str(choice) for choice in action.choices or ()]
