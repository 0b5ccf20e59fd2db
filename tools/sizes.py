"""Holds the ceilings: a module has at most 350 lines, a function 50. Longer ones are listed with a reason."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MODULE, FUNCTION = 350, 50
WAIVED: dict[str, str] = {}
"""This list may only shrink."""


def main() -> int:
    wrong = [line for path in sources() for line in too_long(path)]
    stale = [name for name in WAIVED if not list(too_long(ROOT / name, waived=False))]
    for line in (*wrong, *(f"{name}: the waiver is not needed any more" for name in stale)):
        print(f"sizes: {line}")
    return 1 if wrong or stale else 0


def sources() -> Iterator[Path]:
    for pattern in ("tuvl_*/src/**/*.py", "plugins/*/src/**/*.py"):
        yield from sorted(ROOT.glob(pattern))


def too_long(path: Path, *, waived: bool = True) -> Iterator[str]:
    name = path.relative_to(ROOT).as_posix()
    if waived and name in WAIVED:
        return
    text = path.read_text(encoding="utf-8")
    count = text.count("\n")
    if count > MODULE:
        yield f"{name} has {count} lines, more than {MODULE}"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            length = (node.end_lineno or node.lineno) - node.lineno + 1 - docstring_lines(node)
            if length > FUNCTION:
                yield f"{name}:{node.lineno} {node.name} has {length} lines, more than {FUNCTION}"


def docstring_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    first = node.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        return (first.end_lineno or first.lineno) - first.lineno + 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
