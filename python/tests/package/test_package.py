"""Properties of the package: names, version, types."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
import tomllib
import typing
from importlib import metadata, resources
from pathlib import Path

from checkout import ROOT

import headland as hl
from headland import _core, groups
from headland.archives import ReadOptions


def test_all_is_sorted_and_complete() -> None:
    public = {name for name, value in vars(hl).items() if not name.startswith("_") and not inspect.ismodule(value)}
    assert hl.__all__ == sorted(hl.__all__)
    assert set(hl.__all__) - {"__version__"} == public


def test_the_version_is_that_of_the_distribution() -> None:
    assert hl.__version__ == metadata.version("headland")


def test_files_of_a_release_state_the_version() -> None:
    stated = {
        "CITATION.cff": f"\nversion: {hl.__version__}\n",
        ".github/conda/meta.yaml": f'version = "{hl.__version__}"',
        "CHANGELOG.md": f"\n## [{hl.__version__}] - ",
    }
    assert [name for name, text in stated.items() if text not in (ROOT / name).read_text(encoding="utf-8")] == []


def test_importing_needs_no_other_package() -> None:
    program = (
        "import sys; before = set(sys.modules); import headland\n"
        "print(*sorted({name.partition('.')[0] for name in set(sys.modules) - before}))"
    )
    loaded = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout.split()
    assert {name for name in loaded if name not in sys.stdlib_module_names} == {"headland"}


def test_nothing_is_required_at_run_time() -> None:
    required = metadata.requires("headland") or []
    assert [line for line in required if "extra ==" not in line] == []


def test_each_extra_is_described() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    page = (ROOT / "python/docs/install.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == set(extras)


def test_texts_name_no_file_of_a_checkout() -> None:
    path = re.compile(r"\b(?:python/docs|notebooks|benches|tests)/|\w\.md\b")
    folder = Path(hl.__file__).parent
    trees = {file: ast.parse(file.read_text(encoding="utf-8")) for file in folder.rglob("*.py")}
    nodes = [(file.name, node) for file, tree in trees.items() for node in ast.walk(tree)]
    texts = [(name, node.value) for name, node in nodes if isinstance(node, ast.Constant)]
    assert [(name, text) for name, text in texts if isinstance(text, str) and path.search(text)] == []


def test_type_hints_of_functions_resolve_without_other_packages() -> None:
    functions = {name: value for name, value in vars(hl).items() if inspect.isfunction(value) and name in hl.__all__}
    # A frame of pandas, which headland does not import.
    del functions["write_parquet"]
    assert all("return" in typing.get_type_hints(function) for function in functions.values())
    assert "columns" in typing.get_type_hints(ReadOptions)


def test_the_package_is_typed() -> None:
    assert resources.files("headland").joinpath("py.typed").is_file()


def test_the_extension_is_stripped_and_names_no_path_of_the_build() -> None:
    path = Path(_core.__file__)
    content = path.read_bytes()
    # 3 MB of it read Parquet: the core reads the rows of a mirror.
    assert len(content) < 21_500_000, f"{path.name} has {len(content):,} bytes"
    assert b".symtab" not in content, "it is not stripped"
    found = [path for path in (ROOT, Path.home()) if len(path.parts) > 1 and f"{path}/".encode() in content]
    assert found == []


def test_both_clients_have_a_method_for_every_row(client: hl.Client, service: hl.Sandbox) -> None:
    twin = hl.AsyncClient(**service.credentials, rate_limits=())
    for row in _core.rows():
        for instance in (client, twin):
            method = instance
            for part in row.split("."):
                method = getattr(method, part)
            assert inspect.getdoc(method), row


def test_the_twins_have_the_same_methods_with_the_same_arguments() -> None:
    for name, cls in inspect.getmembers(groups, inspect.isclass):
        if name.startswith("Async"):
            continue
        twin = getattr(groups, f"Async{name}")
        for method, function in inspect.getmembers(cls, inspect.isfunction):
            if method != "__init__":
                arguments = inspect.signature(function).parameters
                assert inspect.signature(getattr(twin, method)).parameters == arguments, f"{name}.{method}"
