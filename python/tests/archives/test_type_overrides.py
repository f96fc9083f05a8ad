"""Requested types (`types=` of `headland.open`): accepted cells, and errors or diagnostics for others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from shapefiles import Field, dbf, zipped

import headland as hl

if TYPE_CHECKING:
    from headland.layer.reader import TypeName


def table(kind: str, width: int, cells: list[str]) -> bytes:
    """Pack a table of one column."""
    return zipped({"t.dbf": dbf([Field(b"X", kind, width)], [[cell.ljust(width).encode()] for cell in cells])})


def test_single_letters_and_digits_are_booleans_and_words_are_not() -> None:
    cells = ["T", "t", "Y", "y", "1", "F", "f", "N", "n", "0", "?", "", "Tom", "Field 1", "true", "x"]
    with hl.open(table("C", 8, cells), types={"X": "bool"}, strict=False) as reader:
        values = [value for batch in reader for value in batch.values("X")]
        diagnostics = {note.code: note for note in reader.diagnostics}
    assert values == [True] * 5 + [False] * 5 + [None] * 6
    assert diagnostics["bad-logical"].record == 12
    assert "(4 times" in diagnostics["bad-logical"].message


@pytest.mark.parametrize("number", ["2", "10", "-1", "0.5"])
def test_number_that_is_no_boolean_is_an_error_with_its_position(number: str) -> None:
    with (
        hl.open(table("N", 4, ["1", "0", number]), types={"X": "bool"}) as reader,
        pytest.raises(hl.ArchiveError, match=f"`{number}` is not a truth value in column `X`") as refused,
    ):
        list(reader)
    assert (refused.value.record, refused.value.field) == (2, "X")


@pytest.mark.parametrize(
    ("kind", "good", "bad", "why", "code"),
    [
        ("date", "2024-02-29", "hello", "is not a date", "bad-date"),
        ("date", "20240229", "31/13/2024", "is not a date", "bad-date"),
        ("date", "31/12/2024", "01/02/2024", "can be two dates", "date-order-unknown"),
        ("int32", "7", "seven", "is not a number", "bad-number"),
        ("int64", "1e17", "1,5", "is not a number", "bad-number"),
        ("float64", "1.5", "nan", "is not a number", "bad-number"),
        ("bool", "T", "Tom", "is not a truth value", "bad-logical"),
    ],
)
@pytest.mark.parametrize("size", [1, 2, 100])
def test_text_of_another_type_is_an_error_with_its_position_and_null_without_strict(
    kind: TypeName, good: str, bad: str, why: str, code: hl.DiagnosticCode, size: int
) -> None:
    archive = table("C", 12, [good, "", good, bad, good, bad])
    with hl.open(archive, types={"X": kind}, batch_size=size) as reader, pytest.raises(hl.ArchiveError) as refused:
        list(reader)
    error = refused.value
    assert (error.member, error.record, error.field) == ("t.dbf", 3, "X")
    for words in (
        f"`{bad}` {why} in column `X`",
        'types={"X": "string"}',
        "`strict=False`, which makes such cells null",
    ):
        assert words in str(error)
    with hl.open(archive, types={"X": kind}, batch_size=size, strict=False) as reader:
        values = [value for batch in reader for value in batch.values("X")]
        diagnostics = {note.code: note for note in reader.diagnostics}
    assert [value is None for value in values] == [False, True, False, True, False, True]
    assert diagnostics[code].record == 3
    assert "(2 times" in diagnostics[code].message


@pytest.mark.parametrize(
    ("field", "kind"), [("N", "float64"), ("N", "int64"), ("F", "int32"), ("D", "date"), ("L", "bool")]
)
def test_type_that_matches_its_field_leaves_invalid_cells_null(field: str, kind: TypeName) -> None:
    with hl.open(table(field, 8, ["x"]), types={"X": kind}) as reader:
        assert next(reader).values("X") == [None]
        assert {note.code for note in reader.diagnostics} & {"bad-number", "bad-date", "bad-logical"}


@pytest.mark.parametrize(
    ("kind", "cells"),
    [
        ("date", ["", "00000000", "0"]),
        ("int32", ["", "***"]),
        ("float64", ["", "***"]),
        ("bool", ["", "?"]),
    ],
)
def test_null_markers_of_the_type_are_null_in_text(kind: TypeName, cells: list[str]) -> None:
    with hl.open(table("C", 8, cells), types={"X": kind}) as reader:
        assert next(reader).values("X") == [None] * len(cells)
        assert {note.code for note in reader.diagnostics} == {"no-shp"}


@pytest.mark.parametrize("field", ["C", "N"])
@pytest.mark.parametrize(
    ("kind", "number", "why"),
    [
        ("int64", "1.5", "is not a whole number"),
        ("int32", "3000000000", "is out of range for its type"),
        ("bool", "12", "is not a truth value"),
    ],
)
def test_number_out_of_range_is_an_error_without_strict_too(field: str, kind: TypeName, number: str, why: str) -> None:
    for strict in (True, False):
        with (
            hl.open(table(field, 10, ["1", number]), types={"X": kind}, strict=strict) as reader,
            pytest.raises(hl.ArchiveError, match=f"`{number}` {why}") as refused,
        ):
            list(reader)
        assert (refused.value.record, refused.value.field) == (1, "X")
