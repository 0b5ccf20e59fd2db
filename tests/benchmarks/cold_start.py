"""Whole processes against `python -c pass`: the command's help, and the validation of a small project."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import project

PYTHON = [sys.executable, "-c", "pass"]
TUVL = [str(Path(sys.executable).with_name("tuvl"))]
# Modules are compiled once and kept, as they are for everybody.
ENVIRON = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
ROUNDS = 25
# What other benchmarks script by code, so that the project is in order.
TURNS = "kind: ScriptedModel\nmetadata: { name: turns }\nspec: { turns: [{ content: hi }] }\n"


def seconds(command: list[str]) -> float:
    """How long one process takes."""
    began = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, env=ENVIRON)
    return time.perf_counter() - began


def ratio(command: list[str]) -> float:
    """Median of pairwise ratios of a command's time to that of the bare interpreter, run alternately."""
    seconds(command)
    return statistics.median(seconds(command) / seconds(PYTHON) for _ in range(ROUNDS))


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
        row("tuvl validate of a small project / python -c pass", ratio([*TUVL, "validate", "-C", str(root)]), 15)


if __name__ == "__main__":
    main()
