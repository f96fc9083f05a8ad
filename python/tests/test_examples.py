"""Runs every example of the documentation: docstrings of the methods, the README, the notebooks.

The asynchronous examples are in the reference pages; `test_reference.py` runs them.
"""

from __future__ import annotations

import doctest
import inspect
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
import pytest
from doc_examples import renewed, run
from nbclient import NotebookClient

from headland import groups

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


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


def test_every_python_block_of_the_readme_runs(
    given: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    given["client"].job_data.download(given["job_id"], to=tmp_path / "job.zip")
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 5
    for block in blocks:
        exec(block, {})
    assert (tmp_path / "job.parquet").stat().st_size > 0
    assert (tmp_path / "job.geojson").stat().st_size > 0


@pytest.mark.timeout(300)
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the notebook machinery, which is not ours
def test_every_notebook_runs(path: Path, tmp_path: Path) -> None:
    notebook = nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)  # type: ignore[no-untyped-call]
    assert all(not cell.get("outputs") for cell in notebook.cells), "notebooks are kept without outputs"
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"
    NotebookClient(notebook, timeout=240, kernel_name="python3", resources={"metadata": {"path": tmp_path}}).execute()
    pictures = [str(output) for cell in notebook.cells for output in cell.get("outputs", []) if "<svg" in str(output)]
    assert pictures, "the notebook shows no map"


def test_there_are_notebooks() -> None:
    assert NOTEBOOKS
