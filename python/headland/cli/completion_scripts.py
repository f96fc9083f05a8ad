"""Writes completion scripts of bash, zsh and fish for the described verbs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


class Option(NamedTuple):
    """An option of a verb."""

    names: list[str]
    help: str
    values: list[str]
    """The values, if they are known."""
    is_flag: bool
    """Whether it has no value."""
    is_path: bool
    """Whether the value is a file or a folder."""


class Verb(NamedTuple):
    """A verb with its options, the known words of its first argument, and whether it has a file as an argument."""

    name: str
    help: str
    options: list[Option]
    words: list[str]
    has_file: bool


BASH = """\
# Completion of headland for bash: source <(headland completion bash)
_headland() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} verb=${{COMP_WORDS[1]}}
    local options='' words='' files='' word
    local IFS=$' \\t\\n'
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        COMPREPLY=($(compgen -W '{verbs} --help --version' -- "$current"))
        return
    fi
    case "$verb" in
{cases}
        *) return ;;
    esac
    case "$verb:$previous" in
{values}
    esac
    if [[ $current == -* ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$current"))
        return
    fi
    for word in "${{COMP_WORDS[@]:2:COMP_CWORD-2}}"; do
        [[ " $words " == *" $word "* ]] && words=''
    done
    if [[ $words ]]; then
        COMPREPLY=($(compgen -W "$words" -- "$current"))
    elif [[ $files ]]; then
        IFS=$'\\n'
        COMPREPLY=($(compgen -f -- "$current"))
        compopt -o filenames 2>/dev/null
    fi
}}
complete -F _headland headland"""

ZSH = """\
#compdef headland
# Completion of headland for zsh: source <(headland completion zsh), after compinit
_headland() {{
    local -a verbs options names
    local files='' word
    verbs=({verbs})
    if ((CURRENT == 2)); then
        _describe verb verbs
        return
    fi
    case "$words[2]" in
{cases}
        *) return ;;
    esac
    case "$words[2]:$words[CURRENT-1]" in
{values}
    esac
    if [[ $PREFIX == -* ]]; then
        _describe -o option options
        return
    fi
    for word in $words[3,CURRENT-1]; do
        ((${{names[(Ie)$word]}})) && names=()
    done
    if (($#names)); then
        compadd -a names
    elif [[ -n $files ]]; then
        _files
    fi
}}
if [[ $funcstack[1] == _headland ]]; then
    _headland "$@"
else
    compdef _headland headland
fi"""

FISH = """\
# Completion of headland for fish: headland completion fish | source
complete -c headland -f
"""


def bash(verbs: Sequence[Verb]) -> str:
    """Return the script of bash."""
    cases = [
        f"        {verb.name}) options='{' '.join(_names(verb))}' words='{' '.join(verb.words)}'"
        f" files='{'yes' if verb.has_file else ''}' ;;"
        for verb in verbs
    ]
    files = """IFS=$'\\n'; COMPREPLY=($(compgen -f -- "$current")); compopt -o filenames 2>/dev/null; return"""

    def value(option: Option) -> str:
        if option.values:
            return f"COMPREPLY=($(compgen -W '{' '.join(option.values)}' -- \"$current\")); return"
        return files if option.is_path else "return"

    return BASH.format(
        verbs=" ".join(verb.name for verb in verbs), cases="\n".join(cases), values=_value_cases(verbs, value)
    )


def zsh(verbs: Sequence[Verb]) -> str:
    """Return the script of zsh."""
    cases = []
    for verb in verbs:
        options = " ".join(
            _zsh_text(f"{name}:{_colons(option.help)}") for option in verb.options for name in _long(option)
        )
        words = f" names=({' '.join(verb.words)})" if verb.words else ""
        cases.append(f"        {verb.name}) options=({options}){words} files='{'yes' if verb.has_file else ''}' ;;")

    def value(option: Option) -> str:
        if option.values:
            return f"compadd {' '.join(option.values)}; return"
        return "_files; return" if option.is_path else f"_message {_zsh_text(option.help)}; return"

    described = " ".join(_zsh_text(f"{verb.name}:{_colons(verb.help)}") for verb in verbs)
    return ZSH.format(verbs=described, cases="\n".join(cases), values=_value_cases(verbs, value))


def fish(verbs: Sequence[Verb]) -> str:
    """Return the script of fish."""
    lines = ["complete -c headland -n __fish_use_subcommand -l help -d 'show the help'"]
    lines += ["complete -c headland -n __fish_use_subcommand -l version -d 'show the version'"]
    for verb in verbs:
        lines.append(f"complete -c headland -n __fish_use_subcommand -a {verb.name} -d {_fish_text(verb.help)}")
        seen = f"__fish_seen_subcommand_from {verb.name}"
        if verb.words:
            words = " ".join(verb.words)
            lines.append(f"complete -c headland -n '{seen}; and not __fish_seen_subcommand_from {words}' -a '{words}'")
            seen_word = f"{seen}; and __fish_seen_subcommand_from {words}"
        else:
            seen_word = seen
        if verb.has_file:
            lines.append(f"complete -c headland -n '{seen_word}' -F")
        for option in verb.options:
            names = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names)
            value = "" if option.is_flag else " -r -F" if option.is_path else " -x"
            value += f" -a '{' '.join(option.values)}'" if option.values else ""
            lines.append(f"complete -c headland -n '{seen}' {names}{value} -d {_fish_text(option.help)}")
    return FISH + "\n".join(lines)


def _names(verb: Verb) -> list[str]:
    return [name for option in verb.options for name in _long(option)]


def _long(option: Option) -> list[str]:
    return [name for name in option.names if name.startswith("--")]


def _value_cases(verbs: Iterable[Verb], complete: Callable[[Option], str]) -> str:
    """Return the branches for a word after an option, with one branch for all options that are completed equally."""
    branches: dict[str, list[str]] = {}
    for verb in verbs:
        for option in verb.options:
            if not option.is_flag:
                branches.setdefault(complete(option), []).extend(f"{verb.name}:{name}" for name in option.names)
    return "\n".join(f"        {'|'.join(patterns)}) {action} ;;" for action, patterns in branches.items())


def _colons(text: str) -> str:
    """Escape what separates a word from its description in zsh."""
    return text.replace(":", "\\:")


def _quote(text: str, quote: str) -> str:
    return "'" + text.replace("'", quote) + "'"


def _zsh_text(text: str) -> str:
    return _quote(text, "'\\''")


def _fish_text(text: str) -> str:
    return _quote(text.replace("\\", "\\\\"), "\\'")
