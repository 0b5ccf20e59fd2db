"""What `tuvl validate` costs a further workflow of 12 steps, beside what the YAML parser alone costs, in one run.

`BENCH_TUVL1` and `BENCH_TUVL2` may each name a Python that has an earlier tuvl (2: with its extra `standard`): that is
then measured in turn with ours, on workflows of as many steps in its own words.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from validate_earlier import EARLIER

TUVL = str(Path(sys.executable).with_name("tuvl"))
FEW, MANY, ROUNDS = 10, 500, 5
PARSE = """
import pathlib, sys, yaml
for path in sorted(pathlib.Path(sys.argv[1]).rglob("*.yaml")):
    yaml.compose(path.read_text(), Loader=yaml.CSafeLoader)
"""
HEAD = """kind: Workflow
metadata: {{ name: flow_{number} }}
spec:
  output: x
  input:
    {{ type: object, required: [x], additionalProperties: false, properties: {{ x: {{ type: object }} }} }}
  steps:
"""
STEPS = """    - id: s{n}_a
      kind: APICall
      description: Look it up.
      http:
        url: https://example.com/{{{{ x.id }}}}
        method: GET
        timeout: 5
      response:
        extract: [{{ path: a, as: x }}]
    - id: s{n}_b
      kind: Router
      condition: {{ field: x.y, operator: gt, value: 100 }}
      routes: {{ "true": s{n}_c, "false": s{n}_c }}
    - id: s{n}_c
"""
AGENT = """      kind: AutonomousAgent
      agent:
        model: default
        steering: Do it.
        tools: [{ ref: s1_a, description: Look. }]
        outcome: { enum: [done], output_key: x }
      routes: { done: s1_a, max_iterations: END, budget_exceeded: END, aborted: END }
"""
ANSWER = "      kind: Response\n      mapping: { a: x.b }\n"
MODEL = "kind: AgentModel\nmetadata: { name: default }\nspec: { model: openai/gpt-4o-mini }\n"
GOAL = 5.0
"""2.5 ms where the parser takes 0.5 ms."""


def write(root: Path, count: int) -> None:
    """Write a project of so many workflows, all of them in order."""
    (root / "workflows").mkdir(parents=True)
    (root / "default.yaml").write_text(MODEL)
    for number in range(count):
        steps = "".join(STEPS.format(n=n) + (ANSWER if n else AGENT) for n in range(4))
        (root / f"workflows/w{number}.yaml").write_text(HEAD.format(number=number) + steps)


def seconds(command: list[str]) -> float:
    """The processor time of one process: the clock would count what else the machine does."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def slope(*command: str, few: Path, many: Path) -> float:
    """Milliseconds a further file."""
    return (seconds([*command, str(many)]) - seconds([*command, str(few)])) / (MANY - FEW) * 1000


def earlier(folder: Path) -> dict[str, tuple[list[str], Path, Path]]:
    """Of each earlier tuvl that is there: its command, and a project of few and one of many files."""
    found = {}
    for variable, (name, write_project, arguments) in EARLIER.items():
        if python := os.environ.get(variable):
            few, many = folder / variable / "few", folder / variable / "many"
            write_project(few, FEW)
            write_project(many, MANY)
            found[name] = ([str(Path(python).with_name("tuvl")), *arguments], few, many)
    return found


def row(name: str, value: float, goal: float | None, unit: str) -> None:
    """Print one line of the table."""
    print(json.dumps({"name": name, "value": round(value, 2), "goal": goal, "unit": unit}), flush=True)


def main() -> None:
    """Measure."""
    with tempfile.TemporaryDirectory() as folder:
        few, many = Path(folder) / "few", Path(folder) / "many"
        write(few, FEW)
        write(many, MANY)
        jobs = {"ours": ([TUVL, "validate", "-C"], few, many)}
        jobs["parser"] = ([sys.executable, "-c", PARSE], few, many)
        jobs |= earlier(Path(folder))
        rounds = [
            {name: slope(*command, few=few, many=many) for name, (command, few, many) in jobs.items()}
            for _ in range(ROUNDS)
        ]
    ratio = statistics.median(found["ours"] / found["parser"] for found in rounds)
    row("tuvl validate, a further file of 12 steps / parsing it", ratio, GOAL, "x")
    row("the same in ms", statistics.median(found["ours"] for found in rounds), 2.5, "ms")
    for name in [name for name in jobs if name.startswith("tuvl")]:
        row(f"{name}, a further file of 12 steps", statistics.median(found[name] for found in rounds), None, "ms")
        row(f"{name} / ours", statistics.median(found[name] / found["ours"] for found in rounds), None, "x")


if __name__ == "__main__":
    main()
