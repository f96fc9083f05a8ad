"""Runs the examples of docstrings and of the README.

The asynchronous examples are in the reference pages; `test_pages.py` runs them. Notebooks are pages too.
"""

from __future__ import annotations

import doctest
import inspect
import re
from typing import TYPE_CHECKING, Any

import pytest
from checkout import ROOT
from doc_examples import renewed, run

from headland import groups

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


def examples() -> list[tuple[str, str]]:
    """List every example in the methods of the client as (method, source), lists also for the asynchronous client."""
    found = []
    for name, method, function in methods():
        if not name.startswith("Async"):
            parsed = doctest.DocTestParser().get_examples(inspect.getdoc(function) or "")
            assert parsed, f"{name}.{method} has no example"
            found += [(f"{name}.{method}", example.source) for example in parsed]
            if not inspect.iscoroutinefunction(getattr(getattr(groups, f"Async{name}"), method)):
                lists = [example.source.replace(" for ", " async for ") for example in parsed]
                found += [(f"Async{name}.{method}", source) for source in lists]
    return found


def methods() -> Iterator[tuple[str, str, Callable[..., object]]]:
    """Return every method of both clients with its class and its name."""
    for name, group in inspect.getmembers(groups, inspect.isclass):
        for method, function in inspect.getmembers(group, inspect.isfunction):
            if not method.startswith("_"):
                yield name, method, function


@pytest.mark.parametrize(("method", "source"), examples())
def test_every_docstring_example_runs(method: str, source: str, given: dict[str, Any], tmp_path: Path) -> None:
    run(source, renewed(given, tmp_path, method, source), asynchronous=method.startswith("Async"))


def test_docstring_of_an_asynchronous_method_names_its_twin() -> None:
    for name, method, function in methods():
        if name.startswith("Async"):
            kind = "coroutine" if inspect.iscoroutinefunction(function) else "list"
            summary = rf"Like `Client\.([a-z_]+\.)*{method}`, as a {kind}[^\n]*\."
            assert re.fullmatch(summary, inspect.getdoc(function) or ""), f"{name}.{method}"


def test_the_readme_is_short_and_its_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 100
    [block] = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len([line for line in block.splitlines() if line]) <= 8
    exec(block, {})
    assert {file.name for file in tmp_path.iterdir()} == {"job.parquet", "yield.svg"}


def test_every_file_that_the_readme_links_exists() -> None:
    links = re.findall(r"\]\(([^)]+)\)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert len(links) > 5
    assert [link for link in links if not (ROOT / link).exists()] == []
