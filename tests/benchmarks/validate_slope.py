"""What `tuvl validate` costs a further workflow of 12 steps, beside what the YAML parser alone costs, in one run."""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

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


def main() -> None:
    """Measure."""
    with tempfile.TemporaryDirectory() as folder:
        few, many = Path(folder) / "few", Path(folder) / "many"
        write(few, FEW)
        write(many, MANY)
        rounds = [
            (
                slope(TUVL, "validate", "-C", few=few, many=many),
                slope(sys.executable, "-c", PARSE, few=few, many=many),
            )
            for _ in range(ROUNDS)
        ]
    ratio = statistics.median(ours / parser for ours, parser in rounds)
    name = "tuvl validate, a further file of 12 steps / parsing it"
    print(json.dumps({"name": name, "value": round(ratio, 2), "goal": GOAL, "unit": "x"}), flush=True)
    ours = statistics.median(ours for ours, _ in rounds)
    print(json.dumps({"name": "the same in ms", "value": round(ours, 2), "goal": 2.5, "unit": "ms"}), flush=True)


if __name__ == "__main__":
    main()
