"""XML compared with expat, which accepts exactly well-formed documents: `read_tree` accepts and rejects the same."""

from __future__ import annotations

import random
import xml.etree.ElementTree as ET
import xml.parsers.expat
from typing import Any

import pytest

import headland as hl

DECLARATION = b'<?xml version="1.0" encoding="UTF-8"?>'

SEEDS = [
    b"<a x=\"1\" y='2'><b>t</b><!-- c --><?pi d?><![CDATA[z]]>&amp;&#65;</a>",
    b'<!DOCTYPE a><r><c k="v"/>\xc3\xa9</r>\n',
    b'<a><b/><c d="e"/></a>',
    b"<!DOCTYPE a SYSTEM 'a.dtd'><p:a xmlns:p='u'>x <b>1</b> y</p:a><!-- end -->",
]
"""Well-formed documents."""

PIECES = [
    *(letter.encode() for letter in "<>&\"'=/-!?;# \ta1:.%[]\x7f\x85\u2028\ufffe\xd7\u0300ß"),
    *(b"--", b"]]>", b"\x01", b"&#1;", b"&#xD800;", b"&#x41;", b"&#X41;", b"&#+65;", b"&lt;", b"&amp", b"&nbsp;"),
    *(b"<![CDATA[", b"<!--", b"-->", b"<?", b"?>", b"<a>", b"</a>", b"<a/>", b'x="y"', b" x='y'", b"\r\n"),
    *(b"<?xml?>", DECLARATION, b"<?XML x?>", b"<!DOCTYPE a>", b"<!doctype a>", b"<!ELEMENT a>", b"<![CDATA[ ]]>"),
]
"""Insertions."""


def mine(document: bytes) -> dict[str, Any] | str:
    """Return the tree, or the reason for its error."""
    try:
        return hl.read_tree(document)
    except hl.ArchiveError as error:
        return str(error)


def is_well_formed(document: bytes) -> bool:
    """Whether expat accepts a document; undeclared prefixes do not count."""
    try:
        xml.parsers.expat.ParserCreate().Parse(document, True)
    except xml.parsers.expat.ExpatError:
        return False
    return True


def test_documents_are_accepted_exactly_if_expat_accepts_them() -> None:
    rng = random.Random(4)
    taken = 0
    for _ in range(15_000):
        document = bytearray(rng.choice(SEEDS))
        for _ in range(rng.choice([1, 1, 1, 2])):
            at = rng.randrange(len(document) + 1)
            if rng.random() < 0.7:
                document[at : at + rng.choice([0, 0, 1])] = rng.choice(PIECES)
            else:
                del document[at : at + rng.randrange(1, 4)]
        text = rng.choice([b"", DECLARATION, b"\xef\xbb\xbf"]) + bytes(document)
        if not text.lstrip(b"\xef\xbb\xbf").startswith(b"<"):
            # A document with another start is rejected before parsing, and blanks are skipped.
            continue
        found = mine(text)
        if "others are not expanded" in found and b"SYSTEM" in text:
            # A document type elsewhere may declare content that expat skips.
            continue
        assert isinstance(found, dict) == is_well_formed(text), (text, found)
        assert isinstance(found, dict) or "line " in found or "not valid UTF-8" in found
        taken += isinstance(found, dict)
    assert taken > 1_000


@pytest.mark.parametrize(
    ("document", "line", "offset"),
    [
        (b'<a>\n<b x="<"/></a>', 2, 4),
        (b'<a x="1" x="2"/>', 1, 0),
        (b'<a x="1"y="2"/>', 1, 0),
        (b"<a x=1/>", 1, 0),
        (b"<a x/>", 1, 0),
        (b'<a x="1/>', 1, 0),
        (b"<a>\n<!-- x -- y --></a>", 2, 11),
        (b"<a>\n]]></a>", 2, 3),
        (b"<a/>\nx", 2, 4),
        (b"<a/>\n&amp;", 2, 5),
        (b"<a/><![CDATA[ ]]>", 1, 4),
        (b"<a>\n& </a>", 2, 4),
        (b"<a x='&'/>", 1, 0),
        (b"<a x='&#2;'/>", 1, 0),
        (b"<a>&#xFFFF;</a>", 1, 3),
        (b"<a>\n\xef\xbf\xbf</a>", 2, 4),
        (b"<a><?xml version='1.0'?></a>", 1, 3),
        (b"<a><b$/></a>", 1, 3),
        (b"<a/><!DOCTYPE a>", 1, 4),
        (b"<!DOCTYPE a><!DOCTYPE a><a/>", 1, 12),
        (b"<?xml encoding='UTF-8'?><a/>", 1, 0),
    ],
)
def test_malformed_document_is_an_error_with_its_position(document: bytes, line: int, offset: int) -> None:
    assert not is_well_formed(document)
    with pytest.raises(hl.ArchiveError, match=f"not well-formed XML, line {line}: ") as refused:
        hl.read_tree(document)
    assert refused.value.offset is not None
    assert abs(refused.value.offset - offset) <= 4, refused.value


def test_blanks_before_a_declaration_are_skipped() -> None:
    assert hl.read_tree(b"\n " + DECLARATION + b"<a/>") == {"a": ""}


@pytest.mark.parametrize("document", SEEDS)
def test_texts_and_attributes_are_those_of_the_standard_library(document: bytes) -> None:
    if b"p:" in document:
        return
    root = ET.fromstring(document)
    tree = hl.read_tree(document)[root.tag]
    assert {key: value for key, value in tree.items() if key.startswith("@")} == {
        f"@{key}": value for key, value in root.attrib.items()
    }
