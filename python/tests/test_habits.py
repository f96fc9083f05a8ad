"""Habits of users: numpy ids, paths with `~`, names that are almost right, completion and help."""

from __future__ import annotations

import inspect
import pydoc
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from client_methods import OFFLINE

import headland as hl
from headland.dask import read_archives
from headland.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable


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
    for owner, wrong, right in (
        (client.job_data, "lst", r"`JobData` .*: did you mean `list`\?"),
        (client.dispatch, "product", r"`Dispatch` .*: did you mean `products`\?"),
        (client.job_data.list(), "to_panda", r"`Pages` .*: did you mean `to_pandas`\?"),
        (client.job_data.list(), "to_geopandas", "`Pages` .*: only lists of locations have it"),
        (layer, "to_geopanda", r"`Layer` .*: did you mean `to_geopandas`\?"),
        (layer, "HEADING_original", r"""`Layer` .*: the column is `layer\["HEADING_original"\]`"""),
        (layer, "groupby", "`Layer` .*`groupby`; `to_pandas.* return frames, which have more"),
        (layer, "_lst", "`Layer` has no attribute `_lst`"),
        (package, "reed", r"`headland` .*: did you mean `read`\?"),
        (package, "_reed", "`headland` has no attribute `_reed`"),
    ):
        with pytest.raises(AttributeError, match=f"^{right}$"):
            getattr(owner, wrong)


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


def test_values_of_another_kind_are_explained(client: hl.Client, tmp_path: Path) -> None:
    job: Any = client.job_data.list().first()
    read_all: Any = client.job_data.read_all
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
    assert set(dir(hl)) == {*hl.__all__, "groups", "mirror", "records"}
    assert all(hasattr(hl, name) for name in dir(hl))


@pytest.mark.parametrize("kind", [hl.Client, hl.AsyncClient])
def test_help_explains_every_argument_of_a_client(kind: type) -> None:
    text = pydoc.plain(pydoc.render_doc(kind))
    names = list(inspect.signature(hl.Client).parameters)
    assert len(names) == 16
    for name in names:
        assert f"     {name}: " in text, name
