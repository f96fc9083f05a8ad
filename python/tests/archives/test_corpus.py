"""Data of real machines: the frame that geopandas reads from the same files."""

from __future__ import annotations

import io
import itertools
import json
import random
import warnings
import zipfile
from typing import TYPE_CHECKING, Any

import geopandas as gpd
import numpy as np
import pyarrow as pa
import pytest
import shapely
from checkout import CORPUS

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def sets() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each data set of real machines with each of its layers."""
    for file in sorted((CORPUS / "expected").glob("*.json")):
        about = json.loads(file.read_text())
        if about["set"] == "ag":
            yield from ((about["file"], layer) for layer in about["layers"])


needs_corpus = pytest.mark.skipif(
    not (CORPUS / "expected").is_dir(), reason=f"no corpus at {CORPUS}: set HEADLAND_CORPUS"
)


def frame_of_geopandas(path: Path, layer: dict[str, Any], folder: Path) -> gpd.GeoDataFrame:
    """Read with geopandas; it finds no layers in folders of a zip, so zips are unpacked for it."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            archive.extractall(folder)
        found = (found for found in folder.rglob("*") if "__MACOSX" not in found.parts)
        path = next(found for found in found if found.suffix.lower() == ".shp" and found.stem == layer["layer_name"])
    with warnings.catch_warnings():
        # GDAL warns of rings that it reversed; this test does not compare that.
        warnings.simplefilter("ignore")
        return gpd.read_file(path)


@needs_corpus
@pytest.mark.parametrize(
    ("file", "layer"), list(sets()), ids=lambda value: value if isinstance(value, str) else value["layer_name"]
)
def test_frame_of_real_data_equals_that_of_geopandas(
    file: str, layer: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHAPE_RESTORE_SHX", "NO")
    path = CORPUS / file
    if not (path.suffix == ".zip" or path.with_suffix(".shx").exists() or path.suffix == ".dbf"):
        # GDAL writes a missing index next to the file, so it gets a copy.
        monkeypatch.setenv("SHAPE_RESTORE_SHX", "YES")
        for sibling in path.parent.glob(f"{path.stem}.*"):
            (tmp_path / sibling.name).write_bytes(sibling.read_bytes())
        theirs = frame_of_geopandas(tmp_path / path.name, layer, tmp_path)
    else:
        theirs = frame_of_geopandas(path, layer, tmp_path)
    several = len(hl.layers(path)) > 1
    ours = hl.read(path, layer=layer["layer_name"] if several else None).to_geopandas()
    assert list(ours.columns) == list(theirs.columns)
    assert len(ours) == len(theirs)
    names = list(theirs.columns)
    if "geometry" in names:
        names.remove("geometry")
        assert (ours.crs is None) == (theirs.crs is None)
        assert theirs.crs is None or theirs.crs.equals(ours.crs), (theirs.crs, ours.crs)
        assert (shapely.to_wkb(ours.geometry.values) == shapely.to_wkb(theirs.geometry.values)).all()
    for name in names:
        mine, other = ours[name], theirs[name]
        empty = other.isna().to_numpy()
        assert (mine.isna().to_numpy() == empty).all(), name
        dtype = other.dtype if isinstance(other.dtype, np.dtype) else object
        assert (mine[~empty].to_numpy(dtype=dtype) == other[~empty].to_numpy(dtype=dtype)).all(), name


@needs_corpus
@pytest.mark.parametrize("size", [1, 2])
def test_selected_columns_of_real_data_equal_those_of_the_whole(size: int) -> None:
    chance = random.Random(7)
    for file, layer in sets():
        if layer["row_count"] > 5_000:
            continue
        path = CORPUS / file
        name = layer["layer_name"] if len(hl.layers(path)) > 1 else None
        whole = pa.table(hl.read(path, layer=name))
        columns = [column for column in whole.column_names if column != "geometry"]
        choices = list(itertools.combinations(columns, size))
        for choice in chance.sample(choices, min(len(choices), 3)):
            part = pa.table(hl.read(path, layer=name, columns=list(choice)))
            geometry = [column for column in whole.column_names if column == "geometry"]
            assert part.equals(whole.select([*choice, *geometry])), (file, choice)


@needs_corpus
def test_real_data_are_the_same_from_a_path_bytes_files_and_folders(tmp_path: Path) -> None:
    archives = {CORPUS / file: layer for file, layer in sets() if file.endswith(".zip") and layer["row_count"] < 5_000}
    assert len(archives) > 3
    for number, path in enumerate(archives):
        folder = tmp_path / str(number)
        with zipfile.ZipFile(path) as archive:
            archive.extractall(folder)
        for name in hl.layers(path):
            whole = pa.table(hl.read(path, layer=name))
            content = path.read_bytes()
            with path.open("rb") as opened:
                given: list[Any] = [
                    str(path),
                    content,
                    bytearray(content),
                    memoryview(content),
                    io.BytesIO(content),
                    opened,
                    folder,
                ]
                for source, threads in itertools.product(given, (1, 2)):
                    if hasattr(source, "seek"):
                        source.seek(0)
                    assert pa.table(hl.read(source, layer=name, threads=threads)).equals(whole), (path, type(source))
