"""Layers in other processes: pickled, copied, sent through multiprocessing, as Dask and pools do (design, 5)."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from three_points import archive

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Callable

    from headland.layer.layer import Layer

ATTRIBUTES = ("name", "source", "columns", "crs", "units", "metadata", "diagnostics")


def same(one: Layer, other: Layer) -> None:
    """Assert that two layers are equal: rows, schema, and all attributes."""
    assert type(one) is type(other)
    assert pa.table(one).equals(pa.table(other), check_metadata=True)
    for name in ATTRIBUTES:
        assert getattr(one, name) == getattr(other, name), name
    assert one.describe() == other.describe()
    assert repr(one) == repr(other)


def layers() -> list[Layer]:
    """Return layers with every type of column, nulls, several batches, no rows, no geometry and no system."""
    full = hl.read(archive())
    with hl.open(archive(), batch_size=2) as reader:
        batches = list(reader)
    return [
        full,
        hl.read(archive(prj=None)),
        hl.read(archive(), to_crs="EPSG:4326"),
        hl.read(archive(), columns=[]),
        full.with_time("WHEN", date="DAY", time="PASS", zone="+02:00"),
        *batches,
    ]


@pytest.mark.parametrize(
    "take",
    [
        lambda layer: pickle.loads(pickle.dumps(layer)),
        lambda layer: pickle.loads(pickle.dumps(layer, 2)),
        copy.copy,
        copy.deepcopy,
    ],
    ids=["pickle", "pickle of old", "copy", "deepcopy"],
)
def test_layer_round_trips(take: Callable[[Layer], Layer]) -> None:
    for layer in layers():
        again = take(layer)
        same(again, layer)
        # The copy supports the same operations.
        if layer.crs is not None:
            assert again.__geo_interface__ == layer.__geo_interface__


def test_layers_of_jobs_fmis_and_grain_carts_round_trip(client: hl.Client) -> None:
    job, cart = client.job_data.list().first(), client.grain_carts.list().first()
    assert job is not None
    assert cart is not None
    for layer in (
        client.job_data.read(job["id"]),
        client.job_data.read(job["id"], format="FMIS"),
        client.grain_carts.read(cart["id"]),
    ):
        same(pickle.loads(pickle.dumps(layer)), layer)


def summed(layer: Layer) -> tuple[int, list[int | None], list[str], Layer]:
    """Process a layer in another process, and send it back."""
    return len(layer), layer.values("PASS"), [note.code for note in layer.diagnostics], layer


def test_process_pools_accept_layers() -> None:
    layer = hl.read(archive(prj=None))
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        ((count, values, codes, again),) = pool.map(summed, [layer])
    assert (count, values) == (3, [1, None, 3])
    assert "no-prj" in codes
    same(again, layer)


def test_a_code_of_another_release_is_kept_as_text() -> None:
    layer = hl.read(archive(prj=None))
    assert [(note.code, note.severity) for note in layer.diagnostics if note.code == "no-prj"] == [
        ("no-prj", "warning")
    ]
    about, buffers = layer._core.to_parts()
    again = type(layer._core).from_parts(about.replace('"no-prj"', '"code-of-tomorrow"'), buffers)
    assert ("code-of-tomorrow", "warning") in [(note["code"], note["severity"]) for note in again.diagnostics]
    assert '"code-of-tomorrow"' in again.to_parts()[0]


def test_inconsistent_pickle_is_an_error() -> None:
    core = hl.read(archive())._core
    about, buffers = core.to_parts()
    for wrong in (buffers[:-1], [b"", *buffers[1:]], [buffer[:-1] for buffer in buffers], [*buffers[:-1], b"x"]):
        with pytest.raises(ValueError, match="invalid parts of a layer"):
            type(core).from_parts(about, wrong)
    for index, buffer in enumerate(buffers):
        for wrong in ([*buffers[:index], part, *buffers[index + 1 :]] for part in (b"", buffer[:-1]) if buffer):
            with pytest.raises(ValueError, match="invalid parts of a layer"):
                type(core).from_parts(about, wrong)
    for words in ("", "{}", about.replace('"int32"', '"int16"'), about.replace('"geometry":5', '"geometry":0')):
        with pytest.raises(ValueError, match="invalid parts of a layer"):
            type(core).from_parts(words, buffers)
