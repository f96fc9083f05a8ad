"""The command line, from a shell."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING

import duckdb
import geopandas as gpd
import pytest
import shapely
from commands import headland, lines

import headland as hl
from headland import _core
from headland.__main__ import main

if TYPE_CHECKING:
    from pathlib import Path


def in_process_of_its_own(
    *words: object, service: hl.Sandbox | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the command as a shell does, with the keys of `service` in its environment."""
    keys = {} if service is None else {f"HEADLAND_{n.upper()}": str(v) for n, v in service.credentials.items()}
    return subprocess.run(
        [sys.executable, "-m", "headland", *map(str, words)],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "HEADLAND_RATE_LIMITS": "", **keys, **environment},
    )


def test_the_version() -> None:
    assert in_process_of_its_own("--version").stdout == f"headland {hl.__version__}\n"


def test_every_command_accepts_json() -> None:
    for verb in (
        "demo",
        "read",
        "ls",
        "get",
        "upload",
        "send",
        "budget",
        "call",
        "pull",
        "doctor",
        "sandbox",
        "openapi",
    ):
        done = headland(verb, "--help")
        assert done.returncode == 0
        assert "--json" in done.stdout, verb


def test_ls(service: hl.Sandbox, client: hl.Client) -> None:
    jobs = lines(headland("ls", "jobdata", "--json", service=service))
    assert [job["id"] for job in jobs] == [job["id"] for job in client.job_data.list()]
    assert lines(headland("ls", "jobdata", "--limit", 3, "--json", service=service)) == jobs[:3]
    shown = headland("ls", "fieldcomputers", service=service).stdout.splitlines()
    assert shown[0] == "id\tname"
    assert len(shown) - 1 == len(client.field_computers.list())


def test_get(service: hl.Sandbox, client: hl.Client, small_job: str, tmp_path: Path) -> None:
    (detail,) = lines(headland("get", "jobdata", small_job, "--json", service=service))
    assert detail["job_type"] == client.job_data.get(small_job)["job_type"]
    assert detail["create_date"].endswith("Z")
    target = tmp_path / "job.zip"
    assert lines(headland("get", "jobdata", small_job, "--to", target, "--json", service=service)) == [
        {"path": str(target)}
    ]
    assert headland("get", "jobdata", small_job, "--to", target, service=service).returncode == 12
    assert headland("get", "jobdata", small_job, "--to", target, "--overwrite", service=service).returncode == 0


def test_read(client: hl.Client, small_job: str, tmp_path: Path) -> None:
    archive = client.job_data.download(small_job, to=tmp_path / "job.zip")
    layer = hl.read(archive, layer=hl.layers(archive)[0])
    parquet, geojson = tmp_path / "job.parquet", tmp_path / "job.geojson"
    (summary,) = lines(headland("read", archive, "--layer", layer.name, "--to", parquet, "--json"))
    assert (summary["records"], summary["name"], summary["crs"]) == (len(layer), layer.name, layer.crs)
    assert [column["name"] for column in summary["columns"]] == layer.columns
    assert summary["written"] == str(parquet)
    assert parquet.read_bytes()[:4] == b"PAR1"
    done = headland("read", archive, "--layer", layer.name, "--to", geojson)
    assert f"{len(layer):,} records" in done.stdout
    assert len(json.loads(geojson.read_text())["features"]) == len(layer)


def test_read_converts_to_the_format_of_the_extension(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shapes = [shapely.box(-1, 40, 0, 41) - shapely.box(-0.6, 40.2, -0.4, 40.4), None]
    frame = gpd.GeoDataFrame({"NAME": ['a "b", ü', None], "RATE": [1.5, 2.0]}, geometry=shapes, crs=4326)
    frame.to_crs(32630).to_file(tmp_path / "zones.shp", encoding="utf-8")
    source = str(tmp_path / "zones.shp")
    out = tmp_path / "out"
    out.mkdir()
    for name in ("zones.csv", "zones.gpkg", "zones.svg", "zones.geojson"):
        assert main(["read", source, "--to", str(out / name), "--to-crs", "EPSG:4326"]) == 0, name
    assert sorted(path.name for path in out.iterdir()) == ["zones.csv", "zones.geojson", "zones.gpkg", "zones.svg"]
    cells = duckdb.read_csv(str(out / "zones.csv")).df()
    assert cells["NAME"].fillna("").tolist() == ['a "b", ü', ""]
    shape = shapely.from_wkt(cells["geometry"][0])
    package = gpd.read_file(out / "zones.gpkg", layer="zones")
    assert package.crs == 4326
    assert package["RATE"].tolist() == cells["RATE"].tolist() == [1.5, 2.0]
    for found in (shape, package.geometry[0]):
        assert shapely.symmetric_difference(found, shapes[0]).area < 1e-9
    assert (out / "zones.svg").read_text(encoding="utf-8").startswith("<svg")
    capsys.readouterr()
    assert main(["read", source, "--to", str(out / "zones.txt")]) == 2
    assert ".gpkg or .svg" in capsys.readouterr().err
    assert main(["read", source, "--to-crs", "EPSG:32630"]) == 2
    assert "choose from 'EPSG:4326'" in capsys.readouterr().err
    assert main(["read", source, "--to-crs", "wgs84"]) == 0


def test_read_names_its_own_options_in_errors(client: hl.Client, small_job: str, tmp_path: Path) -> None:
    archive = client.job_data.download(small_job, to=tmp_path / "job.zip")
    two, cut = tmp_path / "two", tmp_path / "cut.zip"
    with zipfile.ZipFile(archive) as whole:
        table = next(name for name in whole.namelist() if name.lower().endswith(".dbf"))
        two.mkdir()
        for name in ("one.dbf", "two.dbf"):
            (two / name).write_bytes(whole.read(table))
    cut.write_bytes(archive.read_bytes()[:-30])
    assert "choose one with `--layer`: `one`, `two`" in headland("read", two).stderr
    assert "with `--lenient` (`strict=False`)" in headland("read", cut).stderr


def test_call_reaches_any_row(service: hl.Sandbox, client: hl.Client, small_job: str) -> None:
    (key,) = lines(headland("call", "access_key", "--json", service=service))
    assert key["is_active"] is True
    (detail,) = lines(headland("call", "job_data.get", small_job, "--json", service=service))
    assert detail["id"] == small_job
    page = lines(headland("call", "job_data.list", "--page-size", 5, "--page=1", service=service))
    assert [job["id"] for job in page] == [job["id"] for job in client.job_data.list(page_size=5, page=1)]
    (handle,) = lines(headland("call", "job_data.request", small_job, "--format", "BIN", "--json", service=service))
    assert client.conversion(handle["id"]).result() == client.job_data.download(small_job, format="BIN")
    assert set(_core.rows()) <= set(headland("call", "--help").stdout.replace(",", " ").split())


def test_upload_and_budget(client: hl.Client, small_job: str, tmp_path: Path) -> None:
    archive = client.job_data.download(small_job, format="BIN", to=tmp_path / "own.jdp.zip")
    with hl.Sandbox.demo() as service:
        (created,) = lines(headland("upload", "jobdata", archive, "--json", service=service))
        (detail,) = lines(headland("get", "jobdata", created["id"], "--json", service=service))
        assert detail["id"] == created["id"]
        (budget,) = lines(headland("budget", "--json", service=service, HEADLAND_RATE_LIMITS="30/60,15/30"))
        assert [window["calls"] for window in budget["windows"]] == [30, 15]
        assert budget["remaining"] == 15


def test_a_profile_gives_the_keys(service: hl.Sandbox, tmp_path: Path) -> None:
    folder = tmp_path / ".config" / "headland"
    folder.mkdir(parents=True)
    file = folder / "profiles.toml"
    file.write_text("[farm]\n" + "".join(f'{name} = "{value}"\n' for name, value in service.credentials.items()))
    file.chmod(0o600)
    (key,) = lines(headland("call", "access_key", "--profile", "farm", "--json", HOME=str(tmp_path)))
    assert key["access_key"] == service.credentials["access_key"]


def test_exit_code_and_output_of_a_process_are_those_of_the_command(service: hl.Sandbox) -> None:
    listed = in_process_of_its_own("ls", "jobdata", "--json", service=service)
    assert lines(listed) == lines(headland("ls", "jobdata", "--json", service=service))
    failed = in_process_of_its_own("get", "jobdata", "12345678901", service=service)
    assert (failed.returncode, failed.stdout) == (4, "")
    assert failed.stderr == headland("get", "jobdata", "12345678901", service=service).stderr


@pytest.mark.parametrize(
    ("code", "error", "words", "environment"),
    [
        (2, "ConfigurationError", ("ls", "jobdata"), {"HEADLAND_SHARED_SECRET": "not base64!"}),
        (3, "AuthenticationError", ("ls", "jobdata"), {"HEADLAND_API_KEY": "unknown"}),
        (4, "NotFound", ("get", "jobdata", "12345678901"), {}),
        (2, "ValueError", ("get", "jobdata", "../x"), {}),
        (2, "ValueError", ("call", "job_data.get", "1", "--colour", "red"), {}),
        (7, "TransportError", ("budget",), None),
        (12, "InvalidRequest", ("upload", "jobdata", "missing.zip"), {}),
        (12, "ArchiveError", ("read", "missing.zip"), {}),
        (11, "ArchiveError", ("read", "page.zip"), {}),
    ],
)
def test_each_error_has_an_exit_code_and_a_name(
    service: hl.Sandbox,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    code: int,
    error: str,
    words: tuple[str, ...],
    environment: dict[str, str] | None,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "page.zip").write_text("<!doctype html>")
    if environment is None:
        words = ("ls", "jobdata")
        environment = {"HEADLAND_BASE_URL": "http://127.0.0.1:9", "HEADLAND_TIMEOUT": "0.5,0.5,0.5"}
    plain = headland(*words, service=service, **environment)
    assert plain.returncode == code, plain.stderr
    assert plain.stderr.startswith(f"headland: {error}: ")
    as_json = headland(*words, "--json", service=service, **environment)
    assert as_json.returncode == code
    assert json.loads(as_json.stderr)["error"] == error
    assert service.credentials["shared_secret"] not in plain.stderr + as_json.stderr


def test_wrong_arguments_show_the_usage() -> None:
    done = headland("call", "job_data.nothing")
    assert done.returncode == 2
    assert "usage:" in done.stderr


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_the_sandbox_serves_until_it_is_interrupted(stop: signal.Signals, tmp_path: Path) -> None:
    words = ["sandbox", "--json", "--seed", "3", "--data", str(tmp_path), "--rate-limit", "2/60", "--variants", "wild"]
    with subprocess.Popen([sys.executable, "-m", "headland", *words], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        keys = json.loads(process.stdout.readline())
        keys = {name: keys[name] for name in ("base_url", "api_key", "shared_secret", "access_key")}
        with hl.Client(**keys, rate_limits=(), timeout=hl.Timeout(call=20)) as client:
            assert client.access_key()["is_active"]
            assert client.access_key()["is_active"]
            with pytest.raises(hl.RateLimited):
                client.access_key()
        process.send_signal(stop)
        assert process.wait(10) == 0
        assert process.stdout.read() == ""


INTERRUPTED_AT = """
import contextlib, io, signal, sys, time
from headland.cli import main, sandbox

announce = sandbox._announce

def trace(frame, event, argument):
    global remaining
    remaining -= 1
    if remaining == 0:
        signal.raise_signal(signal.SIGINT)
    return trace

def announced(*given, **options):
    announce(*given, **options)
    sys._getframe(1).f_trace = trace
    sys.settrace(trace)

sandbox._announce = announced
sandbox.POLL_INTERVAL = 0.001
for step in range(1, 16):
    remaining = step
    with contextlib.redirect_stdout(io.StringIO()):
        code = main(["sandbox", "--json"])
    sys.settrace(None)
    print(step, code, remaining <= 0)
"""
"""Program that interrupts the service at each of the first steps of its main thread."""


def test_an_interrupt_at_any_step_ends_the_sandbox() -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_AT], check=False, capture_output=True, text=True, timeout=100
    )
    assert done.stdout.splitlines() == [f"{step} 0 True" for step in range(1, 16)], done.stderr


def test_closed_output_pipe_is_no_error(service: hl.Sandbox) -> None:
    keys = {f"HEADLAND_{name.upper()}": str(value) for name, value in service.credentials.items()}
    command = f"{sys.executable} -m headland ls jobdata | head -n 1"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, **keys, "HEADLAND_RATE_LIMITS": ""},
    )
    assert (done.returncode, done.stderr) == (0, "")
