"""Runs examples of docstrings and of the reference pages, and provides the names that they use."""

from __future__ import annotations

import ast
import asyncio
import contextlib
import inspect
import io
import re
import types
from typing import TYPE_CHECKING, Any, NamedTuple

import shapefiles

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

COMPLETION = {
    "startTime": "2026-05-04T06:30:00Z",
    "endTime": "2026-05-04T11:00:00Z",
    "Seed lot": "A-17",
}
"""A completion with the fields that are required by default and by the example."""

FENCE = re.compile(r"^```(python|console)\n(.*?)^```$(?:\n\n```output\n(.*?)^```$)?", re.DOTALL | re.MULTILINE)


class Block(NamedTuple):
    """A block of code in a page: its language, its first line, its text, and what the page says that it prints."""

    language: str
    line: int
    source: str
    output: str | None = None


def blocks(page: Path) -> list[Block]:
    """Yield the examples of a page: all Python, and the shell commands that run `headland`."""
    text = page.read_text(encoding="utf-8")
    found = [
        Block(match[1], text.count("\n", 0, match.start(2)) + 1, match[2], match[3]) for match in FENCE.finditer(text)
    ]
    return [block for block in found if block.language == "python" or block.source.startswith("$ headland")]


def shapefile(name: str = "example.zip") -> io.BytesIO:
    """Return a prescription of one square zone."""
    square = [(9.0, 51.0), (9.0, 51.001), (9.001, 51.001), (9.001, 51.0), (9.0, 51.0)]
    geometry, index = shapefiles.shp(shapefiles.RINGS, [shapefiles.Shape([[(x, y, 0.0, 0.0) for x, y in square]])])
    table = shapefiles.dbf([shapefiles.Field(b"RATE", "N", 8, 2)], [[b"  120.00"]])
    members = {"shp": geometry, "shx": index, "dbf": table, "prj": shapefiles.WGS84}
    content = io.BytesIO(shapefiles.zipped({f"example.{extension}": data for extension, data in members.items()}))
    content.name = name
    return content


@contextlib.contextmanager
def opened() -> Iterator[dict[str, Any]]:
    """Start a service for examples, and return the names that they use."""
    with (
        hl.Sandbox.demo(rate_limits=()) as service,
        hl.Client(**service.credentials, rate_limits=(), limiter_state="memory") as client,
    ):
        yield preamble(service, client)


def preamble(service: hl.Sandbox, client: hl.Client) -> dict[str, Any]:
    """Return the names that examples use; the overview of the reference pages explains them."""
    job_id = min(service.truth, key=lambda truth: truth["rows"])["job_id"]
    archive = io.BytesIO(client.job_data.download(job_id, format="BIN"))
    archive.name = "example.jdp.zip"
    cart_id = service.cart_truth[0]["id"]
    cart = io.BytesIO(client.grain_carts.download(cart_id))
    cart.name = "example.grc"
    return {
        "hl": hl,
        "service": service,
        "client": client,
        "computer_id": next(iter(client.field_computers.list()))["id"],
        "hub_id": next(iter(client.field_hubs.list()))["id"],
        "job_id": job_id,
        "archive": archive,
        "cart_id": cart_id,
        "cart": cart,
        "equipment_id": service.equipment[0].id,
        "account_id": service.accounts[0].id,
        "completion_body": COMPLETION,
    }


def renewed(given: dict[str, Any], folder: Path, name: str, source: str) -> dict[str, Any]:
    """Return the names for one example: files at their start, a map that is not queued, pending work."""
    given["archive"].seek(0)
    given["cart"].seek(0)
    client: hl.Client = given["client"]
    map_id = client.prescription_maps.upload(shapefile(f"{name}.zip"))["id"]
    names = {**given, "folder": folder, "map_id": map_id, "shapefile": shapefile(f"{name} too.zip")}
    if "dispatch" in source or "legacy_orders" in source:
        operations, orders = client.dispatch.field_operations, client.legacy_orders
        names["operation_id"] = operations.create({"name": name, "operation": "Planting"})["id"]
        names["completion_id"] = operations.complete(names["operation_id"], COMPLETION)["id"]
        names["order_id"] = orders.create_order({"name": name})["id"]
        if "create_completion" not in source:
            orders.create_completion({"orderId": names["order_id"], **COMPLETION})
    return names


def run(source: str, names: dict[str, Any], *, asynchronous: bool | None = None, where: str = "<example>") -> None:
    """Run an example; if it awaits or is declared asynchronous, run it with an asynchronous client in an event loop."""
    code = compile(source, where, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    awaits = bool(code.co_flags & inspect.CO_COROUTINE)
    example = types.FunctionType(code, names)
    if not (awaits if asynchronous is None else asynchronous):
        example()
        return

    async def wait() -> None:
        waiting = names["client"]
        async with hl.AsyncClient(**names["service"].credentials, rate_limits=(), limiter_state="memory") as names[
            "client"
        ]:
            outcome = example()
            if awaits:
                await outcome
        names["client"] = waiting

    asyncio.run(wait())


def run_pasted(source: str, names: dict[str, Any], where: str) -> None:
    """Run a block as a notebook does that has only the blocks above it; it may await."""
    code = compile(source, where, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    pending = eval(code, names)
    if pending is not None:
        asyncio.run(pending)
