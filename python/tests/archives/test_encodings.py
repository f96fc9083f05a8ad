"""Names of encodings: every name of Python is known, or an error that lists the known ones."""

from __future__ import annotations

import re

import pytest
from shapefiles import Field, dbf, zipped

import headland as hl

ARCHIVE = zipped({"t.dbf": dbf([Field(b"A", "C", 4)], [[b"caf\xe9"]])})


@pytest.mark.parametrize(
    ("name", "text"),
    [
        *((name, "café") for name in ("latin-1", "latin_1", "Latin1", "L1", "iso8859-1", "ISO-8859-1", "latin")),
        *((name, "café") for name in ("cp1252", "windows-1252", "1252", "latin9", "iso8859_15", " cp1252 ")),
        *((name, "café") for name in ("ascii", "us-ascii", "us_ascii", "646")),
        *((name, "caf้") for name in ("tis-620", "tis_620", "tis620", "iso8859_11")),
        *((name, "café") for name in ("utf-8-sig", "U8", "UTF_8", "utf8", "cp65001")),
        *((name, "cafÈ") for name in ("mac_roman", "macroman", "macintosh")),
        *((name, "cafΘ") for name in ("cp437", "IBM437", "437")),
        *((name, "caf\ufffd") for name in ("euc_jp", "eucjp", "euc_kr", "sjis", "cp936", "big5hkscs")),
    ],
)
def test_every_name_that_python_has_for_an_encoding_is_known(name: str, text: str) -> None:
    assert hl.read(ARCHIVE, encoding=name).values("A") == [text]


def test_latin_1_means_what_it_means_to_python() -> None:
    archive = zipped({"t.dbf": dbf([Field(b"A", "C", 1)], [[b"\x80"]])})
    assert hl.read(archive, encoding="latin-1").values("A") == [b"\x80".decode("latin-1")]
    assert hl.read(archive, encoding="cp1252").values("A") == ["€"]


@pytest.mark.parametrize(
    ("name", "cell", "superset"),
    [
        ("ascii", b"\x80", "cp1252"),
        ("latin5", b"\x80", "cp1254"),
        ("iso8859_11", b"\x80", "cp874"),
        ("gb2312", b"\x81\x40", "gbk"),
        ("euc_kr", b"\x81\x41", "cp949"),
        ("shift_jis", b"\x87\x40", "cp932"),
        ("big5", b"\x87\x45", "big5hkscs"),
    ],
)
def test_files_that_are_labelled_as_a_standard_are_read_as_its_superset(name: str, cell: bytes, superset: str) -> None:
    archive = zipped({"t.dbf": dbf([Field(b"A", "C", 2)], [[cell.ljust(2)]])})
    assert hl.read(archive, encoding=name).values("A") == [cell.decode(superset)]
    assert cell.decode(name, "replace") != cell.decode(superset)


@pytest.mark.parametrize("name", ["cp858", "mac_turkish", "kz1048"])
def test_error_of_an_encoding_states_the_real_reason(name: str) -> None:
    assert "~".encode(name) == b"~"
    with pytest.raises(ValueError, match=f"unsupported `encoding`: .*got `{name}`") as refused:
        hl.read(ARCHIVE, encoding=name)
    assert "stands for itself" not in str(refused.value)


@pytest.mark.parametrize(
    "name", ["cp1252\0", "cp1252\n", "cp1252;", "utf-16", "utf-7", "rot13", "garbage", "", "cp037", "hz"]
)
def test_unknown_encoding_is_an_error_that_lists_the_known_ones(name: str) -> None:
    for call in (hl.read, hl.open):
        with pytest.raises(ValueError, match="unsupported `encoding`: expected") as refused:
            call(ARCHIVE, encoding=name)
        assert re.search("`utf-8`, .* cp1250 to cp1258, latin-1 .* shift_jis", str(refused.value))
        assert "\0" not in str(refused.value)
