"""The dataset of a mirror as frames of geopandas: only the requested data is read, and no value changes silently."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import geopandas as gpd
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from checkout import DOCS
from doc_examples import blocks
from mirror_fixtures import PRJ, Farm, job, published, published_state, without_checksums
from shapefiles import Field

import headland as hl
from headland.mirror import summary

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MIRROR_PAGE = DOCS / "mirror.md"
WHOLE = (Field(b"PASS", "N", 9), Field(b"MOISTURE", "N", 9, 2))
FLOATS = (Field(b"PASS", "N", 9, 3), Field(b"PROTEIN", "N", 9, 1))
UTM = PRJ.replace(b"GCS_WGS_1984", b"GCS_Private").replace(b"6378137.0", b"6378000.0")


@pytest.mark.parametrize("text", ["{", "{}", "[]", '{"parts": [{}]}', '{"parts": [{"path": "x", "rows": null}]}'])
def test_a_damaged_manifest_is_named(farm: Farm, text: str) -> None:
    (published_state(farm.folder) / "manifest.json").write_text(text)
    for read in (farm.to_geopandas, lambda: summary.dataset_summary(farm.folder)):
        with pytest.raises(hl.ArchiveError, match=r"manifest\.json` is damaged .*`sync\(\)` to rewrite the dataset"):
            read()


@pytest.fixture
def farm(tmp_path: Path) -> Farm:
    jobs = [
        job("101", year="2025", rows=40, fields=WHOLE),
        job("102", rows=40, fields=WHOLE, west=-97.0),
        job("103", rows=5, fields=FLOATS),
        job("104", "AsApplied", rows=3),
        job("105", "Soil%20Sampling", rows=2, places=False),
    ]
    return published(tmp_path / "farm", jobs, group=10)


def damage(path: Path, keep: Callable[[int, str], bool]) -> int:
    """Overwrite the pages of all columns of all row groups but those to keep; return the number of damaged chunks."""
    content, count = bytearray(path.read_bytes()), 0
    metadata = pq.read_metadata(path)
    for group in range(metadata.num_row_groups):
        for at in range(metadata.num_columns):
            column = metadata.row_group(group).column(at)
            if not keep(group, column.path_in_schema):
                start = column.dictionary_page_offset or column.data_page_offset
                content[start : start + column.total_compressed_size] = b"\xff" * column.total_compressed_size
                count += 1
    path.write_bytes(content)
    return count


def test_all_rows_have_the_union_of_their_columns(farm: Farm) -> None:
    frame = farm.to_geopandas()
    assert isinstance(frame, gpd.GeoDataFrame)
    keys = ["job_type", "year", "job_id", "layer", "job_row"]
    assert [*frame.columns] == [*keys, "PASS", "MOISTURE", "PROTEIN", "geometry"]
    assert frame.groupby("job_id").size().to_dict() == {"101": 40, "102": 40, "103": 5, "104": 3, "105": 2}
    assert frame.crs == "EPSG:4326"
    assert frame[frame.job_id == "103"].MOISTURE.isna().all()
    assert frame[frame.job_id == "105"].geometry.isna().all(), "a table without places has none"
    # Integers of one archive are floats if another one has floats, but only in those columns.
    assert frame.PASS.dtype == pd.Float64Dtype()
    assert farm.to_geopandas(job_type="Yield", year=2025).PASS.dtype == pd.Int32Dtype()
    assert frame.year.dtype == pd.Int32Dtype()


def test_job_types_and_years_select_the_folders(farm: Farm) -> None:
    assert set(farm.to_geopandas(job_type="Yield").job_id) == {"101", "102", "103"}
    assert set(farm.to_geopandas(job_type="Yield", year=2026).job_id) == {"102", "103"}
    assert set(farm.to_geopandas(job_type=["AsApplied", "Soil Sampling"]).job_id) == {"104", "105"}
    assert set(farm.to_geopandas(year=[2025, 2024]).job_id) == {"101"}


def test_only_the_selected_folders_are_opened(farm: Farm) -> None:
    for path in published_state(farm.folder).glob("dataset/*/*/*/*.parquet"):
        if "job_type=Yield/year=2025" not in str(path):
            path.write_bytes(b"this is never opened")
    assert len(farm.to_geopandas(job_type="Yield", year=2025)) == 40


def test_only_the_row_groups_and_columns_that_are_needed_are_read(farm: Farm) -> None:
    # A checksum covers a block, which is longer than the needed bytes: without checksums, only parsed bytes are read.
    without_checksums(farm)
    # Ten points a row group, a hundredth of a degree apart: the box intersects those from -97.75 to -97.65.
    box = (-97.755, 44.0, -97.645, 46.0)
    expected = farm.to_geopandas(job_type="Yield", year=2025, bbox=box, columns=["MOISTURE"])
    [path] = published_state(farm.folder).glob("dataset/job_type=Yield/year=2025/*/*.parquet")
    needed = ("MOISTURE", "geometry", "bbox.")
    damaged = damage(path, lambda group, column: group in {2, 3} and column.startswith(needed))
    assert damaged == 4 * 10 - 2 * 6
    frame = farm.to_geopandas(job_type="Yield", year=2025, bbox=box, columns=["MOISTURE"])
    pd.testing.assert_frame_equal(frame, expected)
    assert frame.MOISTURE.tolist() == [*range(25, 36)]
    with pytest.raises(hl.ArchiveError, match=r"part-0.parquet` is damaged"):
        farm.to_geopandas(job_type="Yield", year=2025)


def test_box_selects_exactly_the_intersecting_geometries(farm: Farm) -> None:
    # The boxes in the file are rounded outwards; these sides are between a point and its rounded box.
    frame = farm.to_geopandas(job_type="AsApplied", bbox=(-97.99 + 1e-9, 45.0, -97.98, 45.0))
    assert frame.geometry.x.tolist() == [-97.98]
    assert frame.index.tolist() == [0]


@pytest.mark.parametrize("nothing", [{"bbox": (0, 0, 1, 1)}, {"year": 1999}])
def test_no_rows_have_all_columns_and_types(farm: Farm, nothing: dict[str, object]) -> None:
    frame, whole = farm.to_geopandas(job_type="Yield", **nothing), farm.to_geopandas(job_type="Yield")  # type: ignore[arg-type]
    assert len(frame) == 0
    pd.testing.assert_series_equal(frame.dtypes, whole.dtypes)
    assert frame.crs == whole.crs


def test_table_without_geometry_is_a_frame_without_geometry(farm: Farm) -> None:
    assert "geometry" not in farm.to_geopandas(job_type="Soil Sampling")
    assert len(farm.to_geopandas(job_type="Soil Sampling", bbox=(-180, -90, 180, 90))) == 0


def test_columns_come_in_the_order_of_the_dataset_and_the_geometry_along(farm: Farm) -> None:
    assert [*farm.to_geopandas(columns=["PROTEIN", "job_id"]).columns] == ["job_id", "PROTEIN", "geometry"]
    assert len(farm.to_geopandas(job_type="Soil Sampling", columns=["year"])) == 2


def test_backends_select_the_types(farm: Farm) -> None:
    assert str(farm.to_geopandas(job_type="Yield", dtype_backend="numpy").PASS.dtype) == "float64"
    assert str(farm.to_geopandas(job_type="Yield", dtype_backend="pyarrow").PASS.dtype) == "double[pyarrow]"


def test_array_without_dimensions_counts_as_its_value(farm: Farm) -> None:
    year, kind = np.array(2025), np.array("Yield")
    assert set(farm.to_geopandas(year=year, job_type=kind).job_id) == {"101"}
    [text] = np.array(["Yield"])
    assert set(farm.to_geopandas(year=year, job_type=text).job_id) == {"101"}


def test_missing_selection_is_an_error_that_lists_the_present_ones(farm: Farm, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no column `Protein`; there are: .*PROTEIN"):
        farm.to_geopandas(columns=["Protein"])
    with pytest.raises(TypeError, match="`archives`: expected True or False"):
        farm.publish("file:///nowhere", archives="yes")  # type: ignore[arg-type]
    with pytest.raises(hl.ConfigurationError, match="has published nothing yet: run `sync"):
        Farm(tmp_path / "elsewhere").to_geopandas()


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("yield", "Yield"),
        (" YIELD ", "Yield"),
        ("soil-sampling", "Soil Sampling"),
        ("SoilSampling", "Soil Sampling"),
        ("as applied", "AsApplied"),
        ("As Applied", "AsApplied"),
        ("application", "AsApplied"),
        ("Harvests", "Yield"),
        (["application", "AsApplied"], "AsApplied"),
        ("Soil samplings", "Soil Sampling"),
    ],
)
def test_job_type_has_synonyms(farm: Farm, asked: str | list[str], found: str) -> None:
    assert set(farm.to_geopandas(job_type=asked, columns=["job_type"]).job_type) == {found}


def test_job_type_selects_all_spellings_in_the_dataset(tmp_path: Path) -> None:
    farm = published(tmp_path, [job("1", "Yield"), job("2", "YIELD"), job("3", "Planter")])
    for word in ("Yield", "yield", "harvest"):
        assert set(farm.to_geopandas(job_type=word).job_id) == {"1", "2"}
    with pytest.raises(
        ValueError, match=r"are: Planter, YIELD, Yield; 'Sprayer' is a label of lists, and 'AsApplied' "
    ):
        farm.to_geopandas(job_type="Sprayer")
    with pytest.raises(
        ValueError, match=r"'Planter/Sprayer' is a label of lists, and 'Planter' or 'AsApplied' selects all"
    ):
        farm.to_geopandas(job_type="Planter/Sprayer")
    with pytest.raises(ValueError, match=r"no job type '--' in the dataset"):
        farm.to_geopandas(job_type="--")


def test_incompatible_types_are_an_error(tmp_path: Path) -> None:
    texts = job("2", fields=(Field(b"PASS", "C", 5),))
    farm = published(tmp_path, [job("1"), texts])
    with pytest.raises(ValueError, match=r"column `PASS` is large_string in `.*part-0.parquet` and int32 in `"):
        farm.to_geopandas()
    assert len(farm.to_geopandas(columns=["job_id"])) == 8


def test_integers_beyond_float_precision_are_an_error(tmp_path: Path) -> None:
    wide = job("1", fields=(Field(b"PASS", "N", 18),), cells=[(b"%18d" % (2**53 + 1),)], rows=1)
    farm = published(tmp_path, [wide, job("2", fields=FLOATS)])
    with pytest.raises(ValueError, match=r"column `PASS` of .* does not fit double"):
        farm.to_geopandas()


def test_several_units_of_a_column_are_a_warning(tmp_path: Path) -> None:
    farm = published(tmp_path, [job("1", unit="%"), job("2", year="2025", unit="kg/kg")])
    assert farm.to_geopandas(year=2026).attrs["units"] == {"MOISTURE": "%"}
    with pytest.warns(hl.HeadlandWarning, match=r"several units: `MOISTURE` \(% \| kg/kg\)") as warned:
        assert farm.to_geopandas().attrs["units"]["MOISTURE"] == "kg/kg | %"
    assert warned[0].filename == __file__


def test_coordinates_of_unknown_systems_are_not_mixed_with_others(tmp_path: Path) -> None:
    unknown = job("2", "AsApplied", prj=b"")
    farm = published(tmp_path, [job("1"), unknown])
    with pytest.warns(hl.HeadlandWarning, match="4 rows are omitted, because their coordinate system is unknown"):
        frame = farm.to_geopandas()
    assert set(frame.job_id) == {"1"}
    alone = farm.to_geopandas(job_type="AsApplied")
    assert (alone.crs, len(alone)) == (None, 4)


def test_the_recipe_for_polars_reads_years_whose_columns_differ(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = (Field(b"PASS", "N", 9), Field(b"MOISTURE", "N", 9))
    other = (Field(b"MOISTURE", "N", 9, 2), Field(b"PROTEIN", "N", 9, 1))
    jobs = [job("1", year="2024", fields=whole), job("2", year="2025", fields=other, rows=6), job("3", "AsApplied")]
    published(tmp_path / "farm", jobs)
    [recipe] = [block.source for block in blocks(MIRROR_PAGE) if "import polars" in block.source]
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(recipe, names)
    assert names["means"].rows() == [(2024, 4, 1.5), (2025, 6, 2.5)]
    rows = names["harvest"].sort("job_id", "job_row").collect()
    assert rows["PASS"].to_list() == [0, 1, 2, 3] + [None] * 6
    assert rows["PROTEIN"].to_list() == [None] * 4 + [0, 1, 2, 3, 4, 5]
    assert set(rows["job_type"]) == {"Yield"}


def test_new_state_is_read_and_the_old_one_stays_complete(tmp_path: Path) -> None:
    farm = published(tmp_path, [job("1")])
    later = farm.to_dask() if "dask" in sys.modules else None
    published(tmp_path, [job("1"), job("2")], number=2)
    assert set(farm.to_geopandas().job_id) == {"1", "2"}
    assert later is None or set(later.compute().job_id) == {"1"}


def test_folders_may_be_called_anything(tmp_path: Path) -> None:
    farm = published(tmp_path / "fa'rm [x] ü*?", [job("1", "It%27s%20%5BA%5D", year="2024")])
    assert farm.to_geopandas(job_type="It's [A]").year.tolist() == [2024] * 4


def test_rows_without_job_type_or_year_are_read(tmp_path: Path) -> None:
    null = "__HIVE_DEFAULT_PARTITION__"
    frame = published(tmp_path, [job("1", null, year=null)]).to_geopandas()
    assert frame.job_type.isna().all()
    assert frame.year.isna().all()


def test_missing_packages_are_named_with_their_extra(farm: Farm, monkeypatch: pytest.MonkeyPatch) -> None:
    for package, extra, read in (
        ("geopandas", "geo", farm.to_geopandas),
        ("duckdb", "sql", lambda: farm.sql("FROM dataset")),
        ("dask_geopandas", "dask", farm.to_dask),
        ("obstore", "s3", lambda: farm.publish("file:///nowhere")),
    ):
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, package, None)
            with pytest.raises(ImportError, match=rf"{package}.*pip install 'headland\[{extra}\]'"):
                read()
