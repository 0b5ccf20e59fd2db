"""Projects whose agents talk to a model that plays a part and is strict about its history."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from textwrap import dedent
from typing import Any

import attrs
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


class Written:
    """An actor that is offered its tools as a schema: it reads plain turns, and writes its calls as text."""

    tool_calling = "schema"

    def __init__(self, actor: Actor) -> None:
        self._actor = actor

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Let the actor read the turns as the history that they tell, and write down what it says."""
        told = copy.copy(request)
        told.messages = as_history(request.messages)
        told.tools = as_tools(request.response_format)
        reply = await self._actor.complete(told)
        if not isinstance(reply, ChatReply):
            return reply
        said = [written(call) for call in reply.tool_calls]
        if not said:
            return reply
        if isinstance(reply.content, str) and reply.content:
            said.insert(0, reply.content)
        reason = "stop" if reply.finish_reason == "tool_calls" else reply.finish_reason
        return attrs.evolve(reply, content="\n".join(said), tool_calls=(), finish_reason=reason)


def written(call: ToolCall) -> str:
    """A call as the text that stands for it."""
    given = call.arguments
    text = given if isinstance(given, str) and given.strip() else json.dumps(given)
    return f'{{"name": {json.dumps(call.name)}, "arguments": {text}}}'


def as_history(turns: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The history that plain turns tell."""
    history: list[dict[str, Any]] = []
    waiting: list[str] = []
    made = 0
    for turn_ in turns:
        role, text = turn_["role"], turn_["content"]
        if role == "system":
            history.append({"role": role, "content": text})
        elif role == "assistant":
            lines = text.split("\n")
            calls = [line for line in lines if line.startswith('{"name": ')]
            beside = "\n".join(line for line in lines if line not in calls)
            message: dict[str, Any] = {"role": role, "content": beside or None, "tool_calls": []}
            for line in calls:
                call = json.loads(line)
                made += 1
                function = {"name": call["name"], "arguments": json.dumps(call["arguments"])}
                message["tool_calls"].append({"id": f"t{made}", "type": "function", "function": function})
                waiting.append(f"t{made}")
            history.append(message)
        else:
            while waiting and (said := re.match(r"Result of \S+: (.*)\n?", text)):
                history.append({"role": "tool", "tool_call_id": waiting.pop(0), "content": said[1]})
                text = text[said.end() :]
            parts = [part.rstrip("\n") for part in re.split(r"^(?=Guidance from)", text, flags=re.MULTILINE)]
            role = "system" if len(history) > 1 else "user"
            history += [{"role": role, "content": part} for part in parts if part]
    return history


def as_tools(response_format: Mapping[str, Any] | None) -> list[Any]:
    """The tools that a reply's schema offers."""
    if response_format is None:
        return []
    forms = [form["properties"] for form in response_format["json_schema"]["schema"]["anyOf"]]
    return [
        {"function": {"name": form["name"]["const"], "parameters": form["arguments"]}}
        for form in forms
        if "name" in form
    ]


def offers(prompt: str, *outcomes: str) -> bool:
    """Whether a system prompt names the exits, in the one or the other form."""
    return ", ".join(f'"{name}"' for name in outcomes) in prompt or f'"{" or ".join(outcomes)}"' in prompt


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


def open_app(root: Path, environ: Mapping[str, str], **models: Any) -> App:
    """Load a project whose model family `test` is played by models that are all offered tools in one way."""
    [calling] = {model.tool_calling for model in models.values()} or {"native"}
    project = load_project(root, plugins=Plugins.load(root=root, environ=environ), environ=environ)
    family = ModelFamily(
        prefix="test",
        create=lambda settings: models[settings.model.partition("/")[2]],
        tool_calling=calling,
    )
    add_family(project, family)
    return App(project)


@pytest.fixture(params=["native", "schema"])
async def stage(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Stage]:
    """Write a project and open it: `stage(steps, actor=Actor(…)) -> Scene`.

    Every test runs twice, its actors being offered their tools in both ways; `native_only` marks the few
    that are about what only a provider's own tool calls have.
    """
    calling = request.param
    if calling == "schema" and request.node.get_closest_marker("native_only"):
        pytest.skip("about the form of native tool calls")
    apps: list[App] = []

    async def put(steps: str, *, head: str = "", environ: Mapping[str, str] | None = None, **models: Actor) -> Scene:
        write_project(tmp_path, steps, head, tuple(models))
        played = {name: Written(actor) if calling == "schema" else actor for name, actor in models.items()}
        app = open_app(tmp_path, environ or {}, **played)
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
