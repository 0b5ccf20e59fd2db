"""What is left of a run: secrets in its result and context are masked unless `reveal` names them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tuvl_core import App, Plugins, load_project

NODE = """
from tuvl_core import Secret
from tuvl_kinds_functional import node

@node("make")
async def make(ctx):
    return {"token": Secret("s3cr3t"), "card": {"iban": Secret("DE1"), "name": "Ada"}}
"""


@pytest.mark.parametrize(
    ("head", "result", "context"),
    [
        ("output: token", "***", {"token": "***", "card": {"iban": "***", "name": "Ada"}}),
        ("output: token, reveal: [token]", "s3cr3t", {"token": "s3cr3t", "card": {"iban": "***", "name": "Ada"}}),
        ("output: token, reveal: [result]", "s3cr3t", {"token": "***", "card": {"iban": "***", "name": "Ada"}}),
        ("output: card, reveal: [iban]", {"iban": "DE1", "name": "Ada"}, None),
        ("output: card, reveal: [token]", {"iban": "***", "name": "Ada"}, None),
    ],
)
async def test_reveal_opens_what_it_names(tmp_path: Path, head: str, result: object, context: object) -> None:
    (tmp_path / "nodes").mkdir()
    (tmp_path / "nodes" / "n.py").write_text(NODE)
    (tmp_path / "w.yaml").write_text(
        f"kind: Workflow\nmetadata: {{ name: w }}\nspec: {{ {head}, steps: [{{ id: a, runner: make }}] }}\n"
    )
    project = load_project(tmp_path, plugins=Plugins.load(root=tmp_path, environ={}), environ={})
    async with App(project) as app:
        done = await app.run("w")
    assert done.result == result
    if context is not None:
        assert done.context == context
