"""Every example of the documentation runs: docstrings of both clients, the README, the notebooks."""

from __future__ import annotations

import asyncio
import doctest
import inspect
import io
import os
import re
import textwrap
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
import pytest
from nbclient import NotebookClient

import headland as hl
from headland import groups

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def examples() -> list[tuple[str, str]]:
    """List every example in the methods of both clients as (method, source)."""
    found = []
    for name, group in inspect.getmembers(groups, inspect.isclass):
        for method, function in inspect.getmembers(group, inspect.isfunction):
            if not method.startswith("_"):
                parsed = doctest.DocTestParser().get_examples(inspect.getdoc(function) or "")
                assert parsed, f"{name}.{method} has no example"
                found += [(f"{name}.{method}", example.source) for example in parsed]
    return found


def shapefile(name: str = "example.zip") -> io.BytesIO:
    """Give the files of a shapefile, zipped, as the rules for a prescription ask."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for extension in ("shp", "shx", "dbf"):
            archive.writestr(f"example.{extension}", b"x")
    content.name = name
    content.seek(0)
    return content


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """Give what the examples speak of."""
    with (
        hl.Sandbox.demo(rate_limits=()) as service,
        hl.Client(**service.credentials, rate_limits=(), limiter_state="memory") as client,
    ):
        job_id = min(service.truth, key=lambda truth: truth["rows"])["job_id"]
        archive = io.BytesIO(client.job_data.download(job_id, format="BIN"))
        archive.name = "example.jdp.zip"
        cart_id = service.cart_truth[0]["id"]
        cart = io.BytesIO(client.grain_carts.download(cart_id))
        cart.name = "example.grc"
        map_id = client.prescription_maps.upload(shapefile())["id"]
        yield {
            "service": service,
            "client": client,
            "computer_id": next(iter(client.field_computers.list()))["id"],
            "hub_id": next(iter(client.field_hubs.list()))["id"],
            "job_id": job_id,
            "map_id": map_id,
            "archive": archive,
            "cart_id": cart_id,
            "cart": cart,
            "shapefile": shapefile(),
            "folder": tmp_path_factory.mktemp("examples"),
        }


@pytest.mark.parametrize(("method", "source"), examples())
def test_every_docstring_example_runs(method: str, source: str, given: dict[str, Any], tmp_path: Path) -> None:
    names = dict(given, folder=tmp_path)
    names["archive"].seek(0)
    names["cart"].seek(0)
    names["shapefile"].seek(0)
    if method.endswith("PrescriptionMaps.send"):
        # Each client sends a map of its own: one that is queued already would be a conflict.
        names["map_id"] = given["client"].prescription_maps.upload(shapefile(f"{method}.zip"))["id"]
    if not method.startswith("Async"):
        exec(source, names)
        return

    async def run() -> None:
        async with hl.AsyncClient(**given["service"].credentials, rate_limits=(), limiter_state="memory") as client:
            body = textwrap.indent(source, "    ")
            made: dict[str, Any] = {}
            exec(f"async def example():\n{body}", names | {"client": client}, made)
            await made["example"]()

    asyncio.run(run())


def test_every_python_block_of_the_readme_runs(
    given: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    given["client"].job_data.download(given["job_id"], to=tmp_path / "job.zip")
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 4
    for block in blocks:
        exec(block, {})
    assert (tmp_path / "job.parquet").stat().st_size > 0
    assert (tmp_path / "job.geojson").stat().st_size > 0


@pytest.mark.timeout(300)
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the notebook machinery, which we do not own
def test_every_notebook_runs(path: Path, tmp_path: Path) -> None:
    notebook = nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)  # type: ignore[no-untyped-call]
    assert all(not cell.get("outputs") for cell in notebook.cells), "notebooks are kept without outputs"
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"
    NotebookClient(notebook, timeout=240, kernel_name="python3", resources={"metadata": {"path": tmp_path}}).execute()
    pictures = [str(output) for cell in notebook.cells for output in cell.get("outputs", []) if "<svg" in str(output)]
    assert pictures, "the notebook shows no map"


def test_there_are_notebooks() -> None:
    assert NOTEBOOKS
