"""Projects whose agents talk to a model that plays a part and is strict about its history."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from tuvl_core import App, Plugins, RunResult, StepEvent, load_project
from tuvl_models import ChatReply, ChatRequest, ModelFamily, ToolCall, Usage, add_family
from tuvl_testing import HistoryError, check_history

NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")

NODES = '''
"""Tools of the tests."""
import asyncio
import time

from tuvl_kinds_functional import node


@node("lookup")
async def lookup(ctx):
    return {"order": {"id": ctx["order_id"], "total": 40}}


@node("ping")
async def ping(ctx):
    return {"pong": True}


@node("boom")
async def boom(ctx):
    raise ValueError("no such thing: " + "x" * int(ctx.get("size", 0)))


@node("nothing")
async def nothing(ctx):
    return None


@node("note")
async def note(ctx):
    ctx["notes"] = [*ctx.get("notes", []), ctx["text"]]


@node("forget")
async def forget(ctx):
    del ctx["secret_plan"]


@node("meddle")
async def meddle(ctx):
    ctx["ticket"]["lines"].append("smuggled")
    ctx["ticket"]["seen"] = True
    return {"mine": 1}


@node("peek")
async def peek(ctx):
    return {"saw": {key: ctx[key] for key in ctx}}


@node("big")
async def big(ctx):
    return {"text": "y" * int(ctx["size"])}


@node("ship")
async def ship(ctx):
    return {"shipped": True}, "sent"


@node("clash")
async def clash(ctx):
    return {"signal": "green"}, "sent"


@node("sleep")
async def sleep(ctx):
    try:
        await asyncio.sleep(1000)
    finally:
        await asyncio.sleep(1000)


@node("stubborn")
async def stubborn(ctx):
    while True:
        try:
            await asyncio.sleep(1000)
        except asyncio.CancelledError:
            if ctx["_run"].over:
                raise


@node("block")
def block(ctx):
    time.sleep(6)


@node("wait")
async def wait(ctx):
    await ctx["_run"].app.resources["gate"](ctx["_step"].id)
    return {"waited": True}
'''


def tool_call(name: Any, arguments: Any = None, id: Any = "call") -> ToolCall:
    """A tool call of a model."""
    return ToolCall(id=id, name=name, arguments=arguments)


def turn(
    *calls: ToolCall,
    content: Any = None,
    reason: Any = None,
    tokens: int | None = 10,
    attempts: int = 1,
) -> ChatReply:
    """One reply of a model."""
    usage = None
    if tokens is not None:
        usage = Usage(prompt_tokens=tokens, completion_tokens=0, total_tokens=tokens)
    if reason is None:
        reason = "tool_calls" if calls else "stop"
    return ChatReply(
        content=content,
        tool_calls=calls,
        finish_reason=reason,
        usage=usage,
        model="test/actor",
        attempts=attempts,
    )


def answer(outcome: Any = "resolved", result: Any = "done", **more: Any) -> ChatReply:
    """A final answer."""
    return turn(content=json.dumps({"outcome": outcome, "result": result}), **more)


class Actor:
    """A model that says what it is told to, and keeps what it was asked.

    Args:
        turns: Replies, exceptions to raise, or functions of the request that give either.
    """

    tool_calling = "native"

    def __init__(self, *turns: Any) -> None:
        self.turns = list(turns)
        self.requests: list[list[dict[str, Any]]] = []
        self.tools: list[Any] = []

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Play the next turn."""
        check_history(request.messages)
        for tool in request.tools:
            if not NAME.fullmatch(tool["function"]["name"]):
                raise HistoryError("bad tool name")
        self.requests.append(copy.deepcopy(request.messages))
        self.tools.append(request.tools)
        number = len(self.requests) - 1
        reply = self.turns[min(number, len(self.turns) - 1)]
        if callable(reply):
            reply = reply(request)
        if hasattr(reply, "__await__"):
            reply = await reply
        if isinstance(reply, BaseException):
            raise reply
        return reply

    def answers(self, request: int = -1) -> list[Any]:
        """What the tools answered, as a request showed it."""
        return [json.loads(message["content"]) for message in self.requests[request] if message["role"] == "tool"]


class Scene:
    """A project with one workflow `w`, and the models that play in it."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def run(self, context: Mapping[str, Any] | None = None, **options: Any) -> RunResult:
        """Run the workflow."""
        return await self.app.run("w", context, **options)

    async def events(self, context: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
        """Run the workflow and give its events."""
        return [event.to_dict() async for event in self.app.stream("w", context)]


class Sink:
    """Keeps the agent's progress."""

    wants_snapshots = False

    def __init__(self) -> None:
        self.progress: list[dict[str, Any]] = []

    def emit(self, event: StepEvent) -> None:
        """Keep one event."""
        if event.type == "progress":
            self.progress.append(event.snapshot["agent_progress"])

    def close(self) -> None:
        """Nothing follows."""

    def of(self, type: str) -> list[dict[str, Any]]:
        """What was told of one type."""
        return [item for item in self.progress if item["type"] == type]


MODEL = "kind: AgentModel\nmetadata: {{ name: {0} }}\nspec: {{ model: test/{0}, retry: {{ attempts: 1 }} }}\n"

ROUTES = "{ resolved: END, escalate: END, max_iterations: END, budget_exceeded: END, error: END, aborted: END }"

Stage = Callable[..., Any]


def write_project(root: Path, steps: str, head: str = "", models: Sequence[str] = ("actor",)) -> None:
    """Write workflow, models and nodes."""
    (root / "nodes").mkdir(exist_ok=True)
    (root / "nodes" / "tools.py").write_text(NODES)
    body = "kind: Workflow\nmetadata: { name: w }\nspec:\n" + head + "  steps:\n"
    lines = dedent(steps).strip("\n").splitlines()
    body += "".join(f"    {line}\n" for line in lines)
    (root / "w.yaml").write_text(body)
    for name in models:
        (root / f"model_{name}.yaml").write_text(MODEL.format(name))


def open_app(root: Path, environ: Mapping[str, str], **models: Actor) -> App:
    """Load a project whose model family `test` is played by actors."""
    project = load_project(root, plugins=Plugins.load(root=root, environ=environ), environ=environ)
    family = ModelFamily(
        prefix="test",
        create=lambda settings: models[settings.model.partition("/")[2]],
        tool_calling="native",
    )
    add_family(project, family)
    return App(project)


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    """Write a project and open it: `stage(steps, actor=Actor(…)) -> Scene`."""
    apps: list[App] = []

    async def put(steps: str, *, head: str = "", environ: Mapping[str, str] | None = None, **models: Actor) -> Scene:
        write_project(tmp_path, steps, head, tuple(models))
        app = open_app(tmp_path, environ or {}, **models)
        apps.append(await app.__aenter__())
        return Scene(app)

    yield put
    for app in apps:
        await app.close()


def agent(
    *tools: str,
    id: str = "work",
    model: str = "actor",
    enum: str = "[resolved, escalate]",
    more: str = "",
    routes: str = ROUTES,
) -> str:
    """YAML of one AutonomousAgent step; `more` are further lines under `agent`."""
    entries = ", ".join(tool if tool.startswith("{") else f"{{ ref: {tool} }}" for tool in tools)
    extra = "".join(f"    {line}\n" for line in dedent(more).strip("\n").splitlines())
    return (
        f"- id: {id}\n  kind: AutonomousAgent\n  agent:\n    model: {model}\n"
        f"    steering: Help.\n    tools: [{entries}]\n    outcome: {{ enum: {enum} }}\n"
        f"{extra}  routes: {routes}\n"
    )


def node(name: str, id: str | None = None, more: str = "") -> str:
    """YAML of one Functional step that serves as a tool."""
    return f"- {{ id: {id or name}, kind: Functional, runner: {name}, description: Does {name}.{more} }}\n"
