"""What a user sees: sentences, tables and titles, in consoles and notebooks."""

from __future__ import annotations

import json
import pickle
import re
from typing import Any

import numpy as np
import pytest
from driven_rows import field, job, straight

import headland as hl
from headland.agronomy import cleaning_sentence
from headland.agronomy.job_layers import FailedJob, JobLayers
from headland.client.budget import WindowUse
from headland.display.tables import Listing, table_html, text_table

HOSTILE = "<script>alert('x')</script>\"\x1b[31m\u202e" + "x" * 300


@pytest.fixture(scope="module")
def harvest() -> hl.Layer:
    """Return a harvest of 40 passes, with a spike in some rows."""
    rows = field(delay=8.0, moisture_delay=5.0)
    rows.loc[rows.index[::97], "flow"] *= 6.0
    return job(rows)


@pytest.fixture(scope="module")
def cleaned(harvest: hl.Layer) -> hl.Cleaned:
    """Return the cleaned harvest."""
    return hl.clean(harvest)


def counts(sentence: str) -> list[int]:
    """Return the numbers of points that a sentence lists as left out."""
    listed = re.search(r"left out are (.*?);", sentence)
    return (
        [int(count.replace(",", "")) for count in re.findall(r"(?:^|, | and )([\d,]+) ", listed[1])] if listed else []
    )


def test_cleaned_harvest_is_one_sentence_whose_points_add_up(cleaned: hl.Cleaned) -> None:
    text = str(cleaned)
    assert "\n" not in text
    logged, used = cleaned.report.head(1)[0], list(cleaned.report)[-1]
    assert (
        f"{logged['rows']:,} points logged {logged['kg'] / 1000:.1f} t at 15.5 % water on {logged['ha']:.2f} ha" in text
    )
    ground = sum(filter(None, cleaned.layer["m2"])) / 1e4
    assert f" t at 15.5 % water on {ground:.2f} ha of ground" in text
    assert logged["kg"] / ground == pytest.approx(used["yield_without"], rel=0.05), "one basis of total and mean"
    assert f"the other {used['rows']:,} are used, with a mean of {used['yield_without'] / 1000:.2f} t/ha" in text
    assert text.endswith("t/ha at 15.5 % water.")
    assert "with a spike of the flow" in text
    assert sum(counts(text)) == logged["rows"] - used["rows"]


def test_sentence_has_words_for_each_reason_in_the_order_of_bits(harvest: hl.Layer) -> None:
    with pytest.raises(ValueError, match="expected names of reasons") as caught:
        hl.clean(harvest, keep=["no reason"])
    assert json.dumps([*cleaning_sentence.REASONS]).strip("[]") in str(caught.value)


def test_sentence_follows_the_reasons_that_are_kept(harvest: hl.Layer) -> None:
    kept = hl.clean(harvest, keep=["spike", "ends"])
    text = str(kept)
    assert "spike" not in text
    assert sum(counts(text)) == len(harvest) - sum(kept.layer["used"])


def test_sentence_of_wet_grain_and_of_other_jobs_states_no_moisture() -> None:
    wet = str(hl.clean(job(straight((0, 0), (0, 200), flow=5.0), straight((6, 200), (6, 0), seconds=150.0), crop=None)))
    assert " t as harvested on " in wet
    assert "%" not in wet


def test_sentence_of_a_job_without_a_used_row_says_so() -> None:
    text = str(hl.clean(job(straight((0, 0), (0, 100))), {"limits": [1e6, 2e6]}))
    assert text.endswith("no point is left.")


def test_report_shows_its_rows(cleaned: hl.Cleaned) -> None:
    report = cleaned.report
    text, page = repr(report), report._repr_html_()
    for row in report:
        assert re.search(rf"^  {row['reason']} +{row['rows']} ", text, re.MULTILINE)
        assert f">{row['reason']}</td>" in page
    assert "yield_with (kg/ha)" in text
    assert "kg (kg)" not in text
    assert "coordinate system" not in text


def test_title_of_a_map_is_the_job_and_the_quantity(harvest: hl.Layer, cleaned: hl.Cleaned) -> None:
    named = hl.harmonize(harvest, job={"name": "North 40 harvest", "job_type": "Yield"})
    for shown in (named.plot(), hl.clean(named).map(), hl.clean(named).map("logged"), hl.grid(hl.clean(named)).plot()):
        assert "North 40 harvest" in shown.svg
        assert repr(shown).startswith("<headland.Map of Yield")
    assert repr(named.plot("moisture")).startswith("<headland.Map of Moisture of North 40 harvest:")
    for shown in (harvest.plot(), cleaned.map(), cleaned.map("reasons"), cleaned.swaths().plot("m2")):
        assert "GeoDataFrame" not in shown.svg + repr(shown)
        assert "Corn harvest" in shown.svg
    assert "GeoDataFrame" not in f"{cleaned} {cleaned!r}"


def test_title_of_a_concatenation_names_its_jobs(harvest: hl.Layer) -> None:
    jobs = [({"id": str(n), "name": f"Field {n}", "job_type": "Yield"}, harvest) for n in range(5)]
    assert "Field 0, Field 1" in JobLayers(jobs[:2], []).concat().plot().svg
    assert "5 jobs" in JobLayers(jobs, []).concat().plot().svg
    plain = hl.concat([harvest, harvest])
    for shown in (plain.plot(), JobLayers(jobs, []).concat().plot()):
        assert "concat" not in shown.svg + repr(shown)


def test_title_escapes_the_name_of_a_job(harvest: hl.Layer) -> None:
    shown = hl.harmonize(harvest, job={"name": HOSTILE, "job_type": "Yield"}).plot()
    assert "<script>" not in shown.svg + shown._repr_html_()
    assert "\x1b" not in repr(shown)


def test_name_of_the_job_does_not_separate_frames(harvest: hl.Layer) -> None:
    import pandas as pd

    frames = [hl.harmonize(harvest, job={"name": name, "job_type": "Yield"}).to_geopandas() for name in ("a", "b")]
    assert pd.concat(frames).attrs == frames[0].attrs


def test_harmonised_layer_shows_first_what_is_looked_for(harvest: hl.Layer) -> None:
    page = harvest._repr_html_()
    assert re.search(r"<p>Harvest of corn: [\d,]+ rows, [\d.]+ ha worked, [\d.]+ t at 15.5 % water</p>", page)
    names = re.findall(r"<tr><td style='text-align:left'>(\w+)</td>", page)
    assert names[0] == "yield_dry"
    assert names.index("moisture") < names.index("heading")
    assert "Float64" not in page
    assert "LargeUtf8" not in page
    assert ">number</td>" in page
    assert ">geometry</td>" in page
    assert "columns as logged</summary>" in page
    head = harvest.head(1)._repr_html_()
    assert re.search(r"<tr><th[^>]*>(\w+)", head)[1] == "yield_dry"  # type: ignore[index]  # there is a table
    assert list(harvest.head(1)[0]) == [name for name in harvest.columns if name != "geometry"]


def test_jobs_show_their_index_and_why_others_failed(harvest: hl.Layer) -> None:
    known = {"id": "31", "name": "North 40", "sub_type": "Yield"}
    failed = FailedJob({"id": "32", "name": HOSTILE}, hl.NoCoverage("there is no coverage " * 20))
    jobs = JobLayers([(known, harvest), (known, harvest)], [failed])
    text, page = repr(jobs), jobs._repr_html_()
    assert text.splitlines()[0] == "2 layers"
    assert re.search(rf"^ +1  31  North 40  Yield +{len(harvest)}$", text, re.MULTILINE)
    assert "1 failed job" in text
    assert "<script>" not in page
    assert not {"\x1b", "\u202e"} & set(text + page)
    assert max(map(len, text.splitlines())) <= 100
    assert jobs.failed[0] is failed
    assert isinstance(jobs.failed, list)
    assert repr(JobLayers([], []).failed) == "0 failed jobs"
    assert pickle.loads(pickle.dumps(jobs.failed[:1])) is not None


def test_budget_is_a_table_of_windows() -> None:
    budget = hl.Budget(14, 0.0, 60.0, [WindowUse(30, 60.0, 1), WindowUse(15, 30.0, 1)])
    lines = repr(budget).splitlines()
    assert lines[0] == "14 calls may start now; all of them in 60 s"
    assert [line.split() for line in lines[1:]] == [
        ["window", "calls", "used", "free"],
        ["60", "s", "30", "1", "29"],
        ["30", "s", "15", "1", "14"],
    ]
    assert budget._repr_html_().count("<tr>") == 3
    assert "disabled" in repr(hl.Budget(None, 0.0, 0.0, []))


def test_truth_is_a_table(service: hl.Sandbox) -> None:
    truth = service.truth
    text = repr(truth)
    assert text.splitlines()[0] == f"true totals of {len(truth)} jobs, first 20"
    assert truth[0]["job_name"] in text
    assert len(text.splitlines()) == 22
    assert truth._repr_html_().count("<tr>") == 21  # type: ignore[attr-defined]  # of the list that is a table
    assert repr(service.cart_truth).startswith("true totals of ")


def test_plan_status_and_checkup_are_tables_in_consoles(client: hl.Client, tmp_path: Any) -> None:
    mirror = hl.Mirror(tmp_path / "farm", client)
    plan = mirror.plan()
    assert repr(plan) == str(plan)
    assert re.search(r"^  lists +\d+  all jobs", repr(plan), re.MULTILINE)
    assert plan._repr_html_().count("<tr>") == 6
    status = mirror.status()
    assert repr(status) == str(status)
    checkup = client.doctor()
    assert repr(checkup) == str(checkup)


def test_texts_are_on_the_left_and_numbers_on_the_right() -> None:
    rows = [["a", 1.5, True, "31"], ["bb", 22, None, "7"]]
    page = table_html(("text", "number", "flag", "id"), rows)
    sides = re.findall(r"<td style='text-align:(\w+)'>", page)
    assert sides == ["left", "right", "left", "left"] * 2
    lines = text_table(("text", "number", "flag", "id"), rows)
    assert lines == ["text  number  flag  id", "a        1.5  yes   31", "bb        22        7"]


@pytest.mark.parametrize("width", [30, 60, 100])
def test_text_table_keeps_every_column_within_the_width(width: int) -> None:
    rows = [[f"cell {index}" for index in range(8)] + ["a reason of several words that is long " * 3]]
    lines = text_table([f"c{index}" for index in range(8)] + ["reason"], rows, width=width)
    assert max(map(len, lines)) <= width
    assert all(f"cell {index}" in "\n".join(lines) for index in range(3))
    assert text_table(("a",), []) == ["a"]


def test_rows_keep_their_names_and_numbers_their_decimals() -> None:
    head = ("field", "name", "mass (kg)", "ha", "share", "mean of all of the ground (kg/ha)", "remarks of it (m)")
    rows = [
        ["north", "all", 61988.409, 12.97464847, 1.0, 4777.65, None],
        ["north", "ends", 750.5, 0.00616, 0.0, 5.0, 3],
    ]
    assert text_table(head, rows, width=70) == [
        "field  name  mass (kg)       ha  share",
        "north  all       61988  12.9746      1",
        "north  ends        750   0.0062      0",
        "",
        "field  name  mean of all of the ground (kg/ha)  remarks of it (m)",
        "north  all                              4777.6",
        "north  ends                                5.0                  3",
    ]
    assert text_table(head, rows[:1], width=70)[:4] == [
        "field                              north",
        "name                               all",
        "mass (kg)                          61988",
        "ha                                 12.9746",
    ]


def test_list_that_is_a_table_is_still_a_list() -> None:
    class Names(Listing[str]):
        def _title(self) -> str:
            return "names"

        def _columns(self) -> dict[str, Any]:
            return {"name": str, "length": len}

    names = Names(["<b>", HOSTILE])
    assert names == ["<b>", HOSTILE]
    assert "<b>" not in names._repr_html_()
    assert "\x1b" not in repr(names)
    assert repr(Names(map(str, np.arange(50)))).count("\n") == 21
