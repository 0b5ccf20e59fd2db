"""A project whose steps wait, fail and loop, served by the real server."""

from __future__ import annotations

from contextlib import asynccontextmanager

import httpx
import pytest
from served import served

PLUGIN = '''
import asyncio

from tuvl_core import DeniedError, Principal, StepError, StepKind, StepResult, hookimpl

TUVL_API = 1


class Wait(StepKind):
    """Wait until the test lets it go; count what goes on and what was cancelled."""
    name = "t.Wait"

    async def run(self, call):
        state = call.run.app.resources
        state["waiting"] += 1
        try:
            await state["gate"].wait()
        except asyncio.CancelledError:
            state["cancelled"] += 1
            raise
        finally:
            state["waiting"] -= 1
        return StepResult(writes={"waited": True})


class Turns(StepKind):
    """Turn until it is told to end, or aborted."""
    name = "t.Turns"
    progress_channel = "agent_progress"

    async def run(self, call):
        loop = call.open_loop(iteration=0)
        try:
            while not call.run.app.resources["gate"].is_set():
                loop.metadata["iteration"] += 1
                call.progress("iteration", {"iteration": loop.metadata["iteration"]})
                found = await loop.checkpoint() if loop.touched else None
                if found is not None and found.steer:
                    return StepResult(writes={"heard": list(found.steer)})
                if found is not None and found.aborted is not None:
                    return StepResult(signal="aborted", error=StepError(found.aborted, type="aborted"))
                await asyncio.sleep(0.005)
        finally:
            loop.close()
        return StepResult(writes={"heard": []})


class Fails(StepKind):
    name = "t.Fails"

    async def run(self, call):
        raise StepError("it went wrong")


class Odd(StepKind):
    name = "t.Odd"

    async def run(self, call):
        return StepResult(writes={"odd": object()})


class Big(StepKind):
    name = "t.Big"

    async def run(self, call):
        for turn in range(200):
            call.progress("turn", {"turn": turn, "filler": "x" * 5000})
            if turn % 20 == 0:
                await asyncio.sleep(0)
        return StepResult(writes={"done": True})


@hookimpl
def tuvl_step_kinds():
    return [Wait, Turns, Fails, Odd, Big]


class Keys:
    async def authenticate(self, credentials):
        scheme, _, key = credentials.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        if "/" not in key:
            raise DeniedError("the token is not good")
        tenant, subject, *scopes = key.split("/")
        return Principal(subject=subject, tenant=tenant, scopes=frozenset(scopes))


@hookimpl
def tuvl_authenticate(app):
    return Keys()


@hookimpl
def tuvl_app_scope(app):
    class Scope:
        async def open(self):
            return {"gate": asyncio.Event(), "waiting": 0, "cancelled": 0}

        async def close(self):
            pass

    return Scope()
'''
HELLO = "{ type: object, required: [name], additionalProperties: false, properties: { name: { type: string }, n: { type: integer } } }"
WORKFLOWS = f"""
kind: Workflow
metadata: {{ name: hello, description: Says a name. }}
spec:
  trigger: {{ path: /api/hello, input_schema: {HELLO} }}
  steps: [{{ id: say, kind: Response, source: name }}]
---
kind: Workflow
metadata: {{ name: made }}
spec:
  trigger: {{ path: /api/made, public: true, method: GET }}
  input: {{ type: object, required: [n], properties: {{ n: {{ type: integer }} }} }}
  steps: [{{ id: say, kind: Response, source: n, status: 201 }}]
---
kind: Workflow
metadata: {{ name: nothing }}
spec: {{ input: {{ type: object, required: [n] }}, steps: [{{ id: say, kind: Response, source: n, status: 204 }}] }}
---
kind: Workflow
metadata: {{ name: order }}
spec:
  trigger: {{ path: "/orders/{{number}}", method: PUT }}
  input: {{ type: object, required: [number], properties: {{ number: {{ type: integer }} }} }}
  steps: [{{ id: say, kind: Response, mapping: {{ number: number }} }}]
---
kind: Workflow
metadata: {{ name: wait }}
spec: {{ output: waited, steps: [{{ id: w, kind: t.Wait }}] }}
---
kind: Workflow
metadata: {{ name: kept }}
spec: {{ trigger: {{ path: /api/kept, on_disconnect: detach }}, output: waited, steps: [{{ id: w, kind: t.Wait }}] }}
---
kind: Workflow
metadata: {{ name: late }}
spec: {{ limits: {{ timeout_s: 0.05 }}, steps: [{{ id: w, kind: t.Wait }}] }}
---
kind: Workflow
metadata: {{ name: fails }}
spec: {{ steps: [{{ id: f, kind: t.Fails }}] }}
---
kind: Workflow
metadata: {{ name: odd }}
spec: {{ output: odd, steps: [{{ id: o, kind: t.Odd }}] }}
---
kind: Workflow
metadata: {{ name: big }}
spec: {{ output: done, steps: [{{ id: b, kind: t.Big }}] }}
---
kind: Workflow
metadata: {{ name: turns }}
spec: {{ output: heard, steps: [{{ id: t, kind: t.Turns, routes: {{ aborted: END }} }}] }}
---
kind: Workflow
metadata: {{ name: guarded, required_scope: secret }}
spec: {{ steps: [{{ id: w, kind: t.Wait }}] }}
"""


@pytest.fixture
def desk(tmp_path):
    """Give a context manager: `async with desk(settings, dev=…) as (service, http)`."""

    @asynccontextmanager
    async def opened(settings="", *, dev=True, plugin=""):
        (tmp_path / "plugins").mkdir(exist_ok=True)
        (tmp_path / "plugins" / "kinds.py").write_text(PLUGIN)
        if plugin:
            (tmp_path / "plugins" / "more.py").write_text(plugin)
        (tmp_path / "w.yaml").write_text(WORKFLOWS)
        (tmp_path / "tuvl.toml").write_text(settings)
        async with served(tmp_path, dev=dev) as (service, url), httpx.AsyncClient(base_url=url, timeout=30) as http:
            yield service, http
            service.app.resources["gate"].set()

    return opened


def bearer(who: str) -> dict[str, str]:
    """Headers that say who is calling: `tenant/subject/scope/…`."""
    return {"authorization": f"Bearer {who}"}


@pytest.fixture(name="bearer")
def _bearer():
    return bearer
