"""Text form of arguments: the exact value is sent, or it is an error before any call."""

from __future__ import annotations

import datetime as dt
import io
import tempfile
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_wrong_arguments import named

import headland as hl
from headland import arguments

if TYPE_CHECKING:
    from collections.abc import Callable


@given(st.integers(min_value=0))
def test_a_number_is_written_in_decimal(number: int) -> None:
    assert arguments.texts("job_data.get", {"id": number}) == {"id": str(number)}


@given(st.datetimes(timezones=st.timezones(), min_value=dt.datetime(1900, 1, 1), max_value=dt.datetime(2100, 1, 1)))  # noqa: DTZ001
def test_an_aware_datetime_keeps_its_moment(moment: dt.datetime) -> None:
    sent = arguments.texts("job_data.list", {"date": moment})["date"]
    assert sent.endswith("Z")
    # Not `==`: Python compares times in a skipped or repeated hour as unequal to all times of other zones.
    assert dt.datetime.fromisoformat(sent).timestamp() == moment.timestamp()


@given(st.dates(min_value=dt.date(1900, 1, 1)))
def test_a_date_is_written_as_it_is(date: dt.date) -> None:
    assert arguments.texts("job_data.list", {"date": date}) == {"date": date.isoformat()}


@pytest.mark.parametrize("nothing", [{}, {"date": None}])
def test_optional_arguments_are_omitted(nothing: dict[str, Any]) -> None:
    assert arguments.texts("job_data.list", nothing) == {}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.one_of(st.text(), st.text(alphabet="./\\%?#&\r\n aA1\x00"), st.sampled_from([".", "..", "%2e%2e", "a/b"])))
def test_no_id_changes_the_path(client: hl.Client, service: hl.Sandbox, text: str) -> None:
    before = len(service.requests)
    with pytest.raises((ValueError, hl.NotFound)) as caught:
        client.field_computers.get(text)
    arrived = service.requests[before:]
    if isinstance(caught.value, ValueError):
        assert arrived == []
    else:
        assert [(request.path.count("/"), request.query) for request in arrived] == [(2, "")]
        assert arrived[0].path.startswith("/fieldcomputers/")


@pytest.mark.parametrize("name", ['a"b.zip', "50%22 off?.zip", ".hidden.zip"])
def test_an_upload_keeps_the_name_that_it_is_given(name: str) -> None:
    with hl.Sandbox.demo() as fresh, hl.Client(**fresh.credentials, rate_limits=()) as client:
        created = client.job_data.upload(named(name))
        assert client.job_data.get(created["id"])["device_file_name"] == name


@pytest.mark.parametrize("to", [io.BytesIO, tempfile.TemporaryFile, tempfile.NamedTemporaryFile])
def test_every_binary_file_object_can_be_a_target(client: hl.Client, small_job: str, to: Callable[[], Any]) -> None:
    with to() as file:
        assert client.job_data.download(small_job, to=file) is file
        file.seek(0)
        assert file.read(2) == b"PK"


def test_a_timeout_may_be_a_plain_tuple_of_three(service: hl.Sandbox) -> None:
    plain: Any = (1, 2.5, 60)
    with hl.Client(**service.credentials, rate_limits=(), timeout=plain) as client:
        assert client.access_key()["is_active"]


@pytest.mark.parametrize("cls", [hl.Client, hl.AsyncClient])
def test_some_of_the_keys_name_the_missing_ones(cls: Any) -> None:
    missing = rf"^`{cls.__name__}` lacks `api_key`, `access_key`: pass them too, or `{cls.__name__}.from_env\(\)` reads"
    with pytest.raises(TypeError, match=missing):
        cls(base_url="https://field.example", shared_secret="c2VjcmV0")


def test_missing_settings_name_the_public_class() -> None:
    with pytest.raises(TypeError, match=r"^`Client\(\)` has no keys: `Client.from_env\(\)` reads them"):
        hl.Client()  # type: ignore[call-arg]
