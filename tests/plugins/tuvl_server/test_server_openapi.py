"""The OpenAPI document is one, and nothing that is asked makes the server fail."""

from __future__ import annotations

import asyncio
import json
import re
from urllib.parse import quote

import httpx
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schema_values import values_for

from tuvl_server.endpoints import OWN_ROUTES

SKIPPED = ("late", "fails", "odd", "wait", "kept", "turns", "big", "guarded")
"""Workflows that fail on purpose, or never end: their 500s are not the server's."""


async def test_it_names_every_route_and_trigger(desk):
    async with desk() as (service, http):
        found = (await http.get("/openapi.json")).json()
        assert found["openapi"] == "3.1.0"
        paths = found["paths"]
        assert paths["/api/hello"]["post"]["requestBody"]["required"] is True
        assert paths["/api/made"]["get"]["security"] == []
        assert {p["name"] for p in paths["/orders/{number}"]["put"]["parameters"]} == {"number", "detach"}
        assert found["components"]["schemas"]["input.hello"]["required"] == ["name"]
        own = {route.path for route in OWN_ROUTES} - {"/openapi.json", "/api/workflows/{name}/runs"}
        assert own <= set(paths)


async def test_it_is_valid_openapi(desk):
    from jsonschema_rs import validator_for

    async with desk() as (service, http):
        found = (await http.get("/openapi.json")).json()
    for schema in found["components"]["schemas"].values():
        validator_for(schema)
    refs = [part for part in str(found).split("'") if part.startswith("#/")]
    assert refs
    for ref in refs:
        value = found
        for key in ref[2:].split("/"):
            value = value[key]


@pytest.mark.timeout(240)
async def test_whatever_is_asked_the_server_does_not_fail_and_answers_as_documented(desk):
    async with desk() as (service, http):
        document = (await http.get("/openapi.json")).json()
        failures = await asyncio.to_thread(hammer, document, str(http.base_url))
        assert failures == []


def hammer(document, url):
    """Ask every operation for what its schemas allow, and for what they do not."""
    failures = []
    with httpx.Client(base_url=url, timeout=20) as http:
        for path, methods in document["paths"].items():
            if not any(f"/{name}/" in path for name in SKIPPED) and path != "/api/kept":
                for method, operation in methods.items():
                    ask(document, path, method, operation, http, failures)
    return failures


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
TEXT = (
    st.text(min_size=1, max_size=12) | st.integers().map(str) | st.sampled_from([".", "..", "%00", "0.1", "a/b", "-1"])
)


def ask(document, path, method, operation, http, failures):
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    if body is not None and "$ref" in body:
        body = document["components"]["schemas"][body["$ref"].rpartition("/")[2]]
    fitting = values_for(body).map(json.dumps) if body is not None else st.just("")
    wild = JSON.map(json.dumps) | st.text(max_size=20) | st.binary(max_size=20)
    kinds = st.sampled_from(["application/json", "application/json", "text/plain", "", "application/json; charset=x"])
    queries = [item["name"] for item in operation["parameters"] if item["in"] == "query"]
    documented = {int(code) for code in operation["responses"] if code.isdigit()}

    @given(
        st.one_of(fitting, wild),
        kinds,
        st.lists(TEXT, min_size=2, max_size=2),
        st.dictionaries(st.sampled_from(queries) if queries else st.nothing(), TEXT),
        st.sampled_from([{}, {"accept": "text/event-stream"}, {"prefer": "respond-async"}, {"last-event-id": "x"}]),
    )
    @settings(
        max_examples=25, deadline=None, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
    )
    def one(content, kind, segments, query, headers):
        where = re.sub(r"\{\w+\}", lambda _: quote(segments.pop(), safe=""), path)
        headers = {**headers, **({"content-type": kind} if content and kind else {})}
        raw = content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
        answer = http.request(method, where, content=raw or None, params=query, headers=headers)
        # Dots in a path are resolved by whoever asks: it is another path then, which may not be there or take others.
        allowed = documented | ({404, 405} if "." in where else set())
        if answer.status_code >= 500 or (answer.status_code >= 400 and answer.status_code not in allowed):
            failures.append(f"{method} {where} {query} {raw!r}: {answer.status_code} {answer.text[:200]}")

    one()
