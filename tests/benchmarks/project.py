"""Writes the projects that the benchmarks run: real files, read like any other."""

from __future__ import annotations

import json
from pathlib import Path

from floors import BRANCH_EVERY, FILLER, FINAL, PROMPT, STEPS, SYSTEM

NODES = f'''
from tuvl_kinds_functional import node


@node("lookup")
async def lookup(ctx):
    return {{"row": {{"order_id": ctx["order_id"], "status": "shipped", "note": "{FILLER}"}}}}


@node("park")
async def park(ctx):
    gate = ctx["_run"].app.resources.get("bench.gate")
    if gate is not None and ctx["order_id"] == "A-10":
        await gate()
    return {{"row": {{"order_id": ctx["order_id"], "status": "shipped", "note": "{FILLER}"}}}}


@node("bump")
async def bump(ctx):
    return {{"n": ctx["n"] + 1}}
'''

MODEL = """
kind: AgentModel
metadata: { name: default }
spec: { model: scripted/turns }
"""

AGENT = """
kind: Workflow
metadata: {{ name: {name} }}
spec:
  output: work_result
  steps:
    - id: work
      kind: AutonomousAgent
      agent:
        model: default
        steering: {system}
        tools: [{{ ref: lookup }}]
        max_iterations: {turns}
        token_budget: 1000000
      routes: {{ default: END, max_iterations: END, budget_exceeded: END, aborted: END }}
    - id: lookup
      kind: Functional
      description: Look one order up by its id.
      runner: {runner}
"""


def write(root: Path, *, turns: tuple[int, ...]) -> None:
    """Write nodes, a model and the workflows `agent_<turns>`, `parked` and `spine`."""
    (root / "nodes").mkdir(parents=True)
    (root / "nodes" / "bench.py").write_text(NODES)
    (root / "model.yaml").write_text(MODEL)
    for count in turns:
        text = AGENT.format(name=f"agent_{count}", system=json.dumps(SYSTEM), turns=count, runner="lookup")
        (root / f"agent_{count}.yaml").write_text(text)
    parked = AGENT.format(name="parked", system=json.dumps(SYSTEM), turns=20, runner="park")
    (root / "parked.yaml").write_text(parked)
    (root / "spine.yaml").write_text(spine())


def spine() -> str:
    """Fifty Functional steps with a Router after every tenth."""
    steps = []
    for index in range(1, STEPS + 1):
        steps.append(f"    - {{ id: s{index}, kind: Functional, runner: bump }}")
        if index % BRANCH_EVERY == 0:
            following = f"s{index + 1}" if index < STEPS else "END"
            steps.append(
                f"    - {{ id: r{index}, kind: Router, condition: {{ field: n, operator: lt, value: 0 }},"
                f' routes: {{ "true": END, "false": {following} }} }}'
            )
    head = "kind: Workflow\nmetadata: { name: spine }\nspec:\n  output: n\n  steps:\n"
    return head + "\n".join(steps) + "\n"


def context_of_10_kb() -> dict[str, object]:
    """Twenty keys, 10 KB of JSON together."""
    return {f"key_{i}": {"text": "y" * 420, "n": i, "tags": ["a", "b"]} for i in range(20)}


__all__ = ["FINAL", "PROMPT", "context_of_10_kb", "write"]
