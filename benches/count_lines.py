"""Counts the lines of code by module: without blank lines, comments, docstrings, tests and generated files."""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GENERATED = "# Generated from"
# Comments, and texts and characters, whose braces do not count.
RUST_TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|r(?P<hashes>\#*)".*?"(?P=hashes)|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])'""", re.DOTALL
)


def rust(text: str) -> int:
    """Count the lines of a Rust file without the modules behind `#[cfg(test)]`."""

    def clean(token: re.Match[str]) -> str:
        return "\n" * token[0].count("\n") if token[0].startswith("/") else re.sub("[{}]", "", token[0])

    count, depth, is_skipping = 0, 0, False
    for line in filter(None, map(str.strip, RUST_TOKEN.sub(clean, text).splitlines())):
        if line.startswith(("#[cfg(test)]", "#[cfg(all(test,")):
            is_skipping, depth = True, 0
        elif is_skipping:
            depth += line.count("{") - line.count("}")
            is_skipping = depth > 0 or not line.endswith(("}", ";"))
        else:
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
        if path.stem == "tests" or path.stem.endswith("_tests"):
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
    rust_lines = sum(count for module, count in lines.items() if module.startswith("src/"))
    for name, count in (
        ("src", rust_lines),
        ("src without agronomy", rust_lines - lines["src/agronomy"]),
        ("package, by hand", sum(lines.values()) - rust_lines),
    ):
        print(f"{name:28}{count:8,}")
    sources = [*(root / "src").rglob("*.rs"), *(root / "python/headland").rglob("*.py")]
    naming = sum("to_crs" in path.read_text(encoding="utf-8") for path in sources)
    print(f"{'files that name `to_crs`':28}{naming:8,}")


if __name__ == "__main__":
    main()
