"""Runs the notebooks of the repository and writes them as pages with their outputs, into `notebooks`."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from make_pictures import is_current
from nbclient import NotebookClient

SOURCES = Path(__file__).parents[2] / "notebooks"
TARGET = Path(__file__).parent / "notebooks"


def write(target: Path = TARGET) -> None:
    """Write the page of each notebook; a cell that fails ends the build with its traceback."""
    target.mkdir(exist_ok=True)
    for path in sorted(SOURCES.glob("*.ipynb")):
        made = target / f"{path.stem}.md"
        if not is_current([made], [path, Path(__file__)]):
            made.write_text(page(executed(path)), encoding="utf-8")


def executed(path: Path) -> Any:
    """Return a notebook with the outputs of its cells, run in an empty folder."""
    notebook = nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)
    quiet = ["--Application.log_level=ERROR"]
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        resources = {"metadata": {"path": folder}}
        return NotebookClient(
            notebook, timeout=240, kernel_name="python3", extra_arguments=quiet, resources=resources
        ).execute()


def page(notebook: Any) -> str:
    """Return a notebook as Markdown: its texts, its code, and what its cells showed."""
    parts = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
        elif cell.cell_type == "code":
            parts.append(f"```python\n{cell.source}\n```")
            parts += [shown for shown in map(output, cell.outputs) if shown]
    return "\n\n".join(parts) + "\n"


def output(shown: Any) -> str:
    """Return an output of a cell as Markdown: pictures and tables as HTML, all else as text."""
    if shown.output_type == "stream":
        return printed(shown.text) if shown.name == "stdout" else ""
    data = shown.get("data", {})
    if "text/html" in data:
        html = data["text/html"]
    elif "image/svg+xml" in data:
        html = data["image/svg+xml"]
    elif "image/png" in data:
        html = f'<img alt="" src="data:image/png;base64,{data["image/png"].strip()}">'
    else:
        return printed(data.get("text/plain", ""))
    # Without empty lines, the source of the page stays readable.
    lines = "\n".join(line for line in html.splitlines() if line.strip())
    return f'`````{{raw}} html\n<div class="cell-output">\n{lines}\n</div>\n`````'


def printed(text: str) -> str:
    """Return a text as a block, without bars of progress, which are replaced where they are shown."""
    is_progress = re.search(r"\d%\|.*\|", text)
    return "" if is_progress else f"```output\n{text.rstrip()}\n```"
