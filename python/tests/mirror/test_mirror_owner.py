"""The account of a published mirror: a mirror of another account is never replaced by mistake."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from mirror_fixtures import Farm, mirror_of

import headland as hl

if TYPE_CHECKING:
    from pathlib import Path


def farm() -> hl.Sandbox:
    return hl.Sandbox(small_jobs=2, rate_limits=(), conversion_time=0, clock="moved")


def test_the_mirror_of_another_account_is_not_replaced(tmp_path: Path) -> None:
    target = tmp_path / "out"
    with farm() as service, farm() as elsewhere:
        one, same = mirror_of(service, tmp_path / "one"), mirror_of(service, tmp_path / "again")
        other = mirror_of(elsewhere, tmp_path / "other")
        for mirror in (one, same, other):
            mirror.sync()
        done = one.publish(target.as_uri())
        said = (target / "current.json").read_bytes()
        with pytest.raises(hl.ConfigurationError, match=r"the mirror of another account .*: pass another URL, or"):
            other.publish(target.as_uri())
        assert (target / "current.json").read_bytes() == said
        assert {path.name for path in (target / "generations").iterdir()} == {done.state.rpartition("/")[2]}
        secrets = [service.credentials[name].encode() for name in ("api_key", "shared_secret", "access_key")]
        assert not any(secret in said for secret in secrets)
        service.add_job()
        same.sync()
        assert same.publish(target.as_uri()).state != done.state
        (target / "current.json").unlink()
        assert other.publish(target.as_uri()).sent > 0


def test_a_folder_whose_account_is_not_known_replaces_that_of_none(tmp_path: Path) -> None:
    target = tmp_path / "out"
    with farm() as service:
        mirror = mirror_of(service, tmp_path / "one")
        mirror.sync()
        done = mirror.publish(target.as_uri())
        without = tmp_path / "without its journal"
        shutil.copytree(mirror.folder, without, symlinks=True, ignore=shutil.ignore_patterns("journal.sqlite*"))
        with pytest.raises(
            hl.ConfigurationError, match=r"is unknown without its `journal.sqlite`; run `sync\(\)`, which recreates it"
        ):
            Farm(without).publish(target.as_uri())
        assert Farm(without).publish((tmp_path / "elsewhere").as_uri()).sent > 0
        again = mirror_of(service, without)
        again.sync()
        assert again.publish(target.as_uri()).url == done.url
