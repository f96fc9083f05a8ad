"""The OpenAPI document: valid, complete, and served by the local service without keys."""

from __future__ import annotations

import json
import urllib.request
from typing import TYPE_CHECKING, Any

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

import headland as hl
from headland import _core
from headland.cli import main

if TYPE_CHECKING:
    from pathlib import Path

METHODS = ("get", "post", "put", "delete")


def served(service: hl.Sandbox) -> dict[str, Any]:
    with urllib.request.urlopen(f"{service.base_url}/openapi.json", timeout=10) as reply:
        assert reply.headers["Content-Type"] == "application/json"
        document: dict[str, Any] = json.load(reply)
    return document


def operations(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    items = document["paths"].values()
    return {item[method]["operationId"]: item[method] for item in items for method in METHODS if method in item}


def test_the_document_is_valid(service: hl.Sandbox) -> None:
    for document in (json.loads(_core.openapi()), served(service)):
        errors = [error.message for error in OpenAPIV31SpecValidator(document).iter_errors()]
        assert errors == []
        assert document["openapi"].startswith("3.1")


def test_every_reference_resolves_and_every_schema_is_used() -> None:
    document = json.loads(_core.openapi())
    referred: set[tuple[str, ...]] = set()

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            if "$ref" in value:
                referred.add(tuple(value["$ref"].removeprefix("#/").split("/")))
            value = list(value.values())
        for each in value if isinstance(value, list) else []:
            walk(each)

    walk(document)
    components = document["components"]
    named = {("components", kind, name) for kind, each in components.items() for name in each}
    assert {path for path in named if path[1] != "securitySchemes"} == referred


def test_every_call_of_the_table_is_in_it() -> None:
    calls = {call for each in operations(json.loads(_core.openapi())).values() for call in each["x-headland-calls"]}
    assert calls == {*_core.rows(), "field_computers.all_locations"}


def test_important_facts_are_stated() -> None:
    document = json.loads(_core.openapi())
    listed = operations(document)
    pagesize = next(each for each in listed["job_data.list"]["parameters"] if each["name"] == "pagesize")
    assert pagesize["schema"] == {
        "type": "integer",
        "minimum": 0,
        "default": 20,
    }  # 4.1: 1000 is recommended, 0 deprecated
    job = listed["job_data.get"]
    assert {each["name"] for each in job["parameters"]} == {"id", "format"}  # 4.2: one row, with and without format
    formats = next(each for each in job["parameters"] if each["name"] == "format")["schema"]
    assert formats == {"type": "string", "enum": ["BIN", "SHP", "FMIS", "XML"]}  # 4.4; without it, the detail
    assert {"application/json", "text/xml", "application/zip"} <= set(job["responses"]["200"]["content"])
    state = next(each for each in listed["field_computers.prescription_maps"]["parameters"] if each["name"] == "state")
    assert state["schema"]["default"] == "validated"
    upload = listed["prescription_maps.upload"]["requestBody"]["content"]["multipart/form-data"]["schema"]
    assert upload["required"] == ["FileName", "FileType"]
    refused = {"202", "400", "401", "403", "404", "405", "406", "429", "503"}  # 7
    for name, operation in listed.items():
        if not name.startswith(("dispatch.", "legacy_orders.")):
            assert refused <= set(operation["responses"]), name
        assert ("501" in operation["responses"]) == (name == "field_computers.all_locations")
    (all_four,) = document["security"]  # 5.1: one requirement of four, not four alternatives
    schemes = document["components"]["securitySchemes"]
    assert {schemes[name]["name"] for name in all_four} == {
        "X-SS-APIKey",
        "X-SS-Signature",
        "X-SS-AccessKey",
        "X-SS-TimeStamp",
    }
    assert "HMAC-SHA1" in document["info"]["description"]
    schemas = {
        name: schema["properties"]
        for name, schema in document["components"]["schemas"].items()
        if "properties" in schema
    }
    assert schemas["JobDataItem"]["CreateDate"]["format"] == "date-time"
    ids = {name: properties["ID"]["type"] for name, properties in schemas.items() if "ID" in properties}
    either = {f"{kind}Item": ["integer", "string"] for kind in ("FieldComputer", "PrescriptionMap", "JobData")}  # 2.1
    integers = dict.fromkeys(
        ("FieldComputerDetail", "FieldHubReport", "JobDataDetail", "Product", "Ingredient", "AppliedProduct"), "integer"
    )  # 2.2, 2.4, 2.6
    assert ids == {**dict.fromkeys(ids, "string"), **either, **integers}
    mixes = listed["dispatch.field_operations.set_mixes"]["requestBody"]["content"]["application/json"]["schema"]
    assert mixes == {"type": ["object", "array"]}


def test_the_service_serves_it_without_keys_and_outside_the_limit() -> None:
    with hl.Sandbox(rate_limits=((1, 3600.0),), clock="moved") as service:
        for _ in range(3):
            assert served(service)["servers"][0]["url"] == service.base_url
        with hl.Client(**service.credentials, rate_limits=()) as client:
            assert client.access_key()["is_active"]
            timeout = hl.Timeout(call=60)
        with hl.Client(**service.credentials, rate_limits=(), timeout=timeout) as client, pytest.raises(hl.RateLimited):
            client.access_key()
        assert served(service)["openapi"]


def test_command_prints_or_writes_the_document(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    expected = json.loads(_core.openapi())
    assert main(["openapi"]) == 0
    printed = capsys.readouterr().out
    assert json.loads(printed) == expected
    assert printed.count("\n") > 1000
    assert main(["openapi", "--json"]) == 0
    assert capsys.readouterr().out.count("\n") == 1
    assert main(["openapi", "--out", str(tmp_path / "service.json")]) == 0
    assert capsys.readouterr().out == ""
    assert json.loads((tmp_path / "service.json").read_text(encoding="utf-8")) == expected
    assert main(["openapi", "--out", str(tmp_path / "nowhere" / "service.json")]) == 12
