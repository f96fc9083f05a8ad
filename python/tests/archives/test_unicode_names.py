"""Names of layers and columns in both Unicode forms: composed (NFC) and decomposed (NFD)."""

from __future__ import annotations

import re
import unicodedata

import pytest
from shapefiles import POINT, Field, Shape, dbf, shp, zipped

import headland as hl

COMPOSED = "Fläche"
DECOMPOSED = unicodedata.normalize("NFD", COMPOSED)
UTF_8 = b"UTF-8"


def table(*columns: str) -> bytes:
    """Pack a table of texts, in which each cell names its column."""
    fields = [Field(name.encode(), "C", 2) for name in columns]
    return dbf(fields, [[f"{at:2}".encode() for at in range(len(fields))]])


def test_names_are_found_in_either_form_of_the_archive() -> None:
    for own, other in [(DECOMPOSED, COMPOSED), (COMPOSED, DECOMPOSED)]:
        one = table(own, "B")
        files = {f"{own}.dbf": one, f"{own}.cpg": UTF_8, "b.dbf": one, "b.cpg": UTF_8}
        archive = zipped(files)
        assert hl.layers(archive) == [own, "b"]
        for name in (own, other):
            layer = hl.read(archive, layer=name, columns=[name])
            assert (layer.name, layer.columns) == (own, [own])
            assert layer.values(name) == layer.values(own) == [" 0"]
            with hl.open(archive, layer=name, columns=["B", name], types={name: "int64"}) as reader:
                batch = next(reader)
            assert (batch.columns, batch.values(name)) == ([own, "B"], [0])


def test_indistinguishable_names_are_shown_in_ascii() -> None:
    wanted = "e\u0323\u0302"  # different from all others: letter and accents are separate code points
    halves = [unicodedata.normalize("NFC", wanted), "\u00ea\u0323"]
    archive = zipped({f"{name}.dbf": table("A") for name in halves})
    assert [hl.read(archive, layer=name).name for name in halves] == halves
    with pytest.raises(ValueError, match=re.escape(f"{halves[0]!a}, {halves[1]!a}, which look alike")):
        hl.read(archive, layer=wanted)


def test_similar_looking_name_is_not_found() -> None:
    archive = zipped({f"{DECOMPOSED}.dbf": table(DECOMPOSED, "B"), "b.dbf": table("B")})
    for name in ("Flache", "fläche", "Flèche"):
        with pytest.raises(ValueError, match=f"no layer `{name}`"):
            hl.read(archive, layer=name)
        with pytest.raises(ValueError, match=f"no column `{name}`"):
            hl.read(archive, layer=COMPOSED, columns=[name], encoding="utf-8")
        with pytest.raises(ValueError, match=f"no column `{name}`"):
            hl.open(archive, layer=COMPOSED, types={name: "string"})


def test_file_names_of_layers_are_found_in_either_form() -> None:
    for own, other in [(DECOMPOSED, COMPOSED), (COMPOSED, DECOMPOSED)]:
        archive = zipped({f"a/{own}.dbf": table("A"), "b.dbf": table("B")})
        for name in (f"{own}.dbf", f"{other}.dbf", f"a/{other}.dbf"):
            assert hl.read(archive, layer=name).columns == ["A"]
            with hl.open(archive, layer=name) as reader:
                assert reader.name == own


def test_columns_of_a_layer_are_found_in_either_form() -> None:
    geometry, index = shp(POINT, [Shape([[(float(x), 0.0, 0.0, 0.0)]]) for x in range(2)])
    cells = [[b"  1", b"2026-09-01", b"12:00:00"], [b"  2", b"2026-09-01", b"12:00:01"]]
    fields = [Field(f"{name}{DECOMPOSED}".encode(), "C", len(cell)) for name, cell in zip("VDT", cells[0], strict=True)]
    archive = zipped({"t.shp": geometry, "t.shx": index, "t.dbf": dbf(fields, cells), "t.cpg": UTF_8})
    value, date, time = (f"{name}{COMPOSED}" for name in "VDT")
    layer = hl.read(archive, columns=["geometry", value, date, time])
    assert layer.columns == [*(f"{name}{DECOMPOSED}" for name in "VDT"), "geometry"]
    assert layer.values(value) == ["  1", "  2"]
    assert len(layer.with_time("when", date=date, time=time, zone="UTC").values("when")) == 2
    assert layer.picture(value, crs="as-is") == layer.picture(f"V{DECOMPOSED}", crs="as-is")
    with hl.open(archive, columns=[value, "geometry"], types={value: "int32"}) as reader:
        assert next(reader).values(value) == [1, 2]


def test_members_of_xml_are_found_in_either_form() -> None:
    archive = zipped({f"a/{DECOMPOSED}.xml": b"<job/>", "b.xml": b"<other/>"})
    for member in (f"{COMPOSED}.xml", f"a/{COMPOSED}.xml"):
        assert hl.read_tree(archive, member=member) == {"job": ""}
