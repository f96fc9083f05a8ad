"""Counts words per sentence, long sentences and phrases to avoid in the README, the pages and the docstrings.

`python benches/count_words.py [--root FOLDER] [--list]`
"""

from __future__ import annotations

import argparse
import ast
import re
import statistics
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LONGEST = 30
"""Words that a sentence may have."""
SHORT = 9
"""Words up to which a sentence is a fragment, if many of them follow each other."""
PHRASES = (
    "to be had|nobody|whoever|whatever|side by side|hand over|put aside|goes on|tells of|told|at once|asks for"
    "|one after the other|as it stands|on the way|gives back|kept apart"
)
"""Phrases for which there is a standard term."""
MADE = {"_build", "notebooks", "reference", "tables"}
"""Folders of pages that are generated."""


def prose(text: str) -> str:
    """Return the sentences of a Markdown text or a docstring, without code, tables, headings and directives."""
    text = re.sub(r"^(`{3,}|:{3,}).*?^\1`*:*$", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^(#|\||>>>|\.\.\.|:|\(.*\)=|%).*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"\{[\w:]+\}`([^`<]*)[^`]*`", r"\1", text)
    text = re.sub(r"^\s*([-*]|\d+\.) ", "\n\n", text, flags=re.MULTILINE)
    return re.sub(r"`+[^`]*`+", "code", text.replace("**", ""))


def sentences(text: str) -> Iterator[list[str]]:
    """Yield the words of each sentence of a text; a paragraph ends a sentence."""
    for paragraph in re.split(r"\n\s*\n", prose(text)):
        for sentence in re.split(r"(?<=[.!?:])\s+(?=[A-Z(]|code\b)", " ".join(paragraph.split())):
            words = re.findall(r"[\w'-]+", sentence)
            if len(words) > 1 and sentence[-1:] in ".!?:":
                yield words


def docstrings(folder: Path) -> Iterator[str]:
    """Yield the docstrings of a package."""
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                text = ast.get_docstring(node)
                if text:
                    yield re.split(r"\n(?:Args|Attributes|Returns|Raises):\n", text)[0]


def texts(root: Path) -> dict[str, list[str]]:
    """Return the texts of each kind."""
    docs = root / "python" / "docs"
    pages = [page for page in sorted(docs.rglob("*.md")) if not MADE & set(page.parts) and page.name != "changelog.md"]
    return {
        "README": [(root / "README.md").read_text(encoding="utf-8")],
        "pages": [page.read_text(encoding="utf-8") for page in pages],
        "docstrings": list(docstrings(root / "python" / "headland")),
    }


def row(name: str, found: Iterable[str], *, is_listed: bool) -> str:
    """Return the figures of one kind of text as a row of a table."""
    found = list(found)
    all_sentences = [sentence for text in found for sentence in sentences(text)]
    lengths = [len(sentence) for sentence in all_sentences]
    phrases = [match[0] for text in found for match in re.finditer(rf"\b(?:{PHRASES})\b", prose(text), re.IGNORECASE)]
    if is_listed:
        for sentence in all_sentences:
            if len(sentence) > LONGEST:
                print(f"{len(sentence)} words: {' '.join(sentence)}")
        print(", ".join(sorted(set(phrases))))
    long, short = (sum(length > LONGEST for length in lengths), sum(length <= SHORT for length in lengths))
    return (
        f"| {name} | {len(lengths):,} | {statistics.mean(lengths):.1f} | {long / len(lengths):.1%} "
        f"| {short / len(lengths):.1%} | {len(phrases)} |"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, default=Path(__file__).parents[1])
    parser.add_argument("--list", action="store_true", help="also print long sentences and phrases")
    chosen = parser.parse_args()
    rows = [row(name, found, is_listed=chosen.list) for name, found in texts(chosen.root).items()]
    print(f"| text | sentences | mean words | above {LONGEST} | up to {SHORT} | phrases to avoid |")
    print("|---|---:|---:|---:|---:|---:|")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
