"""A step that raises what is no `Exception` fails its run, and nothing else."""

from __future__ import annotations

import asyncio

import pytest

from tuvl_core.engine.stepping import is_stray

NODES = """
import asyncio
from tuvl_kinds_functional import node


class Odd(BaseException):
    pass


@node("quit")
async def quit(ctx):
    await asyncio.sleep(0)
    raise GeneratorExit("enough")


@node("odd")
async def odd(ctx):
    raise Odd("enough")


@node("plain")
def plain(ctx):
    raise Odd("enough")


@node("nap")
async def nap(ctx):
    await asyncio.sleep(600)
"""
STEP = "kind: Workflow\nmetadata: {{ name: w }}\nspec: {{ steps: [{{ id: here, runner: {}{} }}] }}\n"


@pytest.fixture
def nodes(tmp_path):
    (tmp_path / "nodes").mkdir()
    (tmp_path / "nodes" / "n.py").write_text(NODES)


@pytest.mark.parametrize("more", ["", ", timeout: 5"])
@pytest.mark.parametrize(("runner", "name"), [("quit", "GeneratorExit"), ("odd", "Odd"), ("plain", "Odd")])
async def test_on_the_spine_the_run_fails_and_names_the_step(nodes, open_app, runner, name, more):
    app = await open_app(STEP.format(runner, more))
    result = await app.run("w")
    assert result.status == "failed"
    assert result.error is not None
    assert result.error.step == "here"
    assert "step 'here'" in result.error.message
    assert f"{name}: enough" in result.error.message
    handle = await app.start("w")
    assert (await handle.wait()).status == "failed"


@pytest.mark.parametrize("runner", ["quit", "odd", "plain"])
async def test_as_a_tool_the_call_fails(nodes, open_app, runner):
    app = await open_app(
        "kind: Workflow\nmetadata: { name: w }\nspec:\n  steps:\n"
        "    - { id: a, kind: t.CallAll, tools: [here] }\n"
        f"    - {{ id: here, runner: {runner} }}\n"
    )
    result = await app.run("w")
    assert result.status == "completed"
    assert result.context["seen"][0]["signal"] == "error"
    assert "enough" in result.context["seen"][0]["error"]


def test_what_closes_a_coroutine_from_outside_is_none():
    async def told(error):
        return is_stray(error, asyncio.current_task()), is_stray(error, None)

    assert asyncio.run(told(GeneratorExit())) == (True, False)
    assert asyncio.run(told(BaseException())) == (True, True)
    for error in (KeyboardInterrupt(), SystemExit(), asyncio.CancelledError()):
        assert asyncio.run(told(error)) == (False, False)
    assert not is_stray(GeneratorExit(), None)  # no loop runs any more
