"""Writes constraints.txt from what is installed, or checks it: names and versions, nothing else.

python tools/constraints.py          writes it
python tools/constraints.py --check  refuses hosts, paths, options, and lock files that name hosts
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "constraints.txt"
PIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*==[A-Za-z0-9.+!]+")
LOCKS = ("uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock")


def main(arguments: list[str]) -> int:
    if "--check" in arguments:
        return check()
    frozen = subprocess.run(
        [sys.executable, "-m", "pip", "freeze", "--exclude-editable", "--all"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    pins = sorted({line for line in frozen.splitlines() if PIN.fullmatch(line)}, key=str.lower)
    FILE.write_text("\n".join(pins) + "\n", encoding="utf-8")
    print(f"{len(pins)} pins in {FILE.name}")
    return 0


def check() -> int:
    wrong = [line for line in FILE.read_text(encoding="utf-8").splitlines() if not PIN.fullmatch(line)]
    wrong += [name for name in LOCKS if (ROOT / name).exists()]
    for line in wrong:
        print(f"constraints: {line!r} is no `name==version`, or a lock file that names hosts")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
