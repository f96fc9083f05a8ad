"""Reading options: one set for all readers, in signatures, documented once, checked by one function."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING

import pytest
from shapefiles import Field, dbf, zipped

import headland as hl
from headland import groups
from headland.archives import ReadOptions

if TYPE_CHECKING:
    from collections.abc import Callable

OPTIONS = list(ReadOptions.__annotations__)
ARCHIVE = zipped({"t.dbf": dbf([Field(b"A", "C", 1)], [[b"x"]])})
READERS: list[Callable[..., object]] = [
    hl.read,
    hl.open,
    groups.JobData.read,
    groups.AsyncJobData.read,
    groups.GrainCarts.read,
    groups.AsyncGrainCarts.read,
]


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.__qualname__)
def test_signature_names_each_option(reader: Callable[..., object]) -> None:
    shown = inspect.signature(reader).parameters
    assert list(shown)[-len(OPTIONS) :] == OPTIONS
    assert {name for name in OPTIONS if shown[name].default is not None} == {"strict"}
    assert all(shown[name].kind is inspect.Parameter.KEYWORD_ONLY for name in OPTIONS)


def test_each_option_is_documented_once() -> None:
    documentation = inspect.getdoc(hl.read) or ""
    assert [name for name in OPTIONS if not re.search(rf"^    {name}: ", documentation, re.MULTILINE)] == []
    others = [inspect.getdoc(reader) or "" for reader in READERS[1:]]
    assert [name for name in OPTIONS for text in others if re.search(rf"^ +{name}: ", text, re.MULTILINE)] == []


def test_each_option_is_known_to_the_core_at_its_default() -> None:
    shown = inspect.signature(hl.read).parameters
    for name in OPTIONS:
        assert len(hl.read(ARCHIVE, **{name: shown[name].default})) == 1


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ({"colums": ["A"]}, "did you mean `columns`?"),
        ({"crs": "EPSG:4326"}, "did you mean `to_crs`?"),
        ({"xyz": None}, f"there are: {', '.join(OPTIONS)}"),
    ],
)
def test_unknown_option_is_an_error_that_names_the_near_one(given: dict[str, object], hint: str) -> None:
    (name,) = given
    with pytest.raises(TypeError, match=re.escape(f"unexpected keyword argument `{name}`: {hint}")):
        hl.read(ARCHIVE, **given)  # type: ignore[arg-type]


def test_unknown_option_may_be_near_another_argument(client: hl.Client) -> None:
    with pytest.raises(TypeError, match=r"`batchsize`: did you mean `batch_size`\?"):
        hl.open(ARCHIVE, batchsize=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"`fromat`: did you mean `format`\?"):
        client.job_data.read("1", fromat="FMIS")  # type: ignore[call-arg]


def test_type_checkers_know_the_options() -> None:
    # `mypy` reports an unused ignore.
    with pytest.raises(TypeError):
        hl.read(ARCHIVE, colums=["A"])  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        hl.read(ARCHIVE, threads="2")  # type: ignore[arg-type]
