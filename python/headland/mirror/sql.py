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
    from collections.abc import Mapping
    from pathlib import Path

SETTINGS = {
    # An unknown function is an error; it must not trigger a download.
    "autoinstall_known_extensions": "false",
    # Times without a zone, as in numpy, are UTC, and days begin at the same time on every machine.
    "TimeZone": "UTC",
}


NEW_VIEWS = (
    "harvest_rows",
    "application_rows",
    "planting_rows",
    "field_means",
    "harmonized",
    "units",
    "covered_areas",
)
"""Views that a mirror of an earlier version lacks."""

UPGRADE = "; this mirror is of an earlier version, and `sync()` upgrades it"
"""Advice for tables and columns that a mirror of an earlier version lacks."""

MAX_NAMED = 10
"""Maximum number of columns named in a warning."""


def connect(folder: Path, query: str | None = None) -> duckdb.DuckDBPyConnection:
    """Open a connection with views of the published state: those named in a query, or all."""
    state = _core.Dataset(folder)
    names = state.view_names()
    if query is not None:
        text = query.casefold().replace('""', '"')
        names = [name for name in names if name.casefold() in text] or names
    connection = duckdb.connect(":memory:", config=SETTINGS)
    for statement in state.view_statements(names):
        connection.execute(statement)
    return connection


def mixed_units_warning(connection: duckdb.DuckDBPyConnection) -> str | None:
    """Return a warning that lists columns of the dataset with several units; None if there are none."""
    # A mirror of an earlier version has no such table until its next sync.
    if not connection.execute("SELECT 1 FROM duckdb_views() WHERE view_name = 'units'").fetchall():
        return None
    found = connection.execute(
        "SELECT original, string_agg(DISTINCT unit, ', ' ORDER BY unit) FROM units WHERE unit <> 'unknown' "
        "GROUP BY lower(original), original HAVING count(DISTINCT unit) > 1 ORDER BY original"
    ).fetchall()
    if not found:
        return None
    named = ", ".join(f"`{name}` ({units})" for name, units in found[:MAX_NAMED])
    more = f" and {len(found) - MAX_NAMED} more" if len(found) > MAX_NAMED else ""
    return (
        f"columns of `dataset` have several units: {named}{more}; the view `units` lists those of each job, and "
        "`harvest_rows`, `application_rows`, `planting_rows` and `field_means` have one unit in each column"
    )


def run(folder: Path, query: str, values: Mapping[str, Any]) -> duckdb.DuckDBPyRelation:
    """Run a query on a connection of its own, with tables and parameters."""
    connection = connect(folder, query)
    # Names in a query are views, also if the program has variables with these names.
    connection.execute("SET python_enable_replacements = false")
    parameters = {}
    for name, value in values.items():
        if hasattr(value, "__arrow_c_stream__"):
            connection.register(name, _table(value))
        else:
            parameters[name] = _parameter(value)
    try:
        return connection.sql(query, params=parameters or None)
    except duckdb.BinderException as reason:
        if "not found in FROM clause" not in str(reason) or _core.Dataset(folder).is_current:
            raise
        raise ValueError(f"{str(reason).splitlines()[0]}{UPGRADE}") from None
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
