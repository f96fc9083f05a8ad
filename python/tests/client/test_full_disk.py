"""Files that cannot be written completely: one kind of error, which names the file, and no change of an earlier one."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import pytest

import headland as hl
from headland.__main__ import main

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

resource = pytest.importorskip("resource", reason="a limit of sizes of files acts as a full disk")

LIMIT = 4096
"""Largest size of a file in bytes; those of the tests are larger."""


@contextlib.contextmanager
def full_disk() -> Iterator[None]:
    """Let each write beyond the limit fail."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture(scope="module")
def archives(service: hl.Sandbox, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return two archives."""
    folder = tmp_path_factory.mktemp("archives")
    truths = sorted(service.truth, key=lambda truth: truth["rows"])[:2]
    with hl.Client(**service.credentials, rate_limits=(), limiter_state="memory") as client:
        return [str(client.job_data.download(truth["job_id"], to=folder)) for truth in truths]


@pytest.mark.parametrize("name", ["map.svg", "map.html"])
def test_map_that_cannot_be_written_keeps_the_earlier_file(archives: list[str], tmp_path: Path, name: str) -> None:
    drawn, file = hl.read(archives[0]).plot(), tmp_path / name
    drawn.save(file)
    before = file.read_bytes()
    with full_disk(), pytest.raises(hl.HeadlandError, match="cannot write `.*" + name) as caught:
        drawn.save(file)
    assert isinstance(caught.value, OSError)
    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("ending", ["parquet", "geojson", "csv", "gpkg", "svg"])
def test_file_of_archives_that_cannot_be_written_is_named(
    archives: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str], count: int, ending: str
) -> None:
    file = tmp_path / f"season.{ending}"
    with full_disk():
        code = main(["read", *archives[:count], "--to", str(file)])
    shown = capfd.readouterr().err
    assert code == 12, shown
    assert f"HeadlandError: cannot write `{file}`: " in shown
    assert ".part" not in shown
    assert list(tmp_path.iterdir()) == []


def test_document_and_download_that_cannot_be_written_are_named(
    service: hl.Sandbox, client: hl.Client, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document, zipped = tmp_path / "service.json", tmp_path / "job.zip"
    with full_disk():
        assert main(["openapi", "--out", str(document)]) == 12
        assert f"cannot write `{document}`: " in capsys.readouterr().err
        with pytest.raises(hl.HeadlandError) as caught:
            client.job_data.download(service.truth[0]["job_id"], to=zipped)
    # Requests of a conversion that was pending are no attempts to write.
    assert str(caught.value).startswith(f"cannot write `{zipped}`: ")
    assert "attempts" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_mirror_on_a_full_disk_has_the_exit_code_of_files(
    service: hl.Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in service.credentials.items():
        monkeypatch.setenv(f"HEADLAND_{name.upper()}", str(value))
    monkeypatch.setenv("HEADLAND_RATE_LIMITS", "")
    with full_disk():
        assert main(["pull", "--to", str(tmp_path / "farm"), "--quiet"]) == 12
