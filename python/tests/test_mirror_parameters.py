"""The parameters of a mirror's queries: each is what was given, or it is told by its name why it cannot be."""

from __future__ import annotations

import datetime as dt
import os
import subprocess
import sys
import textwrap
import zoneinfo
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import shapely
from farms import Farm, job, published

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def farm(tmp_path: Path) -> Farm:
    jobs = [job("101", year="2025", rows=40), job("102", rows=45), job("104", "AsApplied", rows=3)]
    return published(tmp_path / "farm", jobs)


ENDLESS: list[Any] = []
ENDLESS += [1, ENDLESS]

NOON = dt.datetime(2026, 5, 1, 12)  # noqa: DTZ001 - as datetime64 has it


@pytest.mark.parametrize(
    ("given", "taken", "kind"),
    [
        (np.datetime64("2026-05-01T12", "ns"), NOON, "TIMESTAMP"),
        (np.datetime64("2026-05-01T12", "s"), NOON, "TIMESTAMP"),
        (np.datetime64("2026-05-01"), NOON.date(), "DATE"),
        (np.timedelta64(90, "m"), dt.timedelta(minutes=90), "INTERVAL"),
        (np.longdouble(1.5), 1.5, "DOUBLE"),
        (np.array(7), 7, "INTEGER"),
        (np.array(["2026-05-01T12"], "M8[ns]"), [NOON], "TIMESTAMP[]"),
        (np.ma.array([1, 2], mask=[False, True]), [1, None], "INTEGER[]"),
        ([np.int64(1), 2], [1, 2], "INTEGER[]"),
        ({"a": (np.float32(0.5), np.datetime64("NaT"))}, {"a": [0.5, None]}, "STRUCT(a DOUBLE[])"),
        (frozenset([3]), [3], "INTEGER[]"),
        (range(2), [0, 1], "INTEGER[]"),
        (pd.Timestamp("2026-05-01T12"), NOON, "TIMESTAMP"),
        (pd.Timedelta("90min"), dt.timedelta(minutes=90), "INTERVAL"),
        (pd.Series(["a", None]), ["a", None], "VARCHAR[]"),
        (pd.DatetimeIndex([NOON, pd.NaT]), [NOON, None], "TIMESTAMP[]"),
        (pd.array([1, None], dtype="Int64"), [1, None], "INTEGER[]"),
        (pl.Series([1, None]), [1, None], "INTEGER[]"),
        (pa.chunked_array([[1], [None]]), [1, None], "INTEGER[]"),
        (pa.scalar("a"), "a", "VARCHAR"),
        (Decimal("1" * 38), Decimal("1" * 38), "DECIMAL(38,0)"),
        ([1, 1.5, None], [1.0, 1.5, None], "DOUBLE[]"),
        ([2**53, 0.5], [2.0**53, 0.5], "DOUBLE[]"),
        ([2**53 + 1, Decimal("0.5")], [Decimal(2**53 + 1), Decimal("0.5")], "DECIMAL(20,1)[]"),
        (
            {"ids": [2**53 + 1], "shares": [0.5]},
            {"ids": [2**53 + 1], "shares": [0.5]},
            "STRUCT(ids BIGINT[], shares DOUBLE[])",
        ),
        (["101", 102], ["101", "102"], "VARCHAR[]"),
        (pl.Series(["a", 1], dtype=pl.Object), ["a", "1"], "VARCHAR[]"),
        (dt.time(12, tzinfo=dt.UTC), dt.time(12, tzinfo=dt.UTC), "TIME WITH TIME ZONE"),
    ],
    ids=repr,
)
def test_a_parameter_has_the_value_and_the_type_that_was_given(farm: Farm, given: Any, taken: Any, kind: str) -> None:
    assert farm.sql("SELECT $given, typeof($given)", given=given).fetchall() == [(taken, kind)]


def test_a_time_without_a_zone_is_utc_on_every_machine(farm: Farm) -> None:
    program = """
        import sys, numpy, headland
        noon = numpy.datetime64("2026-05-01T12", "ns")
        query = "SELECT $noon = TIMESTAMPTZ '2026-05-01T12:00:00Z', TIMESTAMPTZ '2026-05-01T02:00:00Z'::DATE::VARCHAR"
        print(headland.Mirror(sys.argv[1]).sql(query, noon=noon).fetchall())
    """
    command = [sys.executable, "-c", textwrap.dedent(program), str(farm.folder)]
    far = {**os.environ, "TZ": "America/Chicago"}
    done = subprocess.run(command, capture_output=True, text=True, env=far, timeout=60, check=False)
    assert done.stdout == "[(True, '2026-05-01')]\n", done.stderr


@pytest.mark.parametrize("nothing", [pd.NaT, pd.NA, np.datetime64("NaT"), np.timedelta64("NaT"), np.ma.masked, None])
def test_what_is_no_value_is_null(farm: Farm, nothing: Any) -> None:
    query = "SELECT $given IS NULL, list_count($several)"
    assert farm.sql(query, given=nothing, several=[nothing, 1]).fetchall() == [(True, 1)]


def test_the_jobs_of_a_column_are_asked_for_by_it(farm: Farm) -> None:
    ids = pd.Series(["101", "104"], name="job_id")
    count = "SELECT count(*) FROM dataset WHERE job_id IN $ids"
    assert farm.sql(count, ids=ids).fetchall() == farm.sql(count, ids={*ids}).fetchall() == [(43,)]
    assert farm.sql("SELECT count(*) FROM dataset WHERE job_id IN (FROM ids)", ids=ids).fetchall() == [(43,)]


@pytest.mark.parametrize(
    ("error", "given", "told"),
    [
        (ValueError, np.datetime64("2026-05-01T12:00:00.000000001"), r"nanoseconds would be lost: .*\[us\]"),
        (ValueError, [np.timedelta64(1500, "ns")], r"nanoseconds would be lost: .*\[us\]"),
        (ValueError, pd.Timestamp("2026-05-01T12:00:00.000000001"), r"nanoseconds would be lost: .*round\('us'\)"),
        (ValueError, {"a": pd.Timedelta(1, "ns")}, r"nanoseconds would be lost: .*round\('us'\)"),
        (ValueError, np.datetime64("20000-01-01"), "20000-01-01, which is beyond"),
        (ValueError, pd.Timestamp(np.datetime64("20000-01-01", "s")), "20000-01-01 .*, which is beyond"),
        (ValueError, 2**128, "whole numbers of 128 bits, not one of 129"),
        (ValueError, -(2**127) - 1, "whole numbers of 128 bits, not one of 129"),
        (ValueError, Decimal("1" * 39), r"111, which would be 1.1\d+e\+38: a Decimal has at most 38 digits"),
        (ValueError, Decimal("1e-40"), "1E-40, which would be 1e-40: a Decimal"),
        (ValueError, [Decimal("1" * 30), Decimal("0." + "1" * 30)], "which would be 0.11111111: a Decimal"),
        (ValueError, [2**53 + 1, 0.5], "has 9007199254740993, which would be 9007199254740992.0: .* give .* one kind"),
        (ValueError, [{"a": [2**53 + 1]}, {"a": [0.5]}], "has 9007199254740993, which would be 9007199254740992.0"),
        (ValueError, [Decimal("0.1"), 0.5], "has 0.1, which would be 0.1: .* give .* one kind"),
        (ValueError, [2**128 - 1, -1], "does not take: .* out of range"),
        (ValueError, ENDLESS, "contains itself"),
        (ValueError, {"a": [ENDLESS, ENDLESS]}, "contains itself"),
        (
            ValueError,
            dt.time(12, tzinfo=zoneinfo.ZoneInfo("Europe/Berlin")),
            "time of day 12:00:00 in .* Europe/Berlin",
        ),
        (ValueError, dt.time(12, tzinfo=dt.timezone(dt.timedelta(hours=20))), "of less than 16 hours: give a datetime"),
        (TypeError, pd.MultiIndex.from_tuples([(1, 2)]), r"not MultiIndex: give .* `.get_level_values\(0\)`"),
        (TypeError, pl.Series([object()]), "takes numbers, texts, .*, not object"),
        (ValueError, np.longdouble("1e4000"), r"floats of 64 bits, not 1e\+4000"),
        (ValueError, "half \ud800", "half of a surrogate pair"),
        (TypeError, np.timedelta64(1, "Y"), "give it in days"),
        (TypeError, 1j, "takes numbers, texts, .*, not complex"),
        (TypeError, [{"a": (np.complex128(1),)}], "takes numbers, texts, .*, not complex"),
        (TypeError, pd.Period("2026-05"), "takes numbers, texts, .*, not Period"),
        (TypeError, np.array([object()]), "takes numbers, texts, .*, not object"),
        (TypeError, pd.DataFrame({"x": [1]}), "not DataFrame: a table is a view, `FROM given`"),
        (TypeError, shapely.Point(1, 2), r"not Point: write `ST_GeomFromWKB\(\$given\)` and give `given=geometry.wkb`"),
    ],
    ids=repr,
)
def test_what_no_parameter_can_be_is_told_by_its_name(
    farm: Farm, error: type[Exception], given: Any, told: str
) -> None:
    with pytest.raises(error, match=f"^`given` .*{told}"):
        farm.sql("SELECT $given", given=given)


def test_a_place_is_given_as_its_binary(farm: Farm) -> None:
    count = "SELECT count(*) FROM Yield WHERE ST_AsText(geometry) = ST_AsText(ST_GeomFromWKB($place)) AND year = 2025"
    assert farm.sql(count, place=shapely.Point(-98, 45).wkb).fetchall() == [(1,)]


def test_what_a_query_gave_is_a_table_of_the_next(farm: Farm) -> None:
    means = farm.sql("SELECT job_id, avg(PASS) AS mean, any_value(geometry) AS place FROM Yield GROUP BY job_id")
    query = "SELECT job_id, mean, typeof(place) LIKE 'GEOMETRY%' FROM means JOIN Yield USING (job_id) WHERE job_row = 1"
    assert min(farm.sql(query, means=means).fetchall()) == ("101", 19.5, True)


@pytest.mark.parametrize(
    ("query", "given"),
    [("SELECT 1", 5), ("FROM given", [{"x": 1}]), ("FROM given", np.array([1])), ("SELECT '$given'", "a")],
)
def test_what_is_given_and_not_asked_for_is_told(farm: Farm, query: str, given: Any) -> None:
    told = rf"the query has no `\$given`, and `given` is no table, .*, not {type(given).__name__}"
    with pytest.raises(TypeError, match=told):
        farm.sql(query, given=given)


def test_names_of_parameters_are_equal_whatever_their_case(farm: Farm) -> None:
    assert farm.sql("SELECT $Ids", ids=pd.Series([1, 2])).fetchall() == [([1, 2],)]


@pytest.mark.parametrize("table", [pd.DataFrame(), pd.DataFrame({"x": pd.period_range("2026-01", periods=2)})])
def test_a_table_that_duckdb_does_not_take_is_named(farm: Farm, table: pd.DataFrame) -> None:
    with pytest.raises(ValueError, match="`given` is a table that DuckDB does not take: "):
        farm.sql("FROM given", given=table)


def test_a_setting_takes_no_parameter(farm: Farm) -> None:
    with pytest.raises(ValueError, match=r"write the value into `SET threads = \$count;`"):
        farm.sql("SET threads = $count; SELECT $count", count=1)
