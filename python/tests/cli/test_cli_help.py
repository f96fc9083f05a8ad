"""The help of the command line: verbs in order, widths, and examples that work."""

from __future__ import annotations

import io
import json
import re
import shlex
import shutil
import sys
import webbrowser
from typing import TYPE_CHECKING, Any

import geopandas as gpd
import pytest
from doc_examples import shapefile
from shapely import Polygon

import headland as hl
import headland.demo
from headland.cli import main
from headland.cli.main import _parser

if TYPE_CHECKING:
    from pathlib import Path

VERBS = list(_parser().verbs.choices)


def examples(verb: str) -> list[str]:
    """Return the examples of a verb."""
    return re.findall(r"^  headland (.*)$", str(_parser().verbs.choices[verb].epilog), re.MULTILINE)


EXAMPLES = [example for verb in VERBS for example in examples(verb)]


def words_of(example: str) -> list[str]:
    """Return the words of an example, up to a redirection of the shell."""
    return re.split(r" [<>|] ", example)[0].split(" ") if '"' not in example else shlex.split(example)


def shown(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    with pytest.raises(SystemExit) as ended:
        main([*words, "--help"])
    assert ended.value.code == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("columns", ["80", "200"])
@pytest.mark.parametrize("verb", [None, *VERBS])
def test_help_fits_in_100_columns(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, verb: str | None, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    text = shown(capsys, *([] if verb is None else [verb]))
    assert max(map(len, text.splitlines())) <= 100
    assert "\x1b" not in text


def test_help_begins_with_the_first_steps(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = shown(capsys)
    assert VERBS[:4] == ["demo", "login", "doctor", "ls"]
    rows = re.findall(r"^    ([a-z]+) +\S.*\.$", text, re.MULTILINE)
    assert rows == VERBS, "each verb has one line"
    assert "to begin:\n  headland demo" in text
    assert "\n  headland login" in text


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_every_verb_has_two_examples(capsys: pytest.CaptureFixture[str], verb: str) -> None:
    text = shown(capsys, verb)
    assert len(examples(verb)) == 2
    for example in examples(verb):
        assert example.split(" ")[0] == verb
        assert f"\n  headland {example}\n" in text
        assert callable(_parser().parse(words_of(example)).run)


@pytest.fixture(scope="module")
def prepared(service: hl.Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the files that examples name."""
    folder = tmp_path_factory.mktemp("prepared")
    job = min(service.truth, key=lambda truth: truth["rows"])["job_id"]
    with hl.Client(**service.credentials, rate_limits=(), limiter_state="memory") as client:
        client.job_data.download(job, to=folder / "job.zip")
        client.job_data.download(job, format="BIN", to=folder / "harvest.jdp.zip")
    (folder / "season").mkdir()
    shutil.copy(folder / "job.zip", folder / "season")
    (folder / "north-40.zip").write_bytes(shapefile().getvalue())
    cell = [(-111, 45.5), (-111, 45.501), (-110.999, 45.501), (-110.999, 45.5), (-111, 45.5)]
    zones = gpd.GeoDataFrame({"N": [80.0]}, geometry=[Polygon(cell)], crs=4326)
    zones.to_parquet(folder / "zones.parquet")
    hl.Prescription(zones, "N", unit="kg/ha").write(folder / "rx.zip")
    shutil.copy(folder / "rx.zip", folder / "zones.zip")
    return folder


@pytest.mark.parametrize("example", [each for each in EXAMPLES if not each.startswith("sandbox")])
def test_example_works(
    service: hl.Sandbox,
    client: hl.Client,
    prepared: Path,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    example: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    keys: dict[str, Any] = {**service.credentials}
    answers = "".join(f"{keys[name]}\n" for name in ("base_url", "api_key", "access_key", "shared_secret"))
    profiles = tmp_path / ".config" / "headland" / "profiles.toml"
    profiles.parent.mkdir(parents=True)
    profiles.write_text("[farm]\n" + "".join(f"{name} = {json.dumps(value)}\n" for name, value in keys.items()))
    profiles.chmod(0o600)
    for name, value in {**keys, "rate_limits": "", "limiter_state": "memory"}.items():
        monkeypatch.setenv(f"HEADLAND_{name.upper()}", value)
    monkeypatch.setattr(sys, "stdin", io.StringIO(answers))
    monkeypatch.setitem(sys.modules, "keyring", None)
    monkeypatch.setattr(headland.demo, "run", lambda *_, **__: 0)
    job = min(service.truth, key=lambda truth: truth["rows"])["job_id"]
    shutil.copytree(prepared, tmp_path, dirs_exist_ok=True)
    if not example.startswith("read"):
        (tmp_path / "job.zip").rename(tmp_path / "other.zip")
    words = words_of(example)
    if words[0] == "rx" and "zones.zip" in words:
        words[words.index("N")] = "RATE"
    if words[0] == "get":
        words[2] = job
    if words[0] == "send":
        content = shapefile(f"{len(words)}.zip")
        words[1:3] = [
            client.prescription_maps.upload(content)["id"],
            client.field_computers.list()[0]["id"],
        ]
    if words[0] == "report":
        known = next(truth for truth in service.truth if truth["job_name"] == "Stone Hill 2026 Spraying")
        assert main(["pull", "--to", "farm", "--id", known["job_id"]]) == 0
    assert main(words) == 0, example


def test_demo_opens_its_page(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(_: object, out: Path, **__: object) -> int:
        out.mkdir(exist_ok=True)
        (out / "index.html").write_text("<!doctype html>")
        return 0

    opened: list[str] = []

    def open_page(address: str) -> bool:
        opened.append(address)
        return True

    monkeypatch.setattr(headland.demo, "run", run)
    monkeypatch.setattr(webbrowser, "open", open_page)
    out = tmp_path / "my maps"
    assert main(["demo", "--out", str(out)]) == 0
    assert opened == []
    assert main(["demo", "--open", "--out", str(out)]) == 0
    assert opened == [(out / "index.html").as_uri()]
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(webbrowser, "open", lambda _: False)
    assert main(["demo", "--open", "--out", str(out)]) == 0
    assert "there is no browser" in capsys.readouterr().err
