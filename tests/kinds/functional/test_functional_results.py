"""Kind Functional: what a node gets, gives back, and what its failures become."""

from __future__ import annotations

import pytest

HEAD = "from tuvl_kinds_functional import node\n"
STEP = {"id": "s", "runner": "n"}


def node(bench, body: str, *, plain: bool = False, before: str = "") -> dict[str, str]:
    """Write a node `n` with this body; gives its step."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    define = "def" if plain else "async def"
    bench.write("nodes/n.py", f"{HEAD}{before}\n@node('n')\n{define} n(ctx):\n{lines}")
    return STEP


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize(
    ("returned", "signal", "written"),
    [
        ("{'x': 2}", "default", {"x": 2}),
        ("'go'", "go", {}),
        ("({'x': 2}, 'go')", "go", {"x": 2}),
        ("None", "default", {}),
        ("{}", "default", {}),
    ],
)
async def test_what_a_node_may_return(bench, plain, returned, signal, written):
    step = {**node(bench, f"return {returned}", plain=plain), "routes": {"go": "END"}}
    outcome = await bench.run(step, context={"a": 1})
    assert outcome.signals == [signal]
    assert outcome.result.context == {"a": 1, **written}


@pytest.mark.parametrize(
    "returned",
    ["3", "True", "['x']", "({'x': 1},)", "({'x': 1}, 3)", "('go', {'x': 1})", "(None, 'go')"]
    + ["({'x': 1}, 'go', 1)", "''", "' '", "{1: 2}", "{'_x': 1}", "object()"],
)
async def test_anything_else_is_an_error_that_names_the_node(bench, returned):
    outcome = await bench.run(node(bench, f"return {returned}"))
    assert outcome.signals == ["error"]
    assert outcome.error_type == "bad_return"
    assert "'n'" in outcome.error
    assert outcome.result.context == {}


async def test_a_text_enum_is_its_value(bench):
    before = "import enum\nclass Way(str, enum.Enum):\n    GO = 'go'\n"
    step = {**node(bench, "return Way.GO", before=before), "routes": {"go": "END"}}
    assert (await bench.run(step)).signals == ["go"]


async def test_setting_and_deleting_count_and_the_return_value_wins(bench):
    body = "ctx['x'] = 1\nctx['y'] = 2\ndel ctx['a']\ndel ctx['b']\nreturn {'y': 3, 'b': 4}"
    outcome = await bench.run(node(bench, body), context={"a": 1, "b": 1, "c": 1})
    assert outcome.result.context == {"b": 4, "c": 1, "x": 1, "y": 3}


async def test_changing_a_value_in_place_changes_nothing_outside(bench):
    body = "ctx['order']['items'].append('x')\nctx['order']['n'] = 2\nreturn {'seen': ctx['order']['n']}"
    order = {"items": ["a"], "n": 1}
    outcome = await bench.run(node(bench, body), context={"order": order})
    assert outcome.result.context == {"order": {"items": ["a"], "n": 1}, "seen": 2}
    assert order == {"items": ["a"], "n": 1}


async def test_the_context_is_a_mapping_without_the_engines_names(bench):
    body = (
        "assert dict(ctx) == {'a': 1, 'b': 2} and len(ctx) == 2 and list(ctx) == ['a', 'b']\n"
        "assert ctx.get('zzz', 5) == 5 and 'zzz' not in ctx and 'a' in ctx\n"
        "assert ctx.pop('b') == 2 and 'b' not in ctx\n"
        "ctx.update(c=3)\n"
        "return {**ctx, 'all': sorted(ctx)}"
    )
    outcome = await bench.run(node(bench, body), context={"a": 1, "b": 2})
    assert outcome.error_type is None, outcome.error
    assert outcome.result.context == {"a": 1, "c": 3, "all": ["a", "c"]}


async def test_step_and_run_can_be_read_and_nothing_of_the_engine_set(bench):
    body = (
        "assert '_step' in ctx and '_run' in ctx and '_db' not in ctx\n"
        "assert ctx.get('_db', 'none') == 'none'\n"
        "return {'step': ctx['_step'].id, 'run': ctx['_run'].id == ctx['_run_id']}"
    )
    outcome = await bench.run(node(bench, body))
    assert outcome.result.context == {"step": "s", "run": True}


@pytest.mark.parametrize("line", ["ctx['_run'] = 1", "ctx['_x'] = 1", "del ctx['_run_id']", "ctx[1] = 1"])
async def test_the_engines_names_cannot_be_changed(bench, line):
    outcome = await bench.run(node(bench, line))
    assert outcome.error_type == "bad_key"
    assert "'n'" in outcome.error


async def test_a_missing_database_is_said_so(bench):
    outcome = await bench.run(node(bench, "ctx['_db']"))
    assert outcome.error_type == "no_database"


async def test_a_published_database_is_there(bench):
    bench.write(
        "plugins/db.py",
        "from tuvl_core import hookimpl\n"
        "class Scope:\n"
        "    phase = 'transaction'\n"
        "    async def open(self): return {'db': 'session'}\n"
        "    async def finish(self, outcome): pass\n"
        "    async def close(self): pass\n"
        "@hookimpl\n"
        "def tuvl_run_scope(run): return Scope()\n",
    )
    outcome = await bench.run(node(bench, "return {'db': ctx['_db'], 'there': '_db' in ctx}"))
    assert outcome.result.context == {"db": "session", "there": True}


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize(
    ("raised", "type_", "text"),
    [
        ("raise ValueError('boom')", "ValueError", "boom"),
        ("raise RuntimeError", "RuntimeError", "RuntimeError"),
        ("ctx['nope']", "KeyError", "nope"),
        ("raise TimeoutError('slow server')", "TimeoutError", "slow server"),
        ("import sys; sys.exit(3)", "SystemExit", "tried to end the process"),
    ],
)
async def test_an_exception_leaves_by_error_with_text_and_class(bench, plain, raised, type_, text):
    step = {**node(bench, raised, plain=plain), "routes": {"error": "END"}}
    outcome = await bench.run(step)
    assert outcome.result.status == "completed"
    assert outcome.signals == ["error"]
    assert outcome.error_type == type_
    assert text in outcome.error


async def test_stop_iteration_out_of_a_plain_function(bench):
    outcome = await bench.run(node(bench, "return next(iter(()))", plain=True))
    assert outcome.error_type == "StopIteration"


async def test_an_exception_whose_text_fails_still_has_a_class(bench):
    before = "class Odd(Exception):\n    def __str__(self): raise ValueError\n"
    outcome = await bench.run(node(bench, "raise Odd()", before=before))
    assert (outcome.error_type, outcome.error) == ("Odd", "Odd")


async def test_a_node_may_choose_type_and_kept_writes(bench):
    before = "from tuvl_core import StepError\n"
    body = "raise StepError('no stock', type='out_of_stock', writes={'left': 0})"
    outcome = await bench.run(node(bench, body, before=before))
    assert (outcome.error_type, outcome.error) == ("out_of_stock", "no stock")
    assert outcome.result.context == {"left": 0}


async def test_what_was_set_before_an_exception_is_gone(bench):
    outcome = await bench.run(node(bench, "ctx['x'] = 1\nraise ValueError('boom')"))
    assert outcome.result.context == {}


async def test_a_node_that_cancels_itself_is_an_error_not_a_cancelled_run(bench):
    body = "import asyncio\nraise asyncio.CancelledError('mine')"
    outcome = await bench.run({**node(bench, body), "routes": {"error": "END"}})
    assert outcome.result.status == "completed"
    assert outcome.error_type == "CancelledError"


async def test_a_plain_wrapper_around_an_async_function_is_awaited(bench):
    before = (
        "def twice(f):\n    def inner(ctx):\n        return f(ctx)\n    return inner\n"
        "async def real(ctx):\n    return {'x': 1}\n"
    )
    outcome = await bench.run(node(bench, "return twice(real)(ctx)", plain=True, before=before))
    assert outcome.result.context == {"x": 1}


async def test_callable_objects_methods_and_partials(bench):
    bench.write(
        "nodes/n.py",
        HEAD + "import functools\n"
        "class Desk:\n"
        "    async def __call__(self, ctx): return {'a': 1}\n"
        "    def method(self, ctx): return {'b': 2}\n"
        "async def three(key, ctx): return {key: 3}\n"
        "node('call')(Desk())\n"
        "node('method')(Desk().method)\n"
        "node('partial')(functools.partial(three, 'c'))\n",
    )
    steps = [{"id": name, "runner": name} for name in ("call", "method", "partial")]
    outcome = await bench.run(*steps)
    assert outcome.result.context == {"a": 1, "b": 2, "c": 3}


async def test_the_log_says_where_without_saying_what(bench, caplog):
    caplog.set_level("DEBUG")
    await bench.run(node(bench, "raise ValueError('password is s3cr3t-9')"))
    assert "n.py:5" in caplog.text
    assert "ValueError" in caplog.text
    assert "s3cr3t-9" not in caplog.text
