"""Whatever the order of pause, resume, steer, abort, rules and verdicts: one closed exit, nothing lost, nothing twice."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from agent_stage import Sink, agent, answer, node, open_app, tool_call, turn, write_project
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from supervised import supervised, verdict

from tuvl_core import Directive, RunResult
from tuvl_testing import check_history

TURNS = 4
CLOSED = {"resolved", "max_iterations", "error", "aborted"}
SUPERVISOR = """
rules:
  - {{ when: tool_repeated, count: 2, then: {0} }}
  - {{ when: iteration_reached, gte: 3, then: {1} }}
model: judge
criteria: Be quick.
on_violation: {2}
on_judge_error: {3}
"""
VARIANTS = [
    ("steer", "pause", "steer", "ignore"),
    ("pause", "steer", "abort", "pause"),
    ("steer", "abort", "pause", "abort"),
    ("steer", "steer", "steer", "pause"),
]


class Gate:
    """A model, or a tool, each of whose calls waits until it is let go."""

    tool_calling = "native"

    def __init__(self) -> None:
        self.waiting: asyncio.Future[Any] | None = None
        self.requests: list[list[dict[str, Any]]] = []

    async def complete(self, request: Any) -> Any:
        """Wait for what to say."""
        check_history(request.messages)
        self.requests.append(list(request.messages))
        return await self.hold()

    async def hold(self) -> Any:
        """Wait to be let go."""
        self.waiting = asyncio.get_running_loop().create_future()
        try:
            return await self.waiting
        finally:
            self.waiting = None

    def let_go(self, value: Any = None) -> None:
        """Let the call that waits go on."""
        assert self.waiting is not None
        if isinstance(value, Exception):
            self.waiting.set_exception(value)
        else:
            self.waiting.set_result(value)


class Forward:
    """Stands before the gate of the example that is played."""

    tool_calling = "native"

    def __init__(self, name: str) -> None:
        self._name = name

    async def complete(self, request: Any) -> Any:
        """Ask the gate."""
        return await getattr(Control.playing, self._name).complete(request)


class World:
    """One event loop and one project for every example: loading a project takes longer than playing it."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.folder = tempfile.TemporaryDirectory()
        self.apps = [self.do(self.open(variant)) for variant in VARIANTS]

    def do(self, work: Any) -> Any:
        """Run to the end."""
        return self.loop.run_until_complete(work)

    async def open(self, variant: tuple[str, ...]) -> Any:
        """A project whose supervisor does as the variant says."""
        root = Path(self.folder.name) / "-".join(variant)
        root.mkdir()
        steps = agent("wait", more=f"max_iterations: {TURNS}") + node("wait")
        write_project(root, steps, supervised(SUPERVISOR.format(*variant)), ("actor", "judge"))
        app = await open_app(root, {}, actor=Forward("model"), judge=Forward("judge")).__aenter__()
        app.resources["gate"] = lambda step: Control.playing.tool.hold()
        return app

    def close(self) -> None:
        """Let go of everything; no task may be left."""
        for app in self.apps:
            self.do(app.close())
        left = asyncio.all_tasks(self.loop)
        self.loop.close()
        self.folder.cleanup()
        assert left == set()


class Control(RuleBasedStateMachine):
    """One run, and whoever may reach it."""

    world: ClassVar[World]
    playing: ClassVar[Control]

    @initialize(variant=st.integers(0, len(VARIANTS) - 1), patience=st.integers(0, TURNS))
    def begin(self, variant: int, patience: int) -> None:
        """Start a run; its model waits to be told what to say. Nobody ends it before so many turns."""
        self.patience = patience
        Control.playing = self
        self.model, self.judge, self.tool = Gate(), Gate(), Gate()
        self.sink, self.number, self.verdicts = Sink(), 0, 0
        self.directives: list[tuple[Directive, str]] = []
        self.cancelled = False
        self.sent: list[Directive] = []
        app = self.world.apps[variant]
        self.run = self.world.do(app.start("w", sinks=[self.sink]))
        self.settle()
        [self.handle] = [loop for loop in app.loops if loop.run_id == self.run.run_id]
        self.control = self.handle.control
        apply = self.control.apply

        def spy(directive: Directive) -> str:
            became = apply(directive)
            self.directives.append((directive, became))
            return became

        self.control.apply = spy

    def settle(self) -> None:
        """Let everything go on until all wait for somebody."""

        async def turns() -> None:
            for _ in range(60):
                await asyncio.sleep(0)

        self.world.do(turns())

    @property
    def may_end(self) -> bool:
        """Whether something that ends the run may happen."""
        return len(self.model.requests) > self.patience or self.over

    @property
    def over(self) -> bool:
        return self.run.task.done()

    def applied(self, action: str) -> list[Directive]:
        """What took effect, in order."""
        return [
            directive for directive, became in self.directives if became == "applied" and directive.action == action
        ]

    # --- the agent's own way ---------------------------------------------------------------

    @precondition(lambda self: self.model.waiting)
    @rule(calls=st.integers(0, 2), same=st.booleans())
    def the_model_answers(self, calls: int, same: bool) -> None:
        made: list[Any] = []
        calls = calls if self.may_end else max(calls, 1)
        for _ in range(calls):
            self.number += not same
            made.append(tool_call("wait", f'{{"n": {self.number}}}', str(len(made))))
        self.model.let_go(turn(*made) if made else answer())
        self.settle()

    @precondition(lambda self: self.tool.waiting)
    @rule()
    def the_tool_answers(self) -> None:
        self.tool.let_go()
        self.settle()

    @precondition(lambda self: self.judge.waiting)
    @rule(said=st.sampled_from(["passes", "fails", "nothing"]))
    def the_judge_answers(self, said: str) -> None:
        self.verdicts += 1
        reply = {"passes": verdict(True), "fails": verdict(False, f"verdict {self.verdicts}")}
        self.judge.let_go(reply.get(said, ValueError("no verdict")))
        self.settle()

    # --- operators -------------------------------------------------------------------------

    def send(self, directive: Directive) -> str:
        was_over, paused, aborted = self.handle.ended, self.control.paused, self.control.aborted is not None
        became = self.control.apply(directive)
        if directive in self.sent:
            assert became == "repeated"
        elif was_over:
            assert became == "ignored"
        elif directive.action == "resume":
            assert became == ("applied" if paused else "ignored")
        elif directive.action in ("pause", "steer"):
            assert became == ("ignored" if aborted else "applied")
        self.sent.append(directive)
        return became

    def at_once(self, *directives: Directive, cancel: bool = False) -> list[str]:
        """Send directives before the loop has another turn, and perhaps cancel the run as well; then settle."""

        async def all_of_them() -> list[str]:
            became = [self.send(directive) for directive in directives]
            if cancel and not self.over:
                self.run.cancel("at the same time")
                self.cancelled = True
            return became

        became: list[str] = self.world.do(all_of_them())
        self.settle()
        return became

    @rule(actions=st.lists(st.sampled_from(["pause", "resume", "steer", "abort"]), min_size=1, max_size=3))
    def an_operator_asks(self, actions: list[Any]) -> None:
        actions = [action if self.may_end or action != "abort" else "resume" for action in actions]
        texts = [f"message {len(self.sent) + n}" if action == "steer" else None for n, action in enumerate(actions)]
        self.at_once(*(Directive(action=action, text=text) for action, text in zip(actions, texts, strict=True)))

    @precondition(lambda self: self.may_end)
    @rule(cancelled_too=st.booleans(), gently_first=st.booleans())
    def an_operator_aborts_by_force(self, cancelled_too: bool, gently_first: bool) -> None:
        before = len(self.model.requests)
        gently = [Directive(action="abort", text="gently")] if gently_first else []
        became = self.at_once(*gently, Directive(action="abort", force=True), cancel=cancelled_too)
        assert self.over
        assert became[-1] in ("applied", "ignored")
        assert len(self.model.requests) == before

    @precondition(lambda self: self.sent)
    @rule(data=st.data())
    def a_directive_arrives_again(self, data: Any) -> None:
        assert self.at_once(data.draw(st.sampled_from(self.sent))) == ["repeated"]

    @precondition(lambda self: self.may_end and not self.over)
    @rule()
    def the_caller_goes_away(self) -> None:
        self.run.cancel("gone")
        self.cancelled = True
        self.settle()
        assert self.over

    # --- what always holds -----------------------------------------------------------------

    @invariant()
    def an_abort_ends_it_as_soon_as_nothing_is_in_flight(self) -> None:
        if hasattr(self, "control") and self.control.aborted is not None:
            self.settle()
            assert self.over or self.model.waiting or self.tool.waiting

    @invariant()
    def who_is_paused_waits(self) -> None:
        if hasattr(self, "control") and self.control.paused and not self.over:
            self.settle()
            assert self.over or self.handle.status == "paused" or self.model.waiting or self.tool.waiting

    @invariant()
    def guidance_stands_behind_the_results_of_a_turn(self) -> None:
        for messages in self.model.requests if hasattr(self, "model") else ():
            roles = [message["role"] for message in messages]
            for number, role in enumerate(roles[2:], 2):
                assert role != "system" or roles[number - 1] in ("user", "tool", "system")

    def teardown(self) -> None:
        """Let the run come to its end, and look at what is left of it."""
        if not hasattr(self, "control"):
            return
        try:
            for _ in range(4 * TURNS):
                if self.over:
                    break
                self.go_on()
            assert self.over
            self.look_at(self.world.do(self.run.wait()))
        finally:
            self.run.cancel("the example is over")
            self.world.do(self.run.wait())

    def go_on(self) -> None:
        """Let whoever waits go on."""
        if self.control.paused:
            self.at_once(Directive(action="resume"))
        elif self.tool.waiting:
            self.tool.let_go()
        elif self.model.waiting:
            self.model.let_go(answer())
        self.settle()

    def look_at(self, result: RunResult) -> None:
        """One closed exit; no directive lost, none obeyed twice."""
        outcomes = [item["signal"] for item in self.sink.of("outcome")]
        assert (result.status == "cancelled") == self.cancelled
        if not self.cancelled:
            assert result.status == "completed" and result.signal in CLOSED
            assert outcomes == [result.signal]
            assert (result.signal == "aborted") == bool(self.applied("abort"))
        told = [
            message["content"].removeprefix("Guidance from a supervisor: ").split("\n")[0]
            for message in self.model.requests[-1][2:]
            if message["role"] == "system"
        ]
        asked = [directive.text for directive in self.applied("steer")]
        # What was not told came too late, for an exit came before the next turn; and it is the last that came.
        assert told == asked[: len(told)]
        late = asked[len(told) :]
        assert list(self.control.undelivered()) == late
        rules = [directive.name for directive, _ in self.directives if directive.source == "rule"]
        assert len(rules) == len(set(rules))
        events = [(item["action"], item["source"]) for item in self.sink.of("supervisor")]
        effective = [
            (directive.action, directive.source) for directive, became in self.directives if became == "applied"
        ]
        assert events == effective
        assert self.at_once(Directive(action="steer", text="dead")) == ["ignored"]


@pytest.fixture
def world() -> Iterator[World]:
    """One for all examples."""
    made = Control.world = World()
    yield made
    made.close()


def test_control_in_any_order(world: World) -> None:
    run_state_machine_as_test(
        Control,
        settings=settings(
            max_examples=100, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
