"""The comparison of archive readers runs every task, and the pages of figures show what commands measure."""

import re
import subprocess
import sys
from pathlib import Path

from checkout import ROOT

BENCHES = ROOT / "benches"


def test_comparison_of_readers_runs_and_writes_its_table(tmp_path: Path) -> None:
    table = tmp_path / "race.md"
    command = [sys.executable, str(BENCHES / "archives.py"), "--short", "--markdown", str(table)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=110, check=False)
    assert done.returncode == 0, done.stderr
    rows = [line.split("|") for line in table.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    tasks = [row[1].strip() for row in rows[1:]]
    assert len(tasks) == len(set(tasks)) * 2 == 10, "five tasks, from points and from polygons"
    assert all(float(row[5]) > 0 for row in rows[1:])


def test_page_of_benchmarks_shows_only_measured_figures() -> None:
    def table(path: Path, width: int) -> list[list[str]]:
        lines = path.read_text(encoding="utf-8").splitlines()
        cells = [
            [cell.strip() for cell in line.strip("|").split("|")][:width] for line in lines if line.startswith("| ")
        ]
        return [row for row in cells if row[1].endswith(("points", "polygons", "rows"))]

    measured, shown = table(BENCHES / "archives.md", 5), table(BENCHES.parent / "python/docs/benchmarks.md", 5)
    assert len(shown) > 5
    assert [row for row in shown if row not in measured] == []


def test_commands_of_the_pages_of_figures_name_files_that_exist() -> None:
    pages = [BENCHES.parent / "python/docs" / name for name in ("benchmarks.md", "how_we_know.md")]
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    named = set(re.findall(r"\b(?:benches|python/tests(?:/\w+)?)/\w+\.(?:py|md)", text))
    assert len(named) > 20
    assert [name for name in sorted(named) if not (BENCHES.parent / name).exists()] == []
    bench = (BENCHES.parent / "Makefile").read_text(encoding="utf-8").partition("\nbench:")[2].partition("\nsoak:")[0]
    scripts = {Path(name).stem for name in named if name.startswith("benches/") and name.endswith(".py")}
    assert [script for script in sorted(scripts) if not re.search(rf"\b{script}\b", bench)] == []
