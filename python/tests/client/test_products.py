"""The products of a job as one tidy table (specification 2.6)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pytest
from commands import headland, lines

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def tables(service: hl.Sandbox) -> Iterator[list[tuple[Any, hl.Table[Any]]]]:
    """Return each job's detail with its table."""
    with hl.Client(**service.credentials, rate_limits=()) as client:
        details = [client.job_data.get(truth["job_id"]) for truth in service.truth]
        yield [(detail, client.job_data.products(detail["id"])) for detail in details]


def expected(detail: Any) -> Iterator[dict[str, Any]]:
    """Flatten a detail with plain loops."""
    for product in detail["products"]:
        own = {name: value for name, value in product.items() if name not in ("ingredients", "applied_products")}
        own["product_id"] = own.pop("id")
        parts = [
            {f"ingredient_{name}": value for name, value in part.items()} for part in product.get("ingredients", [])
        ]
        parts += [
            {f"applied_product_{name}": value for name, value in part.items()}
            for part in product.get("applied_products", [])
        ]
        for part in parts or [{}]:
            yield {"job_id": detail["id"], "job_type": detail["job_type"], **own, **part}


def test_each_part_of_a_product_has_a_row(tables: list[tuple[Any, hl.Table[Any]]]) -> None:
    seen = set()
    for detail, table in tables:
        rows = list(table)
        assert len(rows) == len(table)
        found = [
            {name: value for name, value in row.items() if value is not None and name != "applied_product_rows"}
            for row in rows
        ]
        wanted = [{name: value for name, value in row.items() if value is not None} for row in expected(detail)]
        assert found == wanted
        seen |= {name for row in rows for name, value in row.items() if value is not None}
    assert {"ingredient_name", "applied_product_variety", "total_weight", "applied_volume", "target_rate"} <= seen


def test_rows_of_the_implement_are_text_and_numbers(tables: list[tuple[Any, hl.Table[Any]]]) -> None:
    planted = [row for _, table in tables for row in table if row["applied_product_row"]]
    assert planted
    for row in planted:
        assert row["applied_product_rows"] == [int(part) for part in row["applied_product_row"].split(",")]


def test_the_table_is_arrow_and_pandas_with_units(tables: list[tuple[Any, hl.Table[Any]]]) -> None:
    for _, products in tables:
        arrow = products.to_arrow()
        assert arrow.column_names == products.columns
        assert arrow.drop_columns("unknown_fields").to_pylist() == list(products)
        assert arrow.schema.equals(pa.schema(products), check_metadata=True)
    assert products.units["applied_area"] == "m²"
    assert products.units["total_weight"] == "kg"
    assert products.units["target_rate"] == "as configured on the field computer"
    assert arrow.schema.field("applied_area").metadata[b"unit"].decode() == "m²"
    assert str(arrow.schema.field("applied_product_rows").type) == "list<item: int64>"
    frame = products.to_pandas()
    assert len(frame) == len(products)
    assert duckdb.sql("select count(*), min(job_id) from products").fetchall() == [
        (len(products), frame["job_id"].min())
    ]


def test_a_notebook_shows_it(tables: list[tuple[Any, hl.Table[Any]]]) -> None:
    detail, table = next((detail, table) for detail, table in tables if detail["job_type"] == "Yield")
    shown = table._repr_html_()
    assert "total_weight (kg)" in shown
    assert detail["products"][0]["product_name"] in shown
    assert "ingredient_name" not in shown, "columns that are empty are left out"
    assert repr(table) == f"<Table: {len(table)} rows, {len(table.columns)} columns>"


def test_both_clients_and_the_command_line_agree(service: hl.Sandbox, tables: list[tuple[Any, hl.Table[Any]]]) -> None:
    detail, table = max(tables, key=lambda pair: len(pair[1]))

    async def read() -> list[Any]:
        async with hl.AsyncClient(**service.credentials, rate_limits=(), accept="xml") as client:
            return list(await client.job_data.products(detail["id"]))

    assert asyncio.run(read()) == list(table)
    assert lines(headland("call", "job_data.products", detail["id"], service=service)) == list(table)


def test_there_must_be_such_a_job(client: hl.Client) -> None:
    with pytest.raises(hl.NotFound):
        client.job_data.products("12345678901")
    with pytest.raises(ValueError, match="change the path"):
        client.job_data.products("..")
