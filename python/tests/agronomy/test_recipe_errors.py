"""Recipes that are errors: of the form before, in reverse, or beyond what a machine has."""

from __future__ import annotations

import json

import pytest
from driven_rows import job, straight

import headland as hl


@pytest.mark.parametrize("name", ["mixing", "distance_jump", "moisture"])
def test_recipe_of_the_form_before_is_an_error_that_names_what_is_gone(name: str) -> None:
    layer = job(straight((0, 0), (0, 50)))
    old = json.dumps({"headland_recipe": 1, name: {"value": 1.0, "from": "default"}})
    with pytest.raises(ValueError, match=rf"expected version 2, got 1; .*`{name}`"):
        hl.clean(layer, old)
    with pytest.raises(ValueError, match=name):
        hl.clean(layer, {name: 1.0})


@pytest.mark.parametrize("name", ["limits", "spike"])
def test_limits_in_reverse_are_an_error_that_names_them(name: str) -> None:
    with pytest.raises(ValueError, match=rf"`{name}`: expected \[least, most\], got \[3, 1\]"):
        hl.clean(job(straight((0, 0), (0, 50))), {name: [3.0, 1.0]})


def test_delays_and_antennas_that_no_machine_has_are_errors() -> None:
    layer = job(straight((0, 0), (0, 50)))
    for name in ("delay", "moisture_delay"):
        for seconds in (61.0, -61.0, {0: 61.0}):
            with pytest.raises(ValueError, match=rf"`{name}`: expected at most 60 s, got -?61 s"):
                hl.clean(layer, **{name: seconds})  # type: ignore[arg-type]
        hl.clean(layer, **{name: 60.0})  # type: ignore[arg-type]
    for metres in (31.0, -31.0):
        with pytest.raises(ValueError, match=r"`antenna`: expected at most 30 m, got -?31 m"):
            hl.clean(layer, antenna=metres)
