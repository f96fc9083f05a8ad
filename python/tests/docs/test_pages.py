"""The reference pages: built without warnings and without the network, every example run, all names documented."""

from __future__ import annotations

import code
import contextlib
import io
import json
import os
import posixpath
import re
import shlex
import signal
import subprocess
import sys
import warnings
from typing import TYPE_CHECKING, Any

import pytest
from checkout import DOCS, ROOT
from doc_examples import Block, blocks, opened, renewed, run, run_pasted, shapefile
from sphinx.util.inventory import InventoryFile

import headland as hl
from headland import _core, errors
from headland.cli import main
from headland.cli.main import _parser

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.timeout(900)  # building all pages takes a busy machine a while

MADE = {"_build", "notebooks"}
"""Folders that the build of the pages makes."""
PAGES = sorted(page for page in DOCS.rglob("*.md") if not MADE & set(page.parts))
CALLS = [page for page in PAGES if page.parent.name == "reference"]
"""Pages of calls: each example is independent. On other pages, the examples run from top to bottom."""


def name_of(page: Path) -> str:
    return page.relative_to(DOCS).as_posix()


def prepare(given: dict[str, Any], folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write the files that examples name to the working folder, and the keys to the environment."""
    monkeypatch.chdir(folder)
    for file in (given["archive"], given["cart"], shapefile()):
        (folder / file.name).write_bytes(file.getvalue())
    set_keys(given["service"], monkeypatch)


def set_keys(service: hl.Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {**service.credentials, "rate_limits": "", "limiter_state": "memory"}.items():
        monkeypatch.setenv(f"HEADLAND_{name.upper()}", str(value))


def run_block(page: Path, block: Block, names: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    if block.language == "python":
        run("\n" * (block.line - 1) + block.source, names, where=str(page))
        return
    for name, value in names.items():
        if name.endswith("_id"):
            monkeypatch.setenv(name.upper(), value)
    if "$BODY" in block.source:
        monkeypatch.setenv("BODY", json.dumps(body_of(block.source, names)))
    for line in block.source.splitlines():
        if line.startswith("$ "):
            command, *words = [os.path.expandvars(word) for word in shlex.split(line[2:])]
            assert command == "headland", f"{name_of(page)}:{block.line}: `{line}` cannot be run here"
            if words[0] == "sandbox":
                serve(words)
            else:
                assert main(words) == 0, f"{name_of(page)}:{block.line}: `{line}`"


def body_of(source: str, names: dict[str, Any]) -> dict[str, Any]:
    """Return the mapping that `$BODY` represents in a call."""
    completion: dict[str, Any] = names["completion_body"]
    if "equipment.assign" in source:
        return {"fieldOperationId": names["operation_id"]}
    if "legacy_orders." in source:
        return {"orderId": names["order_id"], "id": names["order_id"], "operator": "operator-2", **completion}
    return completion


def serve(words: list[str]) -> None:
    """Start the local service as a shell does, and interrupt it when it has printed its address."""
    with subprocess.Popen([sys.executable, "-m", "headland", *words], stdout=subprocess.PIPE, text=True) as started:
        assert started.stdout is not None
        assert "http://127.0.0.1:" in started.stdout.readline()
        started.send_signal(signal.SIGINT)
        started.stdout.read()
    assert started.returncode == 0


@pytest.mark.parametrize(
    ("page", "block"),
    [pytest.param(page, block, id=f"{name_of(page)}:{block.line}") for page in CALLS for block in blocks(page)],
)
@pytest.mark.usefixtures("capsys")
def test_every_example_of_a_call_runs(
    page: Path, block: Block, given: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(given, tmp_path, monkeypatch)
    run_block(page, block, renewed(given, tmp_path, f"{page.stem} {block.line}", block.source), monkeypatch)


class Prompt(code.InteractiveConsole):
    """The plain interpreter, which compiles what is pasted and runs nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.wrong: list[str] = []

    def runcode(self, code: object) -> None:
        """Run nothing."""

    def showsyntaxerror(self, *_: object, **__: object) -> None:
        """Keep the line that is refused."""
        self.wrong.append(self.buffer[-1])


def test_blocks_can_be_pasted_into_the_plain_interpreter() -> None:
    wrong: dict[str, list[str]] = {}
    for page in PAGES:
        for block in blocks(page):
            # Without top-level `await`, which only notebooks and `python -m asyncio` take.
            if block.language == "python" and is_plain(block.source):
                prompt = Prompt()
                for line in [*block.source.splitlines(), ""]:
                    prompt.push(line)
                wrong |= {f"{name_of(page)}:{block.line}": prompt.wrong} if prompt.wrong else {}
    assert wrong == {}, "an indented block ends with an empty line, and has none inside"


def is_plain(source: str) -> bool:
    """Return whether a block needs no event loop."""
    with contextlib.suppress(SyntaxError):
        compile(source, "<block>", "exec")
        return True
    return False


@pytest.mark.parametrize("page", [page for page in PAGES if page not in CALLS and blocks(page)], ids=name_of)
def test_the_examples_of_a_page_run_from_top_to_bottom(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_outputs(page, run_page(page, tmp_path, monkeypatch))


def run_page(page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[Block, str]]:
    """Run a page that is pasted from its first line. Shell commands use its service, if it is open, or else another."""
    monkeypatch.chdir(folder)
    names: dict[str, Any] = {"__name__": "__main__"}
    around: dict[str, Any] = {}
    shown = []
    with contextlib.ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings())
        for block in blocks(page):
            shell: dict[str, Any] = {}
            if block.language == "console" and isinstance(names.get("mirror"), hl.Mirror):
                set_keys(names["service"], monkeypatch)
            elif block.language == "console" or "from_env()" in re.sub("#.*", "", block.source):
                around = around or stack.enter_context(opened())
                prepare(around, folder, monkeypatch)
                shell = renewed(around, folder, f"{page.stem} {block.line}", block.source)
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                if block.language == "console":
                    run_block(page, block, shell, monkeypatch)
                else:
                    run_pasted("\n" * (block.line - 1) + block.source, names, str(page))
            shown.append((block, printed.getvalue()))
    return shown


WRITING = re.compile(r"\bto=\"|mkdir\(|\.write\(|write_[a-z]+\(|\.save\(|Mirror\(\"")
"""Code that writes files."""

LONG = {"mirror.md", "yield_maps.md"}
"""Pages that write files and take long; the mirror has a folder of its own, and maps are replaced."""


def test_pages_that_write_files_run_twice_and_after_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = [
        page
        for page in PAGES
        if page not in CALLS
        and page.name not in LONG
        and any(WRITING.search(block.source) for block in blocks(page) if block.language == "python")
        and all(block.language == "python" for block in blocks(page))
    ]
    assert {"dask.md", "resume.md", "s3.md", "send_prescription.md", "archives.md"} <= {page.name for page in pages}
    for page in [*pages, *pages]:
        check_outputs(page, run_page(page, tmp_path, monkeypatch))


def test_fixtures_and_test_of_the_page_run_in_files_of_their_own(tmp_path: Path) -> None:
    page = DOCS / "how_to" / "test_with_the_sandbox.md"
    for name, block in zip(("conftest.py", "test_total_mass.py"), blocks(page), strict=True):
        (tmp_path / name).write_text(block.source, encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(tmp_path),
        str(tmp_path),
    ]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=tmp_path)
    assert "1 passed" in done.stdout, done.stdout


def test_page_of_dask_runs_as_a_script(tmp_path: Path) -> None:
    text = "\n".join(block.source for block in blocks(DOCS / "how_to" / "dask.md"))
    (tmp_path / "page.py").write_text(text, encoding="utf-8")
    done = subprocess.run([sys.executable, "page.py"], check=False, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "3 tasks" in done.stdout.splitlines()[-1]


def check_outputs(page: Path, shown: list[tuple[Block, str]]) -> None:
    """Compare what a page shows with what its blocks printed; `HEADLAND_GENERATE=1` writes it."""
    stated = [(block, printed) for block, printed in shown if block.output is not None]
    if os.environ.get("HEADLAND_GENERATE"):
        text = page.read_text(encoding="utf-8")
        for block, printed in stated:
            fence = f"{block.source}```\n\n```output\n"
            text = text.replace(f"{fence}{block.output}", f"{fence}{printed}", 1)
        page.write_text(text, encoding="utf-8")
        return
    for block, printed in stated:
        assert printed.splitlines() == (block.output or "").splitlines(), f"{name_of(page)}:{block.line}"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the pages as `make docs` does."""
    target = tmp_path_factory.mktemp("docs")
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-n", "-q", DOCS, target],
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return target


@pytest.fixture(scope="module")
def documented(built: Path) -> set[str]:
    """Return the name of every documented Python object."""
    with (built / "objects.inv").open("rb") as inventory:
        found = InventoryFile.load(inventory, "", posixpath.join)
    return {name for kind in found if kind.startswith("py:") for name in found[kind]}


def test_nothing_is_fetched_from_elsewhere(built: Path) -> None:
    for page in built.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        fetched = re.findall(r"""<(?:script|link|img|iframe)\b[^>]*?(?:src|href)="((?:https?:)?//[^"]*)""", text)
        assert not fetched, f"{page.name} fetches {fetched}"


def test_every_notebook_is_a_page_with_its_outputs(built: Path) -> None:
    notebooks = sorted((ROOT / "notebooks").glob("*.ipynb"))
    assert len(notebooks) > 2
    for path in notebooks:
        assert '"outputs": []' in path.read_text(encoding="utf-8"), f"{path.name} is kept without outputs"
        page = (built / "notebooks" / f"{path.stem}.html").read_text(encoding="utf-8")
        opening, _, closing = page.partition('id="answer"')
        assert "<strong>Question:" in opening, path.name
        assert "highlight-output" in closing, path.name
        assert "<svg" in opening, f"{path.name} shows no map"


def test_the_navigation_of_each_kind_lists_all_its_pages() -> None:
    for kind, least in (("tutorials", 5), ("how_to", 35), ("explanation", 8)):
        index = (DOCS / kind / "index.md").read_text(encoding="utf-8")
        pages = {page.stem for page in (DOCS / kind).glob("*.md")} - {"index"}
        assert {page for page in pages if not re.search(rf"\b{page}\b", index)} == set()
        assert len(re.findall(r"\{doc\}", index)) >= least


def test_every_call_of_the_table_has_its_section(documented: set[str]) -> None:
    assert {f"client.{name}" for name in _core.rows()} <= documented


def test_every_public_name_is_documented(documented: set[str]) -> None:
    assert {f"headland.{name}" for name in hl.__all__} <= documented


def test_every_exception_is_documented_and_in_the_table_of_errors(documented: set[str]) -> None:
    # The duplicates of built-in classes, which are caught both ways, have their names.
    named = {kind.__name__ for kind in errors.HeadlandError.__subclasses__()} - {"HeadlandError"}
    kinds = {name for name in named if not name.startswith("_")}
    assert {f"headland.{kind}" for kind in kinds} <= documented
    table = (DOCS / "rules/errors.md").read_text(encoding="utf-8")
    assert {kind for kind in kinds if f"`~headland.{kind}`" not in table} == set()


def known(message: str) -> Iterator[str]:
    """Return the names that a message lists after its last "of"."""
    yield from message.rpartition(" of ")[2].split(", ")


def test_every_fault_and_every_variant_is_in_the_page_of_the_local_service(built: Path) -> None:
    page = (built / "sandbox.html").read_text(encoding="utf-8")
    with hl.Sandbox() as service, pytest.raises(ValueError, match="is not a fault") as fault:
        service.faults.add(endpoint="*", kind="gremlins")
    with pytest.raises(ValueError, match="is not a variant") as variant:
        hl.Sandbox(variants=["tame"])
    names = [*known(str(fault.value)), *known(str(variant.value))]
    assert len(names) > 30
    first_cells = set(re.findall(r"<tr[^>]*><td><p><code[^>]*><span[^>]*>([^<]*)</span></code></p></td>", page))
    assert set(names) - first_cells == set()


def test_every_verb_is_in_the_page_of_the_command_line() -> None:
    page = (DOCS / "command_line.md").read_text(encoding="utf-8")
    verbs = re.search(r"verbs:\n.*?\n\n", _parser().format_help(), re.DOTALL)
    assert verbs is not None
    listed = re.findall(r"^    (\w+)  ", verbs[0], re.MULTILINE)
    assert len(listed) > 8
    assert [verb for verb in listed if f"| `headland {verb}" not in page] == []


def test_the_names_of_examples_are_explained(given: dict[str, Any]) -> None:
    overview = (DOCS / "reference/index.md").read_text(encoding="utf-8")
    assert [name for name in given if f"`{name}`" not in overview] == []
