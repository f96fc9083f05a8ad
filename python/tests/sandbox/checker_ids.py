"""Types of ids in JSON, from the tables of sections 2.1 to 2.7, for the independent checker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from checker_service import ALL_LISTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from checker_service import Service

LISTED = {
    "FieldComputer": int,
    "PrescriptionMap": int,
    "JobData": int,
    "FieldHub": str,
    "DeviceLocation": str,
    "FieldHubDetail": str,
}
"""Types of the ids of items (2.1, 2.3, 2.4); 2.8 does not state that of a grain cart file."""

LINKS = ("FieldHubID", "FieldComputer", "DeviceId")
"""Members that refer to a device: strings in every table (2.2, 2.3, 2.4)."""


def check_ids(service: Service) -> str:
    """Assert the type of every id in lists and details; return their number."""
    count = 0
    for where, value, expected in found(service):
        assert type(value) is expected, f"{where}: {value!r} is no {expected.__name__}"
        count += 1
    return f"{count} ids"


def found(service: Service) -> Iterator[tuple[str, Any, type]]:
    ids = service.ids()
    for pattern, kind in ALL_LISTS.items():
        if kind not in LISTED:
            continue
        path = pattern.format(**ids)
        for item in service.items(f"{path}?pagesize=50", kind)[1]:
            yield f"{path}: ID of {kind}", item["ID"], LISTED[kind]
            yield from links(path, item)
            if kind == "FieldHubDetail":
                yield f"{path}: ID of Report", item["Report"]["ID"], int
                yield from links(path, item["Report"])
    yield "/accesskey: ID", service.call("/accesskey").fields()["ID"], str
    computer = service.call(f"/fieldcomputers/{ids['fieldcomputers']}").fields()
    yield "2.2: ID", computer["ID"], int
    yield from links("2.2", computer)
    for item in service.items("/jobdata?pagesize=20", "JobData")[1]:
        for place, value in inside(service.call(f"/jobdata/{item['ID']}").fields(), f"job {item['ID']}"):
            yield place, value, int


def links(where: str, record: dict[str, Any]) -> Iterator[tuple[str, Any, type]]:
    for name in LINKS:
        if record.get(name) is not None:
            yield f"{where}: {name}", record[name], str


def inside(value: Any, where: str) -> Iterator[tuple[str, Any]]:
    """Yield every ``ID`` of a job: its own, and those of products, ingredients and applied products (2.6)."""
    if isinstance(value, list):
        for each in value:
            yield from inside(each, where)
    elif isinstance(value, dict):
        for name, each in value.items():
            if name == "ID":
                yield where, each
            else:
                yield from inside(each, f"{where}.{name}")
