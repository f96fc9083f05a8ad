"""Habits of users: numpy ids, paths with `~`, names that are almost right, completion and help."""

from __future__ import annotations

import asyncio
import inspect
import pydoc
import traceback
import types
from pathlib import Path
from typing import TYPE_CHECKING, Any

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely
from client_methods import OFFLINE

import headland as hl
from headland.agronomy.job_layers import JobLayers
from headland.dask import read_archives
from headland.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable


LOOSE: Any = hl
LOOSE_ARCHIVES: Any = read_archives
"""The package without its types, for arguments that it does not have."""

TWO_ROWS: Any = pd.DataFrame({"YIELD": [1.0, 2.0], "HEADING": [2.0, 2.0]})


def prescription(**changed: Any) -> Any:
    """Return a prescription of one zone."""
    zone = gpd.GeoDataFrame({"rate": [100.0]}, geometry=[shapely.box(9.0, 51.0, 9.001, 51.001)], crs=4326)
    return hl.Prescription(zone, "rate", **{"unit": "kg/ha", **changed})


def layer_of_texts() -> Any:
    """Return a layer without times."""
    return hl.harmonize(pd.DataFrame({"YIELD": [1.0], "DAY": ["2026-09-01"]}), kind="yield")


def cleaned_job() -> Any:
    """Return a cleaned harvest of one pass."""
    rows = {"YIELD": [8000.0] * 9, "SWATHWIDTH": [9.0] * 9, "DISTANCE": [10.0] * 9}
    places = gpd.points_from_xy([9.0] * 9, [51.0 + 1e-4 * row for row in range(9)])
    units = {"YIELD": "kg/ha", "SWATHWIDTH": "m", "DISTANCE": "m"}
    return hl.clean(hl.harmonize(gpd.GeoDataFrame(rows, geometry=places, crs=4326), kind="harvest", units=units))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "user"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    return folder


@pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint32, np.str_])
def test_ids_of_numpy_are_ids(client: hl.Client, small_job: str, kind: Callable[[str], Any]) -> None:
    number = kind(small_job)
    assert client.job_data.get(number)["id"] == small_job
    assert len(client.job_data.read(number)) == len(client.job_data.read(small_job))
    computer = client.field_computers.list().first()
    assert computer is not None
    some = client.field_computers.job_data(kind(computer["id"]), min_id=kind("0"))
    assert some.to_arrow().equals(client.field_computers.job_data(computer["id"], min_id=0).to_arrow())


def test_ids_of_a_frame_are_ids(client: hl.Client) -> None:
    jobs = client.job_data.list().to_pandas()
    number = jobs["id"].astype("int64").iloc[0]
    assert client.job_data.get(number)["id"] == jobs["id"].iloc[0]
    page: Any = np.int64(0)
    assert client.job_data.list(page=page, page_size=page + 3).first() is not None


@pytest.mark.parametrize("wrong", [np.float64(31), np.bool_(True), True, 31.0, pd.NA, None])
def test_other_types_are_no_ids(client: hl.Client, wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"`id`: expected a str or an int"):
        client.job_data.get(wrong)


def test_home_folder_is_expanded_in_every_path(client: hl.Client, small_job: str, home: Path) -> None:
    assert client.job_data.download(small_job, to="~/job.zip") == home / "job.zip"
    assert Path("~/job.zip").expanduser() == home / "job.zip"
    (home / "folder").mkdir()
    downloaded = client.job_data.download(small_job, to="~/folder/")
    assert isinstance(downloaded, Path)
    assert downloaded.parent == home / "folder"
    layer = hl.read("~/job.zip")
    assert layer.source == str(home / "job.zip")
    assert len(hl.read(Path("~/job.zip"))) == len(layer)
    assert hl.layers("~/job.zip") == [layer.name]
    with hl.open("~/job.zip") as reader:
        assert sum(map(len, reader)) == len(layer)
    assert layer.write_geojson("~/job.geojson") == home / "job.geojson"
    assert layer.write_parquet("~/job.parquet") == home / "job.parquet"
    assert hl.write_parquet(layer.to_geopandas(), "~/frame.parquet") == home / "frame.parquet"
    assert len(read_archives(["~/job.zip"])) == len(layer)
    assert client.job_data.upload("~/job.zip")["id"]
    assert hl.Mirror("~/farm").folder == home / "farm"
    written = {"folder", "frame.parquet", "job.geojson", "job.parquet", "job.zip"}
    assert {path.name for path in home.iterdir()} == written


def test_home_folder_is_expanded_in_settings(service: hl.Sandbox, home: Path) -> None:
    credentials = service.credentials
    lines = [f'{name} = "{value}"' for name, value in credentials.items()]
    profiles = home / "profiles.toml"
    profiles.write_text("\n".join(["[default]", 'limiter_state = "~/limiter"', *lines]), encoding="utf-8")
    profiles.chmod(0o600)
    with hl.Client.from_profile(path="~/profiles.toml") as client:
        client.access_key()
    assert (home / "limiter").exists()
    with pytest.raises(hl.ConfigurationError, match=str(home / "authorities.pem")):
        hl.Client(**credentials, ca_file="~/authorities.pem")


def test_names_of_no_user_are_unchanged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("~$job.zip").write_bytes(b"")
    with pytest.raises(hl.ArchiveError, match=r"~\$job\.zip"):
        hl.read("~$job.zip")
    assert hl.write_parquet(pd.DataFrame({"share": [0.5]}), "~unknown.parquet") == Path("~unknown.parquet")


@pytest.mark.parametrize("kind", [hl.Client, hl.AsyncClient])
def test_wrong_attributes_of_a_client_suggest_the_right_one(kind: type[hl.Client]) -> None:
    client: Any = kind(**OFFLINE)
    right = {"jobdata": "job_data", "JobData": "job_data", "field_computer": "field_computers", "budgt": "budget"}
    for wrong, name in right.items():
        with pytest.raises(AttributeError, match=rf"`{kind.__name__}` has no attribute `{wrong}`: did .*`{name}`\?$"):
            getattr(client, wrong)
    with pytest.raises(AttributeError, match=r"no attribute `zzz`$"):
        _ = client.zzz
    assert not hasattr(client, "__deepcopy__")


def test_wrong_attributes_suggest_the_right_one(client: hl.Client) -> None:
    layer: Any = hl.harmonize(pd.DataFrame({"YIELD": [1.0], "HEADING": [2.0]}), kind="yield")
    package: Any = hl
    rx, cleaned, mirror, filtered = (
        prescription(),
        cleaned_job(),
        hl.Mirror("farm"),
        client.job_data.list().filter(bool),
    )
    for owner, wrong, right in (
        (client.job_data, "lst", r"`JobData` .*: did you mean `list`\?"),
        (client.dispatch, "product", r"`Dispatch` .*: did you mean `products`\?"),
        (client.job_data.list(), "to_panda", r"`Pages` .*: did you mean `to_pandas`\?"),
        (client.job_data.list(), "to_geopandas", "`Pages` .*: only lists of locations have it"),
        (layer, "to_geopanda", r"`Layer` .*: did you mean `to_geopandas`\?"),
        (layer, "HEADING_original", r"""`Layer` .*: the column is `layer\["HEADING_original"\]`"""),
        (layer, "groupby", "`Layer` .*`groupby`; `to_pandas.* return frames, which have more"),
        (layer, "_lst", "`Layer` has no attribute `_lst`"),
        (layer, "write_csv", r"`Layer` .*: `to_pandas\(\).to_csv\(path\)` writes it, and `headland read .*"),
        (layer, "map", r"`Layer` .*: `plot\(column\)` draws it"),
        (rx, "save", r"`Prescription` .*: `write\(path\)` writes the zip"),
        (rx, "plot", r'`Prescription` .*: `rx\.layer\.plot\("RATE"\)` draws the rates'),
        (rx, "to_geopandas", "`Prescription` .*: its rows have it, `rx.layer.to_geopandas`"),
        (rx, "total", r"`Prescription` .*: did you mean `totals`\?"),
        (cleaned, "plot", r"`Cleaned` .*: `cleaned.map\(\)` draws it, and .*"),
        (cleaned, "to_pandas", "`Cleaned` .*: its rows have it, `cleaned.layer.to_pandas`"),
        (mirror, "query", r"`Mirror` .*: `mirror.sql\(query\)` runs a query"),
        (mirror, "to_pandas", r"`Mirror` .*: `mirror.sql\(query\).df\(\)` is a frame .*"),
        (mirror, "synk", r"`Mirror` .*: did you mean `sync`\?"),
        (JobLayers([], []), "plot", r"`JobLayers` .*: `jobs.concat\(\).plot\(column\)` draws all rows, .*"),
        (JobLayers([], []), "head", r"`JobLayers` .*: its rows have it, `jobs.concat\(\).head`"),
        (filtered, "to_pandas", r"`FilteredPages` .*: .*`pandas.DataFrame\(list\(filtered\)\)`"),
        (package, "reed", r"`headland` .*: did you mean `read`\?"),
        (package, "_reed", "`headland` has no attribute `_reed`"),
    ):
        with pytest.raises(AttributeError, match=f"^{right}$"):
            getattr(owner, wrong)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda _: prescription(units="kg/ha"), r"`units`: did you mean `unit`\?"),
        (lambda _: LOOSE.grid(cleaned_job(), size=10), "`size`: `cells=...` is the side of the cells in metres"),
        (lambda _: LOOSE.grid(cleaned_job(), cell=10), r"`cell`: did you mean `cells`\?"),
        (lambda _: LOOSE.clean(TWO_ROWS, delays=10), r"`delays`: did you mean `delay`\?"),
        (lambda _: LOOSE.harmonize(TWO_ROWS, unit={}), r"`unit`: did you mean `units`\?"),
        (lambda _: LOOSE.concat([TWO_ROWS], unit=None), r"`unit`: did you mean `units`\?"),
        (lambda _: cleaned_job().map(units="t/ha"), r"`units`: a map of other units is `headland.grid\(cleaned\)"),
        (lambda _: cleaned_job().layer.plot(units="t/ha"), "`units`: `unit=...` only labels the map; .*to_units"),
        (lambda _: LOOSE.Sandbox.demo(conversion=0), r"`conversion`: did you mean `conversion_time`\?"),
        (lambda _: LOOSE.Sandbox(rate_limit=()), r"`rate_limit`: did you mean `rate_limits`\?"),
        (lambda _: LOOSE_ARCHIVES(["a.zip"], column=["A"]), r"`column`: did you mean `columns`\?"),
        (lambda _: LOOSE.Mirror("farm", year=2025), "`year`: a mirror selects by the upload, .*WHERE year"),
        (lambda _: LOOSE.Mirror("farm").plan(name="North"), "`name`: a mirror selects by `ids=.*`headland pull --name"),
        (lambda client: client.job_data.download("1", path="a.zip"), "`path`: `to=...` is a path or a folder"),
        (
            lambda client: client.conversion("job_data.request/1/SHP").result(timeout=0),
            r"`timeout`: `wait\(timeout=...\)` limits the wait",
        ),
        (lambda client: client.job_data.upload(files="a.zip"), r"`files`: did you mean `file`\?"),
        (lambda client: client.job_data.request("1", formats="BIN"), r"`formats`: did you mean `format`\?"),
        (lambda client: client.job_data.read_all(limit=2), "`limit`: `ids=.*` reads the first two of the list"),
        (lambda client: client.job_data.read_all(type="yield"), "`type`: `job_type=...` selects a kind"),
        (lambda client: client.job_data.list(limit=2), r"`limit`: `list\(\)\[:2\]` reads the first two"),
        (lambda client: client.job_data.list().filter(type="yield"), "`type`: `job_type=...` selects a kind"),
        (lambda _: LOOSE.Mirror("farm").report("pages", year=2026), r"`year`: did you mean `years`\?"),
        (lambda _: layer_of_texts().with_time("at", date="DAY", timezone="UTC"), "`timezone`: `zone=.*` is the zone"),
    ],
)
def test_wrong_names_of_arguments_name_the_right_one(
    client: hl.Client, call: Callable[[Any], object], message: str
) -> None:
    with pytest.raises(TypeError, match=f"^unexpected keyword argument {message}"):
        call(client)


def test_missing_and_unnamed_arguments_are_named(client: Any) -> None:
    zones: Any = TWO_ROWS
    for call, message in (
        (LOOSE.Client, r"^`Client\(\)` has no keys: `Client.from_env\(\)` reads them .*`access_key`$"),
        (LOOSE.AsyncClient, r"^`AsyncClient\(\)` has no keys: `AsyncClient.from_env\(\)`"),
        (lambda: LOOSE.Prescription(zones, "rate"), '^`unit` is missing: rates need one, such as `unit="kg/ha"`$'),
        (lambda: client.job_data.download("1", "a.zip"), "^too many arguments without a name; .*`to=...`"),
    ):
        with pytest.raises(TypeError, match=message):
            call()


def test_mixed_calls_of_both_clients_name_the_remedy(client: hl.Client) -> None:
    jobs: Any = client.job_data.list()
    opened: Any = client

    async def await_list() -> None:
        await jobs

    async def iterate() -> None:
        async for _ in jobs:
            pass

    async def open_client() -> None:
        async with opened:
            pass

    for call, message in (
        (await_list, "^job_data.list is a list, which is not awaited: read it by `for`"),
        (iterate, "^job_data.list of a `Client` is read by `for`; lists of `headland.AsyncClient` by `async for`"),
        (open_client, "^a `Client` is opened by `with`; `headland.AsyncClient` is for `async with`"),
    ):
        with pytest.raises(TypeError, match=message):
            asyncio.run(call())
    pending: Any = iterate()
    with pytest.raises(TypeError, match=r"got coroutine; `await` it first$"):
        hl.clean(pending)
    pending.close()


def test_attribute_error_inside_a_property_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hl.Layer, "crs", property(lambda _: [].missing))  # type: ignore[attr-defined]
    layer = hl.harmonize(pd.DataFrame({"YIELD": [1.0]}), kind="yield")
    with pytest.raises(AttributeError, match="'list' object has no attribute 'missing'"):
        _ = layer.crs


def test_missing_files_name_the_folder_and_a_similar_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "north.zip").touch()
    monkeypatch.chdir(tmp_path)
    for path, shown in (
        ("nort.zip", f"no such file or folder in `{tmp_path}`: did you mean `north.zip`?"),
        (tmp_path / "nort.zip", f"no such file or folder: did you mean `{tmp_path / 'north.zip'}`?"),
        ("*.zip", "paths have no patterns: read each of `Path('.').glob('*.zip')`"),
        ("xyz", f"no such file or folder in `{tmp_path}`"),
        ("data/north.zip", f"there is no folder `data` in `{tmp_path}`"),
        (tmp_path / "data/north.zip", f"there is no folder `{tmp_path / 'data'}`"),
    ):
        for call in (hl.read, hl.open, hl.layers):
            with pytest.raises(hl.ArchiveError) as caught:
                call(path)
            assert str(caught.value) == f"cannot read `{path}`: {shown}"
            assert isinstance(caught.value, FileNotFoundError)


def add(faults: Any, endpoint: str) -> None:
    faults.add(endpoint=endpoint, kind=503)


def test_values_of_another_kind_are_explained(client: hl.Client, service: hl.Sandbox, tmp_path: Path) -> None:
    job: Any = client.job_data.list().first()
    read_all: Any = client.job_data.read_all
    jobs: Any = read_all(name="Stone Hill 2025", progress=False)
    pair = next(pair for pair in jobs if pair[0]["sub_type"] == "Yield")
    no_shapes: Any = pd.DataFrame({"zone": ["A"], "rate": [1.0]})
    faults: Any = service.faults
    calls: tuple[tuple[type[Exception], str, Callable[[], object]], ...] = (
        (
            TypeError,
            r"^`id`: .* got dict; pass the id of the record, `record\[\"id\"\]`$",
            lambda: client.job_data.get(job),
        ),
        (TypeError, r"^`ids`: .* got dict; pass the id of the record", lambda: read_all(ids=[job])),
        (TypeError, r"^`ids`: expected a str or an int, got NaTType$", lambda: read_all(ids=[pd.NaT])),
        (ValueError, "^`since`: expected a date or a time, got NaT", lambda: read_all(since=pd.NaT)),
        (ValueError, "^`since`: expected .* got NaT", lambda: hl.Mirror(tmp_path, client, since=pd.NaT)),
        (ValueError, "^`since` is not a time: `last year`; [^()]*$", lambda: read_all(since="last year")),
        (TypeError, "^`records`: expected records, such as .*, got str$", lambda: hl.newest(["a"])),  # type: ignore[type-var]
        (TypeError, "^`profile`: .* got Client; `client.doctor.*", lambda: hl.doctor(client)),  # type: ignore[arg-type]
        (TypeError, r"got JobLayers; pass all rows, `jobs.concat\(\)`, or .*jobs\[0\]`$", lambda: hl.clean(jobs)),
        (TypeError, r"got JobLayer; `read_all` returns pairs: `job, layer = jobs\[0\]`$", lambda: hl.clean(pair)),
        (TypeError, r"got Layer; pass `headland.clean\(layer\)`$", lambda: hl.grid(pair[1])),
        (TypeError, r"takes a position, got a text: .*`read_all\(name=...\)` selects", lambda: jobs["Stone Hill"]),
        (ValueError, r"of several kinds .*1 yield.*`job_type=\"yield\"`$", jobs.concat),
        (ValueError, "^no job matches the filters of `read_all`", read_all(name="Nothing").concat),
        (ValueError, "^no job matches the filters", read_all(name="Nothing").to_pandas),
        (
            ValueError,
            "`headland.harmonize(layer)` adds `yield_dry`$".replace("(", r"\(").replace(")", r"\)"),
            lambda: pair[1].plot("yield_dry"),
        ),
        (ValueError, r"`yield`; `headland.harmonize\(layer\)` adds `yield_dry`$", lambda: pair[1].plot("yield")),
        (ValueError, r"no column `yield`: did you mean `yield_dry`\?$", lambda: hl.clean(pair[1]).map("yield")),
        (ValueError, "^`zones`: the DataFrame has no geometry", lambda: hl.Prescription(no_shapes, 1, unit="kg/ha")),
        (ValueError, "^`source`: the DataFrame has no geometry", lambda: hl.check_prescription(no_shapes)),
        (ValueError, "^`target`: the DataFrame has no geometry", lambda: hl.compare_rates(pair[1], no_shapes)),
        (
            ValueError,
            "`job_data.reed` is not an endpoint: did you mean `job_data.read`",
            lambda: add(faults, "job_data.reed"),
        ),
        (ValueError, "`read_all` makes the calls `job_data.list`", lambda: add(faults, "job_data.read_all")),
        (TypeError, r"`len\(list\(filtered\)\)`", lambda: len(client.job_data.list().filter(bool))),
        (hl.ConfigurationError, r"another file is `path='a.toml'`$", lambda: hl.Client.from_profile("a.toml")),
    )
    for error, message, call in calls:
        with pytest.raises(error, match=message):
            call()


def test_suggestion_is_shown_once(client: hl.Client) -> None:
    with pytest.raises(AttributeError) as caught:
        _ = client.jobdata  # type: ignore[attr-defined]
    shown = "".join(traceback.format_exception(caught.value)[-1])
    assert shown.casefold().count("did you mean") == 1


def test_wrong_names_suggest_the_right_one(
    client: hl.Client, small_job: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: Any = client.job_data.read
    with pytest.raises(TypeError, match="`colums`: did you mean `columns`"):
        read(small_job, colums=["SPEED"])
    with pytest.raises(ValueError, match=r"no column `SPED`; there are: .*SPEED"):
        read(small_job, columns=["SPED"])
    with pytest.raises(ValueError, match=r"has no layer `x`; it has `"):
        read(small_job, layer="x")
    profiles = tmp_path / "profiles.toml"
    profiles.write_text('[default]\napikey = "x"\n', encoding="utf-8")
    profiles.chmod(0o600)
    with pytest.raises(hl.ConfigurationError, match="unknown: apikey: did you mean `api_key`"):
        hl.Client.from_profile(path=profiles)
    monkeypatch.setenv("HEADLAND_APIKEY", "x")
    with pytest.raises(hl.ConfigurationError, match="HEADLAND_APIKEY: did you mean `HEADLAND_API_KEY`"):
        hl.Client.from_env()


def test_suggestion_without_similar_name_is_empty() -> None:
    assert did_you_mean("zzz", ["job_data"]) == ""
    assert did_you_mean("", ["job_data"]) == ""
    assert did_you_mean("job_data", []) == ""


def test_completion_has_only_public_names() -> None:
    assert set(dir(hl)) == {*hl.__all__}
    assert not any(isinstance(getattr(hl, name), types.ModuleType) for name in dir(hl))


@pytest.mark.parametrize("kind", [hl.Client, hl.AsyncClient])
def test_help_explains_every_argument_of_a_client(kind: type) -> None:
    text = pydoc.plain(pydoc.render_doc(kind))
    names = list(inspect.signature(hl.Client).parameters)
    assert len(names) == 16
    for name in names:
        assert f"     {name}: " in text, name
