"""Where a run goes after a step, and how it ends."""

from __future__ import annotations

import pytest

from tuvl_core import InputError, UnknownWorkflowError


def flow(steps: str, head: str = "") -> str:
    """A workflow `w` of the given steps."""
    return f"kind: Workflow\nmetadata: {{ name: w }}\nspec:\n{head}  steps:\n{steps}"


async def test_default_falls_through_to_the_end(open_app):
    app = await open_app(
        flow(
            "    - { id: a, kind: t.Set, values: { x: 1 } }\n"
            "    - { id: b, kind: t.Set, values: { y: 2 }, delete: [x] }\n",
            "  output: y\n",
        )
    )
    result = await app.run("w", {"z": 3})
    assert result.status == "completed"
    assert [(p.step, p.visit, p.signal) for p in result.path] == [
        ("a", 1, "default"),
        ("b", 1, "default"),
    ]
    assert result.context == {"y": 2, "z": 3}
    assert (result.result, result.last_step, result.signal, result.error) == (2, "b", "default", None)


async def test_a_mapped_signal_goes_to_its_target_and_END_completes(open_app):
    app = await open_app(
        flow(
            "    - { id: a, kind: t.Set, signal: jump, routes: { jump: c } }\n"
            "    - { id: b, kind: t.Fail }\n"
            "    - { id: c, kind: t.Set, signal: done, routes: { done: END } }\n"
            "    - { id: d, kind: t.Fail }\n"
        )
    )
    result = await app.run("w")
    assert result.status == "completed"
    assert [p.step for p in result.path] == ["a", "c"]


@pytest.mark.parametrize("signal", ["error", "aborted"])
async def test_unrouted_error_and_aborted_stop_cleanly_with_a_warning(open_app, signal, caplog):
    app = await open_app(flow(f"    - {{ id: a, kind: t.Set, signal: {signal} }}\n    - {{ id: b, kind: t.Set }}\n"))
    result = await app.run("w")
    assert result.status == "stopped"
    assert result.error is not None
    assert result.error.step == "a"
    assert "step_id=a" in caplog.text


async def test_any_other_unrouted_signal_fails_and_names_what_is_mapped(open_app):
    app = await open_app(flow("    - { id: a, kind: t.Set, signal: maybe, routes: { 'yes': END, 'no': END } }\n"))
    result = await app.run("w")
    assert result.status == "failed"
    assert result.error is not None
    assert result.error.type == "UnroutedSignalError"
    for part in ("'w'", "'a'", "'maybe'", "yes", "no"):
        assert part in result.error.message


async def test_a_step_error_keeps_its_writes_and_sets_last_error(open_app):
    app = await open_app(
        flow(
            "    - { id: a, kind: t.Fail, text: no stock, type: out_of_stock, routes: { error: b } }\n"
            "    - { id: b, kind: t.Echo, text: '{{ _last_error_type }}: {{ _last_error }}' }\n"
        )
    )
    result = await app.run("w")
    assert result.status == "completed"
    assert result.context == {"kept": True, "echo": "out_of_stock: no stock"}


async def test_a_crash_fails_the_run_and_names_step_kind_and_package(open_app):
    app = await open_app(flow("    - { id: a, kind: t.Fail, crash: true, routes: { error: a } }\n"))
    result = await app.run("w")
    assert result.status == "failed"
    assert result.error is not None
    assert result.error.type == "StepCrashedError"
    assert "'a'" in result.error.message
    assert "t.Fail" in result.error.message
    assert "ZeroDivisionError" in result.error.message
    assert result.last_step == "a"


async def test_what_is_no_result_is_a_crash(open_app):
    app = await open_app(flow("    - { id: a, kind: t.Wrong }\n"))
    result = await app.run("w")
    assert result.status == "failed"
    assert "dict" in str(result.error)


async def test_max_steps_bounds_a_cycle(open_app):
    app = await open_app(
        flow(
            "    - { id: a, kind: t.Set, routes: { default: b } }\n"
            "    - { id: b, kind: t.Set, routes: { default: a } }\n",
            "  limits: { max_steps: 7 }\n",
        )
    )
    result = await app.run("w")
    assert result.status == "failed"
    assert result.error is not None
    assert result.error.type == "RunLimitError"
    assert "max_steps" in result.error.message
    assert len(result.path) == 7
    assert result.path[-1].visit == 4


async def test_an_undefined_name_names_path_and_step(open_app):
    app = await open_app(flow("    - { id: say, kind: t.Echo, text: 'hi {{ customer.name }}' }\n"))
    result = await app.run("w")
    assert result.status == "stopped"
    assert result.error is not None
    assert result.error.type == "undefined_name"
    assert "customer.name" in result.error.message
    assert "say" in result.error.message


async def test_tools_are_off_the_spine(open_app):
    app = await open_app(
        flow(
            "    - { id: tool, kind: t.Set, values: { never: 1 } }\n"
            "    - { id: a, kind: t.CallAll, tools: [tool] }\n"
            "    - { id: other, kind: t.Set, values: { last: 1 } }\n"
        )
    )
    result = await app.run("w")
    assert [p.step for p in result.path] == ["a", "other"]
    assert "never" not in result.context
    assert result.context["seen"][0]["delta"] == {"never": 1}


async def test_unknown_workflow_lists_the_known_ones(open_app):
    app = await open_app(flow("    - { id: a, kind: t.Set }\n"))
    with pytest.raises(UnknownWorkflowError, match="it has: w"):
        await app.run("v")


@pytest.mark.parametrize("bad", [{"_run_id": "x"}, {"_last_error": 1}, [1], "text"])
async def test_input_must_be_an_object_without_engine_names(open_app, bad):
    app = await open_app(flow("    - { id: a, kind: t.Set }\n"))
    with pytest.raises(InputError):
        await app.run("w", bad)


async def test_input_without_an_end(open_app):
    app = await open_app(flow("    - { id: a, kind: t.Set }\n"))
    deep = []
    for _ in range(10_000):
        deep = [deep]
    with pytest.raises(InputError, match="nested too deeply"):
        await app.run("w", {"given": deep})


async def test_input_is_checked_against_its_schema(open_app):
    head = "  input: { type: object, required: [order_id], properties: { order_id: { type: string } } }\n"
    app = await open_app(flow("    - { id: a, kind: t.Set }\n", head))
    with pytest.raises(InputError) as caught:
        await app.run("w", {"order_id": 7})
    assert caught.value.problems[0][0] == "order_id"
    with pytest.raises(InputError, match="order_id"):
        await app.run("w", {})
    assert (await app.run("w", {"order_id": "A-1"})).status == "completed"


async def test_the_context_shares_nothing_with_the_caller_or_the_step(open_app):
    app = await open_app(flow("    - { id: a, kind: t.Mutate }\n"))
    given = {"order": {"items": ["one"]}}
    result = await app.run("w", given)
    assert given == {"order": {"items": ["one"]}}
    assert result.context == {"order": {"items": ["one"]}, "mine": 1}


async def test_resources_open_once_and_close_with_the_app(open_app):
    app = await open_app(flow("    - { id: a, kind: t.Opened }\n"))
    await app.run("w")
    result = await app.run("w")
    assert result.context["opened"] == ["opened"]
    await app.close()
    assert app.resources["opened"] == ["opened", "closed"]
