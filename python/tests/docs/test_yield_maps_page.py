"""The true mean in `yield_maps.md`, and the errors in the summaries, from the example of the page.

`HEADLAND_GENERATE=1 python -m pytest python/tests/docs/test_yield_maps_page.py` writes them.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
from typing import TYPE_CHECKING, Any

import pytest
from checkout import DOCS, ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = DOCS / "yield_maps.md"
SUMMARIES = (ROOT / "README.md", DOCS / "how_we_know.md", ROOT / ".github" / "RELEASE.md")
"""Texts with the two errors."""


@pytest.fixture(scope="module")
def names() -> Iterator[dict[str, Any]]:
    """Run the blocks that the figures follow from."""
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    found: dict[str, Any] = {}
    for block in [*blocks[:2], blocks[-1]]:
        with contextlib.redirect_stdout(io.StringIO()) as shown:
            exec("\n".join(line for line in block.splitlines() if ".save(" not in line), found)
    found["errors"] = [f"{float(error):.2f}" for error in shown.getvalue().split()[1::2]]
    yield found
    found["client"].close()
    found["farm"].close()


def replaced(pattern: str, new: str, text: str) -> str:
    """Return the text with the only match replaced."""
    changed, count = re.subn(pattern, lambda _: new, text)
    assert count == 1, pattern
    return changed


def test_figures_of_the_page_and_of_the_summaries_are_those_of_the_example(names: dict[str, Any]) -> None:
    script, grid = names["errors"]
    truth = names["truth"]
    mean = f"{truth.dry_mass / truth.covered_area * 10_000:,.0f}"
    texts = {PAGE: replaced(r"(?<=The true mean of this field is )[\d,]+", mean, PAGE.read_text(encoding="utf-8"))}
    for path in SUMMARIES:
        summary = replaced(r"(?<=map is )\d\.\d\d", grid, path.read_text(encoding="utf-8"))
        texts[path] = replaced(r"(?<=of 3 standard deviations has )\d\.\d\d", script, summary)
    for path, text in texts.items():
        if os.environ.get("HEADLAND_GENERATE"):
            path.write_text(text, encoding="utf-8")
        assert path.read_text(encoding="utf-8").splitlines() == text.splitlines()
