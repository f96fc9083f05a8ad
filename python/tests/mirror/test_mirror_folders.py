"""Publishing a mirror to a folder: permitted folders, and the files that stay there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from mirror_fixtures import Farm, job, published, published_state

import headland as hl

if TYPE_CHECKING:
    from pathlib import Path

JOBS = [job("101", year="2025", rows=40), job("102", rows=40, west=-97.0), job("104", "Soil%20Sampling", places=False)]


def test_a_folder_is_a_store_too(tmp_path: Path) -> None:
    farm = published(tmp_path / "farm", JOBS)
    target = tmp_path / "shared disk"
    done = farm.publish(target.as_uri(), archives=True)
    assert (done.sent, done.kept) == (7, 0)
    assert farm.publish(target.as_uri() + "/", archives=True).kept == 7
    [state] = (target / "generations").iterdir()
    assert state.name.startswith("000001-")
    # The layout of a store is that of a mirror, so that every reader of one can read the other.
    assert published_state(target) == state
    assert len(Farm(target).to_geopandas(job_type="Yield")) == 80


def test_missing_publication_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(hl.ConfigurationError, match="has published nothing yet"):
        Farm(tmp_path).publish((tmp_path / "there").as_uri())


def test_file_in_place_of_a_folder_is_an_error(tmp_path: Path) -> None:
    farm = published(tmp_path / "farm", JOBS[:1])
    file = tmp_path / "notes.txt"
    file.write_text("mine")
    for url in (file.as_uri(), file.as_uri() + "/below", file, f"{file}/below"):
        with pytest.raises(ValueError, match=r"`target` is at or below the file `.*notes.txt`"):
            farm.publish(url)
    with pytest.raises(hl.ConfigurationError, match=r"notes.txt` is at or below a file, but a mirror is a folder"):
        Farm(file).publish((tmp_path / "there").as_uri())
    with pytest.raises(hl.ConfigurationError, match=r"notes.txt` is a file, but a mirror is a folder"):
        hl.Mirror(file).status()
    assert file.read_text() == "mine"


def test_a_mirror_is_not_published_into_itself(tmp_path: Path) -> None:
    farm = published(tmp_path, JOBS[:1])
    with pytest.raises(ValueError, match="is inside a mirror, that in `"):
        farm.publish((tmp_path / "out").as_uri())
    assert not (tmp_path / "out").exists()


def test_a_mirror_is_not_published_into_another(tmp_path: Path) -> None:
    farm = published(tmp_path / "north", JOBS[:1])
    (tmp_path / "south").mkdir()
    (tmp_path / "south" / "journal.sqlite").write_bytes(b"a journal")
    for target in (tmp_path / "south", tmp_path / "south" / "out", tmp_path / "other" / ".." / "south"):
        with pytest.raises(ValueError, match=r"is inside a mirror, that in `.*south`, .* a folder outside it"):
            farm.publish(f"file://{target}")
    assert [each.name for each in (tmp_path / "south").iterdir()] == ["journal.sqlite"]
    assert farm.publish((tmp_path / "beside").as_uri()).sent == 2


def test_folders_of_removed_states_are_removed(tmp_path: Path) -> None:
    target = tmp_path / "shared"
    for number in (1, 2, 3):
        jobs = [job(str(number), "Yield" if number > 1 else "Planter")]
        published(tmp_path / "farm", jobs, number=number).publish(target.as_uri())
    states = sorted(state.name[:6] for state in (target / "generations").iterdir())
    assert states == ["000002", "000003"]
    assert [each for each in target.rglob("*") if each.is_dir() and not any(each.iterdir())] == []


def test_creation_of_the_folder_is_an_option(tmp_path: Path) -> None:
    farm, target = published(tmp_path / "farm", JOBS[:1]), tmp_path / "shared"
    with pytest.raises(ValueError, match=r"a store from `target` \(file://.*/shared\) and the options: .*/shared"):
        farm.publish(target.as_uri(), mkdir=False)
    assert not target.exists()
    assert farm.publish(target.as_uri(), mkdir=True).sent == 2
    assert farm.publish(target.as_uri(), mkdir=False).kept == 2
