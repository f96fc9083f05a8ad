"""Maps: default columns of real files, one scale for several maps, and what notebooks and files show."""

from __future__ import annotations

import importlib.util
import io
import math
import xml.etree.ElementTree as ET
import zipfile
from typing import TYPE_CHECKING, Any

import geopandas as gpd
import pytest
import shapefile  # pyshp
import shapely
from checkout import CORPUS

import headland as hl
from headland.layer import explore
from headland.layer.table_input import as_layer

if TYPE_CHECKING:
    from pathlib import Path

WGS84 = (
    'GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],'
    'PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]'
)
PRESCRIPTIONS = {
    "Field_Cut_rx": "N",
    "Riley_Expert_rx": "N",
    "Team_1_rx": "Nitrogen",
    "caleb.trevor.dipiza_rx": "N2",
    "Field_Cut": "N",
    "Yield Zones Team Shooting in the Dark": "N",
}
"""The prescriptions of the corpus with an id and a rate."""

JOBS = {
    "FarmerB_AA1617_2016_POLY_AA_N_sec1west": "vrappratev",
    "FarmerB_PRO_PRO_2017_sec1east": "protein",
    "FarmerB_YE_YLD_2014_sec1west": "yield",
    "FarmerC Hill Farms-FarmerC Hill Farms-Millview-Oats": "VRYIELDVOL",
    "FarmerC Hill Farms-FarmerC Hill Farms-Millview-Wheat (Hrd Rd Spr) seeding": "AppldRt",
    "FarmerI_AA16_AA_N_2016_henrys": "rt_apd_ms_",
    "FarmerI_YE_YLD_2016_henrys": "yield",
    "FarmerI_henrys_2018_AA_N": "rate_appld",
}
"""The jobs of the corpus. All other layers have an id or no column at all, and show their locations."""


@pytest.fixture
def layer() -> hl.Layer:
    """Return points with an id, a year and a yield."""
    members = {ending: io.BytesIO() for ending in ("shp", "shx", "dbf")}
    with shapefile.Writer(**members, shapeType=shapefile.POINT) as writer:
        writer.field("ID", "N", 9, 0)
        writer.field("YEAR", "N", 9, 0)
        writer.field("YIELD", "N", 9, 2)
        for row in range(12):
            writer.point(-98.0 + row * 1e-4, 49.0)
            writer.record(row, 2026, 40.0 + row)
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for ending, member in members.items():
            archive.writestr(f"POINTS.{ending}", member.getvalue())
        archive.writestr("POINTS.prj", WGS84)
    return hl.read(content.getvalue())


def hide(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a library look as if it were not installed."""
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name == package else find(name, *rest))


def test_default_column_of_the_corpus() -> None:
    paths = sorted((CORPUS / "ag").rglob("*.zip")) + sorted((CORPUS / "ag").rglob("*.shp"))
    found = {}
    for path in paths:
        layer = hl.read(path)
        found[path.stem] = layer.plot(crs=None if layer.crs else "as-is").column
    if paths:
        assert {name: column for name, column in found.items() if column is not None} == PRESCRIPTIONS | JOBS


def test_map_of_a_notebook_and_its_text(layer: hl.Layer) -> None:
    shown = layer.plot()
    assert shown.svg == layer.picture() == shown._repr_svg_()
    assert shown.svg in shown._repr_html_()
    assert ">YIELD<" in shown.svg
    assert repr(shown) == "<headland.Map of YIELD of POINTS: `save` writes it, `svg` is its text>"
    assert ">ID<" in layer.plot("ID").svg
    assert ">Yield &amp; more<" in layer.plot(label="Yield & more").svg
    assert "<svg" in layer._repr_html_()


def test_saved_map_is_a_picture_or_a_page(layer: hl.Layer, tmp_path: Path) -> None:
    shown = layer.plot(title="A & B")
    assert shown.save(tmp_path / "map.svg").read_text(encoding="utf-8") == shown.svg
    page = shown.save(tmp_path / "map.HTML").read_text(encoding="utf-8")
    assert "<title>YIELD of A &amp; B</title>" in page
    assert shown.svg in page
    with pytest.raises(ValueError, match=r"^`path`: expected a name that ends in .svg or .html, got `map.png`$"):
        shown.save(tmp_path / "map.png")


def test_limits_are_the_ends_of_the_scale(layer: hl.Layer) -> None:
    shown = layer.plot(vmin=0, vmax=100).svg
    assert "40.6 to 43.8" in shown
    assert "colours: 0 to 100" in shown
    assert "all values: 40 to 51" in shown
    assert "colours: 40 to 45" in layer.plot(vmax=45).svg
    for vmin, vmax in ((2.0, 2.0), (math.nan, None), (None, math.inf)):
        with pytest.raises(ValueError, match=r"^`vmin` and `vmax`: expected finite numbers with vmin < vmax, got "):
            layer.plot(vmin=vmin, vmax=vmax)


# lonboard uses arguments of pandas that will go.
@pytest.mark.filterwarnings("ignore:The .* keyword in DataFrame")
@pytest.mark.parametrize("installed", ["folium", "lonboard"])
def test_interactive_map_shows_values_with_units(
    layer: hl.Layer, installed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    hide({"folium": "lonboard", "lonboard": "folium"}[installed], monkeypatch)
    shown: Any = layer.explore()
    assert type(shown).__module__.partition(".")[0] == installed
    if installed == "folium":
        page = shown.get_root().render()
        assert '"YIELD": 51.0' in page
        assert "YIELD (unknown)" in page
        assert page.count('"headland:colour": "#440154"') >= 1
    else:
        (points,) = shown.layers
        assert len(points.table) == 12
        assert "YIELD (unknown)" in points.table.column_names


def test_interactive_map_needs_geometry_and_a_library(layer: hl.Layer, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="nothing"):
        layer.explore("nothing")
    monkeypatch.setattr(importlib.util, "find_spec", lambda *_: None)
    with pytest.raises(ImportError, match=r"pip install 'headland\[explore\]'"):
        layer.explore()


def test_interactive_map_inserts_no_markup(monkeypatch: pytest.MonkeyPatch) -> None:
    hide("lonboard", monkeypatch)
    shape = shapely.Point(10, 50)
    frame = gpd.GeoDataFrame(
        {"YIELD": [1.5, 2.5], "note": ["<img src=x onerror='alert(1)'>", "a & b"], "<b>": [1, 2]},
        geometry=[shape, shapely.Point(10.001, 50)],
        crs=4326,
    )
    page = hl.concat([as_layer("frame", frame)], units=None).explore().get_root().render()
    assert "<img" not in page
    assert "\\u003cimg" not in page
    assert "<b>" not in page.partition("aliases")[2].partition("]")[0]


def test_interactive_map_has_the_colours_of_the_map(layer: hl.Layer) -> None:
    column, colours, limits = layer._core.colours(None)
    assert (column, limits, len({*colours})) == ("YIELD", (40.0, 51.0), 12)
    assert all(f'"{colour}"' in layer.plot().svg for colour in colours)
    _, colours, limits = layer._core.colours("YEAR")
    assert (limits, len({*colours})) == (None, 1)


def test_interactive_map_of_folium_is_thinned_with_a_warning(layer: hl.Layer, monkeypatch: pytest.MonkeyPatch) -> None:
    hide("lonboard", monkeypatch)
    monkeypatch.setattr(explore, "MAX_FEATURES", 5)
    with pytest.warns(hl.HeadlandWarning, match="^the map shows 4 of 12 records; with lonboard"):
        page = layer.explore().get_root().render()
    assert page.count(f'"{explore.COLOUR}"') >= 4


@pytest.mark.filterwarnings("ignore:The .* keyword in DataFrame")
def test_interactive_map_of_unsuitable_layers_is_an_error(layer: hl.Layer) -> None:
    frame = layer.to_geopandas()
    empty = as_layer("frame", frame.iloc[:0])
    with pytest.raises(ValueError, match=r"has no coordinates, so there is nothing to show$"):
        empty.explore()
    unknown = as_layer("frame", frame.set_crs(None, allow_override=True))
    with pytest.raises(ValueError, match=r"unknown, so it has no place on a map; `plot\(crs=\"as-is\"\)` draws it$"):
        unknown.explore()
    with pytest.raises(ValueError, match="neither numbers nor text"):
        layer.explore("geometry")


def test_known_unit_is_not_relabelled(layer: hl.Layer) -> None:
    known = hl.harmonize(layer, kind="yield", units={"YIELD": "t/ha"}, crop="wheat")
    column = known.plot().column
    assert column is not None
    assert column.startswith("yield")
    with pytest.raises(ValueError, match=rf"^`unit`: column `{column}` is in `.*convert it with `to_units"):
        known.plot(unit="lb/ac")
    assert ">bu per acre<" in layer.plot("YIELD", unit="bu per acre").svg


def test_default_column_of_harmonised_jobs(client: hl.Client, service: hl.Sandbox) -> None:
    harvests = [truth["job_id"] for truth in service.truth if truth["sub_type"] == "Yield"][:6]
    for each in harvests:
        shown = hl.harmonize(client.job_data.read(each)).plot()
        assert shown.column == "yield_dry"
        assert "% water" in shown.svg


LONG = "Nördlicher Schlag hinter der alten Mühle am Bach " * 6


@pytest.mark.parametrize("width", [400, 460, 760])
def test_long_names_are_shortened_to_the_map_and_whole_on_hovering(width: int) -> None:
    name = f"{LONG}<script>alert(\"1\")</script> '2026': corn"
    frame = gpd.GeoDataFrame(
        {LONG[:60]: [name, f"{LONG} 2025"]}, geometry=gpd.points_from_xy([9.0, 9.001], [48.0, 48.001]), crs=4326
    )
    svg = as_layer("layer", frame).plot(LONG[:60], title=name, width=width).svg
    root = ET.fromstring(svg)
    space = {"svg": "http://www.w3.org/2000/svg"}
    assert root.findtext("svg:title", namespaces=space) == f"{name}: {LONG[:60]}"
    texts = [each for each in root.findall("svg:text", space) if "\N{HORIZONTAL ELLIPSIS}" in (each.text or "")]
    heading, *legend = texts
    assert (heading.text or "").startswith("Nördlicher Schlag")
    assert (heading.text or "").endswith("corn")
    assert (heading.text or "") != svg
    wholes = [each.findtext("svg:title", namespaces=space) for each in legend]
    assert wholes[-2:] == sorted([name, f"{LONG} 2025"])
    for each in texts:
        size, x = float(each.attrib["font-size"]), float(each.attrib["x"])
        # Letters of the widest common font are 0.6 of its size on average.
        assert x + len(each.text or "") * size * 0.5 < width


@pytest.mark.parametrize("column", ["machine", "section", "pass_number"])
def test_numbers_that_are_names_have_no_unit(column: str) -> None:
    points = gpd.points_from_xy([9.0, 9.001], [48.0, 48.001])
    frame = gpd.GeoDataFrame({column: [1, 2], "other": [1, 2]}, geometry=points, crs=4326)
    layer = as_layer("layer", frame)
    assert "unit unknown" not in layer.plot(column).svg
    assert "unit unknown" in layer.plot("other").svg


def test_texts_have_no_unit_even_if_one_is_given() -> None:
    points = gpd.points_from_xy([9.0, 9.001], [48.0, 48.001])
    frame = gpd.GeoDataFrame({"PRODUCT": ["a", "b"]}, geometry=points, crs=4326)
    assert "kg/ha" not in as_layer("layer", frame).plot("PRODUCT", unit="kg/ha").svg
