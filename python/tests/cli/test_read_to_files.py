"""Many archives to one file for each kind of job, on the command line."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import duckdb
import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely
from shapefiles import zipped

import headland as hl
from headland.__main__ import main

if TYPE_CHECKING:
    from pathlib import Path

KINDS = {"yield": "Yield", "as_applied": "Sprayer", "planting": "Planter"}

ROWS = 300

FOOT, POUND = 0.3048, 0.45359237

FAILED = {"broken": "not a zip", "deep": "unpack it", "empty": "is empty", "soil": "`--originals`"}
"""What is in no table, and a part of each reason."""


def shapefile(frame: gpd.GeoDataFrame, folder: Path, name: str, units: dict[str, str] | None = None) -> bytes:
    """Return a zip with a frame as a shapefile, and a sidecar with units."""
    folder.mkdir()
    frame.to_file(folder / f"{name}.shp")
    members = {file.name: file.read_bytes() for file in sorted(folder.iterdir())}
    shutil.rmtree(folder)
    if units is not None:
        stated = [{"Name": column, "Unit": unit} for column, unit in units.items()]
        members[f"{name}-Deere-Metadata.json"] = json.dumps({"DataAttributes": stated}).encode()
    return zipped(members)


@pytest.fixture(scope="module")
def season(service: hl.Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder: harvests of three displays in two systems, other kinds, and what cannot be read."""
    root = tmp_path_factory.mktemp("many")
    folder, made = root / "season", root / "made"
    (folder / "empty").mkdir(parents=True)
    truths = sorted(service.truth, key=lambda truth: truth["rows"])
    with hl.Client(**service.credentials, rate_limits=(), limiter_state="memory") as client:
        kinds = {job["id"]: job["sub_type"] for job in client.job_data.list()}
        for kind, label in KINDS.items():
            truth = next(truth for truth in truths if kinds[truth["job_id"]] == label)
            client.job_data.download(truth["job_id"], to=folder / f"{kind}.zip")
    draw = np.random.default_rng(7)
    step, flow = draw.uniform(1.5, 2.5, ROWS), draw.uniform(4, 6, ROWS)
    places = shapely.points(10, 50 + np.cumsum(step) / 111_200)
    seconds = pd.Timestamp("2025-08-01") + pd.to_timedelta(np.arange(ROWS), unit="s")
    shared = {"MOISTURE": draw.uniform(13, 18, ROWS), "TIME": seconds.strftime("%Y-%m-%dT%H:%M:%SZ")}
    metres = gpd.GeoDataFrame(
        {"DISTANCE": step, "SWATHWIDTH": 9.144, "FLOW": flow, **shared, "CROP": "wheat"}, geometry=places, crs=4326
    )
    feet = gpd.GeoDataFrame(
        {"DISTANCE": step / FOOT, "SWATHWIDTH": 30, "FLOW": flow / POUND, **shared, "CROP": "wheat"},
        geometry=places,
        crs=4326,
    )
    units = {"DISTANCE": "m", "SWATHWIDTH": "m", "FLOW": "kg/s"}
    (folder / "metres.zip").write_bytes(shapefile(metres, made, "metres", units))
    units = {"DISTANCE": "ft", "SWATHWIDTH": "ft", "FLOW": "lb/s"}
    imperial = shapefile(feet.to_crs(32632), made, "feet", units)
    (folder / "nested.zip").write_bytes(zipped({"inner.zip": imperial}))
    (folder / "deep.zip").write_bytes(zipped({"inner.zip": zipped({"inner.zip": imperial})}))
    (folder / "broken.zip").write_bytes(b"no zip")
    outline = gpd.GeoDataFrame({"FIELD": ["Home"]}, geometry=[shapely.box(10, 50, 10.01, 50.01)], crs=4326)
    (folder / "outline.zip").write_bytes(shapefile(outline, made, "outline"))
    soil = gpd.GeoDataFrame({"PH": [6.5]}, geometry=shapely.points([[10, 50]]), crs=4326)
    (folder / "soil.zip").write_bytes(shapefile(soil, made, "soil"))
    return folder


def written(out: Path) -> list[str]:
    return sorted(path.name for path in out.iterdir())


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Return an empty folder."""
    folder = tmp_path / "out"
    folder.mkdir()
    return folder


def test_mixed_folder_is_one_geoparquet_a_kind(season: Path, out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["read", str(season), "--to", str(out / "season.parquet")]) == 11
    tables = ("as_applied", "boundaries", "planting", "yield")
    assert written(out) == [f"season-{table}.parquet" for table in tables]
    shown = capsys.readouterr()
    failures = [line for line in shown.err.splitlines() if line.startswith("headland: not read: ")]
    assert len(failures) == len(FAILED)
    for (name, reason), line in zip(sorted(FAILED.items()), failures, strict=True):
        assert str(season / name) in line
        assert reason in line
        assert "Limits" not in line
        assert "kind=" not in line
    for kind in KINDS:
        frame = gpd.read_parquet(out / f"season-{kind}.parquet")
        layers = [layer for _, layer in hl.read_many(season, job_type=kind)]
        assert len(frame) == sum(map(len, layers))
        assert frame.crs == 4326
        assert set(frame["source"]) == {layer.source for layer in layers}
        assert set(frame["layer"]) == {layer.name for layer in layers}
        assert f"season-{kind}.parquet: {len(frame):,} rows of {len(layers)} layer" in shown.out
        # The sprayer of the service states no unit of its rates.
        quantities = {"planting": ["count"], "as_applied": []}.get(kind, [])
        assert kind == "yield" or frame["quantity"].dropna().unique().tolist() == quantities
    outlines = gpd.read_parquet(out / "season-boundaries.parquet")
    assert outlines["field"].tolist() == ["Home"]
    assert outlines.to_crs(32632).area.to_numpy() == pytest.approx(outlines["area_m2"].to_numpy(), rel=1e-3)


def test_feet_and_metres_of_two_systems_share_columns(season: Path, out: Path) -> None:
    assert (
        main(["read", str(season / "metres.zip"), str(season / "nested.zip"), "--to", str(out / "both.parquet")]) == 0
    )
    assert written(out) == ["both.parquet"]
    table = out / "both.parquet"
    for column in ("swath_width", "distance", "flow", "wet_mass", "dry_mass"):
        query = f"SELECT {column} FROM '{table}' WHERE source LIKE ? ORDER BY time"
        metres, feet = (
            duckdb.execute(query, [f"%{name}"]).fetchnumpy()[column] for name in ("metres.zip", "nested.zip")
        )
        assert len(metres) == ROWS
        assert np.asarray(metres) == pytest.approx(np.asarray(feet), rel=1e-6), column
    places = gpd.read_parquet(table).bounds.to_numpy()
    assert places[:ROWS] == pytest.approx(places[ROWS:], abs=1e-8)


@pytest.mark.parametrize("suffix", ["csv", "geojson", "gpkg"])
def test_other_formats_have_the_same_rows(season: Path, out: Path, suffix: str) -> None:
    assert main(["read", str(season), "--to", str(out / f"season.{suffix}")]) == 11
    assert main(["read", str(season), "--to", str(out / "season.parquet")]) == 11
    for table in (*KINDS, "boundaries"):
        expected = gpd.read_parquet(out / f"season-{table}.parquet")
        path = out / f"season-{table}.{suffix}"
        if suffix == "csv":
            rows = pd.read_csv(path)
            shapes = shapely.from_wkt(rows["geometry"])
        else:
            rows = gpd.read_file(path)
            shapes = rows.geometry
        assert rows["source"].tolist() == expected["source"].tolist()
        assert shapely.bounds(np.asarray(shapes)) == pytest.approx(expected.bounds.to_numpy(), abs=1e-7)
    assert not [name for name in written(out) if name.startswith(".")]


def test_map_shows_all_rows_of_a_kind(season: Path, out: Path) -> None:
    paths = [str(season / "metres.zip"), str(season / "nested.zip")]
    assert main(["read", *paths, "--to", str(out / "map.svg")]) == 0
    assert written(out) == ["map.svg"]
    assert "<svg" in (out / "map.svg").read_text(encoding="utf-8")


def test_originals_share_a_column_if_their_units_agree(
    season: Path, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["read", str(season), "--to", str(out / "own.parquet"), "--originals", "--json"]) == 11
    shown = capsys.readouterr()
    files = {found["table"]: found for found in map(json.loads, shown.out.splitlines()) if "path" in found}
    assert set(files) == {*KINDS, "boundaries", "other"}
    assert {*files["yield"]["split_columns"]} >= {"SWATHWIDTH (m)", "SWATHWIDTH (ft)"}
    assert files["other"]["split_columns"] == []
    harvests = gpd.read_parquet(out / "own-yield.parquet")
    assert harvests.crs == 4326
    own = hl.read(season / "nested.zip")
    feet = harvests[harvests["source"] == own.source]
    assert feet["SWATHWIDTH (ft)"].tolist() == own.values("SWATHWIDTH")
    assert feet["SWATHWIDTH (m)"].isna().all()
    assert feet["TIME"].tolist() == own.values("TIME")
    assert gpd.read_parquet(out / "own-other.parquet")["PH"].tolist() == [6.5]
    failures = [json.loads(line)["source"] for line in shown.err.splitlines()]
    assert failures == [str(season / name) for name in ("broken.zip", "deep.zip", "empty")]


def test_failed_write_leaves_nothing(season: Path, out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = out / "season-yield.parquet"
    target.mkdir()
    assert main(["read", str(season), "--to", str(out / "season.parquet")]) == 1
    assert "not a regular file" in capsys.readouterr().err
    assert written(out) == ["season-yield.parquet"]
    assert main(["read", str(season), "--to", str(out / "gone" / "season.parquet")]) == 12
    assert "there is no folder" in capsys.readouterr().err
    assert main(["read", str(season / "metres.zip"), "--originals"]) == 2
    assert "`--to`" in capsys.readouterr().err


def test_units_crop_and_zone_are_stated_in_options(
    season: Path, out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known = hl.read(season / "metres.zip")
    frame = known.to_geopandas().drop(columns="CROP")
    frame["TIME"] = frame["TIME"].str.removesuffix("Z")
    bare = tmp_path / "bare.zip"
    bare.write_bytes(shapefile(frame, tmp_path / "made", "bare", {"DISTANCE": "m", "SWATHWIDTH": "m"}))
    command = ["read", str(bare), str(season / "nested.zip"), "--to", str(out / "season.parquet")]
    assert main(command) == 0
    shown = capsys.readouterr().out
    assert "pass `--units FLOW=UNIT`" in shown
    assert "`--timezone` names its zone" in shown
    assert main([*command, "--units", "FLOW=kg/s"]) == 0
    assert "`--crop corn`" in capsys.readouterr().out
    assert main([*command, "--units", "FLOW=kg/s", "--crop", "wheat", "--timezone", "America/Chicago"]) == 0
    assert not [line for line in capsys.readouterr().out.splitlines() if "pass `--" in line]
    rows = gpd.read_parquet(out / "season.parquet")
    own = rows[rows["layer"] == "bare"]
    # The other archive states pounds per second for its column of this name.
    assert own["flow"].tolist() == pytest.approx(known.values("FLOW"))
    assert rows.loc[rows["layer"] == "feet", "flow"].tolist() == pytest.approx(known.values("FLOW"), rel=1e-6)
    assert own["dry_mass"].notna().all()
    assert own["time"].iloc[0] == pd.Timestamp("2025-08-01T05:00:00Z")


def test_stated_options_are_refused_where_they_change_nothing(
    season: Path, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archives, target = [str(season / "metres.zip"), str(season / "nested.zip")], ["--to", str(out / "season.parquet")]
    for words, message in (
        ([*archives, *target, "--units", "FLOW"], "expected COLUMN=UNIT"),
        ([*archives, *target, "--units", "FLWO=kg/s"], "no archive has a column `FLWO` whose unit is unknown"),
        ([*archives, *target, "--originals", "--crop", "wheat"], "`--crop`: only harmonised columns need it"),
        ([*archives, "--timezone", "UTC"], "`--timezone`: only harmonised columns need it"),
        ([archives[0], *target, "--units", "FLOW=kg/s"], "`--units`: only harmonised columns need it"),
    ):
        assert main(["read", *words]) == 2
        assert message in capsys.readouterr().err
    assert written(out) == []


def test_table_of_protein_without_yields_is_no_harvest(
    season: Path, out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = gpd.GeoDataFrame(
        {"protein": [11.5, 12.0], "moisture": [12.0, 13.0], "product": ["wheat"] * 2},
        geometry=shapely.points([[10, 50], [10, 50.1]]),
        crs=4326,
    )
    protein = tmp_path / "protein.zip"
    protein.write_bytes(shapefile(frame, tmp_path / "made", "protein"))
    assert main(["read", str(season / "metres.zip"), str(protein), "--to", str(out / "season.parquet")]) == 11
    shown = capsys.readouterr()
    assert "protein.zip" not in shown.out
    assert f"not read: {protein}, layer protein: " in shown.err
    assert "no column is a yield, a mass or a flow, so it is in no table; `--originals`" in shown.err
    assert len(gpd.read_parquet(out / "season.parquet")) == ROWS


def test_files_of_an_earlier_run_are_named(season: Path, out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = str(out / "season.parquet")
    assert main(["read", str(season), "--to", target]) == 11
    assert "earlier run" not in capsys.readouterr().out
    assert main(["read", str(season / "metres.zip"), str(season / "nested.zip"), "--to", target]) == 0
    shown = capsys.readouterr().out.splitlines()
    earlier = [line for line in shown if line.startswith("left from an earlier run: ")]
    assert sorted(line.rpartition("season-")[2] for line in earlier) == [
        f"{table}.parquet" for table in ("as_applied", "boundaries", "planting", "yield")
    ]
