"""Whole processes against `python -c pass`: the command's help, and the validation of a small project."""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import project

PYTHON = [sys.executable, "-c", "pass"]
TUVL = [str(Path(sys.executable).with_name("tuvl"))]
# Modules are compiled once and kept, as they are for everybody.
ENVIRON = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
ROUNDS = 25
# What other benchmarks script by code, so that the project is in order.
TURNS = "kind: ScriptedModel\nmetadata: { name: turns }\nspec: { turns: [{ content: hi }] }\n"


DESK = Path(__file__).parents[2] / "docs/examples/refund_desk"


def seconds(command: list[str]) -> float:
    """The processor time of one process: the clock would count what else the machine does."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True, env=ENVIRON)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def ratio(command: list[str]) -> float:
    """A command's median time over that of the bare interpreter, run alternately."""
    seconds(command)
    pairs = [(seconds(command), seconds(PYTHON)) for _ in range(ROUNDS)]
    return statistics.median(ours for ours, _ in pairs) / statistics.median(bare for _, bare in pairs)


def row(name: str, value: float, goal: float) -> None:
    """Print one measurement."""
    print(json.dumps({"name": name, "value": round(value, 2), "goal": goal, "unit": "x"}), flush=True)


def main() -> None:
    """Measure."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "small"
        root.mkdir()
        project.write(root, turns=(5,))
        (root / "turns.yaml").write_text(TURNS, encoding="utf-8")
        row("tuvl --help / python -c pass", ratio([*TUVL, "--help"]), 7)
        empty = Path(folder) / "empty"
        empty.mkdir()
        row("tuvl validate of an empty project / python -c pass", ratio([*TUVL, "validate", "-C", str(empty)]), 15)
        row("tuvl validate of refund_desk / python -c pass", ratio([*TUVL, "validate", "-C", str(DESK)]), 15)
        row("tuvl validate of a small project / python -c pass", ratio([*TUVL, "validate", "-C", str(root)]), 15)


if __name__ == "__main__":
    main()
