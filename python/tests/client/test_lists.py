"""Lists as tables and maps: Arrow, pandas, polars, duckdb and geopandas read the records of the iteration."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import duckdb
import geopandas as gpd
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import headland as hl
from headland import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Lists = dict[str, Callable[[], hl.Pages[Any]]]

# The service's clock does not advance while clients use the machine's, and they warn about it.
pytestmark = pytest.mark.filterwarnings("ignore::headland.HeadlandWarning")

UNKNOWN = "unknown_fields"
WORDS: tuple[Literal["json", "xml"], ...] = ("json", "xml")


@pytest.fixture(scope="module", params=[(), ("wild",)], ids=["plain", "wild"])
def still(request: pytest.FixtureRequest) -> Iterator[hl.Sandbox]:
    """Return a service whose lists do not change."""
    with hl.Sandbox(rate_limits=(), clock="moved", variants=request.param) as running:
        yield running


@pytest.fixture(params=WORDS)
def user(still: hl.Sandbox, request: pytest.FixtureRequest) -> Iterator[hl.Client]:
    with hl.Client(**still.credentials, rate_limits=(), accept=request.param) as client:
        yield client


def lists(client: hl.Client | hl.AsyncClient, ids: Mapping[str, str]) -> Lists:
    """Return each list of the table by the name of its row."""
    found: Lists = {}
    for name in _core.rows():
        group, _, method = name.partition(".")
        if method in ("list", "reports", "current_locations"):
            found[name] = getattr(getattr(client, group), method)
        elif method in ("locations", "prescription_maps", "job_data"):
            found[name] = partial(getattr(getattr(client, group), method), ids[group], page_size=200, page=0)
    assert len(found) >= 12
    return found


def ids_of(client: hl.Client) -> dict[str, str]:
    """Return an id for each group that needs one."""
    groups = {"field_computers": client.field_computers, "field_hubs": client.field_hubs, "job_data": client.job_data}
    return {name: group.list().first()["id"] for name, group in groups.items()}  # type: ignore[attr-defined]


def as_row(record: Mapping[str, Any] | None, schema: Any) -> dict[str, Any] | None:
    """Return a record as a row of that schema: null for missing fields, and other fields as JSON."""
    if record is None:
        return None
    row: dict[str, Any] = {}
    for field in schema:
        value = record.get(field.name)
        row[field.name] = as_row(value, field.type) if pa.types.is_struct(field.type) else value
    rest = {name: value for name, value in record.items() if name not in row}
    row[UNKNOWN] = json.dumps(rest, separators=(",", ":"), ensure_ascii=False) if rest else None
    return row


def test_arrow_equals_iteration(user: hl.Client) -> None:
    """Sections 2.1 to 2.5, for every list of the table, in both content types, with and without variants of the
    service."""
    for name, pages in lists(user, ids_of(user)).items():
        table = pages().to_arrow()
        assert table.column_names[-1] == UNKNOWN
        expected = [as_row(record, table.schema) for record in pages()]
        assert expected or name.endswith("prescription_maps"), name
        assert table.to_pylist() == expected, name


def test_schema_has_units_and_descriptions(client: hl.Client) -> None:
    hub = ids_of(client)["field_hubs"]
    schema = pa.schema(client.field_hubs.locations(hub))
    assert schema.equals(client.field_hubs.locations(hub, page=0).to_arrow().schema, check_metadata=True)
    types = {field.name: str(field.type) for field in schema}
    assert types["gps_date_time"] == "timestamp[us, tz=UTC]"
    assert (types["id"], types["lat"], types["speed"], types["valid"]) == ("string", "double", "int64", "bool")
    metadata = schema.field("speed").metadata
    assert metadata[b"unit"] == b"km/h"
    assert metadata[b"documentation"].startswith(b"Speed")
    report = pa.schema(client.field_hubs.reports()).field("report").type
    assert report.field("rssi").metadata[b"unit"] == b"dBm"
    assert [str(report.field(name).type) for name in ("rssi_bars", "event_meaning", "roaming")] == [
        "int64",
        "string",
        "bool",
    ]


def test_list_with_a_known_length_is_not_read_twice(still: hl.Sandbox) -> None:
    with hl.Client(**still.credentials, rate_limits=()) as client:
        pages = client.job_data.list(page_size=10)
        before = len(still.requests)
        first = pages.first()
        assert first is not None
        total = len(pages)
        assert len(still.requests) == before + 1
        table = pages.to_arrow()
        assert table.num_rows == total
        assert table["id"][0].as_py() == first["id"]
        assert len(still.requests) == before + -(-total // 10)
        assert pages.to_arrow().num_rows == total, "again, from the start"


def test_stream_reads_pages_on_demand(still: hl.Sandbox) -> None:
    with hl.Client(**still.credentials, rate_limits=()) as client:
        hub = ids_of(client)["field_hubs"]
        before = len(still.requests)
        reader = pa.RecordBatchReader.from_stream(client.field_hubs.locations(hub, page_size=100))
        assert len(still.requests) == before, "the schema is known without a call"
        # Later pages of a long list are fetched concurrently.
        for number in (1, 2):
            assert reader.read_next_batch().num_rows == 100
            assert len(still.requests) == before + number
        pages = client.job_data.list(page_size=10)
        assert len(pa.table(pages)) == len(pages)


def test_other_packages_read_the_stream(client: hl.Client) -> None:
    hub = ids_of(client)["field_hubs"]
    pages = client.field_hubs.locations(hub, page_size=500, page=0)
    records = list(pages)
    speeds = [record["speed"] for record in records]
    assert duckdb.sql("select count(*), sum(speed), count(gps_date_time) from pages").fetchall() == [
        (
            len(records),
            sum(speed for speed in speeds if speed is not None),
            sum(record["gps_date_time"] is not None for record in records),
        )
    ]
    frame = pl.DataFrame(client.field_hubs.locations(hub, page_size=500, page=0))
    assert frame["gps_date_time"].to_list() == [record["gps_date_time"] for record in records]
    assert frame.schema["gps_date_time"] == pl.Datetime("us", "UTC")
    assert frame["speed"].to_list() == speeds


def test_pandas_keeps_integers_and_times(client: hl.Client) -> None:
    hub = ids_of(client)["field_hubs"]
    pages = client.field_hubs.locations(hub, page_size=300, page=0)
    records = list(pages)
    frame = pages.to_pandas()
    assert frame["speed"].dtype == pd.Int64Dtype()
    assert frame["valid"].dtype == pd.BooleanDtype()
    assert str(frame["gps_date_time"].dtype) == "datetime64[us, UTC]"
    times = [None if pd.isna(time) else time.to_pydatetime() for time in frame["gps_date_time"]]
    assert times == [record["gps_date_time"] for record in records]
    assert pages.to_pandas(dtype_backend="pyarrow")["speed"].dtype == pd.ArrowDtype(pa.int64())
    assert str(pages.to_pandas(dtype_backend="numpy")["lat"].dtype) == "float64"
    with pytest.raises(ValueError, match="numpy_nullable"):
        pages.to_pandas(dtype_backend="numpi")


def test_an_empty_list_has_its_columns(client: hl.Client) -> None:
    hub = ids_of(client)["field_hubs"]
    empty = client.field_hubs.locations(hub, date="2099-01-01")
    assert not list(empty)
    for table in (empty.to_arrow(), pa.table(empty), pa.table(client.job_data.list(date="2099-01-01"))):
        assert table.num_rows == 0
    assert empty.to_arrow().schema == client.field_hubs.locations(hub, page=0).to_arrow().schema
    assert list(empty.to_pandas().columns) == empty.to_arrow().column_names
    assert empty.__geo_interface__ == {"type": "FeatureCollection", "features": []}
    places = empty.to_geopandas()
    assert (len(places), places.crs.to_epsg()) == (0, 4326)


def test_locations_are_a_map(user: hl.Client) -> None:
    """Section 2.3: no point if the position is not valid or there was no fix."""
    hub = ids_of(user)["field_hubs"]
    pages = user.field_hubs.locations(hub, page_size=1000, page=0)
    records = list(pages)
    lost = [record["valid"] is False or record["gps_date_time"] is None for record in records]
    assert any(lost)
    assert not all(lost)
    features = pages.__geo_interface__["features"]
    assert json.loads(json.dumps(features)) == features
    assert [feature["geometry"] is None for feature in features] == lost
    placed = next(feature for feature in features if feature["geometry"] is not None)
    at = next(record for record in records if record["id"] == placed["id"])
    assert placed["geometry"] == {"type": "Point", "coordinates": [at["lon"], at["lat"]]}
    assert placed["properties"]["gps_date_time"] == f"{at['gps_date_time']:%Y-%m-%dT%H:%M:%SZ}"
    places = pages.to_geopandas()
    assert places.crs.to_epsg() == 4326
    assert places["speed"].dtype == pd.Int64Dtype()
    expected = gpd.GeoDataFrame.from_features(features, crs=4326)
    assert places.geometry.isna().tolist() == lost
    assert places.geometry.geom_equals(expected.geometry).tolist() == [not gone for gone in lost]
    for other in (user.field_computers.current_locations(), user.field_hubs.current_locations()):
        assert len(other.to_geopandas()) == len(other)


def test_list_without_locations_is_no_map(client: hl.Client) -> None:
    for name in ("__geo_interface__", "to_geopandas"):
        with pytest.raises(AttributeError, match="only lists of locations"):
            getattr(client.job_data.list(), name)
    with pytest.raises(AttributeError, match="no attribute `colour`"):
        client.job_data.list().colour  # type: ignore[attr-defined] # noqa: B018


@pytest.mark.parametrize(("latitude", "longitude"), [(91.0, 0.0), (0.0, 181.0), (None, 1.0), (1.0, None)])
def test_coordinates_outside_the_earth_have_no_point(latitude: float | None, longitude: float | None) -> None:
    from headland.client.locations import _feature, _frame

    schema = pa.schema(
        [("lat", pa.float64()), ("lon", pa.float64()), ("valid", pa.bool_()), ("gps_date_time", "date32")]
    )
    record = {"id": "1", "lat": latitude, "lon": longitude, "valid": None, "gps_date_time": 1}
    assert _feature(record)["geometry"] is None
    table = pa.Table.from_pylist([record, record | {"lat": -90.0, "lon": 180.0}], schema=schema)
    assert _frame(table, {}).geometry.isna().tolist() == [True, False]


def test_error_of_a_call_is_raised_unchanged(still: hl.Sandbox) -> None:
    with hl.Client(**(still.credentials | {"access_key": "unknown"}), rate_limits=()) as client:
        with pytest.raises(hl.AuthenticationError):
            client.job_data.list().to_arrow()
        with pytest.raises(OSError, match="AuthenticationError"):
            pa.table(client.job_data.list())
    with hl.Client(**still.credentials, rate_limits=()) as client, pytest.raises(hl.NotFound):
        client.field_hubs.locations("12345678901").to_geopandas()


def test_the_asynchronous_twins(still: hl.Sandbox) -> None:
    with hl.Client(**still.credentials, rate_limits=()) as client:
        ids = ids_of(client)
        expected = {name: pages().to_arrow() for name, pages in lists(client, ids).items()}

    async def read() -> None:
        async with hl.AsyncClient(**still.credentials, rate_limits=()) as client:
            for name, pages in lists(client, ids).items():
                assert (await pages().to_arrow()).equals(expected[name]), name
            places = client.field_hubs.locations(ids["field_hubs"], page=0)
            first = await places.first()
            assert first is not None
            assert (await places.to_pandas())["id"][0] == first["id"]
            frame = await places.to_geopandas()
            assert (len(frame), frame.crs.to_epsg()) == (1000, 4326)
            assert not hasattr(client.job_data.list(), "to_geopandas")
            assert not hasattr(places, "__arrow_c_stream__")

    asyncio.run(read())


# In a process of its own, since it shows that the process does not crash.
STREAMS_IN_CYCLES = """
import gc, sys, pyarrow, headland
with headland.Sandbox.demo() as service, headland.Client(**service.credentials, rate_limits=()) as client:
    hub = client.field_hubs.list().first()["id"]
    class Holder: pass
    gc.set_threshold(50)
    for number in range(60):
        holder = Holder()
        holder.stream = pyarrow.RecordBatchReader.from_stream(client.field_hubs.locations(hub, page_size=100))
        holder.stream.read_next_batch()
        holder.itself = holder
        del holder
        if number % 3 == 0:
            list(client.field_hubs.locations(hub, page=0))
print("whole")
"""


def test_a_stream_in_a_cycle_is_freed_wherever_the_garbage_collector_runs() -> None:
    done = subprocess.run([sys.executable, "-c", STREAMS_IN_CYCLES], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "whole\n"), done.stderr
