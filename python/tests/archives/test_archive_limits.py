"""Limits of archives from Python: each applies at its value, and its error names the option to raise."""

from __future__ import annotations

import io
import pickle
import zipfile
from typing import Any

import pytest
import shapefile  # pyshp

import headland as hl


def table() -> bytes:
    """Make a .dbf of one record."""
    found = io.BytesIO()
    with shapefile.Writer(dbf=found) as writer:
        writer.field("PASS", "N", 4, 0)
        writer.record(7)
    return found.getvalue()


def zipped(**members: bytes) -> bytes:
    """Pack members into a deflated zip; `__` in a name is its dot."""
    found = io.BytesIO()
    with zipfile.ZipFile(found, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "."), content)
    return found.getvalue()


DBF = table()
BLANK = DBF + b"\x1a" * (65 << 20)
BURSTING = zipped(t__dbf=BLANK)
RATIO = len(BLANK) // zipfile.ZipFile(io.BytesIO(BURSTING)).infolist()[0].compress_size
INSIDE = zipped(inner__zip=zipped(inner__zip=zipped(t__dbf=DBF)))


@pytest.mark.parametrize(
    ("archive", "limit", "value"),
    [
        (zipped(t__dbf=DBF, readme__txt=b"x"), "members", 2),
        (zipped(t__dbf=DBF), "bytes", len(DBF)),
        (BURSTING, "ratio", RATIO),
        (INSIDE, "nesting", 2),
        (zipped(**{"n" * 296 + "__dbf": DBF}), "name", 300),
    ],
    ids=["members", "bytes", "ratio", "nesting", "name"],
)
def test_limit_applies_at_its_value_and_is_named(archive: bytes, limit: str, value: int) -> None:
    """Check design section 5: limits on members, bytes, ratio and nesting apply before allocation."""
    for held in (value, value + 1):
        assert len(hl.read(archive, limits=hl.Limits(**{limit: held}))) == 1
    with pytest.raises(hl.ArchiveError, match=rf"raise Limits\({limit}=\.\.\.\)"):
        hl.read(archive, limits=hl.Limits(**{limit: value - 1}))


@pytest.mark.parametrize("limit", hl.Limits._fields)
def test_invalid_limits_are_errors_immediately(limit: str) -> None:
    """Check that the error names the option: the archive is valid."""
    least = 0 if limit == "nesting" else 1
    for wrong in (-1, least - 1, 2**63, -(2**70)):
        with pytest.raises(ValueError, match=rf"`Limits\.{limit}`: expected a number from {least} to"):
            hl.Limits(**{limit: wrong})
    strange: list[Any] = [True, 1.5, 1e3, "7", None]
    for wrong in strange:
        with pytest.raises(TypeError, match=rf"`Limits\.{limit}`: expected an int"):
            hl.Limits(**{limit: wrong})
    with pytest.raises(ValueError, match=limit):
        hl.layers(zipped(t__dbf=DBF), limits=hl.Limits()._replace(**{limit: -1}))
    for right in (least, 2**63 - 1):
        limits = hl.Limits(**{limit: right})
        assert pickle.loads(pickle.dumps(limits)) == limits
        assert getattr(limits, limit) == right
    assert hl.Limits(7, nesting=0) == (7, 4 << 30, 100, 0, 4_096)
