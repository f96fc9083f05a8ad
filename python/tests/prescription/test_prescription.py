"""Tests of `headland.Prescription`: what is written is what was asked for, without gaps and overlaps."""

from __future__ import annotations

import io
import json
import os
import random
from typing import TYPE_CHECKING, Any

import duckdb
import geopandas as gpd
import pyogrio
import pytest
import shapefile
import shapely
from shapely import affinity
from sprayed_jobs import sprayed

import headland as hl
from headland.cli import main

if TYPE_CHECKING:
    from pathlib import Path

SIDE = 0.001
SERIES = 40 if os.environ.get("HEADLAND_SERIES") else 6


def box(column: float, row: float = 0, width: float = 1, height: float = 1) -> shapely.Polygon:
    """Return a cell in degrees."""
    west, south = -111 + column * SIDE, 45.5 + row * SIDE
    return shapely.box(west, south, west + width * SIDE, south + height * SIDE)


def frame(shapes: list[Any], rates: list[Any], crs: int | str | None = 4326, **columns: Any) -> gpd.GeoDataFrame:
    """Return zones."""
    return gpd.GeoDataFrame({"rate": rates, **columns}, geometry=shapes, crs=crs)


def written(rx: hl.Prescription) -> gpd.GeoDataFrame:
    """Return what is read back."""
    return hl.read(bytes(rx)).to_geopandas()


def assert_tiles(rx: hl.Prescription, ground: float) -> None:
    """Assert that zones are valid, do not overlap and leave no gap, by GEOS; `ground` in square degrees."""
    zones = written(rx).geometry
    assert zones.is_valid.all()
    union = shapely.union_all(zones.to_numpy())
    assert shapely.area(zones.to_numpy()).sum() == pytest.approx(union.area, rel=1e-9)
    assert union.area == pytest.approx(ground, rel=1e-4)
    assert shapely.get_num_geometries(union) == 1
    assert shapely.get_num_interior_rings(union) == 0


def grid_of(cells: int, rates: list[float], system: int = 32612) -> gpd.GeoDataFrame:
    """Return square cells of 10 m in a projected system, turned by a few degrees as a field is."""
    side = int(cells**0.5)
    shapes = [
        affinity.rotate(
            shapely.box(5e5 + x * 10, 5.04e6 + y * 10, 5e5 + x * 10 + 10, 5.04e6 + y * 10 + 10), 7, origin=(5e5, 5.04e6)
        )
        for y in range(side)
        for x in range(side)
    ]
    return frame(shapes, rates, system)


def test_round_trip_keeps_geometries_and_rates() -> None:
    shapes = [
        box(0),
        shapely.Polygon(box(1, 0, 3, 3).exterior, [box(2, 1).exterior]),
        shapely.MultiPolygon([box(5), box(7)]),
    ]
    rx = hl.Prescription(frame(shapes, [0.125, 17, 0]), "rate", unit="kg/ha", product="Urea 46 %")
    back = written(rx)
    assert back["RATE"].tolist() == [0.125, 17.0, 0.0]
    assert back["PRODUCT"].tolist() == ["Urea 46 %"] * 3
    assert back["UNIT"].tolist() == ["kg/ha"] * 3
    assert all(one.symmetric_difference(other).area < 1e-12 for one, other in zip(shapes, back.geometry, strict=True))
    assert rx.diagnostics == []
    assert rx.totals.area * 10_000 == pytest.approx(hl.read(bytes(rx)).area(), rel=1e-9)
    assert rx.totals.amount == pytest.approx(sum(each.rate * each.area for each in rx.totals.rates), rel=1e-9)


def test_same_input_gives_the_same_bytes_and_any_reader_agrees(tmp_path: Path) -> None:
    zones = frame([box(0), box(1), box(2)], [80.5, 90, 100.25])
    rx = hl.Prescription(zones, "rate", unit="lb/ac", name="Nördliches Feld, Harnstoff 2026")
    assert bytes(rx) == bytes(
        hl.Prescription(hl.Prescription(zones, "rate", unit="lb/ac").layer, "RATE", unit="lb/ac", name=rx.name)
    )
    assert rx.name == "Nordliches_Feld_Harn"
    path = rx.write(tmp_path / "rx.zip")
    with shapefile.Reader(path) as reader:
        assert reader.shapeType == shapefile.POLYGON
        assert tuple(next(field for field in reader.fields if field[0] != "DeletionFlag"))[:4] == ("RATE", "N", 10, 2)
        assert [record["RATE"] for record in reader.iterRecords()] == [80.5, 90, 100.25]
        assert all(shapefile.signed_area(shape.points) < 0 for shape in reader.iterShapes()), "clockwise"
        assert all(shape.points[0] == shape.points[-1] for shape in reader.iterShapes())
    by_gdal = pyogrio.read_dataframe(path)
    assert by_gdal["RATE"].tolist() == [80.5, 90, 100.25]
    assert by_gdal.crs.to_epsg() == 4326
    assert by_gdal.geometry.geom_equals(written(rx).geometry).all()
    with duckdb.connect() as connection:
        layer = hl.read(path)
        assert connection.sql("select sum(RATE) from layer").fetchall() == [(270.75,)]
        assert len(layer) == 3
    assert hl.check_prescription(path) == []
    assert rx.totals.unit == "lb"
    assert rx.totals.rates[0].amount == pytest.approx(80.5 * rx.totals.rates[0].area * 2.471053814671653)


def test_large_cells_beside_small_ones_leave_no_gap() -> None:
    corner = (5e5, 5.04e6)
    large = [shapely.box(corner[0], corner[1] + y, corner[0] + 240, corner[1] + y + 240) for y in (0, 240)]
    small = [
        shapely.box(corner[0] + 240 + x, corner[1] + y, corner[0] + 250 + x, corner[1] + y + 10)
        for x in range(0, 100, 10)
        for y in range(0, 480, 10)
    ]
    shapes = [affinity.rotate(each, 11, origin=corner) for each in (*large, *small)]
    zones = frame(shapes, list(range(len(shapes))), 32612)
    rx = hl.Prescription(zones, "rate", unit="kg/ha")
    assert_tiles(rx, shapely.union_all(zones.to_crs(4326).geometry.to_numpy()).area)
    merged = hl.Prescription(zones, "rate", unit="kg/ha", step=100)
    assert len(merged.layer) < 10
    assert_tiles(merged, shapely.union_all(zones.to_crs(4326).geometry.to_numpy()).area)


@pytest.mark.parametrize("seed", range(SERIES))
def test_merged_cells_are_the_ground_of_each_rate(seed: int) -> None:
    draw = random.Random(seed)
    zones = grid_of(225, [float(draw.choice([60, 80, 100])) for _ in range(225)])
    rx = hl.Prescription(zones, "rate", unit="kg/ha")
    assert_tiles(rx, shapely.union_all(zones.to_crs(4326).geometry.to_numpy()).area)
    back = written(rx)
    assert len(back) < 225
    for rate, shapes in zones.to_crs(4326).groupby("rate"):
        found = shapely.union_all(back[back["RATE"] == rate].geometry.to_numpy())
        assert found.symmetric_difference(shapely.union_all(shapes.geometry.to_numpy())).area < 1e-3 * found.area
    for one, other in zip(*back.sindex.query(back.geometry, predicate="touches"), strict=True):
        if back["RATE"].iloc[one] == back["RATE"].iloc[other]:
            assert back.geometry.iloc[one].intersection(back.geometry.iloc[other]).length < 1e-12, "a corner only"


def test_step_default_and_small_parts() -> None:
    shapes = [box(0, 0, 4, 4), box(4, 0, 4, 4), box(8, 0, 0.2, 0.2), box(8, 0.2, 0.3, 3.8)]
    field = gpd.GeoDataFrame(geometry=[box(0, 0, 10, 4)], crs=4326)
    rx = hl.Prescription(
        frame(shapes, [101.3, 97.6, 5, 97.4]),
        "rate",
        unit="kg/ha",
        step=2.5,
        default=30,
        boundary=field,
        min_area=2_000,
    )
    assert sorted(written(rx)["RATE"]) == [30, 97.5, 102.5] or sorted(written(rx)["RATE"]) == [30, 97.5, 100]
    assert rx.diagnostics == []
    assert_tiles(rx, box(0, 0, 10, 4).area)
    with pytest.raises(ValueError, match="`boundary`"):
        hl.Prescription(frame(shapes, [1, 2, 3, 4]), "rate", unit="kg/ha", default=1)


def test_rates_of_a_number_and_of_zones() -> None:
    zones = frame([box(0), box(2)], [1, 2], zone=["a", "b"])
    assert written(hl.Prescription(zones, 12.5, unit="L/ha"))["RATE"].tolist() == [12.5, 12.5]
    assert written(hl.Prescription(zones, {"a": 1, "b": 0.1}, unit="L/ha"))["RATE"].tolist() == [1, 0.1]
    with pytest.raises(ValueError, match="zone 'b' of row 1"):
        hl.Prescription(zones, {"a": 1}, unit="L/ha")


BAD = [
    (frame([box(0)], [1], None), "rate", "crs|coordinate system", None),
    (frame([box(0), box(1)], ["80", "90"]), "rate", "row 0 is '80'", None),
    (frame([box(0), box(1)], [1, None]), "rate", "null in row 1", None),
    (frame([box(0), box(1)], [1, float("inf")]), "rate", "inf in row 1", None),
    (frame([box(0), box(1).exterior], [1, 2]), "rate", "row 1 is not a polygon", 1),
    (frame([box(0).exterior], [1]), "rate", "row 0 is not a polygon", 0),
    (frame([box(0), None], [1, 2]), "rate", "row 1 has no polygon", 1),
    (frame([box(0), shapely.Polygon()], [1, 2]), "rate", "row 1 has no polygon", 1),
    (frame([], []), "rate", "there is no row", None),
    (
        frame([box(0), shapely.box(5e5, 5e6, 5.1e5, 5.1e6)], [1, 2]),
        "rate",
        "row 1 has coordinates that are not degrees",
        1,
    ),
    (frame([box(0)], [1]), "dose", "dose", None),
    (frame([box(0)], [1]), {"a": 1}, "column `zone`", None),
]


@pytest.mark.parametrize(("zones", "rate", "message", "record"), BAD)
def test_zones_that_cannot_be_written_are_an_error_that_names_the_row(
    zones: gpd.GeoDataFrame, rate: Any, message: str, record: int | None
) -> None:
    with pytest.raises((ValueError, hl.HeadlandError), match=message) as caught:
        hl.Prescription(zones, rate, unit="kg/ha")
    assert record is None or str(record) in str(caught.value)


def test_zones_that_displays_refuse_are_diagnostics() -> None:
    eight = shapely.Polygon([(-111, 45.5), (-110.999, 45.501), (-110.999, 45.5), (-111, 45.501)])
    for zones, code, record in (
        (frame([box(3), box(5)], [1, -2]), "rate-negative", 1),
        (frame([box(3), eight], [1, 2]), "rx-invalid-ring", 1),
        (frame([box(3), box(5), box(5.5)], [1, 2, 3]), "rx-zones-overlap", 1),
        (frame([box(3), box(5, 0, 0.002, 1)], [1, 2]), "sliver", 1),
        (frame([box(3), box(5)], [1, 2 / 3]), "rate-rounded", 1),
        (frame([box(3), box(5, 0, 1e-6, 1e-6)], [1, 2]), "zone-lost", 1),
        (frame([box(3), box(5), box(7)], [1, 2, 200]), "rate-outlier", 2),
    ):
        (found,) = hl.Prescription(zones, "rate", unit="kg/ha").diagnostics
        assert (found.code, found.record) == (code, record), found


def test_arguments_are_checked() -> None:
    zones = frame([box(0)], [1])
    for given, message in (
        ({"unit": "kg"}, "`unit`"),
        ({"unit": "kg/ha", "step": 0}, "`step`"),
        ({"unit": "kg/ha", "min_area": -1}, "`min_area`"),
        ({"unit": "kg/ha", "display": "Fendt"}, "`display`: expected"),
    ):
        with pytest.raises(ValueError, match=message):
            hl.Prescription(zones, "rate", **given)
    with pytest.raises(TypeError, match="`zones`"):
        hl.Prescription("zones.zip", "rate", unit="kg/ha")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"ends in \.zip"):
        hl.Prescription(zones, "rate", unit="kg/ha").write("rx.shp")


def test_check_reads_every_kind_of_source(tmp_path: Path) -> None:
    zones = frame([box(0), box(0.5)], [1, 2])
    rx = hl.Prescription(zones, "rate", unit="kg/ha")
    path = rx.write(tmp_path / "rx.zip")
    folder = tmp_path / "folder"
    folder.mkdir()
    zones.to_file(folder / "zones.shp")
    for source in (
        rx,
        bytes(rx),
        path,
        str(path),
        io.BytesIO(bytes(rx)),
        folder,
        folder / "zones.shp",
        zones,
        rx.layer,
    ):
        assert [each.code for each in hl.check_prescription(source)] == ["rx-zones-overlap"], source
    infinite = frame([box(0), box(2)], [1, float("inf")])
    assert [(each.code, each.record) for each in hl.check_prescription(infinite)] == [("rate-not-finite", 1)]
    with pytest.raises(hl.HeadlandError, match=r"none\.zip"):
        hl.check_prescription(tmp_path / "none.zip")


def test_grid_of_a_job_becomes_zones_with_the_rates_of_its_cells() -> None:
    cells = hl.grid(hl.clean(sprayed(overlap=0.25).frame), 12.0)
    rx = hl.Prescription(cells, "rate", unit="L/ha", step=25)
    zones, squares = written(rx), cells.to_geopandas()
    assert rx.diagnostics == []
    assert len(zones) < len(squares) / 5
    assert rx.totals.area == pytest.approx(len(squares) * 0.0144, rel=1e-3)
    joined = gpd.GeoDataFrame(squares[["rate"]], geometry=squares.centroid.to_crs(4326)).sjoin(zones)
    assert len(joined) == len(squares)
    assert (joined["RATE"] - joined["rate"]).abs().max() <= 12.5


def test_command_line_writes_and_checks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, target = tmp_path / "zones.parquet", tmp_path / "north field.zip"
    frame([box(0), box(1)], [81.0, 119.0]).to_parquet(source)
    given = ["rx", str(source), "--rate", "rate", "--unit", "kg/ha", "--step", "20", "--to", str(target)]
    assert main(given) == 0
    shown = capsys.readouterr().out
    assert "80" in shown
    assert "120" in shown
    assert f"written: {target}" in shown
    assert main(["check", str(target), "--display", "FieldView"]) == 0
    assert "nothing" in capsys.readouterr().out
    assert hl.read(target)["RATE"] == [80, 120]
    frame([box(0), box(0.5)], [1.0, -2.0]).to_parquet(source)
    assert main([*given[:-4], "--to", str(target), "--json"]) == 1
    (printed,) = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {each["code"] for each in printed["diagnostics"]} == {"rate-negative", "rx-zones-overlap"}
    assert main(["check", str(target)]) == 1
    assert "error rate-negative: row 1" in capsys.readouterr().out
    frame([box(0)], [90.0]).rename(columns={"rate": "Dose"}).assign(plot_id=1).to_file(tmp_path / "dose.shp")
    assert main(["check", str(tmp_path / "dose.shp")]) == 0
    assert "rates are read from column `Dose`" in capsys.readouterr().out
    assert main(["check", str(tmp_path / "dose.shp"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rate"] == "Dose"


def test_command_line_names_a_file_of_zones_that_is_missing_or_damaged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad.gpkg").write_bytes(b"no file of zones")
    (tmp_path / "bad.parquet").write_bytes(b"no file of zones")
    for name, code in (("gone.gpkg", 12), ("gone.parquet", 12), ("bad.gpkg", 11), ("bad.parquet", 11)):
        words = ["rx", str(tmp_path / name), "--rate", "N", "--unit", "kg/ha", "--to", str(tmp_path / "rx.zip")]
        assert main(words) == code
        assert f"{name}`" in capsys.readouterr().err
    assert not (tmp_path / "rx.zip").exists()
