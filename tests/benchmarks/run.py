"""Every benchmark, printed as one table of ratios; `BENCH_SECONDS` says how long each is measured."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
# Parked runs have a process of their own: memory that others have freed would hide what they take.
SCRIPTS = (
    ("engine_bench.py", "agent", "spine"),
    ("engine_bench.py", "parked"),
    ("model_call.py",),
    ("modelop_read.py",),
    ("mcp_call.py",),
    ("tracing_bench.py",),
    ("cold_start.py",),
    ("validate_slope.py",),
)


def main() -> int:
    """Run them in processes of their own, so that none warms another; gives 0 whatever they say."""
    print(f"{'what':<62} {'measured':>10} {'goal':>10}")
    missed = 0
    for script, *arguments in SCRIPTS:
        # Not the table's: warnings that a model library causes when it is imported.
        command = [sys.executable, "-W", "ignore", str(HERE / script), *arguments]
        process = subprocess.Popen(command, cwd=HERE, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        for line in process.stdout:
            row = json.loads(line)
            goal = f"≤ {row['goal']:g} {row['unit']}" if row["goal"] else ""
            late = bool(row["goal"]) and row["value"] > row["goal"]
            missed += late
            mark = "  missed" if late else ""
            print(f"{row['name']:<62} {row['value']:>8.2f} {row['unit']} {goal:>10}{mark}", flush=True)
        process.wait()
    print(f"{missed} goals missed" if missed else "every goal is met")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
