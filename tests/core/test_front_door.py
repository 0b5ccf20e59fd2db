"""What `tuvl_core` exports, how it is written down, and what importing it costs."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import tuvl_core

ROOT = Path(__file__).parents[2]


def seen_by_type_checkers() -> set[str]:
    tree = ast.parse(Path(inspect.getfile(tuvl_core)).read_text(encoding="utf-8"))
    [block] = [node for node in tree.body if isinstance(node, ast.If)]
    return {alias.name for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}


def test_the_three_lists_of_names_are_equal() -> None:
    assert set(tuvl_core.__all__) == seen_by_type_checkers() == set(tuvl_core._WHERE)
    assert set(tuvl_core.__all__) <= set(dir(tuvl_core))


@pytest.mark.parametrize("name", sorted(tuvl_core.__all__))
def test_every_name_is_there_and_described(name: str) -> None:
    value = getattr(tuvl_core, name)
    if inspect.isclass(value) or inspect.isfunction(value):
        assert inspect.getdoc(value), name


def test_a_name_that_is_not_there() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = tuvl_core.nonsense


def test_importing_it_imports_nothing_heavy() -> None:
    heavy = ("asyncio", "attrs", "cattrs", "yaml", "jinja2", "pluggy", "opentelemetry", "jsonschema_rs")
    script = f"import sys, tuvl_core; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
