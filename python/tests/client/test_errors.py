"""Exceptions: every kind has a class, facts are attributes, files are caught both ways."""

from __future__ import annotations

import asyncio
import copy
import errno
import pickle
import traceback
import warnings
from typing import Any

import pytest

import headland as hl
from headland import _core, errors
from headland.cli.message_options import error_text


@pytest.mark.parametrize("kind", _core.error_kinds())
def test_every_kind_of_the_core_has_a_class(kind: str) -> None:
    error = errors.from_core(kind, "what, where and what to do", {"status": 418}, None)
    if kind in ("TypeError", "ValueError"):
        assert type(error).__name__ == kind
    else:
        assert isinstance(error, hl.HeadlandError)
        assert error.status == 418
    assert str(error) == "what, where and what to do"


def test_every_class_is_used_by_the_core_and_public() -> None:
    classes = {cls.__name__ for cls in hl.HeadlandError.__subclasses__() if not issubclass(cls, OSError)}
    assert classes == set(_core.error_kinds()) - {"File", "TypeError", "ValueError"}
    assert classes <= set(hl.__all__)


def test_unknown_fact_is_none() -> None:
    error = hl.NotFound("no job 7", endpoint="job_data.get", status=404)
    assert (error.endpoint, error.status, error.retry_after, error.member) == ("job_data.get", 404, None, None)


@pytest.mark.parametrize(
    ("kind", "number", "classes"),
    [
        ("InvalidRequest", errno.ENOENT, (hl.InvalidRequest, FileNotFoundError)),
        ("InvalidRequest", errno.EACCES, (hl.InvalidRequest, OSError)),
        ("ArchiveError", errno.ENOENT, (hl.ArchiveError, FileNotFoundError)),
        ("ArchiveError", errno.EIO, (hl.ArchiveError, OSError)),
        ("ConfigurationError", errno.EEXIST, (hl.ConfigurationError, FileExistsError)),
        ("File", errno.EEXIST, (hl.ConfigurationError, FileExistsError)),
        ("File", errno.ENOENT, (hl.HeadlandError, FileNotFoundError)),
        ("File", errno.EACCES, (hl.HeadlandError, PermissionError)),
        ("File", errno.ENOSPC, (hl.HeadlandError, OSError)),
        ("TransportError", errno.ECONNREFUSED, (hl.TransportError,)),
    ],
)
def test_file_problems_are_caught_both_ways(kind: str, number: int, classes: tuple[type[Exception], ...]) -> None:
    error = errors.from_core(kind, "cannot use `a.zip`", {"endpoint": "job_data.upload"}, number)
    for cls in classes:
        assert isinstance(error, cls)
    if isinstance(error, OSError):
        assert error.errno == number
    assert str(error) == "cannot use `a.zip`"


def test_tracebacks_name_the_classes_that_users_know() -> None:
    """A class that is caught both ways has the name of the public one."""
    with pytest.raises(hl.ArchiveError) as missing:
        hl.read("nowhere/job.zip")
    assert isinstance(missing.value, FileNotFoundError)
    with pytest.raises(hl.HeadlandError) as unwritable:
        raise errors.from_core("File", "cannot write `a.parquet`: no space left", {}, errno.ENOSPC)
    for error, name in [(missing.value, "ArchiveError"), (unwritable.value, "HeadlandError")]:
        assert "".join(traceback.format_exception_only(error)).startswith(f"headland.{name}: cannot ")
        assert repr(error).startswith(f"{name}(")
        assert type(pickle.loads(pickle.dumps(error))) is type(error)
    assert hl.NotFound.__module__ == "headland"


@pytest.mark.parametrize("again", [lambda error: pickle.loads(pickle.dumps(error)), copy.copy])
def test_errors_survive_pickle_with_their_facts(again: object) -> None:
    assert callable(again)
    error = errors.from_core("InvalidRequest", "no such file", {"endpoint": "job_data.upload"}, errno.ENOENT)
    twin = again(error)
    assert type(twin) is type(error)
    assert str(twin) == str(error)
    assert isinstance(twin, OSError)
    assert isinstance(twin, hl.HeadlandError)
    assert (twin.errno, twin.endpoint) == (errno.ENOENT, "job_data.upload")


def test_a_warning_points_at_the_line_of_the_user() -> None:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        errors.warn("the clock is off")
    assert [(warning.category, warning.filename) for warning in seen] == [(hl.HeadlandWarning, __file__)]


def test_warning_of_a_task_points_at_the_line_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    async def warn() -> None:
        errors.warn("the clock is off")

    async def run() -> None:
        await asyncio.gather(warn(), asyncio.create_task(warn()))

    # The coroutine of a method is the first frame of its task.
    monkeypatch.setitem(warn.__globals__, "__name__", "headland.client.calls")
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        exec("import asyncio\nasyncio.run(run())", {"__name__": "user", "run": run})
    assert [(warning.filename, warning.lineno) for warning in seen] == [("<string>", 2)] * 2


def test_name_in_place_of_an_id_says_where_ids_are(client: hl.Client) -> None:
    with pytest.raises(
        hl.NotFound, match=r"expected an id as of `client\.job_data\.list\(\)` or `headland ls job_data"
    ):
        client.job_data.get("Stone Hill 2026 Harvest")
    with pytest.raises(hl.NotFound) as caught:
        client.job_data.get("1")
    assert "expected an id" not in str(caught.value)


def test_refused_keys_name_the_doctor_once(service: hl.Sandbox) -> None:
    keys: dict[str, Any] = {**service.credentials, "shared_secret": "bm90IHRoZSBzZWNyZXQ=", "limiter_state": "memory"}
    with hl.Client(**keys, rate_limits=()) as client:
        for call in (client.access_key, lambda: client.job_data.list()[0], lambda: client.job_data.get("1")):
            with pytest.raises(hl.AuthenticationError, match=r"[^.]; `client.doctor\(\)` finds out why$") as caught:
                call()
            assert str(caught.value).count("doctor") == 1
            assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
            assert "doctor" not in error_text(caught.value), "the command line has its own line for it"
        assert "client.doctor" not in str(client.doctor())
