"""The account of a published mirror: a mirror of another account is never replaced by mistake."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

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


def test_a_mirror_goes_on_with_another_key_of_its_account(tmp_path: Path) -> None:
    target = tmp_path / "out"
    with farm() as service:
        before = mirror_of(service, tmp_path / "farm")
        before.sync()
        before.publish(target)
        service.add_job()
        keys: dict[str, Any] = {**service.credentials, "access_key": service.read_only_access_key}
        with hl.Client(**keys, rate_limits=(), limiter_state="memory") as client:
            mirror = hl.Mirror(tmp_path / "farm", client, locations=False)
            calls = len(service.requests)
            assert mirror.plan(offline=True).files == 0
            outcome = mirror.sync()
            assert (outcome.new, outcome.gone, outcome.calls) == (1, 0, len(service.requests) - calls)
            files = [each for each in service.requests[calls:] if "format" in each.query]
            assert len(files) == 1, "no file is downloaded again"
            mirror.publish(target)
            calls = len(service.requests)
            assert mirror.sync().new == 0
            assert len(service.requests) - calls == 1, "the key is compared once"
            # The archives are still there if the journal is lost after that.
            for path in (tmp_path / "farm").glob("journal.sqlite*"):
                path.unlink()
            calls = len(service.requests)
            mirror.sync()
            assert not [each for each in service.requests[calls:] if "format" in each.query]


def test_the_key_of_another_customer_or_one_that_is_refused_is_not_accepted(tmp_path: Path) -> None:
    with farm() as service, farm() as elsewhere:
        mirror_of(service, tmp_path / "farm").sync()
        for home, name, error, said in (
            (service, "other_access_key", hl.ConfigurationError, "an access key that lists other jobs"),
            (service, "revoked_access_key", hl.AuthenticationError, "the customer revoked this access key"),
            (service, "expired_access_key", hl.AuthenticationError, "this access key expired on"),
            (elsewhere, "read_only_access_key", hl.ConfigurationError, "another base URL"),
        ):
            keys: dict[str, Any] = {**home.credentials, "access_key": getattr(home, name)}
            with hl.Client(**keys, rate_limits=(), limiter_state="memory") as client:
                mirror = hl.Mirror(tmp_path / "farm", client, locations=False)
                for call in (mirror.plan, mirror.sync):
                    with pytest.raises(error, match=said):
                        call()
        assert mirror_of(service, tmp_path / "farm").sync().gone == 0


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
