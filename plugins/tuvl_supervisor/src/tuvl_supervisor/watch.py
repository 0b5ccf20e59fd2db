"""The supervisor of one loop: rules at once, and a judge beside them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from tuvl_core import Directive, DirectiveSource, LoopHandle, log_event, scrub
from tuvl_supervisor.config import Action
from tuvl_supervisor.kinds import Rule
from tuvl_supervisor.supervision import DeclaredRule, Judge, Supervision

if TYPE_CHECKING:
    from tuvl_supervisor.judge import Verdict

__all__ = ["MAX_TEXT_CHARS", "Watch"]

_log = logging.getLogger("tuvl.supervisor")
MAX_TEXT_CHARS: Final = 2000
"""What a rule or a judge has to say is never longer."""


class Watch:
    """Watches one loop from its start to its end.

    Args:
        loop: The loop.
        supervision: The supervisor of its workflow.
        tasks: Where the judge's task is kept until it has ended: the run waits for it.
    """

    def __init__(self, loop: LoopHandle, supervision: Supervision, tasks: set[asyncio.Task[None]]) -> None:
        self._loop = loop
        self._spec = supervision.spec
        self._judge = supervision.judge
        self._rules: list[tuple[DeclaredRule, Rule]] = [(rule, rule.create()) for rule in supervision.rules]
        self._tasks = tasks
        self._task: asyncio.Task[None] | None = None

    def open(self) -> None:
        """The loop has begun: there is nothing to look at yet."""

    def advanced(self, what: str, fields: Mapping[str, Any]) -> None:
        """Look at what the loop has just done: every rule that has not fired, then the judge where it is due."""
        numbers = self._loop.metadata
        for entry in tuple(self._rules):
            rule, watching = entry
            try:
                found = watching.check(what, fields, numbers)
            except Exception as error:
                self._rules.remove(entry)
                self._tell(logging.WARNING, "supervisor.rule_failed", rule=rule.kind.name, error=repr(error))
                continue
            if found:
                self._rules.remove(entry)
                self._fire(rule, str(found)[:MAX_TEXT_CHARS])
        if self._judge is not None and what == "iteration" and fields["iteration"] % self._judge.every == 0:
            self._ask(fields["iteration"])

    def close(self) -> None:
        """The loop is over: a verdict would come too late."""
        if self._task is not None:
            self._task.cancel("the loop is over")

    # --- rules ------------------------------------------------------------------------------

    def _fire(self, rule: DeclaredRule, found: str) -> None:
        name = rule.kind.name
        self._tell(logging.WARNING, "supervisor.rule_fired", rule=name, number=rule.number, then=rule.then, found=found)
        self.direct(rule.then, found, "rule", name)

    def direct(self, action: Action, found: str, source: DirectiveSource, name: str) -> None:
        """Have the loop paused, steered or aborted for what was found.

        Args:
            action: What to do.
            found: What was found: the reason of an abort, and the guidance where the file gives none.
            source: `rule` or `judge`.
            name: The rule's kind, or `judge`.
        """
        text = found
        if action == "steer" and self._spec.steer_message is not None:
            text = self._spec.steer_message
        elif action == "abort":
            text = f"{name}: {found}"
        self._loop.control.apply(Directive(action=action, text=text, source=source, name=name))

    # --- the judge --------------------------------------------------------------------------

    def _ask(self, iteration: int) -> None:
        """Ask the judge, unless it is still at it: one verdict at a time, and none waits in a queue."""
        if self._judge is None or (self._task is not None and not self._task.done()) or self._loop.ended:
            return
        from tuvl_supervisor.judge import numbers_of

        work = self._take_verdict(self._judge, iteration, numbers_of(self._loop.metadata))
        self._task = asyncio.create_task(work, name=f"judge of {self._loop.id}")
        self._tasks.add(self._task)
        self._task.add_done_callback(self._tasks.discard)

    async def _take_verdict(self, judge: Judge, iteration: int, numbers: Mapping[str, Any]) -> None:
        from tuvl_supervisor.judge import judge_loop

        try:
            verdict = await judge_loop(self._loop, judge, iteration, numbers)
        except Exception as error:
            self._without_verdict(iteration, error)
        else:
            self._obey(iteration, verdict)

    def _obey(self, iteration: int, verdict: Verdict) -> None:
        from tuvl_supervisor.judge import VERDICTS

        if self._loop.ended:
            return
        VERDICTS.add(1, {"tuvl.supervisor.passed": verdict.passed})
        level = logging.INFO if verdict.passed else logging.WARNING
        self._tell(level, "supervisor.verdict", iteration=iteration, passed=verdict.passed, reason=verdict.reason)
        if not verdict.passed:
            found = verdict.reason or f"turn {iteration} does not meet the criteria"
            self.direct(self._spec.on_violation, found, "judge", "judge")

    def _without_verdict(self, iteration: int, error: Exception) -> None:
        from tuvl_supervisor.judge import JUDGE_ERRORS

        if self._loop.ended:
            return
        kind, then = str(getattr(error, "type", None) or type(error).__name__), self._spec.on_judge_error
        JUDGE_ERRORS.add(1, {"error.type": kind})
        text = scrub(str(error))[:MAX_TEXT_CHARS]
        self._tell(
            logging.WARNING, "supervisor.judge_failed", iteration=iteration, error=text, error_type=kind, then=then
        )
        if then != "ignore":
            self.direct(then, f"there is no verdict of turn {iteration}", "judge", "judge")

    def _tell(self, level: int, event: str, **fields: Any) -> None:
        log_event(_log, level, event, {"loop": self._loop.id, "step_id": self._loop.step_id, **fields})
