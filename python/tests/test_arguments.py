"""Arguments as texts: what is sent is what was meant, or an error before any call."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import headland as hl
from headland import arguments


@given(st.integers(min_value=0))
def test_a_number_is_written_in_decimal(number: int) -> None:
    assert arguments.texts("job_data.get", {"id": number}) == {"id": str(number)}


@given(st.datetimes(timezones=st.timezones(), min_value=dt.datetime(1900, 1, 1), max_value=dt.datetime(2100, 1, 1)))  # noqa: DTZ001
def test_an_aware_datetime_keeps_its_moment(moment: dt.datetime) -> None:
    sent = arguments.texts("job_data.list", {"date": moment})["date"]
    assert sent.endswith("Z")
    # Not `==`: Python calls times in the hour that a clock skips or repeats unequal to all of other zones.
    assert dt.datetime.fromisoformat(sent).timestamp() == moment.timestamp()


@given(st.dates(min_value=dt.date(1900, 1, 1)))
def test_a_date_is_written_as_it_is(date: dt.date) -> None:
    assert arguments.texts("job_data.list", {"date": date}) == {"date": date.isoformat()}


@pytest.mark.parametrize("nothing", [{}, {"date": None}])
def test_what_may_be_left_out_is_left_out(nothing: dict[str, Any]) -> None:
    assert arguments.texts("job_data.list", nothing) == {}


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.one_of(st.text(), st.text(alphabet="./\\%?#&\r\n aA1\x00"), st.sampled_from([".", "..", "%2e%2e", "a/b"])))
def test_no_id_leads_to_another_path(client: hl.Client, service: hl.Sandbox, text: str) -> None:
    before = len(service.requests)
    with pytest.raises((ValueError, hl.NotFound)) as caught:
        client.field_computers.get(text)
    arrived = service.requests[before:]
    if isinstance(caught.value, ValueError):
        assert arrived == []
    else:
        assert [(request.path.count("/"), request.query) for request in arrived] == [(2, "")]
        assert arrived[0].path.startswith("/fieldcomputers/")
