"""One table from layers of several displays and years."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest
from shapefiles import Field, dbf, zipped

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def layers() -> Iterator[dict[str, hl.Layer]]:
    """Give a harvest of each system of units, one of them in another coordinate system, and a planting job."""
    names = {
        "metric": "Stone Hill 2026 Harvest",
        "us": "Stone Hill 2025 Harvest",
        "planting": "Stone Hill 2026 Planting",
    }
    with (
        hl.Sandbox.demo() as service,
        hl.Client(**service.credentials, rate_limits=(), limiter_state="memory") as client,
    ):
        ids = {job["name"]: job["id"] for job in client.job_data.list()}
        yield {key: client.job_data.read(ids[name]) for key, name in names.items()}


def total(layer: hl.Layer, column: str) -> float:
    return sum(value for value in layer.values(column) if isinstance(value, float))


def test_units_and_coordinates_of_all_rows_are_one(layers: dict[str, hl.Layer]) -> None:
    assert layers["metric"].crs != layers["us"].crs
    both = hl.concat([layers["metric"], layers["us"]])
    assert len(both) == len(layers["metric"]) + len(layers["us"])
    assert both.crs == "EPSG:4326"
    assert both.units["distance"] == "m"
    assert both.units["yield_dry_matter"] == "kg/ha"
    one, other = hl.harmonize(layers["metric"]), hl.harmonize(layers["us"])
    for column in ("worked_area", "wet_mass", "dry_mass", "distance"):
        assert total(both, column) == pytest.approx(total(one, column) + total(other, column), rel=1e-12)
    sources = both.values("source")
    assert sources == [one.source] * len(one) + [other.source] * len(other)
    assert set(both.values("job_id")) == {one.source.split("/")[1], other.source.split("/")[1]}


def test_a_concatenation_behaves_as_a_layer(layers: dict[str, hl.Layer], tmp_path: Path) -> None:
    both = hl.concat([layers["metric"], layers["us"]])
    again = pickle.loads(pickle.dumps(both))
    assert again.to_arrow().equals(both.to_arrow())
    both.write_parquet(tmp_path / "both.parquet")
    assert pq.read_table(tmp_path / "both.parquet").num_rows == len(both)
    frame = both.to_geopandas()
    assert len(frame) == len(both)
    assert "<svg" in both._repr_html_()
    assert len(hl.concat([both, layers["us"]])) == len(both) + len(layers["us"])
    assert both.to_units({"distance": "ft"}).units["distance"] == "ft"
    assert hl.concat([layers["us"]]).to_units("us").units["yield_dry_matter"] == "bu/ac"


def test_masses_that_were_bushels_are_masses_again(layers: dict[str, hl.Layer]) -> None:
    metric = hl.harmonize(layers["us"])
    bushels = metric.to_units("us")
    assert bushels.units["yield_dry_matter"] == "bu/ac"
    back = bushels.to_units("metric")
    assert back.units["yield_dry_matter"] == "kg/ha"
    assert total(back, "yield_dry_matter") == pytest.approx(total(metric, "yield_dry_matter"), rel=1e-12)
    both = hl.concat([bushels, metric])
    assert both.units["yield_dry_matter"] == "kg/ha"
    assert total(both, "yield_dry_matter") == pytest.approx(2 * total(metric, "yield_dry_matter"), rel=1e-12)


def test_originals_are_kept_on_request(layers: dict[str, hl.Layer]) -> None:
    twice = hl.concat([layers["us"], layers["us"]], originals=True)
    assert twice.values("VRYIELDVOL") == layers["us"].values("VRYIELDVOL") * 2
    assert "VRYIELDVOL" not in hl.concat([layers["us"], layers["us"]]).columns
    with pytest.raises(ValueError, match=r"original column `SWATHWIDTH` is Float64 in m in .* leave `originals` out"):
        hl.concat([layers["metric"], layers["us"]], originals=True)


def test_units_of_the_sources_have_to_agree_if_they_are_kept(layers: dict[str, hl.Layer]) -> None:
    feet = hl.harmonize(layers["us"]).to_units({"distance": "ft"})
    with pytest.raises(ValueError, match=r"column `distance`: the unit is m in `.*` and ft in `.*`"):
        hl.concat([hl.harmonize(layers["us"]), feet], units=None)
    same = hl.concat([feet, feet], units=None)
    assert same.units["distance"] == "ft"
    metric = hl.concat([hl.harmonize(layers["us"]), feet])
    assert total(metric, "distance") == pytest.approx(2 * total(hl.harmonize(layers["us"]), "distance"), rel=1e-12)


def test_a_column_that_a_layer_lacks_is_null_there(layers: dict[str, hl.Layer]) -> None:
    without = hl.harmonize(
        hl.read(zipped({"a.dbf": dbf([Field(b"MOISTURE", "N", 6, 2)], [[b" 12.50"]] * 3)})), kind="yield"
    )
    both = hl.concat([layers["metric"], without])
    assert both.values("distance")[-3:] == [None] * 3
    assert both.values("moisture")[-3:] == [12.5] * 3


def test_layers_without_geometries_keep_those_of_the_others(layers: dict[str, hl.Layer]) -> None:
    table = zipped({"a.dbf": dbf([Field(b"MOISTURE", "N", 6, 2)], [[b" 12.50"]] * 3)})
    without = hl.harmonize(hl.read(table), kind="yield")
    both = hl.concat([without, layers["us"]])
    assert sum(value is not None for value in both.values("geometry")) == len(layers["us"])
    assert both.crs == "EPSG:4326"
    assert both.values("geometry")[:3] == [None] * 3


def test_diagnostics_name_their_source(layers: dict[str, hl.Layer]) -> None:
    both = hl.concat([layers["metric"], layers["us"]])
    members = {diagnostic.member for diagnostic in both.diagnostics if diagnostic.code == "no-zone"}
    assert members == {layers["metric"].source, layers["us"].source}


def test_statements_about_a_concatenation_are_those_of_its_layers(layers: dict[str, hl.Layer]) -> None:
    both = hl.concat([layers["metric"], layers["us"]])
    assert hl.harmonize(both).to_arrow().equals(both.to_arrow())
    with pytest.raises(ValueError, match="is a concatenation, whose original columns are gone"):
        hl.harmonize(both, units={"distance": "m"})
    # Its rows have a crop, which stays.
    assert hl.harmonize(both, crop="corn")["crop"] == both["crop"]


def test_a_concatenation_of_concatenations_keeps_the_sources(layers: dict[str, hl.Layer]) -> None:
    one, other = hl.concat([layers["metric"]]), hl.concat([layers["us"]])
    both = hl.concat([one, other])
    expected = hl.concat([layers["metric"], layers["us"]])
    for column in ("source", "job_id", "distance", "dry_mass"):
        assert both.values(column) == expected.values(column)


def test_bushels_of_several_crops_are_refused(layers: dict[str, hl.Layer]) -> None:
    both = hl.concat([layers["metric"], layers["us"]])
    assert len(set(both.values("crop"))) == 2
    with pytest.raises(ValueError, match="no crop or several"):
        both.to_units("us", crop="corn")


def test_mixed_kinds_wrong_items_and_nothing_are_errors(layers: dict[str, hl.Layer]) -> None:
    with pytest.raises(ValueError, match=r"`.*` is yield and `.*` is planting; concatenate layers of one kind"):
        hl.concat([layers["metric"], layers["planting"]])
    with pytest.raises(TypeError, match="expected several layers, got one"):
        hl.concat(layers["metric"])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"expected headland\.Layer, .*, got str; read archives with `headland\.read`"):
        hl.concat(["job.zip"])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="`layers` is empty"):
        hl.concat([])
    with pytest.raises(ValueError, match="`units`: expected 'metric' or None, got 'us'"):
        hl.concat([layers["metric"]], units="us")  # type: ignore[arg-type]
