"""schemathesis against the local service: every operation of its OpenAPI document, in both content types."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import time
import urllib.request
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit
from xml.etree import ElementTree as ET

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from openapi_schema_validator import OAS31Validator
from requests.auth import AuthBase
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.config import SchemathesisConfig
from schemathesis.core import NOT_SET
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from valid_requests import Fitting, fitting_requests

import headland as hl
from headland import _core

if TYPE_CHECKING:
    from collections.abc import Iterator

VALID, INVALID = (share * int(os.environ.get("HEADLAND_SERIES", "1")) for share in (4, 2))
"""Number of examples for each operation and content type; `make soak` runs many more."""

CHECKS = [
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]

METHODS = ("get", "post", "put", "delete")
DOCUMENT = json.loads(_core.openapi())
OPERATIONS = {
    item[method]["operationId"]: (method.upper(), path)
    for path, item in DOCUMENT["paths"].items()
    for method in METHODS
    if method in item
}
DISPATCH = ("dispatch_url", "legacy_dispatch_url", "legacy_orders_url")
NIL = "{http://www.w3.org/2001/XMLSchema-instance}nil"


class Proven(AuthBase):
    """Signs each request according to section 5.4, with the standard library alone; dispatch requests get a token."""

    def __init__(self, keys: Any) -> None:
        self.keys = keys

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        assert request.url
        assert request.method
        if request.url.startswith(tuple(self.keys[name] for name in DISPATCH)):
            request.headers["Authorization"] = f"Bearer {self.keys['dispatch_token']}"
            return request
        parts, timestamp = urlsplit(request.url), str(int(time.time()))
        values = (request.method.upper(), parts.netloc.lower(), parts.path.lower(), timestamp)
        text = "".join(f"{value}\r\n" for value in (*values, self.keys["api_key"], self.keys["access_key"]))
        digest = hmac.new(base64.b64decode(self.keys["shared_secret"]), text.encode(), hashlib.sha1).digest()
        request.headers["X-SS-APIKey"] = self.keys["api_key"]
        request.headers["X-SS-AccessKey"] = self.keys["access_key"]
        request.headers["X-SS-TimeStamp"] = timestamp
        request.headers["X-SS-Signature"] = base64.b64encode(digest).decode()
        return request


class ServiceUnderTest(NamedTuple):
    """A service, its document in schemathesis, its records, and the accepted replies."""

    accept: str
    service: hl.Sandbox
    operations: dict[str, Any]
    servers: dict[str, list[dict[str, Any]]]
    session: requests.Session
    fitting: dict[str, list[Fitting]]


@pytest.fixture(scope="module", params=["application/json", "text/xml"])
def service_under_test(request: pytest.FixtureRequest) -> Iterator[ServiceUnderTest]:
    """Return a service without a limiter for each content type, since a map can be queued only once."""
    with hl.Sandbox.demo(conversion_time=0) as service, requests.Session() as session:
        # No proxy and no keys of the user who runs the tests.
        session.trust_env = False
        with urllib.request.urlopen(f"{service.base_url}/openapi.json", timeout=10) as reply:
            document = json.load(reply)
        servers = {path: item.get("servers", document["servers"]) for path, item in document["paths"].items()}
        schema = schemathesis.openapi.from_dict(document, config=SchemathesisConfig())
        found = [result.ok() for result in schema.get_all_operations() if isinstance(result, Ok)]
        named = {each.definition.raw["operationId"]: each for each in found}
        yield ServiceUnderTest(request.param, service, named, servers, session, fitting_requests(service, OPERATIONS))


def test_every_operation_is_tested(service_under_test: ServiceUnderTest) -> None:
    assert set(service_under_test.operations) == set(OPERATIONS)
    assert len(OPERATIONS) >= 50


@pytest.mark.parametrize("name", OPERATIONS)
def test_service_conforms_to_the_document(service_under_test: ServiceUnderTest, name: str) -> None:
    operation, seen = service_under_test.operations[name], Counter[int]()
    is_implemented = "x-not-implemented" not in operation.definition.raw
    checks = [*CHECKS, not_a_server_error] if is_implemented else CHECKS
    addresses = [server["url"] for server in service_under_test.servers[OPERATIONS[name][1]]]

    def send(case: Any, address: str, **files: Any) -> None:
        response = case.call(
            base_url=address,
            session=service_under_test.session,
            headers={"Accept": service_under_test.accept},
            auth=Proven(service_under_test.service.credentials),
            **files,
        )
        seen[response.status_code] += 1
        case.validate_response(response, checks=checks)
        kinds = response.headers.get("content-type")
        if kinds and kinds[0].startswith("text/xml") and "content-disposition" not in response.headers:
            check_xml(name, response.status_code, response.content)

    def run(mode: GenerationMode, examples: int, fitting: list[Fitting]) -> None:
        @settings(
            max_examples=examples,
            derandomize=True,
            database=None,
            deadline=None,
            phases=(Phase.generate,),
            suppress_health_check=list(HealthCheck),
        )
        @given(
            operation.as_strategy(generation_mode=mode),
            st.sampled_from(addresses),
            st.sampled_from([None, *fitting]),
        )
        def one(case: Any, address: str, chosen: Fitting | None) -> None:
            if chosen is None:
                send(case, address)
                return
            case.path_parameters = {**case.path_parameters, **chosen.path_parameters}
            if chosen.body is not None:
                case.body = chosen.body
            if chosen.files:
                case.body = NOT_SET
                send(case, address, files=chosen.files)
            else:
                send(case, address)

        one()

    run(GenerationMode.POSITIVE, VALID, service_under_test.fitting.get(name, []))
    run(GenerationMode.NEGATIVE, INVALID, [])
    assert seen.total() >= VALID, seen
    if is_implemented:
        assert any(200 <= status < 300 for status in seen), f"nothing was ever right: {seen}"
    else:
        assert set(seen) == {501}


def check_xml(name: str, status: int, content: bytes) -> None:
    """Compare an XML document with the schema that its root names, and with the XML rules of the schema."""
    method, path = OPERATIONS[name]
    response = resolved(DOCUMENT["paths"][path][method.lower()]["responses"][str(status)])
    schema = response["content"]["text/xml"]["schema"]
    root = ET.fromstring(content)
    candidates = [
        one for one in schema.get("anyOf", [schema]) if resolved(one).get("xml", {}).get("name") == local(root)
    ]
    assert len(candidates) == 1, f"no schema of {name} has the root {local(root)}"
    value = read(root, candidates[0])
    errors = OAS31Validator({**candidates[0], "components": DOCUMENT["components"]}).iter_errors(value)
    assert [error.message for error in errors] == []


def local(element: ET.Element) -> str:
    return element.tag.rpartition("}")[2]


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the target of a reference to a schema or a response, with its parts merged."""
    found = dict(schema)
    if "$ref" in found:
        target: Any = DOCUMENT
        for step in found.pop("$ref").removeprefix("#/").split("/"):
            target = target[step]
        found = {**resolved(target), **found}
    for part in found.pop("allOf", []):
        found["properties"] = {**found.get("properties", {}), **resolved(part)["properties"]}
    return found


def read(element: ET.Element, schema: dict[str, Any]) -> Any:
    """Return the value of an element by its schema; an unknown element fails."""
    schema = resolved(schema)
    if "properties" in schema:
        return read_record(element, schema["properties"])
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    text = element.text or ""
    if element.get(NIL) == "true":
        return None
    if "boolean" in kinds:
        return {"true": True, "false": False}[text]
    if "number" in kinds:
        return float(text)
    return int(text) if "integer" in kinds and "string" not in kinds else text


def read_record(element: ET.Element, properties: dict[str, Any]) -> dict[str, Any]:
    value: dict[str, Any] = {
        name: [] for name, each in properties.items() if each.get("type") == "array" and "xml" not in each
    }
    flat = [(name, resolved(each)["properties"]) for name, each in properties.items() if each.get("x-flat-in-xml")]
    for child in element:
        name = local(child)
        schema = properties.get(name)
        if schema is None or (name in value and schema.get("type") != "array"):
            # 2.4: the members of a hub's report are siblings of the hub's own.
            inside = next(inside for inside, members in flat if name in members)
            value.setdefault(inside, {})[name] = read(child, dict(flat)[inside][name])
        elif schema.get("type") != "array":
            value[name] = read(child, schema)
        elif schema.get("xml", {}).get("wrapped"):
            assert {local(item) for item in child} <= {schema["items"]["xml"]["name"]}
            value[name] = [read(item, schema["items"]) for item in child]
        else:
            value[name].append(read(child, schema["items"]))
    return value
