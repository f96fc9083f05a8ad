"""The parser of the command line: its verbs, their help with examples, and suggestions for wrong words."""

from __future__ import annotations

import argparse
import shutil
import textwrap
from typing import TYPE_CHECKING, Any, NoReturn

from headland.suggestions import did_you_mean, without_separators

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

WIDTH = 98
"""Maximum width of help texts in columns."""

TEXT_WIDTH = 78
"""Width of descriptions, which are wrapped before the terminal is known."""

Verbs = Any
"""The sub-commands of `argparse`, whose type has no public name."""


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """Return the message for a wrong word, with the most similar known word and all known words."""
    words = list(known)
    suggestion = did_you_mean(name, words).removeprefix(": ")
    return f"there is no {what} `{name}`{suggestion and f' ({suggestion})'}; the {what}s: {', '.join(words)}"


class UsageError(ValueError):
    """An invalid command line, with the usage."""

    def __init__(self, message: str, prog: str, usage: str) -> None:
        super().__init__(message)
        self.prog = prog
        self.usage = usage


class OneOf:
    """Converts a word to one of several names, in any spelling of `spellings`."""

    def __init__(self, what: str, spellings: dict[str, str]) -> None:
        self._what = what
        self._spellings = spellings
        self.names = list(dict.fromkeys(spellings.values()))

    def __call__(self, text: str) -> str:
        """Return the name, or raise the error that `argparse` prints."""
        name = self._spellings.get(without_separators(text))
        if name is None:
            raise argparse.ArgumentTypeError(unknown(self._what, text, self.names))
        return name


class _Help(argparse.RawDescriptionHelpFormatter):
    """Help of limited width, whose examples are not wrapped."""

    def __init__(self, prog: str, **options: Any) -> None:
        width = min(WIDTH, shutil.get_terminal_size().columns - 2)
        super().__init__(prog, **{**options, "width": width})

    def add_argument(self, action: argparse.Action) -> None:
        """Measure an argument; verbs are indented more than `argparse` counts, which would break the longest line."""
        super().add_argument(action)
        if action.nargs == argparse.PARSER:
            self._action_max_length += self._indent_increment


class Parser(argparse.ArgumentParser):
    """A parser whose errors are printed by `main`, like all others."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"formatter_class": _Help, **options})
        # The only colours are those of `output`; newer versions of Python would add their own.
        self.color = False
        self.verbs: Verbs = None

    def add_verbs(self) -> Verbs:
        """Return the sub-commands to add verbs to."""
        self.verbs = self.add_subparsers(title="verbs", metavar="VERB", required=True)
        return self.verbs

    def parse(self, words: Sequence[str]) -> argparse.Namespace:
        """Parse the words of a command; a wrong one is an error that suggests the right one."""
        verb: Parser = self
        if words and not words[0].startswith("-"):
            found = self.verbs.choices.get(words[0])
            if found is None:
                raise self.usage_error(unknown("verb", words[0], self.verbs.choices))
            verb = found
            verb.check_options(words[1:])
        given, rest = self.parse_known_args(words)
        if rest:
            raise verb.usage_error(f"unrecognized arguments: {' '.join(rest)}")
        return given

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing and exiting; a missing word is an error that lists the words."""
        if "are required: VERB" in message:
            message += f"; the verbs: {', '.join(self.verbs.choices)}"
        for action in self._actions:
            if isinstance(action.type, OneOf) and action.metavar == "KIND" and "are required: KIND" in message:
                message += f"; the kinds: {', '.join(action.type.names)}"
        raise self.usage_error(message)

    def options(self) -> list[argparse.Action]:
        """Return the options, in the order of the help."""
        return [action for action in self._actions if action.option_strings]

    def words(self) -> list[argparse.Action]:
        """Return the arguments that are not options, in order."""
        return [action for action in self._actions if not action.option_strings]

    def check_options(self, words: Sequence[str]) -> None:
        """Refuse an unknown option before `argparse` reports what is missing without it."""
        if any(action.nargs == argparse.REMAINDER for action in self._actions):
            return
        known = [name for action in self.options() for name in action.option_strings if name.startswith("--")]
        for word in words:
            if word == "--":
                return
            name = word.partition("=")[0]
            if name.startswith("--") and not any(each.startswith(name) for each in known):
                raise self.usage_error(unknown("option", name, known))

    def usage_error(self, message: str) -> UsageError:
        """Return an error of this verb, with its usage."""
        return UsageError(message, self.prog, self.format_usage())


def add_verb(
    verbs: Verbs, name: str, run: Callable[[argparse.Namespace], int], help: str, examples: tuple[str, str]
) -> Parser:
    """Add a verb; every verb has ``--json`` and two examples in its help."""
    shown = "".join(f"  headland {example}\n" for example in examples)
    verb: Parser = verbs.add_parser(
        name, help=help, description=textwrap.fill(help, TEXT_WIDTH), epilog=f"examples:\n{shown}"
    )
    verb.add_argument("--json", action="store_true", help="print JSON, one value per line, also for errors")
    verb.set_defaults(run=run)
    return verb
