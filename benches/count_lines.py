"""Counts the lines of code by module: without blank lines, comments, docstrings, tests and generated files."""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GENERATED = "# Generated from"
TEST_FILES = {"tests.rs"}


def rust(text: str) -> int:
    """Count the lines of a Rust file without the modules behind `#[cfg(test)]`."""
    count, depth, is_skipping, in_block = 0, 0, False, False
    for line in map(str.strip, text.splitlines()):
        if in_block:
            in_block = "*/" not in line
            continue
        if line.startswith("/*"):
            in_block = "*/" not in line
            continue
        if not line or line.startswith("//"):
            continue
        if line == "#[cfg(test)]":
            is_skipping, depth = True, 0
            continue
        if is_skipping:
            # Braces in texts do not count.
            code = re.sub(r"'[{}]'|\"(?:\\.|[^\"\\])*\"", "", line)
            depth += code.count("{") - code.count("}")
            if depth == 0 and code.endswith(("}", ";")):
                is_skipping = False
            continue
        count += 1
    return count


def python(text: str) -> int:
    """Count the lines of code of a Python file."""
    if text.startswith(GENERATED):
        return 0
    lines = {number for number, line in enumerate(text.splitlines(), 1) if (code := line.strip()) and code[0] != "#"}
    for node in ast.walk(ast.parse(text)):
        is_text = (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        )
        if is_text:
            lines -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)


def counted(root: Path) -> Counter[str]:
    """Count the lines of each module below `src` and of the package."""
    found: Counter[str] = Counter()
    for path in sorted((root / "src").rglob("*.rs")):
        if path.name in TEST_FILES:
            continue
        parts = path.relative_to(root / "src").parts
        found[f"src/{parts[0]}"] += rust(path.read_text(encoding="utf-8"))
    for path in sorted((root / "python/headland").rglob("*.py")):
        parts = path.relative_to(root / "python/headland").parts
        found[f"headland/{parts[0] if len(parts) > 1 else '*.py'}"] += python(path.read_text(encoding="utf-8"))
    return found


def main() -> None:
    """Print the lines of each module, the sums, and the number of files that name the option `to_crs`."""
    root = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT
    lines = counted(root)
    for module, count in sorted(lines.items()):
        print(f"{module:28}{count:8,}")
    for name, start in (("src", "src/"), ("package, by hand", "headland/")):
        print(f"{name:28}{sum(count for module, count in lines.items() if module.startswith(start)):8,}")
    sources = [*(root / "src").rglob("*.rs"), *(root / "python/headland").rglob("*.py")]
    naming = sum("to_crs" in path.read_text(encoding="utf-8") for path in sources)
    print(f"{'files that name `to_crs`':28}{naming:8,}")


if __name__ == "__main__":
    main()
