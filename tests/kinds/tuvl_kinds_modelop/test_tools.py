"""ModelOp steps as tools: which arguments a model is asked for, and that whatever it may send works."""

from __future__ import annotations

import asyncio
import base64
import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from agent_stage import answer, tool_call, turn
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tuvl_core import App, Plugins, check_parameters, load_project

FIELDS = {
    "id": {"type": "uuid", "primary_key": True, "description": "The ticket."},
    "title": {"type": "string", "required": True, "length": 20, "description": "In a few words."},
    "state": {"type": "enum", "enum_values": ["new", "done"], "default": "new", "required": True},
    "weight": {"type": "smallint"},
    "cost": {"type": "numeric", "precision": 6, "scale": 2},
    "exact": {"type": "numeric"},
    "share": {"type": "float"},
    "open": {"type": "boolean"},
    "owner": {"type": "uuid"},
    "due": {"type": "date"},
    "seen": {"type": "timestamptz"},
    "extra": {"type": "jsonb"},
    "file": {"type": "bytea"},
    "made": {"type": "timestamp", "default": "now", "input": False},
    "key": {"type": "string", "secure": True},
}


def offered(shop: Any, step: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a step as a tool."""
    shop.models = {"Ticket": {"fields": FIELDS}}
    shop.agent([answer()], {"model": "Ticket", "description": "It.", "id": "it", **step})
    project = shop.load()
    plan = App(project).plan("w")
    schema = plan.tool_parameters(plan.steps["it"])
    assert check_parameters(schema) is None
    assert schema["type"] == "object"
    assert "$ref" not in json.dumps(schema)
    return dict(schema)


WRITABLE = [name for name in FIELDS if name not in ("id", "made")]


def test_create_asks_for_the_fields_that_data_may_fill(sqlite_shop: Any) -> None:
    schema = offered(sqlite_shop, {"operation": "create"})
    assert list(schema["properties"]) == WRITABLE
    assert schema["required"] == ["title"]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["title"] == {"type": "string", "maxLength": 20, "description": "In a few words."}
    assert schema["properties"]["state"]["enum"] == ["new", "done"]
    assert schema["properties"]["weight"] == {"type": "integer", "minimum": -32768, "maximum": 32767}


def test_read_and_delete_ask_for_the_key(sqlite_shop: Any) -> None:
    for operation in ("read", "delete"):
        schema = offered(sqlite_shop, {"operation": operation})
        assert schema["properties"] == {"id": {"type": "string", "format": "uuid", "description": "The ticket."}}
        assert schema["required"] == ["id"]


def test_update_asks_for_the_key_and_what_changes(sqlite_shop: Any) -> None:
    schema = offered(sqlite_shop, {"operation": "update"})
    assert sorted(schema["properties"]) == sorted(["id", *WRITABLE])
    assert schema["required"] == ["id"]


def test_list_asks_for_what_can_be_compared_and_is_not_secure(sqlite_shop: Any) -> None:
    schema = offered(sqlite_shop, {"operation": "list"})
    assert set(schema["properties"]) == set(WRITABLE) - {"extra", "file", "key"}
    assert "required" not in schema


def test_what_the_author_wrote_asks_for_its_variables_with_the_fields_types(sqlite_shop: Any) -> None:
    schema = offered(
        sqlite_shop,
        {
            "operation": "update",
            "record_id": "{{ ticket }}",
            "payload": {"weight": "{{ kilos }}", "title": "Now: {{ text }}", "open": "{{ open | default(true) }}"},
        },
    )
    assert schema["properties"]["ticket"] == {"type": "string", "format": "uuid", "description": "The ticket."}
    assert schema["properties"]["kilos"]["type"] == "integer"
    assert schema["properties"]["text"] == {"type": "string"}
    assert set(schema["required"]) == {"ticket", "kilos", "text"}


async def test_a_model_may_give_the_members_of_a_list(shop: Any) -> None:
    find = {"id": "find", "model": "Order", "operation": "list", "description": "Find.", "order_by": "number",
            "filters": {"number": {"in": "{{ numbers }}"}, "note": {"is_null": "{{ bare }}"}}}  # fmt: skip
    actor = shop.agent([turn(tool_call("find", json.dumps({"numbers": ["A-1", "A-3"], "bare": True}))), answer()], find)
    kept = (shop.root / "Workflow-w-.yaml").read_text()
    await shop.fill([{"number": f"A-{n}"} for n in range(1, 4)])
    (shop.root / "Workflow-w-.yaml").write_text(kept)
    await shop.live()
    offered = actor.tools[0][0]["function"]["parameters"]["properties"]
    assert offered["numbers"]["type"] == "array"
    assert offered["bare"] == {"type": "boolean"}
    assert [row["number"] for row in actor.answers()[0]["find_result"]] == ["A-1", "A-3"]


def test_parts_that_are_left_open_join_those_that_are_not(sqlite_shop: Any) -> None:
    schema = offered(
        sqlite_shop, {"operation": "update", "filters": {"state": "{{ was }}", "weight": {"gt": "{{ above }}"}}}
    )
    assert set(schema["properties"]) == {"was", "above", *WRITABLE}
    assert schema["properties"]["was"]["enum"] == ["new", "done"]
    assert set(schema["required"]) == {"was", "above"}


async def test_an_agent_works_with_records(shop: Any) -> None:
    """A whole conversation: make, find, change, look, remove."""
    tools = [
        {"id": "make", "model": "Order", "operation": "create", "description": "Make an order."},
        {"id": "find", "model": "Order", "operation": "list", "description": "Find orders.", "order_by": "number"},
        {"id": "change", "model": "Order", "operation": "update", "description": "Change an order."},
        {"id": "look", "model": "Order", "operation": "read", "description": "Look at one."},
        {"id": "drop", "model": "Order", "operation": "delete", "description": "Remove one."},
    ]
    actor = shop.agent(
        [
            turn(
                tool_call("make", json.dumps({"number": "A-1", "total": 19.9})),
                tool_call("make", json.dumps({"number": "A-2", "total": "5.00", "status": "paid"})),
                tool_call("find", json.dumps({"status": "paid"})),
            ),
            turn(
                tool_call("change", json.dumps({"id": 1, "status": "void"})),
                tool_call("look", json.dumps({"id": 1})),
                tool_call("drop", json.dumps({"id": 2})),
                tool_call("look", json.dumps({"id": 2})),
            ),
            turn(
                tool_call("change", json.dumps({"id": 1})),
                tool_call("change", json.dumps({"id": 1, "status": "lost"})),
                tool_call("make", json.dumps({"number": "A-3", "total": 1.005})),
                tool_call("make", json.dumps({"number": "A-1"})),
            ),
            answer(),
        ],
        *tools,
    )
    _, result = await shop.live()
    assert result.status == "completed", result.error
    said = actor.answers()
    assert said[0]["make_result"]["total"] == "19.90"
    assert [row["number"] for row in said[2]["find_result"]] == ["A-2"]
    assert said[4]["look_result"]["status"] == "void"
    assert said[5]["drop_result"] == {"deleted": True}
    assert said[6]["look_result"] is None
    assert [item["type"] for item in said[7:]] == ["missing_field", "invalid_arguments", "bad_value", "unique"]
    assert all("error" in item for item in said[7:])
    assert [row["number"] for row in await shop.rows(order_by="number")] == ["A-1"]


# --- whatever the schema takes, the step takes ------------------------------------------------------

_TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20)
_DIGITS = st.decimals(min_value=-9999, max_value=9999, places=2)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "title": _TEXT,
    "state": st.sampled_from(["new", "done"]),
    "weight": st.integers(-32768, 32767),
    "cost": st.one_of(_DIGITS.map(lambda number: format(number, "f")), st.integers(-9999, 9999)),
    "exact": st.one_of(
        st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**50), max_value=10**50).map(
            lambda number: format(number, "f")
        ),
        st.floats(allow_nan=False, allow_infinity=False),
    ),
    "share": st.floats(allow_nan=False, allow_infinity=False),
    "open": st.booleans(),
    "owner": st.uuids().map(str),
    "due": st.dates().map(str),
    "seen": st.datetimes().map(lambda moment: moment.isoformat() + "Z"),
    "extra": st.recursive(
        st.one_of(st.booleans(), st.integers(-(2**60), 2**60), _TEXT),
        lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_TEXT, inner, max_size=3)),
        max_leaves=5,
    ),
    "file": st.binary(max_size=30).map(lambda data: {"base64": base64.b64encode(data).decode()}),
    "key": _TEXT,
}
ARGUMENTS = st.fixed_dictionaries(
    {"title": VALUES["title"]}, optional={name: value for name, value in VALUES.items() if name != "title"}
)


@pytest.fixture(scope="module")
def tickets(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """An open project with a tool for each operation, and the loop that it is open on."""
    root: Path = tmp_path_factory.mktemp("tickets")
    model = {"kind": "ModelDefinition", "metadata": {"name": "Ticket"}, "spec": {"fields": FIELDS}}
    tools = [
        {"id": operation, "kind": "ModelOp", "model": "Ticket", "operation": operation}
        for operation in ("create", "list")
    ]
    caller = {"id": "agent", "kind": "t.Caller", "calls": "{{ calls }}", "tools": ["create", "list"]}
    spec = {"context": ["Ticket"], "steps": [caller, *tools]}
    (root / "m.yaml").write_text(json.dumps(model))
    (root / "w.yaml").write_text(json.dumps({"kind": "Workflow", "metadata": {"name": "w"}, "spec": spec}))
    (root / "plugins").mkdir()
    (root / "plugins" / "caller.py").write_text(CALLER)
    loop = asyncio.new_event_loop()
    app = loop.run_until_complete(
        App(load_project(root, plugins=Plugins.load(root=root, environ={}), environ={})).__aenter__()
    )
    yield app, loop
    loop.run_until_complete(app.close())
    loop.close()


CALLER = '''
import attrs
from tuvl_core import Child, StepKind, StepResult, Template, hookimpl

TUVL_API = 1

@attrs.frozen(kw_only=True)
class Config:
    calls: Template[list]
    tools: list[str]

class Caller(StepKind):
    """Call tools as the context says."""
    name = "t.Caller"
    Config = Config
    composite = True

    def children(self, step, plan):
        return [Child(ref) for ref in step.config.tools]

    async def run(self, call):
        seen = []
        for number, (ref, arguments) in enumerate(call.render(call.step.config.calls), 1):
            got = await call.dispatch(ref, arguments, name=f"tool#{number}:{ref}")
            seen.append({"error": got.error, "output": got.output})
        return StepResult(writes={"seen": seen})

@hookimpl
def tuvl_step_kinds():
    return [Caller]
'''


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(arguments=ARGUMENTS)
def test_whatever_the_schema_takes_is_written_and_found_again(tickets: Any, arguments: dict[str, Any]) -> None:
    app, loop = tickets
    plan = app.plan("w")
    assert jsonschema_rs.validator_for(plan.tool_parameters(plan.steps["create"])).is_valid(arguments)
    filters = {name: value for name, value in arguments.items() if name not in ("extra", "file", "key", "share")}
    assert jsonschema_rs.validator_for(plan.tool_parameters(plan.steps["list"])).is_valid(filters)
    result = loop.run_until_complete(app.run("w", {"calls": [["create", arguments], ["list", filters]]}))
    assert result.status == "completed", result.error
    made, found = result.context["seen"]
    assert made["error"] is None
    assert found["error"] is None
    assert made["output"]["id"] in [row["id"] for row in found["output"]]
