"""Grids as GeoTIFF, as GDAL reads them, and their styles by the rules of QGIS."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

import geopandas as gpd
import numpy as np
import pyproj
import pytest
import rasterio
import shapely
from driven_rows import field, job, plain

import headland as hl
from headland.layer.table_input import as_layer

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def cleaned() -> hl.Cleaned:
    rows = field(passes=6, length=90.0)
    return plain(job(rows[rows["working"]].drop(columns="working")), spike=[0.0, 1e9], local=[1e9, 1e9])


@pytest.mark.parametrize("crs", ["EPSG:32614", "EPSG:26914", pyproj.CRS("+proj=tmerc +lon_0=-97").to_wkt("WKT1_ESRI")])
def test_each_cell_has_the_value_of_its_row(cleaned: hl.Cleaned, tmp_path: Path, crs: str) -> None:
    cells = hl.grid(cleaned, 7.5, crs=crs)
    table = cells.to_pandas()
    path = tmp_path / "map.tif"
    for column, unit in (("yield_wet", "kg/ha"), ("rows", "")):
        assert cells.write_geotiff(path, column) == path
        with rasterio.open(path) as raster:
            values = raster.read(1)
            lines, columns = rasterio.transform.rowcol(raster.transform, table["x"], table["y"])
            assert (raster.count, raster.dtypes[0], raster.res) == (1, "float64", (7.5, 7.5))
            assert np.isnan(raster.nodata)
            assert tuple(raster.bounds) == pytest.approx(cells.bounds, abs=1e-6)
            assert pyproj.CRS(raster.crs.to_wkt()).equals(pyproj.CRS(crs), ignore_axis_order=True)
            assert raster.descriptions == (f"{column} ({unit})" if unit else column,)
            assert raster.units == (unit or None,)
        expected = table[column].to_numpy(float)
        assert np.array_equal(values[lines, columns], expected, equal_nan=True)
        assert np.isfinite(values).sum() == np.isfinite(expected).sum(), "other cells have no data"


STATISTICS = """<PAMDataset><PAMRasterBand band="1"><Metadata>
<MDI key="STATISTICS_MEAN">1</MDI></Metadata></PAMRasterBand></PAMDataset>"""
"""What GDAL writes beside a raster."""


def test_statistics_of_the_raster_before_do_not_stay(cleaned: hl.Cleaned, tmp_path: Path) -> None:
    cells, path = hl.grid(cleaned, 10.0), tmp_path / "map.tif"
    cells.write_geotiff(path, "m2")
    (tmp_path / "map.tif.aux.xml").write_text(STATISTICS, encoding="utf-8")
    with rasterio.open(path) as raster:
        assert raster.tags(1)["STATISTICS_MEAN"] == "1"
    cells.write_geotiff(path, "yield_wet")
    with rasterio.open(path) as raster:
        assert "STATISTICS_MEAN" not in raster.tags(1)
    (tmp_path / "map.tif.ovr").mkdir()
    with pytest.raises(hl.HeadlandError, match=r"cannot remove `.*map\.tif\.ovr`"):
        cells.write_geotiff(path, "yield_wet")


@pytest.mark.parametrize("column", ["yield_wet", "rows", "m2"])
def test_the_style_has_the_classes_and_colours_of_the_map(cleaned: hl.Cleaned, tmp_path: Path, column: str) -> None:
    cells = hl.grid(cleaned, 10.0)
    cells.write_geotiff(tmp_path / "map.tif", column)
    document = (tmp_path / "map.qml").read_text(encoding="utf-8")
    shader = ET.fromstring(document).find("pipe/rasterrenderer/rastershader/colorrampshader")
    assert shader is not None
    is_exact = shader.get("colorRampType") == "EXACT"
    items = [(float(item.attrib["value"]), item.attrib["color"]) for item in shader]
    assert items == sorted(items)
    for value, colour in zip(cells[column], cells._core.colours(column)[1], strict=True):
        # QGIS shows the first item that is not below a value, or with classes of single values the item with it.
        shown = next(own for limit, own in items if (limit == value if is_exact else limit >= value))
        assert shown == colour


def squares(values: list[float | None], **columns: object) -> hl.Layer:
    """Return squares of half a degree, three in a line."""
    boxes = [shapely.box(x := i % 3 / 2, y := i // 3 / 2, x + 0.5, y + 0.5) for i in range(len(values))]
    frame = gpd.GeoDataFrame({"Härte <µ> & Co": values, **columns}, geometry=boxes, crs=4326)
    return as_layer("layer", frame)


def test_squares_of_any_layer_are_a_raster_with_any_name_and_value(tmp_path: Path) -> None:
    layer = squares([1e300, None, -0.0, 5.5])
    layer.write_geotiff(tmp_path / "map.TIFF", "Härte <µ> & Co")
    with rasterio.open(tmp_path / "map.TIFF") as raster:
        assert np.array_equal(raster.read(1), [[5.5, np.nan, np.nan], [1e300, np.nan, -0.0]], equal_nan=True)
        assert (raster.crs, raster.descriptions, raster.bounds) == (4326, ("Härte <µ> & Co",), (0, 0, 1.5, 1))
    style = ET.fromstring((tmp_path / "map.qml").read_text(encoding="utf-8"))
    assert [item.get("value") for item in style.iter("item")] == ["0.0", "5.5", "1e300"]


def test_what_is_no_raster_is_an_error_and_writes_no_file(cleaned: hl.Cleaned, tmp_path: Path) -> None:
    cells = hl.grid(cleaned, 10.0)
    cases = [
        (cells, "map.tif", "missing", "no column `missing`"),
        (cells, "map.png", "yield_wet", "`.tif` or `.tiff`"),
        (squares([1.0], name="a"), "map.tif", "name", "numbers"),
        (squares([]), "map.tif", "Härte <µ> & Co", "numbers|no geometry"),
        (cleaned.swaths(), "map.tif", "m2", "only square cells"),
        (hl.grid(cleaned, 10.0, by="pass_number"), "map.tif", "yield_wet", "several rows have one cell"),
    ]
    for layer, name, column, message in cases:
        with pytest.raises(ValueError, match=message):
            layer.write_geotiff(tmp_path / name, column)
    assert list(tmp_path.iterdir()) == []


def test_style_of_a_user_is_not_replaced_and_that_of_headland_is(tmp_path: Path) -> None:
    layer, raster, style = squares([1.0, 2.0]), tmp_path / "map.tif", tmp_path / "map.qml"
    style.write_text("<qgis>mine</qgis>", encoding="utf-8")
    with pytest.raises(hl.HeadlandError, match=r"map\.qml`: it is a style that headland did not write"):
        layer.write_geotiff(raster, "Härte <µ> & Co")
    assert style.read_text(encoding="utf-8") == "<qgis>mine</qgis>"
    assert not raster.exists()
    style.unlink()
    layer.write_geotiff(raster, "Härte <µ> & Co")
    before = style.read_bytes()
    squares([1.0, 3.0]).write_geotiff(raster, "Härte <µ> & Co")
    assert style.read_bytes() != before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["map.qml", "map.tif"]


@pytest.mark.parametrize("name", ["map.qml", "map.tif"])
def test_raster_and_style_appear_together_or_neither(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    with pytest.raises(hl.HeadlandError, match="a folder"):
        squares([1.0]).write_geotiff(tmp_path / "map.tif", "Härte <µ> & Co")
    assert [path.name for path in tmp_path.iterdir()] == [name]
