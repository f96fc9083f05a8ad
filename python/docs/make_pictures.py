"""Draws the pictures of the documentation from the data of the local service, as SVG files in `pictures`.

`before_after.svg` is committed, because the README shows it. All others are made by each build of the pages.
"""

from __future__ import annotations

import contextlib
import io
import re
import tempfile
import warnings
from pathlib import Path
from typing import Any

import headland as hl
from headland.layer.layer import Layer
from headland.layer.table_input import as_layer

FOLDER = Path(__file__).parent / "pictures"
NAMES = (
    *("logged", "cleaned", "reasons", "delay", "moisture"),
    *("first_map", "planting", "rates", "cells", "prescription", "zones"),
    *("machines", "strips", "years", "year", "harvest"),
)
"""The pictures that each build makes, next to `before_after`."""
GAP = 20
"""Units between pictures in a row."""
GUIDES = FOLDER.parent / "how_to"
ZONES, COMBINES = GUIDES / "zones_from_three_years.md", GUIDES / "several_combines.md"
STRIPS, YEARS = GUIDES / "yield_by_plot.md", GUIDES / "mean_by_field_and_year.md"
HARVEST = GUIDES / "map_a_harvest.md"
PRESCRIPTION = FOLDER.parent / "tutorials" / "prescription_and_back.md"
PAGES = [ZONES, COMBINES, STRIPS, YEARS, HARVEST, PRESCRIPTION]
"""Pages whose own code draws their pictures."""


def write(folder: Path = FOLDER) -> None:
    """Write all pictures, unless they are newer than the package; the committed one is written only if it changes."""
    folder.mkdir(exist_ok=True)
    if is_current([folder / f"{name}.svg" for name in NAMES], [Path(__file__), *PAGES]):
        return
    for name, svg in {**harvest(), **operations(), **prescriptions(), **guides()}.items():
        target = folder / f"{name}.svg"
        if name in NAMES or not target.exists() or target.read_text(encoding="utf-8") != svg:
            target.write_text(svg, encoding="utf-8")


def is_current(made: list[Path], sources: list[Path]) -> bool:
    """Return whether all files exist and are newer than their sources and the compiled package."""
    core = Path(hl.__file__).parent.glob("_core*")
    newest = max(path.stat().st_mtime for path in [*sources, *core])
    return all(path.exists() and path.stat().st_mtime > newest for path in made)


def harvest() -> dict[str, str]:
    """Draw a harvest as a machine logs it, and its map."""
    with hl.Sandbox.demo(harvest="logged", conversion_time=0) as service, service.client() as client:
        job = client.job_data.list().first()
        layer = hl.harmonize(client.job_data.read(job["id"]), job=client.job_data.get(job["id"]))
    cleaned = hl.clean(layer)
    logged, after = on_one_ground(cleaned), cleaned.map().svg
    return {
        "before_after": row([logged, after], 760 + GAP, 520, "A harvest as logged, and its map after cleaning"),
        "logged": logged,
        "cleaned": after,
        "reasons": cleaned.map("reasons").svg,
        "delay": cleaned.delay.plot().svg,
        "moisture": layer.plot("moisture").svg,
    }


def on_one_ground(cleaned: hl.Cleaned) -> str:
    """Draw the logged points on the ground of the cells, so that a field is at the same place in both maps."""
    cells = hl.grid(cleaned, 10.0)
    points = Layer(cleaned._core.before()).to_geopandas()  # noqa: SLF001 -- the rows of `cleaned.map("logged")`
    west, south, east, north = cells.to_geopandas().to_crs(points.crs).total_bounds
    rows = as_layer("layer", points.cx[west:east, south:north])
    rates = sorted(rate for rate in cells["yield_dry"] if rate is not None)
    low, high = rates[len(rates) // 50], rates[-len(rates) // 50]
    return rows.plot("logged", title="Stone_Hill_2026_Harvest", label="Yield as logged", vmin=low, vmax=high).svg


def operations() -> dict[str, str]:
    """Draw jobs of other kinds, and cells."""
    with hl.Sandbox.demo(conversion_time=0) as service, service.client() as client:
        found = [job for job in client.job_data.list() if job["name"].startswith("Stone Hill 2026")]
        jobs = {job["sub_type"]: job["id"] for job in found}
        layers = {kind: client.job_data.read(job_id) for kind, job_id in jobs.items()}
        details = {kind: client.job_data.get(job_id) for kind, job_id in jobs.items()}
    cells = hl.grid(hl.clean(layers["Yield"]), 40.0)
    return {
        "first_map": hl.harmonize(layers["Yield"], job=details["Yield"]).plot("yield_dry").svg,
        "planting": layers["Planter"].plot(title="Planting of Stone Hill 2026", label="Seeds").svg,
        "cells": cells.plot("yield_dry").svg,
    }


def prescriptions() -> dict[str, str]:
    """Run the code of two pages, and draw what it made."""
    zones, tutorial = of_page(ZONES), of_page(PRESCRIPTION)
    return {
        "zones": zones["rx"].layer.plot("RATE", title="Zones from three years", label="Rate").svg,
        "prescription": tutorial["rx"].layer.plot("RATE", title="A prescription of urea", label="Rate").svg,
        "rates": tutorial["comparison"]
        .layer.plot("rate_class", title="Target and applied rates", label="Applied, of the target")
        .svg,
    }


def guides() -> dict[str, str]:
    """Run the code of three guides, and draw what it made."""
    years = [each.svg for each in of_page(YEARS)["maps"]]
    cells = of_page(HARVEST)["cells"]
    return {
        "machines": of_page(COMBINES)["by_machine"].plot("machine").svg,
        "strips": of_page(STRIPS)["plots"].plot("yield_dry", title="Stone Hill 2026, four strips").svg,
        "harvest": cells.plot("yield_dry", title="Stone Hill 2026").svg,
        "year": years[0],
        "years": row(years, 400 + GAP, 380, "Maps of one field in three years"),
    }


def of_page(page: Path) -> dict[str, Any]:
    """Run the code of a page, and return its names."""
    names: dict[str, Any] = {}
    with (
        tempfile.TemporaryDirectory() as folder,  # where the page writes its files
        contextlib.chdir(folder),
        contextlib.redirect_stdout(io.StringIO()),
        warnings.catch_warnings(),
    ):
        for code in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
            exec(code, names)  # noqa: S102 -- it is a page of this documentation
    names["client"].close()
    names["service"].close()
    return names


def row(pictures: list[str], width: int, height: int, label: str) -> str:
    """Return one picture with several from left to right; `width` includes the gap to the next one."""
    inner = (
        svg.replace("<svg ", f'<svg x="{number * width}" height="{height}" preserveAspectRatio="xMidYMin" ', 1)
        for number, svg in enumerate(pictures)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {len(pictures) * width - GAP} {height}" role="img"'
        f' aria-label="{label}">\n<rect width="100%" height="100%" fill="#fff"/>\n' + "".join(inner) + "\n</svg>\n"
    )


if __name__ == "__main__":
    write()
