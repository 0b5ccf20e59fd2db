"""Writes docs/reference/diagnostics.md from the codes themselves, or checks that it is current.

python tools/codes_page.py [--check]
"""

from __future__ import annotations

import sys
from pathlib import Path

from tuvl_core import Plugins, all_codes

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reference" / "diagnostics.md"
HEAD = """# Diagnostics

This page is made from the codes themselves by `make docs`. `tuvl rule CODE` says the same in a terminal.

A finding has a stable code. Its **class** says what it means for a run: a `structure` error refuses the run
(`tuvl run` exits with 3); a `flow` error does not: the run fails, or goes on with a warning, when it gets there.
Codes that start with `TUVL-` are tuvl's own; a plugin's carry a prefix of its own.

| Prefix | About |
|---|---|
| `TUVL-Y` | reading YAML and files |
| `TUVL-S` | structure: keys, types, references, environment, settings |
| `TUVL-W` | workflows and routing |
| `TUVL-A` | Agent and AutonomousAgent |
| `TUVL-P` | plugins |
| `TUVL-M` | models |
| `TUVL-F` `TUVL-R` `TUVL-H` `TUVL-T` … | the kind that the finding is about |

| Code | Severity | Class | What it is |
|---|---|---|---|
"""


def main(arguments: list[str]) -> int:
    codes = all_codes(Plugins.load(environ={}))
    rows = [f"| `{c.code}` | {c.severity} | {c.klass} | {c.title} |\n" for _, c in sorted(codes.items())]
    text = HEAD + "".join(rows)
    if "--check" not in arguments:
        PAGE.write_text(text, encoding="utf-8")
        return 0
    if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text:
        print("docs/reference/diagnostics.md is not current; run: make docs")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
