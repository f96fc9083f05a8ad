"""Conversion of a layer's columns to other units."""

from __future__ import annotations

import json
import pickle
from typing import TYPE_CHECKING

import numpy as np
import pytest
from shapefiles import Field, dbf, zipped

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Iterator

KG_PER_BUSHEL_OF_CORN = 56 * 0.45359237
HECTARES_PER_ACRE = 0.40468564224


@pytest.fixture(scope="module")
def layers() -> Iterator[dict[str, hl.Layer]]:
    """Give a layer for each unit that the displays of the demo account write."""
    with hl.Sandbox.demo() as service, hl.Client(**service.credentials) as client:
        found: dict[str, hl.Layer] = {}
        for wanted in ("bu/ac", "m3/ha", "gal/ac", "L/ha"):
            job = next(job for job in service.truth if wanted in [unit for _, unit, _ in job["totals"]])
            layer = client.job_data.read(job["job_id"], layer=job["layer"])
            for unit in layer.units.values():
                found.setdefault(unit, layer)
        yield found


def column_in(layer: hl.Layer, unit: str) -> str:
    return next(name for name, known in layer.units.items() if known == unit)


def test_named_column_is_converted_and_others_are_unchanged(layers: dict[str, hl.Layer]) -> None:
    layer = layers["bu/ac"]
    name = column_in(layer, "bu/ac")
    converted = layer.to_units({name: "t/ha"}, crop="corn")
    before, after = layer.to_arrow(), converted.to_arrow()
    assert converted.units[name] == "t/ha"
    assert after.column_names == before.column_names
    expected = np.array(before[name].to_pylist(), dtype=float) * KG_PER_BUSHEL_OF_CORN / 1000 / HECTARES_PER_ACRE
    np.testing.assert_allclose(np.array(after[name].to_pylist(), dtype=float), expected, rtol=1e-12)
    metadata = after.schema.field(name).metadata
    assert metadata[b"headland:unit_in"] == b"bu/ac"
    assert float(metadata[b"headland:factor"]) == pytest.approx(
        KG_PER_BUSHEL_OF_CORN / 1000 / HECTARES_PER_ACRE, rel=1e-12
    )
    for other in before.column_names:
        if other != name:
            assert after[other].equals(before[other])
    assert converted.crs == layer.crs
    assert converted.area() == layer.area()


def test_there_and_back_is_the_same_layer(layers: dict[str, hl.Layer]) -> None:
    for layer in {layer.name: layer for layer in layers.values()}.values():
        there = layer.to_units("us", crop="corn")
        known = {name: unit for name, unit in layer.units.items() if unit not in ("unknown", "degC")}
        back = there.to_units(known, crop="corn")
        for name in known:
            one, other = (np.array(each.values(name), dtype=float) for each in (layer, back))
            np.testing.assert_allclose(other, one, rtol=1e-14)


def test_words_choose_the_units_of_a_system(layers: dict[str, hl.Layer]) -> None:
    rates = {"kg/ha", "m3/ha", "L/ha", "seeds/ha", "m/s", "kg/s"}
    metric = rates | {"m", "m2", "kg", "L", "s", "kPa", "%", "deg", "unknown"}
    without_counterpart = {"degC"}
    for layer in {layer.name: layer for layer in layers.values()}.values():
        units = layer.to_units("metric").units
        assert set(units.values()) <= metric | without_counterpart, units


def test_bushels_of_a_crop_that_the_archive_states_become_a_mass(layers: dict[str, hl.Layer]) -> None:
    layer = layers["bu/ac"]
    name = column_in(layer, "bu/ac")
    assert set(layer["CROP"]) == {"Sorghum"}
    kilograms = layer.to_units({name: "kg/ha"})[name]
    assert kilograms == layer.to_units({name: "kg/ha"}, crop="sorghum")[name]
    assert kilograms[0] == pytest.approx(layer[name][0] * 56 * 0.45359237 / 0.40468564224)


def test_units_that_do_not_fit_are_named(layers: dict[str, hl.Layer]) -> None:
    layer = layers["bu/ac"]
    name = column_in(layer, "bu/ac")
    with pytest.raises(ValueError, match="is in `bu/ac`, which cannot be converted to `m/s`"):
        layer.to_units({name: "m/s"})
    with pytest.raises(ValueError, match="`bushelz` is not a known unit"):
        layer.to_units({name: "bushelz"})
    assert layer.units["PASS"] == "unknown"
    with pytest.raises(ValueError, match="the unit of column `PASS` is unknown"):
        layer.to_units({"PASS": "m"})


def test_converted_layers_pickle_and_are_written_with_their_units(
    layers: dict[str, hl.Layer], tmp_path: object
) -> None:
    import pyarrow.parquet as pq

    layer = layers["bu/ac"].to_units("metric")
    assert pickle.loads(pickle.dumps(layer)).units == layer.units
    path = layer.write_parquet(f"{tmp_path}/metric.parquet")
    schema = pq.read_schema(path)
    name = column_in(layer, "m3/ha")
    assert schema.field(name).metadata[b"unit"] == b"m3/ha"


def test_vendor_spellings_are_converted_and_written_in_the_standard_spelling() -> None:
    stated = {"VRYIELDVOL": "bu1ac-1", "WetMass": "lb1ac-1", "Moisture": "prcnt", "DISTANCE": "ft", "OTHER": "furlongs"}
    units = json.dumps({"DataAttributes": [{"Name": name, "Unit": unit} for name, unit in stated.items()]}).encode()
    fields = [Field(name.encode(), "N", 8, 2) for name in stated]
    source = zipped({"t.dbf": dbf(fields, [[b"  200.00"] * len(stated)]), "t-Deere-Metadata.json": units})
    layer = hl.read(source)
    ours = {"VRYIELDVOL": "bu/ac", "WetMass": "lb/ac", "Moisture": "%", "DISTANCE": "ft", "OTHER": "furlongs"}
    assert layer.units == layer.to_geopandas().attrs["units"] == ours
    metric = layer.to_units("metric")
    expected = {"VRYIELDVOL": "m3/ha", "WetMass": "kg/ha", "Moisture": "%", "DISTANCE": "m", "OTHER": "furlongs"}
    assert metric.units == expected
    assert metric.values("WetMass")[0] == pytest.approx(200 * 1.120851156194456, rel=1e-12)
    assert metric.values("Moisture") == [200.0]
    assert metric.to_arrow().schema.field("Moisture").metadata[b"headland:unit_in"] == b"%"
    with pytest.raises(ValueError, match="is in `furlongs`, which is not a known unit"):
        layer.to_units({"OTHER": "m"})


def test_crop_of_the_metadata_gives_the_weight_of_a_bushel() -> None:
    attributes = [{"Name": "VRYIELDVOL", "Unit": "bu1ac-1"}]
    table = dbf([Field(b"VRYIELDVOL", "N", 8, 2)], [[b"  200.00"], [b"        "]])

    def converted(sidecar: dict[str, object], crop: str | None = None) -> list[float | None]:
        source = zipped({"t.dbf": table, "t-Deere-Metadata.json": json.dumps(sidecar).encode()})
        values: list[float | None] = hl.read(source).to_units({"VRYIELDVOL": "kg/ha"}, crop=crop).values("VRYIELDVOL")
        return values

    corn, null = converted({"DataAttributes": attributes, "Crop": "Corn"})
    assert corn == pytest.approx(200 * 62.767665, abs=1e-4)
    assert null is None
    assert converted({"DataAttributes": attributes, "Crop": "Corn"}, crop="wheat")[0] == pytest.approx(
        200 * 67.251069, abs=1e-4
    )
    with pytest.raises(ValueError, match=r"needs the weight of a bushel.*pass `crop=`"):
        converted({"DataAttributes": attributes, "Crop": "clover"})


def test_crop_of_the_rows_gives_the_weight_of_a_bushel() -> None:
    def converted(*crops: bytes, crop: str | None = None) -> list[float | None]:
        columns = [Field(b"VRYIELDVOL", "N", 8, 2), Field(b"CROP", "C", 9, 0)]
        table = dbf(columns, [[b"  200.00", name.ljust(9)] for name in crops])
        sidecar = json.dumps({"DataAttributes": [{"Name": "VRYIELDVOL", "Unit": "bu1ac-1"}], "Crop": "Corn"}).encode()
        layer = hl.read(zipped({"t.dbf": table, "t-Deere-Metadata.json": sidecar}))
        values: list[float | None] = layer.to_units({"VRYIELDVOL": "kg/ha"}, crop=crop).values("VRYIELDVOL")
        return values

    assert converted(b"Wheat", b"WHEAT") == pytest.approx([200 * 67.251069] * 2, abs=1e-4)
    assert converted(b"Hybrid 1") == pytest.approx([200 * 62.767665], abs=1e-4)
    for crop in (None, "corn"):
        with pytest.raises(ValueError, match="the layer has no crop or several"):
            converted(b"Corn", b"Wheat", crop=crop)
