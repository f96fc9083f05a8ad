"""One corn harvest that a display exported five ways: cleaned ground, totals and maps must agree."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from checkout import CORPUS
from driven_rows import values

import headland as hl

FOLDER = CORPUS / "everyday"

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason=f"no corpus at {FOLDER}: set HEADLAND_CORPUS")

EXPORTS = ("point-each-section", "point-each-sensor", "point-onehertz", "polygon-each-sensor", "polygon-onehertz")

PARTS_OF_A_SECOND = ("point-each-section", "point-each-sensor", "polygon-each-sensor")
"""Exports with a row for each part of the header and second."""

STATED_WIDTHS = tuple(name for name in EXPORTS if name != "point-onehertz")
"""Exports that log the width that was cut. The other one logs the full width, also where nothing is cut."""

POLYGON_GROUND = {"polygon-each-sensor": 38_122.0, "polygon-onehertz": 38_137.0}
"""Area of the logged polygons in m2, a fact of the files."""


class Export(NamedTuple):
    """A cleaned export: its rows, and its map of 10 m by column and line."""

    cleaned: hl.Cleaned
    rows: pd.DataFrame
    cells: pd.DataFrame


@pytest.fixture(scope="module")
def exports() -> dict[str, Export]:
    """Return the five exports. The display has shifted the flow, so the right delay is 0."""
    found = {}
    for name in EXPORTS:
        layer = hl.harmonize(hl.read(FOLDER / f"harvest-{name}.zip"), kind="yield")
        cleaned = hl.clean(layer, delay=0.0, moisture_delay=0.0)
        found[name] = Export(cleaned, values(cleaned.layer), cells(hl.grid(cleaned, 10.0)))
    return found


def cells(grid: hl.Layer) -> pd.DataFrame:
    """Return a map by column and line of its cells."""
    frame = grid.to_geopandas()
    corners = np.round(frame.geometry.bounds[["minx", "miny"]].to_numpy() / 10.0)
    return pd.DataFrame(frame.drop(columns="geometry")).set_index(pd.MultiIndex.from_arrays(corners.T))


def differences(one: pd.DataFrame, other: pd.DataFrame) -> np.ndarray:
    """Return how the yields of cells differ that are mostly worked, in standard deviations of the field."""
    both = one.join(other.add_suffix("_other"), how="inner")
    both = both[(both["share"] > 0.5) & (both["share_other"] > 0.5)].dropna(subset=["yield_wet", "yield_wet_other"])
    assert len(both) > 350
    return np.asarray((both["yield_wet"] - both["yield_wet_other"]) / both["yield_wet"].std())


def is_near(found: dict[str, float], part: float) -> bool:
    """Return whether all values are within a part of their median."""
    middle = float(np.median(list(found.values())))
    return all(abs(value / middle - 1) < part for value in found.values())


def test_covered_ground_of_five_exports_agrees(exports: dict[str, Export]) -> None:
    ground = {name: export.rows["m2"].sum() for name, export in exports.items()}
    assert is_near(ground, 0.0025), ground
    for name, area in POLYGON_GROUND.items():
        assert ground[name] == pytest.approx(area, rel=0.002), name


def test_covered_ground_without_a_stated_delay_agrees_where_the_cut_width_is_logged() -> None:
    ground = {}
    for name in STATED_WIDTHS:
        layer = hl.harmonize(hl.read(FOLDER / f"harvest-{name}.zip"), kind="yield")
        ground[name] = layer.covered_area()
    assert is_near(ground, 0.0025), ground


def test_delay_of_each_export_is_refused_with_a_reason() -> None:
    # Few long passes on a uniform field: no pattern moves apart with a wrong shift.
    for name in EXPORTS[1:3]:
        cleaned = hl.clean(hl.harmonize(hl.read(FOLDER / f"harvest-{name}.zip"), kind="yield"))
        assert cleaned.delay.seconds is None
        assert any(why in str(cleaned.delay.reason) for why in ("contrast", "end of the range", "disagree"))
        assert "not-shifted" in {found.code for found in cleaned.layer.diagnostics}
        assert not values(cleaned.layer)["flow_shifted"].isna().all()


def test_mass_of_rows_agrees(exports: dict[str, Export]) -> None:
    mass = {name: export.rows["kg"].sum() for name, export in exports.items()}
    assert is_near(mass, 0.0025), mass


def test_mean_yield_on_all_covered_ground_agrees(exports: dict[str, Export]) -> None:
    for column in ("kg_wet", "kg_dry"):
        mass = {
            name: sums[column] / sums["m2"] * sums["covered"]
            for name, sums in ((name, export.cells.sum()) for name, export in exports.items())
        }
        assert is_near(mass, 0.005), (column, mass)


def test_map_of_each_export_holds_the_mass_of_its_used_rows(exports: dict[str, Export]) -> None:
    for name, export in exports.items():
        rated = export.rows["used"] & export.rows["yield_wet"].notna()
        assert export.cells["kg_wet"].sum() == pytest.approx(export.rows["kg"][rated].sum(), rel=1e-9), name
        assert export.cells["covered"].sum() == pytest.approx(export.rows["m2"].sum(), rel=1e-9), name


def test_totals_on_maps_agree(exports: dict[str, Export]) -> None:
    mass = {name: export.cells["kg_wet"].sum() for name, export in exports.items()}
    assert is_near(mass, 0.0075), mass


def test_maps_of_sections_and_sensors_agree_as_points_and_as_polygons(exports: dict[str, Export]) -> None:
    for one, other in combinations(PARTS_OF_A_SECOND, 2):
        apart = differences(exports[one].cells, exports[other].cells)
        assert np.sqrt((apart**2).mean()) < 0.01, (one, other)


def test_nearly_all_cells_agree_within_a_twentieth_of_the_deviation_of_the_field(exports: dict[str, Export]) -> None:
    """In the others, few rows are left: their neighbours in a hot spot are flagged."""
    for one, other in combinations(EXPORTS, 2):
        apart = np.sort(np.abs(differences(exports[one].cells, exports[other].cells)))
        assert (apart < 0.05).mean() > 0.94, (one, other)
        most = apart[: round(0.98 * len(apart))]
        assert np.sqrt((most**2).mean()) < 0.03, (one, other)


def test_most_cells_of_all_exports_agree(exports: dict[str, Export]) -> None:
    for one, other in combinations(EXPORTS, 2):
        apart = np.abs(differences(exports[one].cells, exports[other].cells))
        assert np.median(apart) < 0.02, (one, other)


def test_covered_ground_of_cells_agrees_where_the_cut_width_is_logged(exports: dict[str, Export]) -> None:
    for one, other in combinations(STATED_WIDTHS, 2):
        both = exports[one].cells.join(exports[other].cells.add_suffix("_other"), how="outer").fillna(0.0)
        apart = both["covered"] - both["covered_other"]
        assert np.sqrt((apart**2).mean()) < 2.0, (one, other)
