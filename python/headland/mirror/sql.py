"""Queries the published dataset with DuckDB."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pandas as pd

from headland import _core
from headland.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Container, Mapping
    from pathlib import Path

SETTINGS = {
    # An unknown function is an error; it must not trigger a download.
    "autoinstall_known_extensions": "false",
    # Times without a zone, as in numpy, are UTC, and days begin at the same time on every machine.
    "TimeZone": "UTC",
}


METRIC_VIEWS = ("harvest_rows", "application_rows", "planting_rows", "field_means", "covered_areas")
"""Views whose units are fixed, since their columns have documented ones."""

NEW_VIEWS = (*METRIC_VIEWS, "harmonized", "units")
"""Views that a mirror of an earlier version lacks."""

UPGRADE = "; this mirror is of an earlier version, and `sync()` upgrades it"
"""Advice for tables and columns that a mirror of an earlier version lacks."""

ALL_ROWS = "dataset"
"""The view of the rows of all jobs."""

ONE_JOB = re.compile(r"\bjob_id\W*=\s*['$?\d]|\bgroup by\b[^)]*\bjob_id\b|\bjob_id\b.*\bgroup by all\b", re.DOTALL)
"""Conditions and groups of single jobs, in lower case."""

ViewUnits = dict[str, list[tuple[str, str]]]
"""Names of views with the units of their columns."""


def connect(
    folder: Path, query: str | None = None, *, units: str | None = None
) -> tuple[duckdb.DuckDBPyConnection, ViewUnits]:
    """Open a connection with views of the published state: those named in a query, or all; and their units."""
    state = _core.Dataset(folder)
    names = state.view_names()
    if query is not None:
        text = query.casefold().replace('""', '"')
        names = [name for name in names if name.casefold() in text] or names
    connection = duckdb.connect(":memory:", config=SETTINGS)
    statements = state.view_statements(names, units)
    for statement, _ in statements:
        connection.execute(statement)
    views = [name for name in state.view_names() if name in names]
    return connection, {name: columns for name, (_, columns) in zip(views, statements, strict=True)}


def _mixed_columns(query: str, found: ViewUnits, relation: duckdb.DuckDBPyRelation | None) -> list[tuple[str, str]]:
    """Return name and units of the columns that a query reads from the rows of several jobs.

    A query of one job, and one that groups by job, do not mix units of jobs.
    """
    text = query.casefold()
    if ONE_JOB.search(text):
        return []
    stated = _words(text)
    read = stated.union(*(_words(name) for name in ([] if relation is None else relation.columns)))
    mixed: dict[str, str] = {}
    for view, columns in found.items():
        if _words(view) <= stated:
            mixed |= {name: units for name, units in columns if _words(name) <= read}
    return [*mixed.items()]


def read_names(query: str, values: Mapping[str, Any]) -> set[str]:
    """Return the words of a query that may be names of views: a table of the caller hides the view of its name."""
    return _words(query) - {*values}


def metric_views_warning(names: Container[str]) -> str | None:
    """Return the warning about those of some views that do not have the units of the United States."""
    views = [f"`{name}`" for name in METRIC_VIEWS if name in names]
    if not views:
        return None
    return (
        f'{", ".join(views)} are metric regardless of `units="us"`; `mirror.to_geopandas(units="us")` and the view '
        "`dataset` have the rows as logged in these units"
    )


def _words(text: str) -> set[str]:
    return {*re.findall(r"\w+", text.casefold())}


def run(
    folder: Path, query: str, values: Mapping[str, Any], units: str | None
) -> tuple[duckdb.DuckDBPyRelation, list[tuple[str, str]]]:
    """Run a query on a connection of its own, with tables and parameters; also return the units of its columns."""
    connection, found = connect(folder, query, units=units)
    # Names in a query are views, also if the program has variables with these names.
    connection.execute("SET python_enable_replacements = false")
    parameters = {}
    for name, value in values.items():
        if hasattr(value, "__arrow_c_stream__"):
            connection.register(name, _table(value))
        else:
            parameters[name] = _parameter(value)
    try:
        relation = connection.sql(query, params=parameters or None)
    except duckdb.BinderException as reason:
        if "not found in FROM clause" not in str(reason):
            raise
        # The second line has similar names.
        text = " ".join(str(reason).splitlines()[:2]).strip()
        raise ValueError(f"{text}{'' if _core.Dataset(folder).is_current else UPGRADE}") from None
    except duckdb.CatalogException as reason:
        if "Table with name" not in str(reason):
            raise
        names = [*_core.Dataset(folder).view_names(), *(name for name in values if name not in parameters)]
        there = ", ".join('"' + name.replace('"', '""') + '"' for name in names)
        wrong = re.search("with name (.+?) does not exist", str(reason))
        hint = "" if wrong is None else did_you_mean(wrong[1], names).replace(":", ";", 1)
        missing = [name for name in NEW_VIEWS if f"name {name} " in str(reason)]
        advice = UPGRADE if missing else ""
        raise ValueError(f"{str(reason).splitlines()[0]} There are: {there}{hint}{advice}") from None
    own = {name: columns for name, columns in found.items() if name not in values}
    return relation, _mixed_columns(query, own, relation)


def _parameter(value: Any) -> Any:
    """Convert numpy scalars: DuckDB refuses numbers and reads nanoseconds as integers."""
    if not isinstance(value, np.generic):
        return value
    if isinstance(value, np.datetime64):
        return pd.Timestamp(value)
    return pd.Timedelta(value) if isinstance(value, np.timedelta64) else value.item()


def _table(value: Any) -> Any:
    """Convert tables that DuckDB cannot register unchanged."""
    if isinstance(value, duckdb.DuckDBPyRelation):
        # It belongs to another connection.
        return value.to_arrow_table()
    if hasattr(value, "to_wkb"):
        # The Arrow stream of a geopandas frame is that of pandas, without geometries.
        return value.to_arrow()
    return value
