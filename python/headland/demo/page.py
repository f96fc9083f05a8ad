"""Writes the page with every map and a table of the jobs. It needs no network and no script."""

from __future__ import annotations

from html import escape
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from .pull import Pulled

__all__ = ["write_page"]

STYLE = """
:root { color-scheme: light; --ink: #1d2b26; --soft: #5c6b64; --line: #dde4df; --paper: #fbfcfa; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1180px; padding: 2.5rem 1.5rem 4rem; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, "Segoe UI", Roboto, sans-serif; }
h1 { font-size: 1.9rem; margin: 0 0 .3rem; letter-spacing: -.01em; }
h2 { font-size: 1.15rem; margin: 2.6rem 0 .8rem; }
p.lead { color: var(--soft); margin: 0 0 1.6rem; max-width: 60rem; }
table { border-collapse: collapse; width: 100%; font-size: .86rem; font-variant-numeric: tabular-nums; }
th { text-align: left; color: var(--soft); font-weight: 600; }
th, td { padding: .34rem .7rem .34rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td.number, th.number { text-align: right; }
.maps { display: grid; grid-template-columns: repeat(auto-fill, minmax(460px, 1fr)); gap: 1.1rem; }
figure { margin: 0; background: #fff; border: 1px solid var(--line); border-radius: 8px; padding: .6rem; }
figure img { width: 100%; height: auto; display: block; }
figcaption { font-size: .8rem; color: var(--soft); padding: .4rem .2rem 0; }
a { color: #1c6b4a; }
.ok { color: #1c6b4a; } .problem { color: #9a3412; }
"""

HEAD = ("job", "kind", "rows", "area", "total", "calls", "time", "files")
NUMBERS = {"rows", "area", "total", "calls", "time"}


def write_page(out: Path, pulled: list[Pulled], *, calls: int, seconds: float) -> Path:
    """Write `index.html` next to the files that it shows, and return its path."""
    mapped = [job for job in pulled if job.picture is not None]
    rows = sum(job.rows for job in pulled)
    checked = [job for job in pulled if job.agrees is not None]
    agreeing = sum(job.agrees is True for job in checked)
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>",
        "<meta name='viewport' content='width=device-width, initial-scale=1'>",
        f"<title>headland: every field on a map</title><style>{STYLE}</style></head><body>",
        "<h1>Every field on a map</h1>",
        f"<p class='lead'>{len(mapped)} of {len(pulled)} jobs mapped, {rows:,} rows, ",
        f"{calls:,} calls, {seconds:.0f} s. ",
        f"The totals of {agreeing} of {len(checked)} generated jobs, summed from the layers, ",
        "equal the generator's truth within one part in a million (✓).</p>",
    ]
    ordered = sorted(mapped, key=lambda job: job.field)
    for name, jobs in groupby(ordered, key=lambda job: job.field):
        parts.append(f"<h2>{escape(name)}</h2><div class='maps'>{''.join(map(figure, jobs))}</div>")
    parts.append(f"<h2>What was pulled</h2>{table(pulled)}</body></html>")
    page = out / "index.html"
    page.write_text("".join(parts), encoding="utf-8")
    return page


def figure(job: Pulled) -> str:
    """Return one map with its caption and links to its files."""
    links = " · ".join(f"<a href='{escape(name)}'>{escape(name.rsplit('.', 1)[-1])}</a>" for name in job.files)
    alt = escape(f"Map of {job.name}")
    caption = f"{escape(job.name)}, {job.rows:,} rows · {links}"
    return f"<figure><img src='{escape(job.picture or '')}' alt='{alt}'><figcaption>{caption}</figcaption></figure>"


def table(pulled: Iterable[Pulled]) -> str:
    """Return the table of all jobs, with the reason for jobs without a map."""
    head = "".join(f"<th{number(name)}>{name}</th>" for name in HEAD)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(map(line, pulled))}</tbody></table>"


def number(name: str) -> str:
    """Return the class attribute of a number column."""
    return " class='number'" if name in NUMBERS else ""


def line(job: Pulled) -> str:
    """Return one row of the table."""
    start = f"<tr><td>{escape(job.name)}</td><td>{escape(job.kind)}</td>"
    if job.problem is not None:
        return f"{start}<td colspan='6' class='problem'>{escape(job.problem)}</td></tr>"
    cells = {
        "rows": f"{job.rows:,}",
        "area": f"{job.area / 10_000:,.1f} ha" if job.area is not None else "",
        "total": total(job),
        "calls": str(job.calls),
        "time": f"{job.seconds:.1f} s",
        "files": " ".join(f"<a href='{escape(name)}'>{escape(name.rsplit('.', 1)[-1])}</a>" for name in job.files),
    }
    return start + "".join(f"<td{number(name)}>{cell}</td>" for name, cell in cells.items()) + "</tr>"


def total(job: Pulled) -> str:
    """Return the harvested, planted or applied quantity, and whether the generator agrees."""
    if job.total is None:
        return ""
    label, value, unit = job.total
    mark = (
        ""
        if job.agrees is None
        else (" <span class='ok'>✓</span>" if job.agrees else " <span class='problem'>✗</span>")
    )
    return f"{escape(label)} {value:,.0f} {escape(unit)}{mark}"
