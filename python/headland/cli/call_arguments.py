"""Converts command-line words to the arguments of a call."""

from __future__ import annotations

import argparse
import inspect
import json
from typing import TYPE_CHECKING, Any

import headland as hl
from headland.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable

BOOLEANS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
"""Boolean words."""


def count(text: str) -> int:
    """Parse a count."""
    try:
        number = int(text)
    except ValueError:
        number = -1
    if number < 0:
        raise argparse.ArgumentTypeError(f"expected a whole number >= 0, got {text!r}")
    return number


def bind_arguments(call: str, words: list[str], method: Callable[..., Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return positional and keyword arguments of `method`; options may contain dashes, and flags need no value."""
    signature = inspect.signature(method)
    places: list[str] = []
    names: dict[str, Any] = {}
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if not word.startswith("--"):
            places.append(word)
            continue
        name, equals, text = word[2:].partition("=")
        name = name.replace("-", "_")
        parameter = signature.parameters.get(name)
        if parameter is None:
            known = [f"--{each}" for each in signature.parameters]
            raise ValueError(
                f"there is no argument `--{name}`{did_you_mean(f'--{name}', known)}; there are: {', '.join(known)}"
            )
        if not equals:
            text = _option_value(name, parameter, rest)
        value = _convert(f"--{name}", parameter, text)
        # A repeated option appends to a list.
        names[name] = [*names.get(name, []), *value] if isinstance(value, list) else value
    by_place = [each for each in signature.parameters.values() if each.kind is not inspect.Parameter.KEYWORD_ONLY]
    converted = [_convert(each.name, each, text) for each, text in zip(by_place, places, strict=False)]
    try:
        bound = signature.bind(*converted, *places[len(converted) :], **names)
    except TypeError as wrong:
        raise ValueError(f"`{call}`: {wrong}; its parameters: {', '.join(signature.parameters)}") from None
    return bound.args, bound.kwargs


def _option_value(name: str, parameter: inspect.Parameter, rest: list[str]) -> str:
    """Return the word after an option as its value; a flag without a value means true."""
    if "bool" in _accepted_types(parameter) and (not rest or rest[0].lower() not in BOOLEANS):
        return "true"
    if not rest:
        raise ValueError(f"`--{name}` needs a value")
    return rest.pop(0)


def _accepted_types(parameter: inspect.Parameter) -> list[str]:
    """Return the types of a parameter; the annotations of the generated methods are texts."""
    return [kind.strip() for kind in str(parameter.annotation).split("|")]


def _convert(name: str, parameter: inspect.Parameter, text: str) -> Any:
    kinds = _accepted_types(parameter)
    if "str" in kinds:
        return text
    if any(kind.startswith("Mapping[") for kind in kinds):
        return _mapping(name, text, may_be_list="Sequence[object]" in kinds)
    if "Sequence[str]" in kinds:
        return text.split(",")
    if "Limits" in kinds:
        return _limits(name, text)
    readers: dict[str, tuple[Callable[[str], Any], str]] = {
        "bool": (lambda text: BOOLEANS[text.lower()], "true or false"),
        "int": (int, "a whole number"),
        "float": (float, "a number"),
    }
    for kind, (read, takes) in readers.items():
        if kind in kinds:
            try:
                return read(text)
            except (ValueError, KeyError):
                raise ValueError(f"`{name}`: expected {takes}, got {text!r}") from None
    return text


def _mapping(name: str, text: str, *, may_be_list: bool) -> Any:
    """Parse a mapping such as ``{"name": "North 40"}``, or a list if one is accepted."""
    try:
        mapping = json.loads(text)
    except ValueError as wrong:
        raise ValueError(f'`{name}`: expected a JSON object such as {{"name": "North 40"}}: {wrong}') from None
    if not isinstance(mapping, dict) and not (may_be_list and isinstance(mapping, list)):
        takes = "a JSON object or a list" if may_be_list else "a JSON object"
        raise ValueError(f"`{name}`: expected {takes}, got {text!r}")
    return mapping


def _limits(name: str, text: str) -> hl.Limits:
    """Parse limits such as ``members=100,ratio=50``."""
    given = {}
    for part in text.split(","):
        limit, equals, value = part.partition("=")
        if not equals or limit not in hl.Limits._fields or not value.isdecimal():
            known = ", ".join(hl.Limits._fields)
            raise ValueError(f"`{name}`: expected pairs such as members=100,ratio=50 of {known}, got {text!r}")
        given[limit] = int(value)
    return hl.Limits(**given)
