"""The same job for earlier versions of tuvl: projects of workflows of 12 steps in the words that those understand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

__all__ = ["EARLIER", "write_1", "write_2"]

_HEAD_1 = """kind: Workflow
metadata: {{ name: flow_{number}, schema_version: v1 }}
enabled: true
spec:
  trigger:
    path: /flow/{number}
    method: POST
    public: true
    input_schema:
      - {{ name: x, type: string, required: true }}
  steps:
"""
_STEPS_1 = """    - id: s{n}_a
      kind: APICall
      http:
        url: https://example.com/{{{{ x }}}}
        method: GET
      response: {{ output_key: x }}
      routes: {{ default: s{n}_b, error: END }}
    - id: s{n}_b
      kind: Router
      condition: {{ field: x, operator: gt, value: 100 }}
      routes: {{ "true": s{n}_c, "false": s{n}_c }}
    - id: s{n}_c
"""
_AGENT_1 = """      kind: Agent
      mode: completion
      agent:
        model: openai/gpt-4o-mini
        system: Do it.
        prompt: Do it with {{ x }}.
        outcome: { format: json, enum: [done] }
      routes: { done: s1_a, error: END, parse_error: END }
"""
_ANSWER_1 = """      kind: Functional
      runner: answer
      routes: {{ default: {following}, error: END }}
"""
_NODE_1 = '''"""Answers."""
from tuvl.core.nodes.base import node


@node("answer")
async def answer(ctx):
    return ctx
'''
_HEAD_2 = """kind: Workflow
version: tuvl/v2
metadata: {{ name: flow_{number}, description: Does it. }}
spec:
  trigger:
    http: {{ path: /flow/{number}, public: true }}
    input: {{ n0: int }}
  agents:
"""
_STEP_2 = """    - id: s{n}
      description: Does one part of it.
      engine: code
      effect: read
      code: {{ run: bump }}
      inputs: {{ n{before}: int }}
      outputs: {{ n{n}: int }}
      routes: {{ default: {following}, error: END }}
"""
_AGENT_2 = '''"""Does one part."""
from tuvl import agent


@agent("bump")
async def bump(inp, ctx):
    return {"n": inp.n + 1}
'''
_CONFIG = "kind: ProjectConfig\nmetadata:\n  name: bench\nspec: {}\n"


def write_1(root: Path, count: int) -> None:
    """Write a project of so many workflows for tuvl 1."""
    _begin(root, "nodes/answer.py", _NODE_1)
    for number in range(count):
        text = _HEAD_1.format(number=number)
        for n in range(4):
            following = f"s{n + 1}_a" if n < 3 else "END"
            text += _STEPS_1.format(n=n) + (_ANSWER_1.format(following=following) if n else _AGENT_1)
        (root / f"workflows/w{number}.yaml").write_text(text)


def write_2(root: Path, count: int) -> None:
    """Write a project of so many workflows for the previews of tuvl 2."""
    _begin(root, "agents/bump.py", _AGENT_2)
    for number in range(count):
        text = _HEAD_2.format(number=number)
        for n in range(1, 13):
            text += _STEP_2.format(n=n, before=n - 1, following=f"s{n + 1}" if n < 12 else "END")
        (root / f"workflows/w{number}.yaml").write_text(text)


def _begin(root: Path, code: str, text: str) -> None:
    for folder in ("workflows", Path(code).parent):
        (root / folder).mkdir(parents=True)
    (root / "config.yaml").write_text(_CONFIG)
    (root / code).write_text(text)


EARLIER: dict[str, tuple[str, Callable[[Path, int], None], tuple[str, ...]]] = {
    "BENCH_TUVL1": ("tuvl 1", write_1, ("validate", "-d")),
    "BENCH_TUVL2": ("tuvl 2", write_2, ("lint", "project", "-d")),
}
"""By the variable that names a Python where it is installed: its name, what writes a project, and its command."""
