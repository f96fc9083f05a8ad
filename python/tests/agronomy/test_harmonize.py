"""Harmonised columns of real archives and of every job of the local service."""

from __future__ import annotations

import io
import math
import pickle
import zipfile
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from checkout import CORPUS
from harmonized_tables import YIELD, archives, corpus_table, found, section, table

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

needs_corpus = pytest.mark.skipif(not (CORPUS / "ag").is_dir(), reason=f"no corpus at {CORPUS}: set HEADLAND_CORPUS")

OF_FILES: dict[str, dict[str, tuple[str, str]]] = {
    "AA1617_2016_POLY_AA_N_sec1west.zip": {
        "applied_rate": ("vrappratev", "unknown"),
        "field": ("field_name", ""),
        "time": ("time", ""),
    },
    "AA16_AA_N_2016_henrys.zip": {
        "applied_rate": ("rt_apd_ms_", "unknown"),
        "field": ("field", ""),
        "product": ("product", ""),
        "target_rate": ("tgt_rate_l", "unknown"),
    },
    "Millview-Oats.zip": {
        "distance": ("DISTANCE", "ft"),
        "elevation": ("Elevation", "ft"),
        "heading": ("Heading", "deg"),
        "machine": ("Machine", ""),
        "moisture": ("Moisture", "%"),
        "section": ("SECTIONID", ""),
        "swath_width": ("SWATHWIDTH", "ft"),
        "time": ("IsoTime", ""),
        "variety": ("VARIETY", ""),
        "yield_dry_volume": ("VRYIELDVOL", "bu/ac"),
        "yield_wet_mass": ("WetMass", "lb/ac"),
    },
    "Millview-Wheat (Hrd Rd Spr) seeding.zip": {
        "applied_rate": ("AppldRt", "lb/ac"),
        "control_rate": ("CntrlRt", "lb/ac"),
        "distance": ("DISTANC", "ft"),
        "elevation": ("Elevatn", "ft"),
        "heading": ("Heading", "deg"),
        "machine": ("Machine", ""),
        "section": ("SECTION", ""),
        "swath_width": ("SWATHWI", "ft"),
        "target_rate": ("TargtRt", "lb/ac"),
        "time": ("IsoTime", ""),
        "variety": ("Variety", ""),
    },
    "PRO_PRO_2017_sec1east.zip": {
        "moisture": ("moisture", "%"),
        "product": ("product", ""),
        "protein": ("protein", "%"),
    },
    "YE_YLD_2014_sec1west.zip": {
        "crop": ("crop", ""),
        "distance": ("dist_in", "in"),
        "elevation": ("z_metrs", "m"),
        "field": ("field", ""),
        "flow": ("flw_lbs", "lb/s"),
        "heading": ("hdng_dg", "deg"),
        "latitude": ("lat", "deg"),
        "longitude": ("lon", "deg"),
        "moisture": ("moistur", "%"),
        "pass_number": ("pass_nm", ""),
        "swath_width": ("swth_w_", "in"),
        "time": ("gps_tim", ""),
        "yield_wet_volume": ("yield", "bu/ac"),
    },
    "YE_YLD_2016_henrys.zip": {
        "crop": ("crop", ""),
        "distance": ("dist_in", "in"),
        "elevation": ("z_metrs", "m"),
        "field": ("field", ""),
        "flow": ("flw_lbs", "lb/s"),
        "heading": ("hdng_dg", "deg"),
        "interval": ("flow, yield, area", "s"),
        "latitude": ("lat", "deg"),
        "longitude": ("lon", "deg"),
        "moisture": ("moistur", "%"),
        "pass_number": ("pass_nm", ""),
        "swath_width": ("swth_w_", "in"),
        "yield": ("yield", "bu/ac"),
    },
    "henrys_2018_AA_N.zip": {"applied_rate": ("rate_appld", "unknown"), "field": ("field", "")},
}
"""Original column and its unit by canonical column; a unit that nothing states or proves is unknown."""

BOUNDARIES = {"FarmName_bbox.zip", "henrys_bbox.zip", "sec1east_bbox.zip"}

SI = {"kg": 1.0, "lb": 0.45359237, "L": 1.0, "gal": 3.785411784, "seeds": 1.0}


@needs_corpus
@pytest.mark.parametrize("name", OF_FILES)
def test_columns_of_real_archive_have_their_meaning_and_unit(name: str) -> None:
    columns = {row.column: (row.original, row.unit) for row in found(hl.harmonize(hl.read(archives()[name])))}
    assert columns == OF_FILES[name]


@needs_corpus
def test_unknown_unit_of_real_archive_has_no_column_and_is_a_diagnostic() -> None:
    for name, columns in OF_FILES.items():
        layer = hl.harmonize(hl.read(archives()[name]))
        unknown = {column: original for column, (original, unit) in columns.items() if unit == "unknown"}
        assert not set(unknown) & set(layer.to_arrow().column_names)
        reported = " ".join(item.message for item in layer.diagnostics if item.code == "unit-unknown")
        assert all(f"`{original}`" in reported for original in unknown.values())


@needs_corpus
def test_every_archive_is_expected_and_boundaries_have_no_known_meaning() -> None:
    assert set(archives()) == set(OF_FILES) | BOUNDARIES
    for name in BOUNDARIES:
        with pytest.raises(ValueError, match="no known meaning"):
            hl.harmonize(hl.read(archives()[name]))


@needs_corpus
def test_prescriptions_have_no_known_meaning() -> None:
    paths = list((CORPUS / "ag").glob("*/Strategies/**/*.shp"))
    assert len(paths) == 4
    for path in paths:
        with pytest.raises(ValueError, match="no known meaning"):
            hl.harmonize(hl.read(path))


@needs_corpus
def test_table_of_the_page_is_what_the_archives_give() -> None:
    assert section("Real files") == corpus_table()


def everyday() -> list[Path]:
    """Return the five exports of one harvest."""
    return sorted((CORPUS / "everyday").glob("harvest-*.zip"))


def total(layer: hl.Layer, column: str) -> float:
    """Return the sum of a column."""
    return float(pc.sum(layer.to_arrow()[column]).as_py())


@needs_corpus
def test_exports_of_one_harvest_agree_in_mass_and_area() -> None:
    exports = {path.name: hl.harmonize(hl.read(path)) for path in everyday()}
    assert len(exports) == 5
    for column in ("wet_mass", "dry_mass"):
        masses = [total(layer, column) for layer in exports.values()]
        assert max(masses) <= 1.003 * min(masses), column
    # The points of one row a second also have the drives between passes, with the full width and no yield.
    drives = exports.pop("harvest-point-onehertz.zip")
    areas = [total(layer, "worked_area") for layer in exports.values()]
    assert max(areas) <= 1.003 * min(areas)
    assert min(areas) == pytest.approx(410_834 * 0.3048**2, rel=0.003)
    assert total(drives, "worked_area") == pytest.approx(575_848 * 0.3048**2, rel=1e-4)
    table = drives.to_arrow()
    idle = table.filter(pc.equal(table["yield_wet_mass"], 0.0))
    assert pc.max(idle["distance"]).as_py() > 100
    assert pc.max(table.filter(pc.greater(table["yield_wet_mass"], 0.0))["distance"]).as_py() < 3


class Job(NamedTuple):
    """A job of the local service: its true totals, its detail and its archive."""

    truth: Any
    detail: Any
    archive: bytes

    @property
    def layer(self) -> hl.Layer:
        """Return the layer with the measured rows."""
        return hl.read(self.archive, layer=self.truth["layer"])

    @property
    def has_units(self) -> bool:
        """Return whether a sidecar states the units."""
        with zipfile.ZipFile(io.BytesIO(self.archive)) as archive:
            return any(name.endswith("-Deere-Metadata.json") for name in archive.namelist())

    @property
    def units(self) -> dict[str, str]:
        """Return the units of the columns of numbers, for archives that state none."""
        if self.has_units:
            return {}
        return {column: unit for column, unit, _ in self.truth["totals"] if unit != "1"}

    @property
    def stripped(self) -> hl.Layer:
        """Return the layer of the archive without metadata."""
        packed = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(self.archive)) as archive, zipfile.ZipFile(packed, "w") as other:
            for name in archive.namelist():
                if name.lower().endswith((".shp", ".shx", ".dbf", ".prj", ".cpg")) and "__MACOSX" not in name:
                    other.writestr(name, archive.read(name))
        return hl.read(packed.getvalue(), layer=self.truth["layer"])


@pytest.fixture(scope="module")
def jobs() -> Iterator[list[Job]]:
    """Return all jobs, with one download each."""
    with hl.Sandbox.demo(conversion_time=0.0) as service, hl.Client(**service.credentials, rate_limits=()) as client:
        yield [
            Job(truth, client.job_data.get(truth["job_id"]), client.job_data.download(truth["job_id"]))
            for truth in service.truth
        ]


def test_area_and_total_of_every_job_equal_the_truth(jobs: list[Job]) -> None:
    for job in jobs:
        layer = hl.harmonize(job.layer, units=job.units)
        assert total(layer, "worked_area") == pytest.approx(job.truth["area"], rel=1e-6), job.truth["job_name"]
        truth = job.truth["total"]
        column = "wet_mass" if job.truth["sub_type"] == "Yield" else "amount"
        expected = truth["value"] * SI[truth["unit"]]
        assert total(layer, column) == pytest.approx(expected, rel=1e-6), job.truth["job_name"]


def test_originals_keep_values_and_order_before_the_canonical_columns_and_the_geometry(jobs: list[Job]) -> None:
    for job in jobs:
        before, layer = job.layer.to_arrow(), hl.harmonize(job.layer, units=job.units)
        after = layer.to_arrow()
        added = [entry["column"] for entry in layer.provenance if entry.get("unit") != "unknown"]
        originals = [name for name in after.column_names if name not in added]
        assert after.column_names == [*originals[:-1], *added_in_order(after, added), "geometry"]
        assert [name.removesuffix("_original") for name in originals] == before.column_names
        for name, original in zip(originals, before.column_names, strict=True):
            assert after[name].equals(before[original]), name


def added_in_order(table: pa.Table, added: list[Any]) -> list[str]:
    """Return the added columns as the table orders them."""
    return [name for name in table.column_names if name in added]


def test_original_with_a_canonical_name_in_any_case_is_renamed_and_others_are_not(jobs: list[Job]) -> None:
    job = next(job for job in jobs if job.truth["sub_type"] == "Yield" and job.has_units)
    names = hl.harmonize(job.layer).to_arrow().column_names
    assert {"SPEED_original", "FLOW_original", "DISTANCE_original"} <= set(names)
    assert {"SWATHWIDTH", "CYCLE", "VRYIELDVOL"} <= set(names)
    assert len({name.lower() for name in names}) == len(names)


def test_harmonising_twice_changes_nothing(jobs: list[Job]) -> None:
    for job in jobs:
        once = hl.harmonize(job.layer)
        twice = hl.harmonize(once)
        assert twice.to_arrow().equals(once.to_arrow(), check_metadata=True), job.truth["job_name"]
        assert twice.provenance == once.provenance


def test_crop_of_a_harmonised_layer_starts_from_the_originals(jobs: list[Job]) -> None:
    for job in [job for job in jobs if job.truth["sub_type"] == "Yield"][:6]:
        one = hl.harmonize(hl.harmonize(job.layer), crop="barley")
        other = hl.harmonize(job.layer, crop="barley")
        assert one.to_arrow().equals(other.to_arrow(), check_metadata=True), job.truth["job_name"]
        basis = next(entry["moisture_basis"] for entry in one.provenance if entry["column"] == "dry_mass")
        assert float(str(basis)) == 14.5


HARVESTS = 18


@pytest.mark.parametrize("with_job", [False, True], ids=["alone", "with-job"])
@pytest.mark.parametrize("number", range(HARVESTS))
def test_harvest_without_metadata_has_right_or_unknown_units(jobs: list[Job], number: int, *, with_job: bool) -> None:
    harvests = [job for job in jobs if job.truth["sub_type"] == "Yield"]
    assert len(harvests) == HARVESTS
    job = harvests[number]
    stated = hl.harmonize(job.layer)
    alone = hl.harmonize(job.stripped, job=job.detail if with_job else None)
    expected, table = stated.to_arrow(), alone.to_arrow()
    wrong = []
    for entry in alone.provenance:
        name = str(entry["column"])
        if entry.get("unit") == "unknown":
            continue
        assert name in expected.column_names, entry
        if not pa.types.is_floating(table.schema.field(name).type):
            continue
        tolerance = 0.01 if entry["rule"] == "computed" else 1e-9
        one, other = (np.array(each[name].to_pylist(), dtype=float) for each in (table, expected))
        if not np.allclose(one, other, rtol=tolerance, equal_nan=True):
            wrong.append((name, entry, float(np.nanmedian(one / other))))
    assert not wrong, job.truth["job_name"]


def test_positions_prove_distance_in_every_harvest_without_metadata(jobs: list[Job]) -> None:
    for job in [job for job in jobs if job.truth["sub_type"] == "Yield"]:
        units = {row.column: row.unit for row in found(hl.harmonize(job.stripped))}
        truth = {column: unit for column, unit, _ in job.truth["totals"]}
        assert units["distance"] == truth["DISTANCE"], job.truth["job_name"]


def test_area_of_the_job_proves_the_width_of_every_job_without_metadata(jobs: list[Job]) -> None:
    for job in jobs:
        units = {row.column: row.unit for row in found(hl.harmonize(job.stripped, job=job.detail))}
        truth = {column: unit for column, unit, _ in job.truth["totals"]}
        assert units["swath_width"] == truth["SWATHWIDTH"], job.truth["job_name"]


def test_provenance_is_in_geoparquet_and_in_pickles(jobs: list[Job], tmp_path: Path) -> None:
    job = next(job for job in jobs if job.truth["sub_type"] == "Planter" and job.has_units)
    layer = hl.harmonize(job.layer)
    layer.write_parquet(tmp_path / "job.parquet")
    schema = pq.read_schema(tmp_path / "job.parquet")
    assert schema.field("distance").metadata[b"headland:source"] == b"DISTANCE"
    for entry in layer.provenance:
        if entry.get("unit") == "unknown":
            continue
        metadata = schema.field(str(entry["column"])).metadata
        for key, value in entry.items():
            if key in {"column", "unit"} or value is None:
                continue
            stored = metadata[f"headland:{key}".encode()].decode()
            same = stored == str(value) if isinstance(value, str) else math.isclose(float(stored), float(value))
            assert same, (entry, key, stored)
    again = pickle.loads(pickle.dumps(layer))
    assert again.provenance == layer.provenance
    assert hl.harmonize(again).to_arrow().equals(layer.to_arrow(), check_metadata=True)


def test_layer_without_known_units_is_harmonised_once() -> None:
    layer = hl.harmonize(table([YIELD], [(5,)]))
    assert hl.harmonize(layer).columns == layer.columns == ["YIELD_original"]
    assert hl.harmonize(layer, units={"YIELD": "kg/ha"}).units["yield"] == "kg/ha"
