"""The composed schema and the loader agree: on documents that are right, and on what mutation makes of them.

Left out is what a schema cannot know: references (ids, variables), what `${…}` and `{{ }}` stand for, what a
class's own validator refuses. Numbers that are whole but written with a point are one value to JSON Schema.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from installed import forget, install

from tuvl_core import Plugins, project_schema
from tuvl_core.documents import read_text
from tuvl_core.project.catalog import Catalog
from tuvl_core.project.read import read_definition
from tuvl_core.structure import Environment

STRANGER = """
import attrs
from typing import Any, Literal
from tuvl_core import DocumentKind, Metadata, Section, StepKind, StepResult, Template, field, hookimpl

TUVL_API = 1

@attrs.frozen(kw_only=True)
class Retry:
    '''A class that another plugin has too.'''
    attempts: Literal[1, 2] = 1
    inner: "Retry | None" = None

@attrs.frozen(kw_only=True)
class Waiting:
    seconds: Template[float] = field(default=Template.of(1.0), min=0, max=60, doc="How long.")
    modes: list[str] = field(factory=list, choices=("fast", "yes", "1.10"))
    mode: str | None = field(default=None, source_text=True, choices=("no", "true", "1.10"))
    retry: Retry | None = None
    nested: dict[str, list[Retry]] = field(factory=dict)

class Wait(StepKind):
    '''Wait, then go on.'''
    name = "acme.Wait"
    Config = Waiting
    async def run(self, call):
        return StepResult()

class Again(StepKind):
    name = "acme.Again"
    Config = Retry
    async def run(self, call):
        return StepResult()

@attrs.frozen(kw_only=True)
class Audit:
    level: int = field(min=1, max=3)

@attrs.frozen(kw_only=True)
class Owned(Metadata):
    owner: str = field(source_text=True)

@hookimpl
def tuvl_step_kinds():
    return [Wait, Again]

@hookimpl
def tuvl_document_kinds():
    return [DocumentKind(kind="acme.Shelf", spec=Retry, metadata=Owned)]

@hookimpl
def tuvl_workflow_sections():
    return [Section(key="acme_audit", spec=Audit)]

@hookimpl
def tuvl_step_sections():
    return [Section(key="acme_note", spec=str | list[str])]
"""

STEPS: list[dict[str, Any]] = [
    {"id": "s", "kind": "acme.Wait", "seconds": 2, "modes": ["fast"], "mode": "no", "retry": {"inner": {}}},
    {"id": "s", "kind": "acme.Wait", "seconds": "{{ x }}", "nested": {"a": [{"attempts": 2}]}, "acme_note": ["n"]},
    {"id": "s", "kind": "acme.Again", "inner": {"inner": {"attempts": 1}}},
    {"id": "s", "runner": "node", "timeout": 3, "description": "d", "routes": {"default": "END", "yes": True}},
    {"id": "s", "kind": "Router", "condition": {"field": "a.b", "operator": "eq", "value": 1}},
    {"id": "s", "kind": "Router", "match": {"field": "a"}, "routes": {"true": "END"}},
    {"id": "s", "kind": "Response", "mapping": {"a": "b"}, "status": 201, "acme_note": "n"},
    {
        "id": "s",
        "kind": "APICall",
        "http": {"url": "http://h/{{ x }}", "method": "POST", "headers": {"a": "b"}, "timeout": 3, "retries": 2},
        "response": {"extract": [{"path": "a", "as": "b"}]},
    },
    {
        "id": "s",
        "kind": "AutonomousAgent",
        "agent": {
            "model": "m",
            "steering": "go",
            "tools": [{"ref": "t", "writes_context": True, "parameters": {"type": "object"}}],
            "outcome": {"enum": ["yes", True, 1.5], "output_key": "o"},
            "max_iterations": 3,
            "retry": {"attempts": 2},
        },
    },
    {"id": "s", "kind": "Agent", "agent": {"model": "m", "prompt": "p", "retry": {"backoff": 0.5}}},
    {"id": "s", "kind": "ModelOp", "model": "M", "operation": "list", "limit": 3, "filters": {"a": {"gt": 1}}},
    {"id": "s", "kind": "MCP", "mcp": {"server": "v", "tool": "t", "arguments": {"a": "{{ b }}"}}},
]
BODIES: list[dict[str, Any]] = [
    {"kind": "AgentModel", "spec": {"model": "a/b", "temperature": 0, "retry": {"attempts": 1}}},
    {"kind": "acme.Shelf", "metadata": {"owner": 5}, "spec": {"attempts": 2}},
    {"kind": "acme.Shelf", "metadata": {"owner": "x"}},
    {"kind": "AgentModel", "enabled": False, "spec": {"nothing": "right"}},
    {"kind": "MCPServer", "spec": {"transport": "stdio", "command": "c", "args": ["a", 1], "timeout": 3}},
    {"kind": "DataSource", "spec": {"type": "sqlite", "path": "p", "primary": True}},
    {"kind": "ModelDefinition", "spec": {"fields": [{"name": "a", "type": "string"}], "relations": []}},
    {"kind": "ModelDefinition", "spec": {"fields": {"a": {"type": "integer"}}}},
    {"kind": "ScriptedModel", "spec": {"turns": [{"calls": [{"name": "n", "arguments": {"a": 1}}]}], "then": "last"}},
    *(
        {
            "kind": "Workflow",
            "version": 1.1,
            "metadata": {"description": "d", "group": "g", "schema_version": 2},
            "spec": {
                "steps": [step],
                "limits": {"max_steps": 5, "timeout_s": None},
                "context": ["M"],
                "input": {"type": "object"},
                "output": "o",
                "reveal": ["a"],
                "acme_audit": {"level": 2},
            },
        }
        for step in STEPS
    ),
]
DOCUMENTS = [{**body, "metadata": {"name": "n", **body.get("metadata", {})}} for body in BODIES]

# What the schema claims to know: keys, types, ranges, choices, kinds, ids, envelopes.
KNOWN = {
    *("TUVL-S001", "TUVL-S002", "TUVL-S003", "TUVL-S004"),
    *("TUVL-S020", "TUVL-S021", "TUVL-S022", "TUVL-S024"),
    *("TUVL-W010", "TUVL-W011", "TUVL-W012"),
}
VALUES: list[Any] = [
    *(None, True, False, 0, 1, 2, -1, 1000, 0.5, 1.10, "", "a", "yes", "no", "true", "1.10", "END", "a b", "fast"),
    *("{{ x }}", "Router", "acme.Wait", "Workflow", "GET", "list", [], {}, ["a"], [1], [None], {"a": 1}, {"name": "a"}),
    *([{"name": "a", "type": "string"}], {"field": "a"}, {"attempts": 3}, {"attempts": 1}, ["fast", "x"]),
]


@pytest.fixture(scope="module")
def agreed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Agreed]:
    """The schema and the loader, with a stranger's plugin among the real ones."""
    site = tmp_path_factory.mktemp("site")
    module = install(site, "acme-kinds", STRANGER)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(site)
        yield Agreed(Plugins.load(root=tmp_path_factory.mktemp("root")))
    forget(module)


class Agreed:
    def __init__(self, plugins: Plugins) -> None:
        self.plugins = plugins
        self.schema = project_schema(plugins, default_kind="Functional")
        self.fits = jsonschema_rs.validator_for(self.schema).is_valid
        self.catalog = Catalog(plugins, Environment(), "Functional")

    def problems(self, data: Any) -> list[str]:
        documents, found = read_text(json.dumps(data), "a.yaml")
        for document in documents:
            definition, problems = read_definition(document, self.catalog)
            found += definition.problems if definition is not None else problems
        return [str(item) for item in found if item.code in KNOWN]


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container of a tree with each of its keys."""
    if isinstance(value, (dict, list)):
        for key, item in list(value.items()) if isinstance(value, dict) else enumerate(value):
            yield value, key
            yield from places(item)


@st.composite
def mutants(draw: st.DrawFn) -> dict[str, Any]:
    """A right document, changed in up to three places."""
    data = copy.deepcopy(draw(st.sampled_from(DOCUMENTS)))
    for _ in range(draw(st.integers(0, 3))):
        found = list(places(data))
        if not found:
            break
        holder, key = draw(st.sampled_from(found))
        change = draw(st.sampled_from(["drop", "misspell", "replace", "replace", "add", "copy"]))
        if change == "drop" or (change in ("misspell", "add") and isinstance(holder, list)):
            del holder[key]
        elif change == "misspell":
            holder[f"{key}x"] = holder.pop(key)
        elif change == "add":
            name = draw(st.sampled_from(["stray", "name", "kind", "timeout", "id", "spec", "attempts"]))
            holder[name] = copy.deepcopy(draw(st.sampled_from(VALUES)))
        elif change == "replace":
            holder[key] = copy.deepcopy(draw(st.sampled_from(VALUES)))
        else:
            other, name = draw(st.sampled_from(found))
            holder[key] = copy.deepcopy(other[name]) if name in other or isinstance(other, list) else None
    return data


def beyond_a_schema(data: Any) -> bool:
    """What the page says a schema cannot tell: `null` as a kind, and a class's own validator."""
    for holder, key in places(data):
        value = holder[key]
        if key == "kind" and value is None:
            return True
        if key == "output_key" and (value == "" or not isinstance(value, (str, type(None)))):
            return True
    return False


def test_the_schema_is_one(agreed: Agreed) -> None:
    jsonschema_rs.meta.validate(agreed.schema)
    assert agreed.schema["$schema"].endswith("2020-12/schema")
    wait = agreed.schema["$defs"]["step.acme.Wait"]
    assert wait["description"] == "Wait, then go on."
    assert wait["properties"]["seconds"]["description"] == "How long."
    assert wait["properties"]["retry"]["anyOf"][0] == {"$ref": "#/$defs/step.acme.Wait.Retry"}


@pytest.mark.parametrize("index", range(len(DOCUMENTS)))
def test_right_documents_are_right_for_both(agreed: Agreed, index: int) -> None:
    assert agreed.problems(DOCUMENTS[index]) == []
    agreed_errors = [str(e.instance_path) for e in jsonschema_rs.iter_errors(agreed.schema, DOCUMENTS[index])]
    assert agreed_errors == []


@given(data=mutants())
@example(data={"kind": "Workflow", "metadata": {"name": "a"}, "spec": {"steps": [{"id": "", "runner": "x"}]}})
def test_both_accept_and_refuse_the_same(agreed: Agreed, data: dict[str, Any]) -> None:
    if beyond_a_schema(data):
        return
    found = agreed.problems(data)
    assert agreed.fits(data) == (not found), found


@pytest.mark.parametrize(
    ("step", "fits"),
    [
        ({"kind": "acme.Wait", "seconds": "${N:3}"}, True),
        ({"kind": "acme.Wait", "seconds": "3"}, False),
        ({"kind": "acme.Wait", "mode": True}, True),  # the choice `true`, as an editor reads it
        ({"kind": "acme.Wait", "mode": 1.1}, True),
        ({"kind": "acme.Wait", "mode": False}, False),
        ({"runner": "x", "routes": {"no": False, "a": 1.10, "b": None}}, True),
        ({"kind": "acme.Nope"}, False),
        ({"kind": "Functional"}, False),
        ({}, False),
    ],
)
def test_samples(agreed: Agreed, step: dict[str, Any], fits: bool) -> None:
    data = {"kind": "Workflow", "metadata": {"name": "a"}, "spec": {"steps": [{"id": "s", **step}]}}
    assert agreed.fits(data) == fits


def test_a_document_kind_that_requires_more_metadata_than_a_name(agreed: Agreed) -> None:
    data = {"kind": "acme.Shelf", "metadata": {"name": "a"}}
    assert not agreed.fits(data)
    (found,) = agreed.problems(data)
    assert "metadata.owner" in found


def test_one_kind(agreed: Agreed) -> None:
    step = project_schema(agreed.plugins, default_kind="Functional", kind="acme.Wait")
    assert jsonschema_rs.is_valid(step, {"id": "a", "kind": "acme.Wait"})
    assert not jsonschema_rs.is_valid(step, {"id": "a", "kind": "Router"})
    assert set(step["$defs"]) == {"step.acme.Wait", "step.acme.Wait.Retry"}
    document = project_schema(agreed.plugins, default_kind="Functional", kind="acme.Shelf")
    assert jsonschema_rs.is_valid(document, {"kind": "acme.Shelf", "metadata": {"name": "a", "owner": "b"}})
    with pytest.raises(KeyError):
        project_schema(agreed.plugins, default_kind="Functional", kind="acme.Nope")


def test_without_the_default_kind_a_step_has_to_name_its_own(agreed: Agreed) -> None:
    schema = project_schema(agreed.plugins, default_kind="acme.Gone")
    step = {"id": "a", "runner": "x"}
    data = {"kind": "Workflow", "metadata": {"name": "a"}, "spec": {"steps": [step]}}
    assert not jsonschema_rs.is_valid(schema, data)
    step["kind"] = "Functional"
    assert jsonschema_rs.is_valid(schema, data)


def test_a_strangers_unusable_class_costs_only_its_own_part(agreed: Agreed, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = agreed.plugins.kinds["acme.Again"].kind
    monkeypatch.setattr(type(kind), "Config", int, raising=False)
    schema = project_schema(agreed.plugins, default_kind="Functional")
    assert "step.Router" in schema["$defs"]


def test_the_projects_own_files_stay_out(tmp_path: Path) -> None:
    """The schema depends on what is installed only."""
    assert "$defs" in project_schema(Plugins.load(root=tmp_path), default_kind="Functional")
