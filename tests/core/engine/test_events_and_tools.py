"""Events, tool dispatch, the effect door, and many runs at once."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from tuvl_core import Effect, QueueSink, StepResult


def flow(steps: str, head: str = "") -> str:
    """A workflow `w` of the given steps."""
    return f"kind: Workflow\nmetadata: {{ name: w }}\nspec:\n{head}  steps:\n{steps}"


NESTED = flow(
    "    - { id: outer, kind: t.CallAll, tools: [inner, say], keep: true, arguments: { who: Ada } }\n"
    "    - { id: inner, kind: t.CallAll, tools: [say] }\n"
    "    - { id: say, kind: t.Echo, text: 'hi {{ who }}' }\n"
    "    - { id: last, kind: t.Set, values: { n: 1 } }\n"
)


async def test_events_are_numbered_and_the_run_event_is_last(open_app):
    app = await open_app(flow("    - { id: a, kind: t.Set, values: { x: 'ü' } }\n"))
    events = [event async for event in app.stream("w", {"secretless": 1})]
    dicts = [json.loads(event.to_json()) for event in events]
    assert [d["seq"] for d in dicts] == [1, 2, 3]
    assert [d["type"] for d in dicts] == ["step", "step", "run"]
    start, end, last = dicts
    assert (start["signal"], start["snapshot"]) == ("running", {})
    assert (end["signal"], end["snapshot"]) == ("default", {"secretless": 1, "x": "ü"})
    assert last["status"] == "completed"
    assert last["usage"] == {"tokens": 0, "llm_calls": 0, "llm_attempts": 0, "tool_calls": 0}
    assert {"run_id", "ts", "workflow", "step_id", "visit", "kind"} <= set(start)
    assert start["ts"].endswith("Z")


async def test_a_slow_reader_loses_its_own_events_but_never_the_last(open_app):
    app = await open_app(flow("".join(f"    - {{ id: s{i}, kind: t.Set }}\n" for i in range(20))))
    sink = QueueSink(3)
    await app.run("w", sinks=[sink])
    events = [event async for event in sink]
    assert [event.seq for event in events] == [39, 40, 41]
    assert events[-1].terminal
    assert sink.lost == 38


async def test_a_broken_sink_changes_nothing(open_app):
    class Broken:
        wants_snapshots = True

        def emit(self, event: Any) -> None:
            raise OSError("pipe")

        def close(self) -> None:
            raise OSError("pipe")

    app = await open_app(flow("    - { id: a, kind: t.Set }\n"))
    good = QueueSink()
    result = await app.run("w", sinks=[Broken(), good])
    assert result.status == "completed"
    assert [event.type async for event in good] == ["step", "step", "run"]


async def test_leaving_a_stream_cancels_the_run(open_app):
    app = await open_app(flow("    - { id: slow, kind: t.Wait }\n"))
    stream = app.stream("w")
    await anext(stream)
    await stream.aclose()
    assert app.resources["log"][-2] == "finish transaction cancelled"


async def test_nested_tools_see_arguments_and_leak_nothing(open_app):
    app = await open_app(NESTED)
    result = await app.run("w")
    assert result.status == "completed"
    inner, say = result.context["seen"]
    assert inner["delta"]["seen"][0]["delta"] == {"echo": "hi Ada"}
    assert say["delta"] == {"echo": "hi Ada"}
    assert say["output"] == "hi Ada"
    assert "who" not in result.context
    assert result.context["echo"] == "hi Ada"
    assert result.usage["tool_calls"] == 3
    assert result.usage["tokens"] == 30


async def test_tools_emit_progress_and_no_step_events(open_app):
    app = await open_app(NESTED)
    events = [event.to_dict() async for event in app.stream("w")]
    assert {e["step_id"] for e in events if e["type"] == "step"} == {"outer", "last"}
    progress = [e for e in events if e["type"] == "progress"]
    assert [(e["step_id"], e["snapshot"]["calls"]["tool"], e.get("parent")) for e in progress] == [
        ("inner", "say", "outer#1"),
        ("outer", "inner", None),
        ("outer", "say", None),
    ]


class Recorder:
    """Keeps what passes the door."""

    def __init__(self) -> None:
        self.record: dict[str, Any] = {}

    async def handle(self, effect: Effect, proceed: Any) -> Any:
        assert effect.key not in self.record
        self.record[effect.key] = result = await proceed()
        return result


class Replayer:
    """Answers from a record; nothing is done."""

    def __init__(self, record: dict[str, Any]) -> None:
        self.record = record

    async def handle(self, effect: Effect, proceed: Any) -> Any:
        return self.record[effect.key]


async def test_every_leaf_and_tool_passes_the_door_with_the_same_keys(open_app):
    app = await open_app(NESTED)
    first, second = Recorder(), Recorder()
    one = await app.run("w", handlers=[first])
    await app.run("w", handlers=[second])
    assert list(first.record) == [
        "outer#1/tool#1:inner/tool#1:say",
        "outer#1/tool#2:say",
        "last#1",
    ]
    assert list(first.record) == list(second.record)
    assert isinstance(first.record["last#1"], StepResult)
    replayed = await app.run("w", handlers=[Replayer(first.record)])
    assert replayed.context == one.context


async def test_a_handler_may_refuse_and_the_door_nests(open_app):
    order: list[str] = []

    class Named:
        def __init__(self, name: str) -> None:
            self.name = name

        async def handle(self, effect: Effect, proceed: Any) -> Any:
            order.append(f"{self.name} in")
            result = await proceed()
            order.append(f"{self.name} out")
            return result

    app = await open_app(flow("    - { id: a, kind: t.Set }\n"))
    await app.run("w", handlers=[Named("outer"), Named("inner")])
    assert order == ["outer in", "inner in", "inner out", "outer out"]


async def test_many_runs_at_once_share_nothing(open_app):
    app = await open_app(
        flow(
            "    - { id: a, kind: t.CallAll, tools: [say, nap], keep: true }\n"
            "    - { id: say, kind: t.Echo, text: '{{ who }}' }\n"
            "    - { id: nap, kind: t.Wait, seconds: 0.001 }\n"
        )
    )
    before = repr(app.plan("w").definition.spec)
    results = await asyncio.gather(*(app.run("w", {"who": i}) for i in range(200)))
    assert [r.context["echo"] for r in results] == [str(i) for i in range(200)]
    assert repr(app.plan("w").definition.spec) == before
    assert len({r.run_id for r in results}) == 200
