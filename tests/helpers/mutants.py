"""A project with every kind, and the systematic ways to spoil one document of it."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

__all__ = ["FILES", "INPUTS", "SCRIPTS", "WORKFLOW", "Mutant", "mutants"]

WORKFLOW = """\
kind: Workflow
metadata: { name: shop, description: Works a ticket. }
spec:
  input:
    type: object
    required: [order_id, text, vip]
    properties: { order_id: { type: string }, text: { type: string }, vip: { type: boolean } }
    additionalProperties: false
  context: [Order]
  limits: { max_steps: 30, token_budget: 9000 }
  steps:
    - id: classify
      kind: Agent
      agent:
        model: sorter
        system: You sort tickets.
        prompt: "Sort {{ text }}"
        output: { format: json, map: { topic: topic, mood: temper } }
      routes: { default: gate, parse_error: apologise, timeout: apologise, error: apologise }
    - id: gate
      kind: Router
      condition: { field: vip, operator: eq, value: true }
      routes: { "true": work, "false": fetch }
    - id: fetch
      kind: APICall
      http: { url: "${SHOP_API}/orders/{{ order_id }}", params: { temper: "{{ temper }}" }, timeout: 5 }
      response: { output_key: fetched }
      routes: { default: by_topic, error: apologise }
    - id: by_topic
      kind: Router
      match: { field: topic }
      routes: { refund: work, praise: save, default: apologise }
    - id: work
      kind: AutonomousAgent
      agent:
        model: worker
        steering: You work refund tickets.
        steering_files: [agents/shop__work/steering/tone.md]
        tools:
          - { ref: find, writes_context: true }
          - { ref: weather }
          - { ref: policy, parameters: { type: object, properties: { question: { type: string } }, required: [question] } }
        outcome: { enum: [solved, escalate], output_key: summary }
        max_iterations: 5
        token_budget: 4000
      routes: { solved: save, escalate: save, max_iterations: apologise, budget_exceeded: apologise, error: apologise, aborted: apologise }
    - id: find
      kind: ModelOp
      description: Find orders.
      model: Order
      operation: list
      filters: { state: open }
      output: orders
    - id: weather
      kind: APICall
      description: Look the weather up.
      http: { url: "${SHOP_API}/weather", params: { city: "{{ city }}" } }
    - id: policy
      kind: MCP
      description: Ask the policy.
      mcp: { server: policy, tool: ask, arguments: { question: "{{ question }}" } }
      response: { output_key: verdict }
    - id: save
      kind: ModelOp
      model: Order
      operation: create
      payload: { order_id: "{{ order_id }}", state: open }
      output: saved
      routes: { default: note, error: apologise }
    - id: note
      kind: Functional
      runner: note
      routes: { default: done, error: apologise }
    - id: done
      kind: Response
      mapping: { topic: topic, order: saved.order_id, noted: noted }
      routes: { default: END }
    - id: apologise
      kind: Response
      source: text
"""
FILES: Mapping[str, str] = {
    "workflows/shop.yaml": WORKFLOW,
    "models/order.yaml": """\
kind: ModelDefinition
metadata: { name: Order }
spec:
  tablename: orders
  datasource: shop
  fields:
    - { name: id, type: uuid, primary_key: true }
    - { name: order_id, type: string, required: true }
    - { name: state, type: enum, enum_values: [open, closed], required: true }
""",
    "datasources/shop.yaml": """\
kind: DataSource
metadata: { name: shop }
spec: { type: sqlite, path: "${SHOP_DB}", create_tables: true }
""",
    "llms/sorter.yaml": """\
kind: AgentModel
metadata: { name: sorter }
spec: { model: scripted/sorter, temperature: 0 }
""",
    "llms/worker.yaml": """\
kind: AgentModel
metadata: { name: worker }
spec: { model: scripted/worker, timeout: 5 }
""",
    "mcp/policy.yaml": """\
kind: MCPServer
metadata: { name: policy }
spec: { transport: stdio, command: policy-server }
""",
    "agents/shop__work/steering/tone.md": "Be brief.\n",
    "nodes/desk.py": """\
from tuvl_kinds_functional import node

@node("note")
def note(ctx):
    return {"noted": ctx["topic"]}
""",
}
SORTER = "kind: ScriptedModel\nmetadata: { name: sorter }\nspec: { turns: [{ content: '%s' }], then: cycle }\n"
WORKER = """\
kind: ScriptedModel
metadata: { name: worker }
spec:
  turns:
    - calls: [{ name: find, arguments: {} }, { name: weather, arguments: { city: Kyiv } }]
    - calls: [{ name: policy, arguments: { question: "May I?" } }]
    - answer: { outcome: %s, result: fine }
  then: cycle
"""


def _scripts(topic: str, outcome: str) -> str:
    return SORTER % json.dumps({"topic": topic, "mood": "bad"}) + "---\n" + WORKER % outcome


SCRIPTS = (_scripts("refund", "solved"), _scripts("praise", "escalate"))
"""What the models say: all ways that an untouched project has are among them."""
INPUTS = tuple({"order_id": "A-1", "text": "Broken.", "vip": vip} for vip in (True, False))

Path = tuple[str | int, ...]


class Mutant(NamedTuple):
    """A document that is spoilt in one place."""

    what: str
    path: Path
    data: Any

    @property
    def name(self) -> str:
        return f"{self.what} {'.'.join(map(str, self.path))}"


def mutants(data: Any) -> Iterator[Mutant]:
    """Every mutant of a document, each of its places spoilt in every way that applies."""
    for path, value in _places(data):
        for what, change in _changes(path, value):
            spoilt = copy.deepcopy(data)
            if change(_owner(spoilt, path), path[-1]) is not False:
                yield Mutant(what, path, spoilt)
    yield from _of_steps(data)


def _places(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    if path:
        yield path, value
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from _places(inner, (*path, key))


def _owner(data: Any, path: Path) -> Any:
    for part in path[:-1]:
        data = data[part]
    return data


def _drop(owner: Any, key: Any) -> None:
    del owner[key]


def _set(make: Any) -> Any:
    def change(owner: Any, key: Any) -> None:
        owner[key] = make(owner[key])

    return change


def _misspell(owner: Any, key: Any) -> None:
    items = [(f"{name[:1]}{name}" if name == key else name, value) for name, value in owner.items()]
    owner.clear()
    owner.update(items)


def _twice(owner: Any, key: Any) -> None:
    owner.insert(key, copy.deepcopy(owner[key]))


def _changes(path: Path, value: Any) -> Iterator[tuple[str, Any]]:
    yield "drop", _drop
    if isinstance(path[-1], str):
        yield "misspell", _misspell
    else:
        yield "twice", _twice
    yield "to a list", _set(lambda old: [old])
    yield "to a mapping", _set(lambda old: {"odd": old})
    if isinstance(value, (dict, list)):
        yield "to a text", _set(lambda old: "odd")
        yield "emptied", _set(lambda old: type(old)())
    if isinstance(value, str):
        yield "renamed", _set(lambda old: f"{old}x")
        yield "blank", _set(lambda old: "")
        if "{{" in value:
            yield "another variable", _set(lambda old: re.sub(r"\{\{ (\w+)", r"{{ \1x", old))
            yield "broken template", _set(lambda old: old.replace("}}", "+ }}"))
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        yield "negative", _set(lambda old: -1)
        yield "to words", _set(lambda old: "many")


def _of_steps(data: Any) -> Iterator[Mutant]:
    """Steps in other places, routes to every other step, and ids that are given twice."""
    steps = data.get("spec", {}).get("steps") or ()
    ids = [step["id"] for step in steps]
    for number, step in enumerate(steps):
        for signal in step.get("routes", {}):
            for target in (*ids, "END", "nowhere"):
                if target != step["routes"][signal]:
                    spoilt = copy.deepcopy(data)
                    spoilt["spec"]["steps"][number]["routes"][signal] = target
                    yield Mutant(f"to {target}", ("spec", "steps", number, "routes", signal), spoilt)
        if number:
            spoilt = copy.deepcopy(data)
            spoilt["spec"]["steps"][number]["id"] = ids[0]
            yield Mutant("id of the first", ("spec", "steps", number, "id"), spoilt)
            spoilt = copy.deepcopy(data)
            spoilt["spec"]["steps"].insert(0, spoilt["spec"]["steps"].pop(number))
            yield Mutant("first of all", ("spec", "steps", number), spoilt)
        for kind in ("Router", "Response", "Functional", "Agent", "APICall"):
            if kind != step.get("kind"):
                spoilt = copy.deepcopy(data)
                spoilt["spec"]["steps"][number]["kind"] = kind
                yield Mutant(f"to {kind}", ("spec", "steps", number, "kind"), spoilt)
