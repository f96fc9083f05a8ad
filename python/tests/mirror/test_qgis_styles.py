"""Styles for QGIS next to a published dataset: their rules are expressions that SQL reads too."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

import duckdb
import pyarrow.dataset as pads
import pytest

import headland as hl

if TYPE_CHECKING:
    from pathlib import Path

FIELDS = ("Creek Side", "Stone Hill", "Cattle Gate")

TABLES = {"harvest_rows": "yield_dry", "application_rows": "applied_rate", "planting_rows": "applied_rate"}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> tuple[hl.Mirror, Path]:
    """Publish harvests, sprayings and plantings."""
    folder = tmp_path_factory.mktemp("styles")
    with hl.Sandbox.demo(conversion_time=0.01) as service, service.client() as client:
        names = {
            f"{field} 2026 {work}" for field in FIELDS for work in ("Harvest", "Spraying", "Spreading", "Planting")
        }
        ids = [job["id"] for job in client.job_data.list() if job["name"] in names]
        mirror = hl.Mirror(folder / "farm", client, locations=False, ids=ids)
        mirror.sync(progress=False)
    mirror = hl.Mirror(folder / "farm")
    mirror.publish(folder / "shared")
    return mirror, folder / "shared"


def renderer(path: Path) -> ET.Element:
    found = ET.fromstring(path.read_text(encoding="utf-8")).find("renderer-v2")
    assert found is not None
    assert found.get("type") == "RuleRenderer"
    return found


@pytest.mark.parametrize("table", TABLES)
def test_each_row_with_a_value_is_in_one_class_of_its_group(shared: tuple[hl.Mirror, Path], table: str) -> None:
    # A table has a style for points, for polygons or for each, with the same rules.
    style = renderer(next((shared[1] / "styles").glob(f"{table}*.qml")))
    column = TABLES[table]
    source = f"FROM '{shared[1]}/latest/{table}/*.parquet'"
    labels = []
    with duckdb.connect() as connection:

        def count(condition: str) -> int:
            ((found,),) = connection.execute(f"SELECT count(*) {source} WHERE {condition}").fetchall()
            return int(found)

        total = 0
        for group in style.findall("rules/rule"):
            filters = [rule.attrib["filter"] for rule in group if rule.get("filter") != "ELSE"]
            counts = [
                count(f"({group.attrib['filter']}) AND {each or 'true'} AND {column} IS NOT NULL") for each in filters
            ]
            assert sum(counts) == count(f"({group.attrib['filter']}) AND {column} IS NOT NULL")
            total += sum(counts)
            labels.append(group.attrib["label"])
        assert total == count(f"{column} IS NOT NULL") > 0
    unit = {"harvest_rows": " in kg/ha", "application_rows": "/ha", "planting_rows": " in seeds/ha"}[table]
    assert all(column in label and label.endswith(unit) for label in labels)
    assert len(labels) == len(set(labels)) > 1


def test_style_has_the_classes_and_colours_of_a_map_of_the_rows(shared: tuple[hl.Mirror, Path]) -> None:
    style = renderer(shared[1] / "styles" / "harvest_rows.qml")
    symbols = {each.attrib["name"]: each for each in style.findall("symbols/symbol")}
    assert {each.attrib["type"] for each in symbols.values()} == {"marker"}
    # QGIS gives a symbol to one rule only.
    named = [rule.attrib["symbol"] for rule in style.iter("rule") if "symbol" in rule.attrib]
    assert sorted(named) == sorted(symbols)
    group = style.findall("rules/rule")[0]
    rules = [rule for rule in group if rule.get("filter") != "ELSE"]
    with duckdb.connect() as connection:
        query = f"SELECT yield_dry FROM '{shared[1]}/latest/harvest_rows/*.parquet' WHERE {group.attrib['filter']}"
        numbers = sorted(value for (value,) in connection.execute(query).fetchall() if value is not None)
    edges = [float(rule.attrib["filter"].rpartition("<= ")[2]) for rule in rules[:-1]]
    low, high = numbers[len(numbers) // 50], numbers[-1 - len(numbers) // 50]
    assert edges == pytest.approx([low + (high - low) * step / len(rules) for step in range(1, len(rules))])
    colour = [prop.get("v") for prop in symbols[rules[0].attrib["symbol"]].iter("prop") if prop.get("k") == "color"]
    assert colour == ["#440154"]
    assert rules[0].attrib["label"].endswith(" kg/ha")


def test_polygons_have_a_style_of_their_own(shared: tuple[hl.Mirror, Path]) -> None:
    points, polygons = (renderer(shared[1] / "styles" / f"planting_rows{end}.qml") for end in ("", "_polygons"))
    assert {each.get("type") for each in points.iter("symbol")} == {"marker"}
    assert {each.get("type") for each in polygons.iter("symbol")} == {"fill"}


def test_style_of_a_user_is_kept_and_an_old_one_of_headland_is_replaced(shared: tuple[hl.Mirror, Path]) -> None:
    mirror, target = shared
    own, old, gone = (target / "styles" / name for name in ("mine.qml", "harvest_rows.qml", "old.qml"))
    expected = old.read_bytes()
    own.write_text("<qgis/>")
    for path in (old, gone):
        path.write_bytes(expected.replace(b"kg/ha", b"bu/ac"))
    # As if the state were another one.
    (target / "current.json").unlink()
    mirror.publish(target)
    assert own.read_text() == "<qgis/>"
    assert old.read_bytes() == expected
    assert not gone.exists()
    own.unlink()


def test_folders_of_rows_have_no_other_files(shared: tuple[hl.Mirror, Path]) -> None:
    for table in TABLES:
        assert pads.dataset(shared[1] / "latest" / table, format="parquet").count_rows() > 0
