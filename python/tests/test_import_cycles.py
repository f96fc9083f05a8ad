"""Import cycles of the package: no module imports itself through others, at import time or inside a function."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

import headland

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = Path(headland.__file__).parent

KNOWN = ({"headland.dask", "headland.mirror.dataset"},)
"""Known cycles that remain to be broken; a new one is an error."""


def name_of(path: Path) -> str:
    """Return the name of the module in a file."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """Yield the imports that run, in functions too; those for type checkers do not."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        elif isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            yield from imported(ast.Module(child.orelse, []))
        else:
            yield from imported(child)


class Sources:
    """The modules in files below a folder, and the modules that each one imports from."""

    def __init__(self, files: dict[str, Path]) -> None:
        self.files = files
        self.trees = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in files.items()}
        self.named = {name: dict(self.names(name)) for name in files}

    def names(self, module: str) -> Iterator[tuple[str, tuple[str, str | None]]]:
        """Return each imported name of a module with the module that it is from, and its name there."""
        is_package = self.files[module].name == "__init__.py"
        for node in imported(self.trees[module]):
            if isinstance(node, ast.Import):
                yield from ((alias.asname or alias.name, (alias.name, None)) for alias in node.names)
                continue
            source = node.module or ""
            if node.level:
                above = module.split(".")[: None if is_package and node.level == 1 else is_package - node.level]
                source = ".".join([*above, *filter(None, [node.module])])
            yield from ((alias.asname or alias.name, (source, alias.name)) for alias in node.names)

    def home(self, module: str, name: str | None) -> str | None:
        """Return the module that defines a name, through packages that re-export it; `None` if it is not in a file."""
        if name is None:
            return module if module in self.files else None
        if f"{module}.{name}" in self.files:
            return f"{module}.{name}"
        if module not in self.files:
            return None
        is_package = self.files[module].name == "__init__.py"
        if is_package and name in self.named[module]:
            return self.home(*self.named[module][name])
        is_compiled = is_package and (self.files[module].parent / f"{name}.pyi").exists()
        return None if is_compiled else module

    def imports(self, module: str) -> set[str]:
        """Return the modules that a module imports from; a package does not use names that it only re-exports."""
        used = {node.id for node in ast.walk(self.trees[module]) if isinstance(node, ast.Name)}
        is_package = self.files[module].name == "__init__.py"
        homes = {self.home(*origin) for name, origin in self.named[module].items() if not is_package or name in used}
        return {home for home in homes if home is not None} - {module}


def cycles(files: dict[str, Path]) -> list[set[str]]:
    """Return the groups of modules that import each other."""
    sources = Sources(files)
    direct = {module: sources.imports(module) for module in files}
    reached: dict[str, set[str]] = {}
    for module in files:
        found: set[str] = set()
        queue = [module]
        while queue:
            fresh = direct[queue.pop()] - found
            found |= fresh
            queue.extend(fresh)
        reached[module] = found
    groups = {frozenset(other for other in reached[module] if module in reached[other]) for module in files}
    return [set(group) for group in groups if group]


def test_modules_do_not_import_each_other_in_a_cycle() -> None:
    found = cycles({name_of(path): path for path in PACKAGE.rglob("*.py")})
    assert [group for group in found if group not in KNOWN] == []


def test_cycle_through_a_function_and_a_package_is_found(tmp_path: Path) -> None:
    texts = {
        "top": "from top.one import first\n",
        "top.one": "def first():\n    from . import two\n    return two\n",
        "top.two": "from top import first\n",
        "top.free": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from top import user\n",
        "top.user": "from top.free import TYPE_CHECKING\nimport top\n",
    }
    files = {}
    for name, text in texts.items():
        path = tmp_path / ("__init__.py" if name == "top" else f"{name}.py")
        path.write_text(text)
        files[name] = path
    assert cycles(files) == [{"top.one", "top.two"}]
