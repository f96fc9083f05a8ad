"""Import cycles of the package: no module imports itself through others, in a function or for type checkers either."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

import headland

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = Path(headland.__file__).parent


def name_of(path: Path, package: Path) -> str:
    """Return the name of the module in a file."""
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def names(tree: ast.AST, package: str) -> Iterator[tuple[str, str | None]]:
    """Return each module that is imported from, and the name imported; `package` is that of relative imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: 1 - node.level or None] if node.level else []
            source = ".".join([*above, *filter(None, [node.module])])
            yield from ((source, alias.name) for alias in node.names)


def imports(package: Path) -> dict[str, set[str]]:
    """Return the modules that each module imports, in functions and for type checkers too."""
    files = {name_of(path, package): path for path in package.rglob("*.py")}
    # A compiled module imports nothing, although its stub does.
    compiled = {name_of(path, package) for path in package.rglob("*.pyi")} - {*files}
    found = {}
    for module, path in files.items():
        parent = module if path.name == "__init__.py" else module.rpartition(".")[0]
        named = names(ast.parse(path.read_text(encoding="utf-8")), parent)
        homes = {f"{source}.{name}" if f"{source}.{name}" in {*files, *compiled} else source for source, name in named}
        found[module] = homes & {*files} - {module}
    return found


def cycles(package: Path) -> list[set[str]]:
    """Return the groups of modules that import each other."""
    direct = imports(package)
    reached: dict[str, set[str]] = {}
    for module in direct:
        found: set[str] = set()
        queue = [module]
        while queue:
            fresh = direct[queue.pop()] - found
            found |= fresh
            queue.extend(fresh)
        reached[module] = found
    groups = {frozenset(other for other in reached[module] if module in reached[other]) for module in direct}
    return sorted((set(group) for group in groups if group), key=sorted)


def test_modules_do_not_import_each_other_in_a_cycle() -> None:
    assert len(imports(PACKAGE)) > 100
    assert cycles(PACKAGE) == []


def test_cycles_through_functions_packages_and_types_are_found(tmp_path: Path) -> None:
    texts = {
        "__init__": "from top.one import first\n",
        "one": "def first():\n    from . import two\n    return two\n",
        "two": "import top as t\n",
        "free": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from top import user\n",
        "user": "from .free import TYPE_CHECKING\n",
        "alone": "from top import core, user\n",
    }
    package = tmp_path / "top"
    package.mkdir()
    for name, text in texts.items():
        (package / f"{name}.py").write_text(text)
    (package / "core.pyi").write_text("from top.alone import user\n")
    assert cycles(package) == [{"top", "top.one", "top.two"}, {"top.free", "top.user"}]
