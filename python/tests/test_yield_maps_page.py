"""The figures of `python/docs/yield_maps.md` and of the README, from the example of the page."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import headland as hl

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "python" / "docs" / "yield_maps.md").read_text(encoding="utf-8")
README = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())


@pytest.fixture(scope="module")
def names() -> Any:
    """Run the blocks that the figures follow from."""
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    found: dict[str, Any] = {}
    for block in [*blocks[:2], blocks[-1]]:
        with contextlib.redirect_stdout(io.StringIO()) as shown:
            exec("\n".join(line for line in block.splitlines() if ".save(" not in line), found)
    found["shown"] = shown.getvalue().split()
    yield found
    found["client"].close()
    found["farm"].close()


def test_report_of_the_page_is_that_of_the_example(names: dict[str, Any]) -> None:
    cleaned: hl.Cleaned = names["cleaned"]
    rows = cleaned.report.to_pandas()
    made = [
        f"| `{row.reason}` | {row.rows:,} | {row.kg:,.0f} | {row.ha:.2f} "
        f"| {row.yield_without:,.0f} | {row.yield_with:,.0f} | {row.only:,} |".replace("nan", "")
        for row in rows[rows["kg"] >= 20].itertuples()
    ]
    table = PAGE[PAGE.index("## Report") : PAGE.index("## Recipes")]
    assert [line for line in table.splitlines() if line.startswith("| `")] == made, "\n".join(made)


def test_errors_of_the_page_are_those_of_the_example(names: dict[str, Any]) -> None:
    stated = re.search(r"the script is (\S+) and that of `hl.grid` is (\d\.\d+)", PAGE)
    assert stated
    assert [f"{float(value):.2f}" for value in names["shown"][1::2]] == list(stated.groups())
    assert (
        "map is {1} standard deviations. The usual filter of 3 standard deviations has {0}.".format(*stated.groups())
        in README
    )
    truth = names["truth"]
    assert f"The true mean is {truth.dry_mass / truth.covered_area * 10_000:,.0f} kg/ha" in PAGE.replace("\n", " ")
