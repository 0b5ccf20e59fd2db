"""The floors that benchmarks measure against, and how the two are timed.

`floor0` is the bare job: a loop that awaits plain functions. `floor1` does the same with the services
an engine owes every turn or step, written as lean as they can be: hook calls, argument validation, a
timeout, counters and JSON events. A ratio is taken between an engine and a floor that run alternately in
one process, so that the machine's load cancels out; microseconds of two runs are never compared.
"""

from __future__ import annotations

import asyncio
import gc
import json
import statistics
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pluggy
from pydantic import TypeAdapter
from typing_extensions import TypedDict

TURNS = 20
STEPS, BRANCH_EVERY = 50, 10
SYSTEM = "You look orders up, one after another, and then say that you are done."
PROMPT = "Look the orders up."
FINAL = "all orders were looked up"
FILLER = "x" * 170

Job = Callable[[], Awaitable[Any]]


class Spec:
    """Hooks as an engine would call them."""

    @pluggy.HookspecMarker("floor")
    def before(self, run: object, where: str) -> None: ...

    @pluggy.HookspecMarker("floor")
    def during(self, run: object, where: str, what: object) -> None: ...

    @pluggy.HookspecMarker("floor")
    def after(self, run: object, where: str, what: object) -> None: ...


class Listener:
    """One plugin that listens to all of them."""

    @pluggy.HookimplMarker("floor")
    def before(self, run: object, where: str) -> None:
        return None

    @pluggy.HookimplMarker("floor")
    def during(self, run: object, where: str, what: object) -> None:
        return None

    @pluggy.HookimplMarker("floor")
    def after(self, run: object, where: str, what: object) -> None:
        return None


_manager = pluggy.PluginManager("floor")
_manager.add_hookspecs(Spec)
_manager.register(Listener())
HOOK = _manager.hook


# --- the agent's job ------------------------------------------------------------------------


class LookupArguments(TypedDict):
    """Arguments of the one tool."""

    order_id: str


ARGUMENTS = TypeAdapter(LookupArguments)


def order_row(order_id: str) -> dict[str, str]:
    """What the tool answers: about 200 characters."""
    return {"order_id": order_id, "status": "shipped", "note": FILLER}


async def lookup(order_id: str) -> dict[str, str]:
    """The tool."""
    return order_row(order_id)


def scripted_replies(turns: int) -> list[dict[str, Any]]:
    """Assistant messages: a tool call in each turn but the last."""
    calls = [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": f"call_{turn}",
                    "type": "function",
                    "function": {"name": "lookup", "arguments": f'{{"order_id": "A-{turn}"}}'},
                }
            ],
        }
        for turn in range(1, turns)
    ]
    return [*calls, {"role": "assistant", "content": FINAL}]


def agent_floor0(turns: int = TURNS) -> Job:
    """The bare agent loop."""
    replies = scripted_replies(turns)
    tools = {"lookup": lookup}

    async def model(messages: list[Any]) -> dict[str, Any]:
        return replies[(len(messages) - 2) // 2]

    async def job() -> str:
        messages: list[Any] = [_message("system", SYSTEM), _message("user", PROMPT)]
        while True:
            reply = await model(messages)
            messages.append(reply)
            if not reply.get("tool_calls"):
                return reply["content"]
            for call in reply["tool_calls"]:
                function = call["function"]
                row = await tools[function["name"]](**json.loads(function["arguments"]))
                messages.append(_tool_message(call["id"], json.dumps(row)))

    return job


def agent_floor1(turns: int = TURNS) -> Job:
    """The lean agent loop: hooks, validation, timeouts, budgets, events."""
    replies = scripted_replies(turns)
    tools = {"lookup": (ARGUMENTS, lookup)}

    async def model(messages: list[Any]) -> dict[str, Any]:
        return replies[(len(messages) - 2) // 2]

    async def job() -> str:
        run, events, tokens, turn = object(), [], 0, 0
        messages: list[Any] = [_message("system", SYSTEM), _message("user", PROMPT)]

        def emit(kind: str, **fields: Any) -> None:
            events.append(json.dumps({"t": time.time(), "kind": kind, "turn": turn, **fields}))

        while turn <= turns and tokens < 1_000_000:
            turn += 1
            HOOK.before(run=run, where="turn")
            async with asyncio.timeout(60):
                reply = await model(messages)
            tokens += 15
            messages.append(reply)
            calls = reply.get("tool_calls") or ()
            HOOK.after(run=run, where="turn", what=tokens)
            emit("model", tokens=tokens, calls=len(calls))
            if not calls:
                return reply["content"]
            for call in calls:
                function = call["function"]
                adapter, tool = tools[function["name"]]
                arguments = adapter.validate_json(function["arguments"])
                HOOK.during(run=run, where=function["name"], what=arguments)
                async with asyncio.timeout(60):
                    row = await tool(**arguments)
                text = json.dumps(row)
                messages.append(_tool_message(call["id"], text))
                emit("tool", name=function["name"], bytes=len(text))
        raise AssertionError("the scripted model never finished")

    return job


def _message(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": content}


def _tool_message(call_id: str, content: str) -> dict[str, str]:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


# --- the spine's job ------------------------------------------------------------------------


async def bump(state: dict[str, Any]) -> dict[str, Any]:
    """One trivial step."""
    return {"n": state["n"] + 1}


async def spine_floor0() -> int:
    """Fifty steps in a loop with a branch after every tenth."""
    state = {"n": 0}
    for index, step in enumerate([bump] * STEPS, 1):
        state.update(await step(state))
        if index % BRANCH_EVERY == 0 and state["n"] < 0:
            break
    return state["n"]


def spine_floor1() -> Job:
    """A table-driven walk with hooks, a timeout and an event a step."""

    async def branch(state: dict[str, Any]) -> str:
        return "stop" if state["n"] < 0 else "on"

    table: dict[str, tuple[str, Any, dict[str, str | None]]] = {}
    for index in range(1, STEPS + 1):
        following = f"s{index + 1}" if index < STEPS else None
        if index % BRANCH_EVERY == 0:
            table[f"s{index}"] = ("step", bump, {"default": f"r{index}"})
            table[f"r{index}"] = ("router", branch, {"on": following, "stop": None})
        else:
            table[f"s{index}"] = ("step", bump, {"default": following})

    async def job() -> int:
        state, run, events = {"n": 0}, object(), []
        at: str | None = "s1"
        while at is not None:
            kind, function, routes = table[at]
            HOOK.before(run=run, where=at)
            began = time.perf_counter()
            async with asyncio.timeout(60):
                out = await function(state)
            signal = out
            if kind == "step":
                state.update(out)
                signal = "default"
            spent = time.perf_counter() - began
            HOOK.after(run=run, where=at, what=signal)
            event = {"t": time.time(), "step": at, "signal": signal, "s": spent}
            events.append(json.dumps(event))
            at = routes[signal]
        return state["n"]

    return job


# --- timing ---------------------------------------------------------------------------------


async def ratio(job: Job, floor: Job, *, seconds: float = 4.0, block: float = 0.01) -> float:
    """Median of pairwise ratios of a job's time to a floor's.

    Blocks of about `block` seconds of the one and of the other alternate, so that both run as warm as
    they do in a process that does nothing else, and the machine's load cancels out.
    """
    jobs, floors = await _count(job, block), await _count(floor, block)
    gc.collect()
    found: list[float] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(found) < 9:
        found.append(await _timed(job, jobs) / await _timed(floor, floors))
    return statistics.median(found)


async def _count(job: Job, block: float) -> int:
    """How many runs of a job fill a block, after it is warm."""
    await _timed(job, 20)
    return max(round(block / await _timed(job, 5)), 1)


async def _timed(job: Job, count: int) -> float:
    """Seconds that one run takes, as the mean of several."""
    began = time.perf_counter()
    for _ in range(count):
        await job()
    return (time.perf_counter() - began) / count
