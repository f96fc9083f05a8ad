"""Cells of columns: numbers in texts, states, serials, trimmed texts, and columns that are not used."""

from __future__ import annotations

from typing import Any

import geopandas as gpd
import numpy as np
import pandas as pd
import polars as pl
import pytest
import shapely
from checkout import CORPUS
from harmonized_tables import YIELD, archives, codes, table

import headland as hl

COUNT = 40


def rows(**columns: Any) -> gpd.GeoDataFrame:
    """Return rows of a harvest with these columns."""
    points = shapely.points(-93.0 + np.arange(COUNT) * 2.4e-5, np.full(COUNT, 42.0))
    frame = gpd.GeoDataFrame({"Flow": np.full(COUNT, 10.0), **columns}, geometry=points, crs=4326)
    frame.attrs["units"] = {"Flow": "kg/s"}
    return frame


def unused(layer: hl.Layer) -> str:
    """Return the one diagnostic about columns that are not used."""
    found = [note.message for note in layer.diagnostics if note.code == "column-not-used"]
    assert len(found) <= 1
    return "".join(found)


MOIST = np.linspace(15.0, 17.0, COUNT).round(2)


@pytest.mark.parametrize("sign", [".", ","])
@pytest.mark.parametrize("form", ["{:.2f}", " {:.1f} ", "{:g}"])
def test_numbers_in_texts_are_read(sign: str, form: str) -> None:
    texts = [form.format(value).replace(".", sign) for value in MOIST]
    layer = hl.harmonize(rows(Moisture=texts), kind="yield")
    assert layer.values("moisture") == [float(text.replace(",", ".")) for text in texts]
    assert layer.values("Moisture_original") == texts
    assert "numbers-in-text" in codes(layer)


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        (["9,123", "8,456"], "can be that of decimals or of thousands"),
        (["16.3", "16,3"], "texts such as `16"),
        (["16.3 %", "17 %"], "texts such as `16.3 %`"),
        (["wet", "dry"], "texts such as `wet`"),
    ],
)
def test_texts_of_no_one_form_are_not_used_and_the_reason_is_said(cells: list[str], reason: str) -> None:
    layer = hl.harmonize(rows(Moisture=cells * (COUNT // 2)), kind="yield")
    assert "moisture" not in layer.columns
    assert "`Moisture` as `moisture`" in unused(layer)
    assert reason in unused(layer)


WORKING = np.arange(COUNT) % 5 != 0

STATES: dict[str, Any] = {
    "float": WORKING.astype(float),
    "float with null": np.where(np.arange(COUNT) == 3, np.nan, WORKING.astype(float)),
    "33/32": np.where(WORKING, 33.0, 32.0),
    "1/0 in text": np.where(WORKING, "1", " 0"),
    "1.0/0.0 in text": np.where(WORKING, "1.0", "0.0"),
    "Y/N": np.where(WORKING, "Y ", "N"),
    "T/F": np.where(WORKING, "t", "f"),
    "raised": np.where(WORKING, "Lowered", "Raised"),
    "engaged": np.where(WORKING, "ENGAGED", " disengaged"),
    "up": np.where(WORKING, "down", "up"),
    "bool": WORKING,
}


@pytest.mark.parametrize("kind", STATES)
def test_state_is_read(kind: str) -> None:
    layer = hl.harmonize(rows(HeaderStatus=STATES[kind]), kind="yield")
    expected = [None if kind == "float with null" and row == 3 else bool(cell) for row, cell in enumerate(WORKING)]
    assert layer.values("working") == expected
    assert not unused(layer)


@pytest.mark.parametrize("cells", [WORKING * 2, WORKING * 0.5, np.where(WORKING, "parked", "up"), 2 + 2.0 * WORKING])
def test_codes_that_are_no_state_are_not_used_and_the_reason_is_said(cells: Any) -> None:
    layer = hl.harmonize(rows(HeaderStatus=cells), kind="yield")
    assert "working" not in layer.columns
    assert "`HeaderStatus` as `working` (it has" in unused(layer)


def test_stated_column_of_states_in_text_is_read() -> None:
    cells = np.where(WORKING, "1", "0")
    layer = hl.harmonize(rows(Anything=cells), kind="yield", columns={"working": "Anything"})
    assert layer.values("working") == list(WORKING)


def test_serial_beyond_32_bits_is_the_machine() -> None:
    serials = np.where(np.arange(COUNT) < 20, 2_410_019_049, 5_000_000_001)
    for cells in (serials, serials.astype(float), serials.astype(str)):
        layer = hl.harmonize(rows(Serial=cells, Pass=np.arange(COUNT)), kind="yield")
        assert layer.values("machine") == list(serials)
        assert str(layer.to_arrow().schema.field("machine").type) == "int64"


def test_texts_are_trimmed_and_originals_are_not() -> None:
    cells = [" P1197 ", "P1197\0", "   ", ""] * (COUNT // 4)
    layer = hl.harmonize(rows(Variety=cells), kind="yield")
    assert layer.values("variety") == ["P1197", "P1197", None, None] * (COUNT // 4)
    assert layer.values("Variety_original")[:4] == cells[:4]
    crops = [" Corn", "Corn "] * (COUNT // 2)
    assert hl.harmonize(rows(Crop=crops), kind="yield").metadata["headland:crop"] == "corn"


def test_dry_matter_in_percent_is_the_complement_of_moisture() -> None:
    frame = rows(DRYMATTER=100 - MOIST)
    frame.attrs["units"] |= {"DRYMATTER": "prcnt"}
    layer = hl.harmonize(frame, kind="yield")
    assert layer.values("moisture") == pytest.approx(MOIST)
    assert not [name for name in layer.columns if name.startswith("yield")]
    assert "unit-unknown" not in codes(layer)
    both = frame.assign(MOISTURE=MOIST + 1)
    both.attrs["units"] = {**frame.attrs["units"], "MOISTURE": "%"}
    layer = hl.harmonize(both, kind="yield")
    assert layer.values("moisture") == pytest.approx(MOIST + 1)
    assert "`DRYMATTER` as `moisture` (`MOISTURE` is used)" in unused(layer)


def test_yield_in_percent_is_not_used_and_said() -> None:
    frame = rows(Yield=np.full(COUNT, 98.0))
    frame.attrs["units"] |= {"Yield": "%"}
    layer = hl.harmonize(frame, kind="yield")
    assert "yield" not in layer.columns
    assert "a yield is not in percent" in unused(layer)


def test_columns_of_unknown_names_that_say_a_measurement_are_listed_in_one_line() -> None:
    frame = rows(KernelMoisture=MOIST, HarvestYieldIndex=MOIST, HeaderStateCode=WORKING, SwathUsed=MOIST, color="red")
    message = unused(hl.harmonize(frame, kind="yield"))
    assert "`KernelMoisture` (it can be a moisture, but its name is unknown)" in message
    assert "`SwathUsed` (it can be a width, but its name is unknown)" in message
    assert "color" not in message


@pytest.mark.skipif(not (CORPUS / "ag").is_dir(), reason=f"no corpus at {CORPUS}: set HEADLAND_CORPUS")
def test_ordinary_archives_have_at_most_one_line_about_columns() -> None:
    for path in archives().values():
        try:
            layer = hl.harmonize(hl.read(path))
        except ValueError:
            continue
        unused(layer)


def test_table_with_longitude_and_latitude_gets_points() -> None:
    frame = rows(Distance=np.full(COUNT, 2.0), Swath=np.full(COUNT, 6.0))
    plain = pd.DataFrame(frame.drop(columns="geometry")).assign(Longitude=frame.geometry.x, Latitude=frame.geometry.y)
    plain.loc[2, "Latitude"] = np.nan
    for made in (plain, pl.from_pandas(plain)):
        layer = hl.harmonize(made, kind="yield", units={"Flow": "kg/s", "Distance": "m", "Swath": "m"})
        assert layer.crs == "EPSG:4326"
        points = [None if wkb is None else shapely.from_wkb(wkb) for wkb in layer.values("geometry")]
        assert points[0] == frame.geometry[0]
        assert points[2] is None
        assert layer.__geo_interface__["features"][0]["geometry"]["type"] == "Point"
    degrees = plain.assign(Longitude=plain.Longitude * 1e5)
    assert hl.harmonize(degrees, kind="yield").crs is None


def test_dbf_without_shapes_but_with_positions_gets_points() -> None:
    layer = table([("LONGITUDE", "N5"), ("LATITUDE", "N5"), YIELD], [(-93.5, 42.25, 5)] * 3)
    assert shapely.from_wkb(hl.harmonize(layer).values("geometry")[0]) == shapely.Point(-93.5, 42.25)
