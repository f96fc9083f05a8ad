"""Queries over what a mirror has published, in a DuckDB of their own."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import duckdb

from headland.mirror import blocks, parameters, parts, schemas, selects

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

DATASET = "dataset"
"""The view of all job types."""

SETTINGS = {
    # An unknown function is an error; it is no reason to go to the network.
    "autoinstall_known_extensions": "false",
    # Times without a zone, as numpy has them, are UTC, and days begin at the same moment on every machine.
    "TimeZone": "UTC",
    # Names in a query are views. What a query sees does not hang on the names of variables somewhere in a program.
    "python_enable_replacements": "false",
}

KEYS = "hive_partitioning = true, hive_types = {'job_type': VARCHAR, 'year': INTEGER, 'columns': VARCHAR}"
"""What the folders say, as texts and numbers: a digest of digits alone is no number."""

NAME, TEXT = '"', "'"
"""The marks around names and around texts in SQL."""


def query(folder: Path, text: str, values: Mapping[str, Any]) -> duckdb.DuckDBPyRelation:
    """Give the relation of a query over the state that is published now."""
    state = parts.published(folder)
    views = _views(state)
    connection = duckdb.connect(":memory:", config=SETTINGS)
    asked = selects.check(connection, text)
    # A column can be the one and the other: it is a value where the query asks for one.
    given = {name: value for name, value in values.items() if name.casefold() in asked}
    tables = {name: value for name, value in values.items() if name not in given}
    names: dict[str, str] = {}
    for name, table in tables.items():
        other = names.setdefault(name.casefold(), name)
        if other != name:
            raise ValueError(
                f"the tables `{other}` and `{name}` differ in the case of their names alone, and SQL takes those for "
                "one name: call one of them otherwise"
            )
        _register(connection, name, table)
    # To make a view, the footers of its parts are read: only those that the query speaks of are made.
    spoken = text.casefold().replace('""', NAME)
    named = {name: view for name, view in views.items() if name.casefold() in spoken and name.casefold() not in names}
    for name, view in (named or views).items():
        connection.execute(f"CREATE VIEW {_quoted(name, NAME)} AS {view()}")
    params = {name: parameters.bound(connection, name, value) for name, value in given.items()}
    try:
        return connection.sql(text, params=params or None)
    except duckdb.CatalogException as reason:
        if "Table with name" not in str(reason):
            raise
        there = ", ".join(_quoted(name, NAME) for name in [*views, *tables])
        raise ValueError(f"{str(reason).splitlines()[0]} There are: {there}") from None


def _register(connection: duckdb.DuckDBPyConnection, name: str, table: Any) -> None:
    """Make a view of a table.

    Raises:
        TypeError: It is none.
        ValueError: DuckDB does not take it, such as one that has no columns.
    """
    if not hasattr(table, "__arrow_c_stream__"):
        raise TypeError(
            f"the query has no `${name}`, and `{name}` is no table, which a view of that name would be: a frame of "
            f"pandas, polars or geopandas, a pyarrow table or a layer, not {type(table).__name__}"
        )
    if isinstance(table, duckdb.DuckDBPyRelation):
        # It is of another query, which has a DuckDB of its own.
        table = table.to_arrow_table()
    if hasattr(table, "to_wkb"):
        # The stream of a frame of geopandas is that of pandas, which knows no geometries.
        table = table.to_arrow()
    try:
        connection.register(name, table)
    except duckdb.Error as reason:
        raise ValueError(f"`{name}` is a table that DuckDB does not take: {reason}") from None


def _views(state: Path) -> dict[str, Callable[[], str]]:
    """Give what makes the queries of all views, by their names; names are equal whatever their case, as in SQL.

    A job type that has the name of another view has none of its own: what that view holds is the same in every mirror.
    """
    found = parts.parts(state)
    fixed: dict[str, Callable[[], str]] = {DATASET: partial(_parts, found)} if found else {}
    for path, crc32 in parts.catalog(state).items():
        fixed[path.stem] = partial(_table, path, crc32)
    kinds: dict[str, list[parts.Part]] = {}
    names: dict[str, str] = {}
    for part in found:
        if part.job_type is not None and part.job_type.casefold() not in fixed:
            name = names.setdefault(part.job_type.casefold(), part.job_type)
            kinds.setdefault(name, []).append(part)
    return {name: partial(_parts, of_kind) for name, of_kind in kinds.items()} | fixed


def _table(path: Path, crc32: str | None) -> str:
    """Give the rows of a table of the catalog, which is small enough to be compared as a whole."""
    with blocks.parquet(path, crc32):
        blocks.compare(path, crc32)
    return f"SELECT * FROM read_parquet({_files([path])})"  # noqa: S608 - names are quoted


def _parts(of_kind: list[parts.Part]) -> str:
    """Give the rows of parts, with the union of their columns."""
    heads = [parts.head(part) for part in of_kind]
    places = {head.places for head in heads if head.places}
    # DuckDB would take the system of the first part for that of all; where one is unknown, none is claimed.
    claims = len({schemas.crs(head.schema) is None for head in heads if head.places}) > 1
    columns = ", ".join(f"{_quoted(name, NAME)}::GEOMETRY AS {_quoted(name, NAME)}" for name in sorted(places))
    columns = f"* REPLACE ({columns})" if claims else "*"
    files = _files(part.path for part in of_kind)
    return f"SELECT {columns} FROM read_parquet({files}, union_by_name = true, {KEYS})"  # noqa: S608 - names are quoted


def _files(paths: Iterable[Path]) -> str:
    """Write paths as a list in SQL; DuckDB takes a path for a pattern only where there is no such file."""
    return "[" + ", ".join(_quoted(str(path), TEXT) for path in paths) + "]"


def _quoted(text: str, mark: str) -> str:
    return mark + text.replace(mark, mark * 2) + mark
