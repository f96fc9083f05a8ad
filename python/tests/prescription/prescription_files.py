"""Prescriptions: good ones as programs write them, and each fault that displays refuse."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, NamedTuple

from prescription_members import (
    NAD83,
    RATE,
    SIDE,
    SOUTH,
    UTM,
    WEST,
    WGS84,
    archive,
    cells,
    members,
    padded,
    renamed,
    ring,
    zone,
)
from shapefiles import LINE, POINT, POINTS, RINGS, Field, M, Shape, Z, dbf

if TYPE_CHECKING:
    from collections.abc import Sequence


class Case(NamedTuple):
    """A file, options of the check, and the expected codes."""

    name: str
    content: bytes
    codes: list[str]
    options: dict[str, Any]
    record: int | None


def _good() -> list[Case]:
    """Return layouts that makers of displays and programs document; nothing is found in them."""
    name, number, text = Field(b"Name", "C", 10), Field(b"id", "N", 10), Field(b"PRODUCT", "C", 12)
    first = members()
    layouts: dict[str, dict[str, bytes]] = {
        "RATE alone": first,
        "RATE, product and unit": members(
            fields=(RATE, text, Field(b"UNIT", "C", 8)), rows=[[r, "UAN 32", "gal/ac"] for r in (10, 12.5, 15)]
        ),
        "id and a rate": members(fields=(number, Field(b"Rate_lbs", "N", 10, 2)), rows=[[1, 80], [2, 90], [3, 100]]),
        "all ids and a rate": members(
            fields=[Field(each, "N", 9) for each in (b"FID", b"OBJECTID", b"ZONE", b"Year", b"Target")],
            rows=[[n, n, n, 2026, 50 + n] for n in range(3)],
        ),
        "texts and a rate": members(fields=(name, Field(b"Dose", "N", 8, 1)), rows=[["a", 1], ["b", 2], ["c", 3]]),
        "float column": members(fields=(Field(b"Tgt_Rate", "F", 13, 6),), rows=[[1.5], [2.5], [3.5]]),
        "exponents of ArcGIS": members(
            fields=(Field(b"RATE", "F", 19, 11),),
            rows=[[b" 1.00000000000e+002"], [b" 1.20000000000e+002"], [b" 1.40000000000e+002"]],
        ),
        "RATE among other numbers": members(
            fields=(Field(b"N_rec", "N", 8), RATE, Field(b"Yield", "N", 8)), rows=[[n, 60 + n, n] for n in range(3)]
        ),
        "lower case": renamed(members(fields=(Field(b"rate", "N", 9, 2),)), str.lower),
        "upper case": renamed(first, str.upper),
        "mixed case of one stem": {("RX.SHP" if each == "rx.shp" else each): found for each, found in first.items()},
        "extra sidecars": first
        | {"rx.cpg": b"UTF-8", "rx.sbn": b"x", "rx.sbx": b"x", "rx.shp.xml": b"<metadata/>", "rx.qix": b"x"},
        "a readme": first | {"readme.txt": b"zones of 2026"},
        "a rate of 0": members(rows=[[0], [100], [120]]),
        "one zone": members(cells(1)),
        "100 zones": members(cells(100), [[100 + n] for n in range(100)]),
        "holes": members([zone(ring(0, 0, 3, 3), ring(1, 1)[::-1]), zone(ring(1, 1))]),
        "several parts": members([zone(ring(0), ring(2)), zone(ring(1))]),
        "two holes that touch": members([zone(ring(0, 0, 5, 5), ring(1, 1)[::-1], ring(2, 2)[::-1])]),
        "corners that touch": members([zone(ring(0, 0), ring(1, 1)), zone(ring(1, 0))]),
        "anticlockwise": members([zone(ring(0)[::-1]), zone(ring(1)[::-1])]),
        "small cells beside a large one": members(
            [zone(ring(0, 0, 2, 2)), *(zone(ring(2, row / 2, 0.5, 0.5)) for row in range(4))]
        ),
        "southern hemisphere": members(
            [zone([(x + 258, y - 80) for x, y in ring(number)]) for number in range(2)], [[1], [2]]
        ),
        "a gap between zones": members([zone(ring(0)), zone(ring(5))]),
        "overlap of digitising": members([zone(ring(0, 0, 1.0005)), zone(ring(1))]),
        "WGS 84 as QGIS writes it": members(prj=WGS84.replace("GCS_WGS_1984", "WGS 84")),
        "twenty characters": members(stem="north_field_urea_202"),
    }
    return [Case(each, archive(files), [], {}, None) for each, files in layouts.items()]


def _containers() -> list[Case]:
    """Return zips that are not one complete shapefile."""
    first, whole = members(), archive(members())
    other = members(stem="other")

    def without(extension: str) -> dict[str, bytes]:
        return {name: content for name, content in first.items() if not name.endswith(extension)}

    def cut(extension: str, size: int) -> bytes:
        return archive({n: c[:size] if n.endswith(extension) else c for n, c in first.items()})

    def declared(files: dict[str, bytes], rows: int) -> bytes:
        table = bytearray(files["rx.dbf"])
        struct.pack_into("<I", table, 4, rows)
        return archive(files | {"rx.dbf": bytes(table)})

    short = members(rows=[[100], [120]])
    two = members(cells(2))
    index = first["rx.shx"]
    exchanged = index[:100] + index[108:116] + index[100:108] + index[116:]
    mixed = members(kind=RINGS + Z)
    for name in ("rx.shp", "rx.shx"):
        mixed[name] = mixed[name][:32] + struct.pack("<i", RINGS) + mixed[name][36:]
    gaps = bytearray(dbf([RATE], [[rate.rjust(12)] for rate in (b"100", b"120", b"140")]))
    gaps[32 + 32] = 0x20
    deleted = dbf([RATE], [[rate.rjust(12)] for rate in (b"100", b"120", b"140")], deleted=[1])
    return [
        Case("two shapefiles", archive(first | other), ["rx-not-one-set"], {}, None),
        Case("a table of another", archive(first | {"b.dbf": first["rx.dbf"]}), ["rx-not-one-set"], {}, None),
        Case("a .prj of another", archive(first | {"b.prj": WGS84.encode()}), ["rx-not-one-set"], {}, None),
        Case("two .dbf", archive(first | {"RX.DBF": first["rx.dbf"]}), ["rx-not-one-set"], {}, None),
        Case("in a folder", archive(renamed(first, "maps/{}".format)), ["rx-folder"], {}, None),
        Case("an empty folder", archive(first | {"maps/": b""}), ["rx-folder"], {}, None),
        Case("a zip in the zip", archive({"rx.zip": whole}), ["rx-file-missing"], {}, None),
        Case("empty zip", archive({}), ["rx-file-missing"], {}, None),
        Case("no .shp", archive(without(".shp")), ["rx-file-missing"], {}, None),
        Case("no .shx", archive(without(".shx")), ["rx-file-missing"], {}, None),
        Case("no .dbf", archive(without(".dbf")), ["rx-file-missing"], {}, None),
        Case("no zip", b"prescription", ["unreadable-member"], {}, None),
        Case("empty file", b"", ["unreadable-member"], {}, None),
        Case("zip cut short", whole[:-40], ["unreadable-member"], {}, None),
        Case(
            ".shp cut short",
            cut(".shp", 300),
            ["row-mismatch", "shp-damaged", "shx-damaged", "shp-length"],
            {},
            None,
        ),
        Case(".shp of 50 bytes", cut(".shp", 50), ["member-lost"], {}, None),
        Case("empty .shp", cut(".shp", 0), ["member-lost"], {}, None),
        Case(".shx cut short", cut(".shx", 108), ["row-mismatch", "shx-length", "shp-seams"], {}, None),
        Case("empty .shx", cut(".shx", 0), ["rx-file-missing"], {}, None),
        Case(".dbf cut short", cut(".dbf", 80), ["dbf-damaged", "row-mismatch"], {}, None),
        Case(".dbf that declares a row more", declared(two, 3), ["dbf-damaged"], {}, None),
        Case(
            ".dbf that declares a row less",
            declared(first | {name: two[name] for name in ("rx.shp", "rx.shx")}, 2),
            ["dbf-more-records"],
            {},
            None,
        ),
        Case("a deleted row", archive(first | {"rx.dbf": deleted}), ["rx-deleted-rows"], {}, 1),
        Case("another order", archive(first | {"rx.shx": exchanged}), ["rx-out-of-order"], {}, None),
        Case(
            "index of other offsets", archive(first | {"rx.shx": index[:100] + b"\x7f" * 24}), ["shx-damaged"], {}, None
        ),
        Case("a header of other shapes", archive(mixed), ["mixed-shapes", "rx-z-or-m"], {}, None),
        Case("no end of fields", archive(first | {"rx.dbf": bytes(gaps)}), ["dbf-no-terminator"], {}, None),
        Case(
            "bytes behind the shapes",
            archive(first | {"rx.shp": first["rx.shp"] + bytes(8)}),
            ["shp-length"],
            {},
            None,
        ),
        Case("a .prj of a code", archive(first | {"rx.prj": b"EPSG:4326"}), ["crs-by-code"], {}, None),
        Case("empty .dbf", cut(".dbf", 0), ["member-lost"], {}, None),
        Case("fewer rows than shapes", archive(first | {"rx.dbf": short["rx.dbf"]}), ["row-mismatch"], {}, None),
        Case(
            "fewer shapes than rows",
            archive(short | {"rx.dbf": members(cells(4))["rx.dbf"]}),
            ["row-mismatch"],
            {},
            None,
        ),
        Case("no .prj", archive(without(".prj")), ["no-prj"], {}, None),
        Case("empty .prj", archive(first | {"rx.prj": b""}), ["no-prj"], {}, None),
        Case("blank .prj", archive(first | {"rx.prj": b" \r\n"}), ["no-prj"], {}, None),
        Case("long name", archive(members(stem="north_field_urea_2026")), ["rx-name-long"], {}, None),
        Case("name with an umlaut", archive(members(stem="gülle")), ["rx-name-not-ascii"], {}, None),
    ]


def _shapes() -> list[Case]:
    """Return shapes that displays refuse."""
    eight = [(WEST, SOUTH), (WEST + SIDE, SOUTH + SIDE), (WEST + SIDE, SOUTH), (WEST, SOUTH + SIDE), (WEST, SOUTH)]
    flat = [(WEST, SOUTH), (WEST + SIDE, SOUTH), (WEST + 2 * SIDE, SOUTH), (WEST, SOUTH)]
    thin = [(WEST, SOUTH), (WEST, SOUTH + SIDE), (WEST + 5e-6, SOUTH + SIDE), (WEST + 5e-6, SOUTH), (WEST, SOUTH)]
    around = [(179.999, 10), (179.999, 10.001), (-179.999, 10.001), (-179.999, 10), (179.999, 10)]
    spike = (WEST + 9 * SIDE, SOUTH)
    swapped = [zone([(y, x) for x, y in ring(number)]) for number in range(2)]
    metres = [
        zone([(5e5 + 80 * n + x, 5e6 + y) for x, y in ((0, 0), (0, 80), (80, 80), (80, 0), (0, 0))]) for n in range(2)
    ]
    point = [zone([(WEST, SOUTH)]), zone([(WEST, SOUTH + SIDE)])]
    two, three = [[1.0], [2.0]], [[1.0], [2.0], [3.0]]

    def case(
        name: str, shapes: Sequence[Shape | None], codes: list[str], record: int | None = None, **given: Any
    ) -> Case:
        rows = given.pop("rows", [[100.0 + n] for n in range(len(shapes))])
        return Case(name, archive(members(shapes, rows, **given)), codes, {}, record)

    return [
        case("points", point, ["rx-not-polygons"], 0, rows=two, kind=POINT),
        case("several points", point, ["rx-not-polygons"], 0, rows=two, kind=POINTS),
        case("lines", cells(3), ["rx-not-polygons"], 0, rows=three, kind=LINE),
        case("no zone", [], ["rx-no-features"], rows=[]),
        case("null shape", [*cells(2), None], ["rx-null-shape"], 2),
        case("open ring", [zone(ring(0)), zone(ring(1)[:-1])], ["rx-invalid-ring"], 1),
        case("ring of two points", [zone(ring(0)), zone(ring(1)[:2])], ["rx-invalid-ring"], 1),
        case("figure of eight", [zone(ring(3)), zone(eight)], ["rx-invalid-ring"], 1),
        case("ring on a line", [zone(ring(3)), zone(flat)], ["rx-invalid-ring"], 1),
        case("UTM", metres, ["rx-not-wgs84"], prj=UTM),
        case("NAD83", cells(2), ["rx-not-wgs84"], prj=NAD83),
        case("unknown system", cells(2), ["rx-not-wgs84"], prj='LOCAL_CS["farm"]'),
        case("UTM without .prj", metres, ["rx-outside-degrees", "no-prj"], 0, prj=None),
        case("metres as degrees", metres, ["rx-outside-degrees"], 0),
        case("longitude of 200", [zone([(x + 311, y) for x, y in ring(0)])], ["rx-outside-degrees"], 0),
        case("latitude first", swapped, ["rx-latitude-first"], 0),
        case("overlap", [zone(ring(0)), zone(ring(0.5))], ["rx-zones-overlap"], 0),
        case("overlap of a hundredth", [zone(ring(0, 0, 1.02)), zone(ring(1))], ["rx-zones-overlap"], 0),
        case("a zone inside of another", [zone(ring(0, 0, 3, 3)), zone(ring(1, 1))], ["rx-zones-overlap"], 0),
        case("a zone twice", [zone(ring(0)), zone(ring(1)), zone(ring(1))], ["rx-zones-overlap"], 1),
        case("parts that overlap", [zone(ring(3)), zone(ring(0), ring(0.5))], ["rx-parts-overlap"], 1),
        case("a part twice", [zone(ring(0), ring(0)), zone(ring(1))], ["rx-parts-overlap"], 0),
        case("parts that share a side", [zone(ring(3)), zone(ring(0), ring(1))], ["rx-invalid-ring"], 1),
        case("a hole outside", [zone(ring(0)), zone(ring(3), ring(5)[::-1])], ["rx-invalid-ring"], 1),
        case("a part without ground", [zone(ring(0)), zone(ring(3), flat)], ["rx-invalid-ring"], 1),
        case("around the globe", [zone(around), zone(ring(3))], ["rx-invalid-ring"], 0),
        case("a spike", [zone(ring(0)), zone([*ring(3)[:-1], spike, *ring(3)[-2:]])], ["rx-invalid-ring"], 1),
        case("Z", [zone(ring(0), z=7.0), zone(ring(1), z=7.0)], ["rx-z-or-m"], kind=RINGS + Z),
        case("M", [zone(ring(0), m=7.0), zone(ring(1), m=7.0)], ["rx-z-or-m"], kind=RINGS + M),
        case("sliver", [zone(ring(3)), zone(thin)], ["sliver"], 1),
        case("101 zones", cells(101), ["many-zones"]),
        case("1,001 zones", cells(1001), ["many-zones"]),
    ]


def _rates() -> list[Case]:
    """Return rates that displays refuse or misread."""

    def case(
        name: str,
        fields: Sequence[Field],
        rows: Sequence[Any],
        codes: list[str],
        record: int | None = None,
        **options: Any,
    ) -> Case:
        return Case(name, archive(members(rows=rows, fields=fields)), codes, options, record)

    text, other = Field(b"RATE", "C", 8), Field(b"N_kg", "N", 8, 2)
    two = (other, Field(b"P_kg", "N", 8, 2))
    pairs = [[100, 20], [110, 30], [120, 40]]
    return [
        case("no rate", (Field(b"Name", "C", 8),), [["a"], ["b"], ["c"]], ["rate-missing"]),
        case("ids alone", (Field(b"ID", "N", 8),), [[1], [2], [3]], ["rate-missing"]),
        case("an id of a boundary", (Field(b"Obj__Id", "N", 8),), [[1], [1], [1]], ["rate-missing"]),
        case("a rate among ids", (Field(b"plot_id", "N", 8), other), [[1, 90], [2, 90], [3, -1]], ["rate-negative"], 2),
        case("no column of this name", (RATE,), [[1], [2], [3]], ["rate-missing"], rate="N"),
        case("rate as text", (text,), [["100"], ["110"], ["120"]], ["rate-text"], 0),
        case(
            "only a text with rate in its name", (Field(b"Tgt_Rate", "C", 8),), [["1"], ["2"], ["3"]], ["rate-text"], 0
        ),
        case("empty rate", (RATE,), [[100], [None], [120]], ["rate-null"], 1),
        case("stars", (RATE,), [[100], [110], [b"*" * 12]], ["rate-null"], 2),
        case("not a number", (RATE,), [[100], [b"        12,5"], [120]], ["rate-unreadable"], 1),
        case("negative", (RATE,), [[100], [110], [-1]], ["rate-negative"], 2),
        case(
            "decimals that are not declared",
            (Field(b"RATE", "N", 8),),
            [[100], [b"   110.5"], [9]],
            ["integer-with-decimals"],
            1,
        ),
        case("infinite", (Field(b"RATE", "F", 12, 3),), [[100], [b"         inf"], [120]], ["rate-unreadable"], 1),
        case("a decimal point lost", (RATE,), [[100], [110], [12000]], ["rate-outlier"], 2),
        case("zeros", (RATE,), [[0], [0], [0]], ["rate-all-zero"]),
        case("a name that says nothing", (Field(b"DN", "N", 8),), [[90], [90], [95]], ["rate-assumed"]),
        case(
            "two units",
            (RATE, Field(b"UNIT", "C", 8)),
            [[100, "kg/ha"], [110, "kg/ha"], [120, "lb/ac"]],
            ["rate-units-mixed"],
            2,
        ),
        case("rate and RATE", (Field(b"rate", "N", 8), RATE), pairs, ["rate-ambiguous"]),
        case(
            "rate and RATE, named in another case",
            (Field(b"rate", "N", 8), RATE),
            pairs,
            ["rate-ambiguous"],
            rate="Rate",
        ),
        case("rate and RATE, one named", (Field(b"rate", "N", 8), RATE), pairs, [], rate="RATE"),
        case("two candidates", two, pairs, ["rate-ambiguous"]),
        case("two candidates, one named", two, pairs, [], rate="n_KG"),
        case("named one negative", two, [[1, -1], [1, 1], [1, 1]], ["rate-negative"], 0, rate="P_kg"),
    ]


def boundary(column: float, width: float = 3) -> dict[str, Any]:
    """Return a boundary as GeoJSON-like rows: the ring of some cells."""
    return {"boundary": (column, width)}


def _fields() -> list[Case]:
    """Return zones that do not fit a boundary, and limits of displays."""
    first, many = archive(members()), archive(members(cells(101)))
    swapped = archive(members([zone([(50.0 + y - SOUTH, 10.0 + x - WEST) for x, y in ring(n)]) for n in range(3)]))
    large = archive(members([zone(ring(0, 0, 40, 40))]))
    return [
        Case("fits the boundary", first, [], boundary(0), None),
        Case("gap of half a percent", first, [], boundary(0, 3.015), None),
        Case("gap", first, ["boundary-gap"], boundary(0, 4), None),
        Case("overhang of 3 %", first, [], boundary(0.09, 2.91), None),
        Case("overhang", first, ["boundary-overhang"], boundary(0, 2), None),
        Case("gap and overhang", first, ["boundary-gap", "boundary-overhang"], boundary(1, 3), None),
        Case("another field", first, ["rx-outside-boundary"], boundary(50), None),
        Case("latitude first in Europe", swapped, ["rx-latitude-first"], {"boundary": (121_000, 3), "north": 4_500}, 0),
        Case("FieldView", first, [], {"display": "FieldView"}, None),
        Case("FieldView, 101 zones", many, ["display-limit", "many-zones"], {"display": "fieldview"}, None),
        Case("just below 20 MB", padded(first, 19_990_000), [], {}, None),
        Case("above 20 MB", padded(first, 20_000_000), ["rx-file-large"], {}, None),
        Case("Agrotax", first, [], {"display": "Agrotax"}, None),
        Case(
            "Agrotax, long name", archive(members(stem="north_field")), ["display-limit"], {"display": "Agrotax"}, None
        ),
        Case("Seed Hawk, 2,170 acres", large, ["display-limit"], {"display": "Seed Hawk"}, None),
        Case("Raven", archive(renamed(members(), "a/{}".format)), ["rx-folder"], {"display": "Raven CRX+"}, None),
    ]


CASES = [*_good(), *_containers(), *_shapes(), *_rates(), *_fields()]
"""All cases."""
