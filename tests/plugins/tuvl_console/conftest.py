"""A desk of agents that wait for the test, served on a real socket with the console."""

from __future__ import annotations

from contextlib import asynccontextmanager

import pytest
from served import listening

from tuvl_core import App, Gate, Plugins, RunService, load_project

PLAYED = '''
import asyncio

from tuvl_core import DeniedError, Principal, hookimpl
from tuvl_kinds_functional import node
from tuvl_models import ChatReply, ModelFamily, ToolCall, Usage

TUVL_API = 1


class Played:
    """Calls a tool each turn, as slowly as the test wants; ends when it is told to."""
    tool_calling = "native"
    pace = 0.05
    done = False
    calls = 0

    async def complete(self, request):
        await asyncio.sleep(self.pace)
        Played.calls += 1
        usage = Usage(prompt_tokens=90, completion_tokens=10, total_tokens=100)
        if Played.done:
            return ChatReply(content='{"outcome": "resolved", "result": "ok"}', finish_reason="stop", usage=usage)
        call = ToolCall(id=f"c{Played.calls}", name="lookup", arguments="{}")
        return ChatReply(content=None, finish_reason="tool_calls", tool_calls=(call,), usage=usage)


class Keys:
    async def authenticate(self, credentials):
        scheme, _, key = credentials.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        if "/" not in key:
            raise DeniedError("the token is not good")
        tenant, subject, *scopes = key.split("/")
        return Principal(subject=subject, tenant=tenant, scopes=frozenset(scopes))


@hookimpl(optionalhook=True)
def tuvl_chat_models():
    return [ModelFamily(prefix="played", create=lambda settings: Played())]


@hookimpl
def tuvl_authenticate(app):
    return Keys()


@hookimpl
def tuvl_app_scope(app):
    class Scope:
        async def open(self):
            Played.done, Played.calls = False, 0
            return {"played": Played}

        async def close(self):
            pass

    return Scope()
'''
WORKFLOW = """
kind: Workflow
metadata: { name: desk }
spec:
  output: work_result
  steps:
    - { id: lookup, kind: Functional, runner: lookup, description: Look up. }
    - id: work
      kind: AutonomousAgent
      agent:
        model: played/x
        steering: Work.
        max_iterations: 1000
        token_budget: 500000
        tools: [{ ref: lookup }]
        outcome: { enum: [resolved] }
      routes: { resolved: END, max_iterations: fail, budget_exceeded: fail, error: fail, aborted: fail }
    - { id: fail, kind: Functional, runner: fail }
"""
NODES = """
from tuvl_kinds_functional import node


@node("lookup")
async def lookup(ctx):
    return {"order": "<script>alert(1)</script>"}


@node("fail")
async def fail(ctx):
    raise ValueError("<script>alert('no')</script> & more")
"""


@pytest.fixture
def desk(tmp_path):
    """Give a context manager: `async with desk() as (service, url)`."""

    @asynccontextmanager
    async def opened(*, dev=True):
        for folder, name, text in (
            ("plugins", "played.py", PLAYED),
            ("nodes", "n.py", NODES),
            (".", "w.yaml", WORKFLOW),
        ):
            (tmp_path / folder).mkdir(exist_ok=True)
            (tmp_path / folder / name).write_text(text)
        project = load_project(tmp_path, plugins=Plugins.load(root=tmp_path, environ={}), environ={})
        async with App(project) as app:
            service = RunService(app, gate=Gate(app, dev=dev))
            async with listening(service) as (_, url):
                yield service, url

    return opened
