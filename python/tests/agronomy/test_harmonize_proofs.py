"""Units and bases that arithmetic proves, on harvests whose truth is known: right or unknown, never wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import geopandas as gpd
import numpy as np
import pytest
from shapely.geometry import Point

import headland as hl

if TYPE_CHECKING:
    from pathlib import Path

ROWS = 2000
POUND, FOOT, INCH = 0.45359237, 0.3048, 0.0254
WHEAT = 60 * POUND
POUNDS_PER_ACRE = 1.120851156194456


class Harvest:
    """A harvest on a line of positions, in SI units, with its logged columns to be added."""

    def __init__(self, moisture: tuple[float, float], interval: float = 1.0) -> None:
        draw = np.random.default_rng(7)
        self.step = draw.uniform(1.5, 2.5, ROWS) * interval
        self.interval = np.full(ROWS, interval)
        self.moisture = draw.uniform(*moisture, ROWS).round(2)
        self.wet = draw.uniform(3000, 5000, ROWS)
        self.area = self.step * 9.144
        self.flow = self.wet * self.area / 10_000 / interval
        self.columns: dict[str, Any] = {"MOISTURE": self.moisture}

    def dry(self, basis: float) -> Any:
        """Return the mass per hectare, dried where it is wetter than the basis."""
        return self.wet * np.minimum(1.0, (100 - self.moisture) / (100 - basis))

    def harmonized(self, folder: Path, **options: Any) -> hl.Layer:
        """Write the columns as a shapefile without metadata, and harmonise it."""
        latitudes = 50 + np.cumsum(self.step) / 111_200
        frame = gpd.GeoDataFrame(
            self.columns, geometry=[Point(10, latitude) for latitude in latitudes], crs="EPSG:4326"
        )
        frame.to_file(folder / "harvest.shp")
        return hl.harmonize(hl.read(folder / "harvest.shp"), **options)


def entries(layer: hl.Layer) -> dict[str, dict[str, Any]]:
    """Return the provenance by column."""
    return {str(entry["column"]): entry for entry in layer.provenance}


@pytest.mark.parametrize("basis", [13.0, 13.5, 14.0, 14.5])
def test_moisture_basis_of_mostly_dry_grain_is_right_or_unknown(tmp_path: Path, basis: float) -> None:
    # Nine rows of ten are drier than every basis: only the wet ones tell the bases apart.
    harvest = Harvest((9.0, 12.5))
    harvest.moisture[::10] = np.linspace(15.0, 18.0, ROWS // 10)
    harvest.columns |= {
        "Swth_Wdth_": np.full(ROWS, 30.0),
        "Distance_f": harvest.step / FOOT,
        "Duration_s": harvest.interval,
        "Crop_Flw_M": harvest.flow / POUND,
        "Yld_Mass_W": harvest.wet / POUNDS_PER_ACRE,
        "Yld_Mass_D": harvest.dry(basis) / POUNDS_PER_ACRE,
    }
    dry = entries(harvest.harmonized(tmp_path, units={"Swth_Wdth_": "ft"}))["yield_dry_mass"]
    assert dry["unit_in"] == "lb/ac"
    assert dry["moisture_basis"] in {"unknown", basis, str(basis), f"{basis:g}"}


def test_dry_mass_of_grain_that_was_never_wetter_proves_units_but_no_basis(tmp_path: Path) -> None:
    harvest = Harvest((7.5, 10.0))
    harvest.columns |= {
        "Swth_Wdth_": np.full(ROWS, 9.144),
        "Distance_m": harvest.step,
        "Duration_s": harvest.interval,
        "Crop_Flw_M": harvest.flow * 3.6,
        "Yld_Mass_D": harvest.wet / 1000,
    }
    found = entries(harvest.harmonized(tmp_path, units={"Swth_Wdth_": "m"}))
    assert found["flow"]["unit_in"] == "t/h"
    assert found["yield_dry_mass"]["unit_in"] == "t/ha"
    assert found["yield_dry_mass"]["moisture_basis"] == "unknown"


@pytest.mark.parametrize(("crop", "weight", "basis"), [("corn", 56, 15.0), ("corn", 56, 15.5), ("soybean", 60, 13.0)])
def test_volume_dried_where_wetter_is_a_dry_volume(tmp_path: Path, crop: str, weight: int, basis: float) -> None:
    harvest = Harvest((basis - 1, basis + 4))
    harvest.columns |= {
        "WetMass": harvest.wet / POUNDS_PER_ACRE,
        "VRYIELDVOL": harvest.dry(basis) / POUNDS_PER_ACRE / weight,
    }
    layer = harvest.harmonized(tmp_path, crop=crop, units={"WetMass": "lb1ac-1", "VRYIELDVOL": "bu1ac-1"})
    assert entries(layer)["yield_dry_volume"]["source"] == "VRYIELDVOL"


def test_volume_of_mostly_dry_grain_is_a_dry_volume(tmp_path: Path) -> None:
    harvest = Harvest((10.0, 13.0))
    harvest.moisture[::4] = np.linspace(14.5, 18.0, ROWS // 4)
    harvest.columns |= {
        "WetMass": harvest.wet / POUNDS_PER_ACRE,
        "VRYIELDVOL": harvest.dry(14.0) / POUNDS_PER_ACRE / 32,
    }
    layer = harvest.harmonized(tmp_path, crop="oats", units={"WetMass": "lb1ac-1", "VRYIELDVOL": "bu1ac-1"})
    assert entries(layer)["yield_dry_volume"]["source"] == "VRYIELDVOL"


def test_yield_of_known_unit_proves_flow_and_width(tmp_path: Path) -> None:
    # The shapefiles of Ag Leader: only the name of the yield states a unit.
    harvest = Harvest((14.0, 20.0))
    harvest.columns |= {
        "FLOW": harvest.flow / POUND,
        "CYCLES": harvest.interval,
        "DISTANCE": harvest.step / INCH,
        "SWATH": np.full(ROWS, 360.0),
        "DRY_BU_AC": harvest.wet * (100 - harvest.moisture) / (100 - 15.5) / POUNDS_PER_ACRE / 56,
    }
    found = entries(harvest.harmonized(tmp_path, crop="corn", units={"CYCLES": "s"}))
    assert (found["distance"]["unit_in"], found["swath_width"]["unit_in"]) == ("in", "in")
    assert found["flow"]["unit_in"] == "lb/s"


@pytest.mark.parametrize("interval", [0.53, 2.52, 3.76, 11.54])
@pytest.mark.parametrize("is_metric", [True, False], ids=["metric", "us"])
def test_interval_of_unknown_unit_is_not_replaced_by_a_guess(
    tmp_path: Path, interval: float, *, is_metric: bool
) -> None:
    harvest = Harvest((10.0, 18.0), interval)
    volume = harvest.wet * (100 - harvest.moisture) / (100 - 13.5) / WHEAT
    harvest.columns |= {
        "FLOW": harvest.flow / (1 if is_metric else POUND),
        "CYCLE": harvest.interval,
        "DISTANCE": harvest.step / (1 if is_metric else FOOT),
        "SWATHWIDTH": np.full(ROWS, 9.144 if is_metric else 30.0),
        "VRYIELDVOL": volume * 0.03523907016688 if is_metric else volume * 0.40468564224,
    }
    layer = harvest.harmonized(tmp_path)
    table = layer.to_arrow()
    truth: dict[str, Any] = {
        "flow": harvest.flow,
        "interval": harvest.interval,
        "swath_width": 9.144,
        "area": harvest.area,
    }
    for name in set(truth) & set(table.column_names):
        np.testing.assert_allclose(np.array(table[name], dtype=float), truth[name], rtol=1e-6, err_msg=name)


@pytest.mark.parametrize("interval", [11.54, 12.57, 19.0])
def test_interval_from_whole_seconds_is_right_on_average(tmp_path: Path, interval: float) -> None:
    harvest = Harvest((10.0, 18.0), interval)
    harvest.columns |= {"TIME": [1_751_536_800 + int(row * interval) for row in range(ROWS)]}
    table = harvest.harmonized(tmp_path, kind="yield").to_arrow()
    if "interval" in table.column_names:
        assert np.nanmean(np.array(table["interval"])) == pytest.approx(interval, rel=0.005)


def test_stated_unit_of_distance_that_positions_contradict_is_a_diagnostic(tmp_path: Path) -> None:
    harvest = Harvest((12.0, 16.0))
    harvest.columns |= {"DISTANCE": harvest.step / FOOT, "SWATHWIDTH": np.full(ROWS, 30.0)}
    for unit, expected in (("m", 1), ("ft", 0)):
        layer = harvest.harmonized(tmp_path, kind="yield", units={"DISTANCE": unit, "SWATHWIDTH": "ft"})
        found = [each for each in layer.diagnostics if each.code == "units-contradict"]
        assert len(found) == expected
        assert all("`DISTANCE` is stated in m, but the rows show ft" in each.message for each in found)
        assert all(each.severity == "error" for each in found)


LOGGED: dict[str, tuple[Any, str]] = {
    "CYCLE": (lambda harvest: harvest.interval, "s"),
    "DISTANCE": (lambda harvest: harvest.step, "m"),
    "SWATHWIDTH": (lambda harvest: harvest.area / harvest.step, "m"),
    "SPEED": (lambda harvest: harvest.step / harvest.interval, "m/s"),
    "FLOW": (lambda harvest: harvest.flow, "kg/s"),
    "WetMass": (lambda harvest: harvest.wet, "kg/ha"),
    "DryYield": (lambda harvest: harvest.wet * (100 - harvest.moisture) / 84.5, "kg/ha"),
}


@pytest.mark.parametrize(
    ("column", "logged_in", "factor"),
    [
        ("CYCLE", "ms", 1000),
        ("DISTANCE", "ft", 1 / FOOT),
        ("SPEED", "km/h", 3.6),
        ("SPEED", "mph", 1 / 0.44704),
        ("SWATHWIDTH", "mm", 1000),
        ("SWATHWIDTH", "ft", 1 / FOOT),
        ("FLOW", "lb/s", 1 / POUND),
        ("DryYield", "t/ha", 0.001),
        ("WetMass", "lb/ac", 1 / POUNDS_PER_ACRE * 2),
    ],
)
def test_stated_unit_that_the_rows_contradict_is_said(
    tmp_path: Path, column: str, logged_in: str, factor: float
) -> None:
    harvest = Harvest((14.0, 20.0), 2.0)
    times = np.datetime64("2025-09-23T14:00") + np.arange(ROWS) * np.timedelta64(2, "s")
    harvest.columns |= {"TIME": [f"{time}Z" for time in times]}
    harvest.columns |= {name: values(harvest) for name, (values, _) in LOGGED.items()}
    units = {name: unit for name, (_, unit) in LOGGED.items()} | {"MOISTURE": "%"}
    right = harvest.harmonized(tmp_path, crop="corn", units=units)
    assert not [each for each in right.diagnostics if each.code == "units-contradict"]
    harvest.columns[column] = harvest.columns[column] * factor
    wrong = harvest.harmonized(tmp_path, crop="corn", units=units)
    assert [each.code for each in wrong.diagnostics if each.code == "units-contradict"], logged_in


@pytest.mark.parametrize(("unit", "expected"), [("kg/ha", 1), ("g/ha", 0)])
def test_target_rate_that_the_applied_rate_contradicts_is_said(tmp_path: Path, unit: str, expected: int) -> None:
    harvest = Harvest((14.0, 20.0))
    harvest.columns |= {"AppldRate": harvest.wet / 2000, "TgtRate": np.full(ROWS, 2000.0)}
    units = {"AppldRate": "kg/ha", "TgtRate": unit}
    layer = harvest.harmonized(tmp_path, kind="as_applied", units=units)
    found = [each.message for each in layer.diagnostics if each.code == "units-contradict"]
    assert len(found) == expected
    assert all("the applied rate `AppldRate`" in message for message in found)
