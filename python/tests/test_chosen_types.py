"""Truth values by choice (`types=` of `headland.open`): single letters and digits, and nothing that begins like one."""

from __future__ import annotations

import pytest
from shapefiles import Field, dbf, zipped

import headland as hl


def table(kind: str, width: int, cells: list[str]) -> bytes:
    """Pack a table of one column."""
    return zipped({"t.dbf": dbf([Field(b"X", kind, width)], [[cell.ljust(width).encode()] for cell in cells])})


def test_letters_and_digits_are_truth_values_and_words_are_none() -> None:
    cells = ["T", "t", "Y", "y", "1", "F", "f", "N", "n", "0", "?", "", "Tom", "Field 1", "true", "x"]
    with hl.open(table("C", 8, cells), types={"X": "bool"}) as reader:
        values = [value for batch in reader for value in batch.values("X")]
        told = {note.code: note for note in reader.diagnostics}
    assert values == [True] * 5 + [False] * 5 + [None] * 6
    assert told["bad-logical"].record == 12
    assert "(4 times" in told["bad-logical"].message


@pytest.mark.parametrize("number", ["2", "10", "-1", "0.5"])
def test_a_number_that_is_no_truth_value_is_an_error_with_its_place(number: str) -> None:
    with (
        hl.open(table("N", 4, ["1", "0", number]), types={"X": "bool"}) as reader,
        pytest.raises(hl.ArchiveError, match=f"`{number}` is no truth value in column `X`") as refused,
    ):
        list(reader)
    assert (refused.value.record, refused.value.field) == (2, "X")
