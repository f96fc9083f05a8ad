"""What a query of a mirror may be: one statement that reads, with settings before it."""

from __future__ import annotations

import textwrap
from itertools import pairwise
from typing import TYPE_CHECKING

import duckdb

if TYPE_CHECKING:
    from collections.abc import Iterator

SETTINGS = {duckdb.StatementType.SET, duckdb.StatementType.LOAD}
"""What may stand before the statement that reads."""

WRITING = {"copy", "insert", "update", "delete", "merge"}
"""What DuckDB takes behind WITH besides queries, and does before the query."""

ACTING = {
    "checkpoint",
    "create_external_resource",
    "deregister_external_resource",
    "destroy_external_resource",
    "disable_logging",
    "disable_profiling",
    "enable_logging",
    "enable_profiling",
    "force_checkpoint",
    "register_external_resource",
    "register_external_resource_type",
    "truncate_duckdb_logs",
}
"""Table functions that change settings, or write files where their arguments say so."""

HIDING = {"query", "json_execute_serialized_sql"}
"""Table functions that do what a text says: what is in there, nobody has looked at."""

ACTING_SETTINGS = {
    **dict.fromkeys(("log_query_path", "profile_output", "profiling_output"), ""),
    **dict.fromkeys(
        (
            "extension_directories",
            "extension_directory",
            "extension_repository_directory",
            "home_directory",
            "secret_directory",
            "temp_directory",
        ),
        ", which says where DuckDB keeps files of its own",
    ),
    **dict.fromkeys(
        (
            "allow_community_extensions",
            "allow_extension_repositories",
            "allow_extensions_metadata_mismatch",
            "allow_unsigned_extensions",
            "autoinstall_extension_repository",
            "autoinstall_known_extensions",
            "autoload_known_extensions",
            "custom_extension_repository",
        ),
        ", which says what DuckDB fetches and trusts: `duckdb.install_extension(name)` fetches an extension, and LOAD "
        "takes it",
    ),
}
"""Settings by which a query that follows writes or fetches files, and what there is to say of them."""

SCOPES = {"global", "session", "local"}
"""What may stand between SET and the name of a setting."""

MOST_SHOWN = 60
"""How much of a statement an error shows."""


def check(connection: duckdb.DuckDBPyConnection, text: str) -> set[str]:
    """Hold a query to reading, and give the names of its parameters, in small letters.

    Raises:
        ValueError: It writes, reads nothing, or reads more than once.
        duckdb.ParserException: It is no SQL.
    """
    statements = connection.extract_statements(text)
    if not statements:
        raise ValueError("`query` is empty; an example: SELECT job_id, count(*) FROM dataset GROUP BY job_id")
    *before, last = statements
    for statement in before:
        if statement.named_parameters:
            raise ValueError(
                "`query` has parameters in what stands before its SELECT, where DuckDB takes none: "
                f"write the value into `{textwrap.shorten(statement.query, MOST_SHOWN)}`"
            )
        if _kind(statement) not in SETTINGS and _misplaced(connection, statement) is None:
            raise ValueError(
                "`query` is a SELECT, and of several only the last would give its rows: "
                f"ask for `{textwrap.shorten(statement.query, MOST_SHOWN)}` in a query of its own"
            )
    for statement in statements:
        is_setting = statement is not last and _kind(statement) in SETTINGS
        word = _misset(connection, statement) if is_setting else _misplaced(connection, statement)
        if word is not None:
            raise ValueError(
                f"`query` is a SELECT, with SET and LOAD before it, and has no place for {word}; "
                "what it gives is written by the relation, such as `relation.write_parquet(path)`"
            )
    return {name.casefold() for name in last.named_parameters}


def _kind(statement: duckdb.Statement) -> duckdb.StatementType | None:
    """Give the type of a statement; None for those that DuckDB has and its Python package has no name for."""
    try:
        return statement.type
    except ValueError:
        return None


def _misset(connection: duckdb.DuckDBPyConnection, statement: duckdb.Statement) -> str | None:
    """Give the words by which what stands before a query does more than set; None where it only sets."""
    texts = [text for _, text in _words(statement.query.encode())]
    if "install" in texts[:2]:
        # FORCE may stand before it.
        return "INSTALL, which `duckdb.install_extension(name)` does once and for all"
    # RESET and PRAGMA set as well.
    setting = next((_name(text) for text in texts[1:] if text not in SCOPES), "")
    if setting in ACTING_SETTINGS:
        return f"{texts[0].upper()} {setting}{ACTING_SETTINGS[setting]}"
    return _called(connection, statement, texts)


def _called(connection: duckdb.DuckDBPyConnection, statement: duckdb.Statement, texts: list[str]) -> str | None:
    """Give the function of a query that does more than read; None where there is none."""
    called = [_name(text) for text, mark in pairwise(texts) if mark.startswith("(")]
    acting = next((name for name in called if name in ACTING | HIDING), None)
    return None if acting is None or _is_name(connection, statement) else f"{acting}()"


def _is_name(connection: duckdb.DuckDBPyConnection, statement: duckdb.Statement) -> bool:
    """Say whether what looks like one of those functions is the name of a table, such as in ``query(a) AS (...)``.

    DuckDB tells of what is a plain query alone; of PIVOT, EXPLAIN and SET VARIABLE nothing is known.
    """
    tree = "json_serialize_sql($query::VARCHAR)"
    told = connection.execute(f"SELECT {tree}->>'$.error', {tree}->>'$..function_name'", {"query": statement.query})
    [(error, functions)] = told.fetchall()
    return error == "false" and (ACTING | HIDING).isdisjoint(name.casefold() for name in functions)


def _name(text: str) -> str:
    """Give the name that a word is, with marks around it or without."""
    return text.strip('"')


def _misplaced(connection: duckdb.DuckDBPyConnection, statement: duckdb.Statement) -> str | None:
    """Give the word by which a statement does more than read; None where it only reads."""
    query = statement.query.encode()
    words = _words(query)
    texts = [text for _, text in words]
    for before, mark, word in zip(texts, texts[1:], texts[2:], strict=False):
        if before in {"as", "materialized"} and mark == "(" and word in WRITING:
            return word.upper()
    called = _called(connection, statement, texts)
    if called is not None:
        return called
    end = next((start for start, text in words if text == ";"), len(query))
    first = texts[0].upper()
    if first == "EXPLAIN":
        # With ANALYZE, what is explained is done, so it is what counts.
        reads = any(_is_query(connection, query[start:end]) for start in _explained(words))
        return None if reads else "an EXPLAIN of anything else"
    # A PIVOT is several statements in one, and so is what writes the rows of one to a file.
    kinds, kind = duckdb.StatementType, _kind(statement)
    reads = kind == kinds.SELECT or (kind == kinds.MULTI and _is_query(connection, query[:end]))
    return None if reads else first


def _is_query(connection: duckdb.DuckDBPyConnection, part: bytes) -> bool:
    """Say whether a part of a statement is a whole query: only such can stand in parentheses behind FROM."""
    try:
        return len(connection.extract_statements(f"FROM ({part.decode()}\n)")) == 1
    except duckdb.ParserException:
        return False


def _explained(words: list[tuple[int, str]]) -> Iterator[int]:
    """Give where that may begin which is explained: behind EXPLAIN, behind ANALYZE, behind options in parentheses.

    A statement that writes begins with a word of its own, so that of these places no more than one begins a statement.
    """
    depth = 0
    for (_, text), (start, follows) in pairwise(words):
        depth += (text == "(") - (text == ")")
        if depth == 0 and text in {"explain", "analyze", ")"}:
            yield start
        if depth == 0 and follows not in {"analyze", "("}:
            return


def _words(query: bytes) -> list[tuple[int, str]]:
    """Give the words and marks of a query, in small letters and without comments, and where each begins."""
    found = duckdb.tokenize(query.decode())
    ends = [*(start for start, _ in found[1:]), len(query)]
    return [
        (start, query[start:end].decode(errors="replace").strip().casefold())
        for (start, kind), end in zip(found, ends, strict=True)
        if kind != duckdb.token_type.comment
    ]
