"""`tuvl run`, once its command line is read."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import attrs

from tuvl_cli.options import load_project
from tuvl_cli.output import claim_stdout, echo_json, own_fileno, warn
from tuvl_cli.running.closing import exit_code, say_result, say_summary
from tuvl_cli.running.interrupts import INTERRUPTED, Interrupts, leave_soon
from tuvl_cli.running.outlet import EventLines
from tuvl_cli.running.progress import Progress, choose_view
from tuvl_cli.running.request import principal, read_input
from tuvl_cli.running.session import Session
from tuvl_core import App, CodecError, Diagnostic, Plan, Project, RunResult, to_wire

__all__ = ["Order", "carry_out"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Order:
    """What was typed.

    Attributes:
        workflow: Its name.
        directory: The project's.
        input: As given: JSON text, `@file` or `-`.
        form: What goes to stdout: `result`, `json` or `events`.
        subject: Who the run acts for.
        tenant: Whose data it may see.
        scopes: What it may do.
        groups: Groups it belongs to.
    """

    workflow: str
    directory: Path
    input: str | None
    form: str
    subject: str | None
    tenant: str | None
    scopes: Sequence[str]
    groups: Sequence[str] = ()


def carry_out(order: Order) -> int:
    """Run the workflow, tell about it, and give the exit code.

    Raises:
        TuvlError: It does not start.
        CodecError: Its result has no wire form.
    """
    terminal = sys.stdout is not None and sys.stdout.isatty()
    claim_stdout()
    with Interrupts() as interrupts:
        given = read_input(order.input)
        who = principal(order.subject, order.tenant, order.scopes, order.groups)
        project = load_project(order.directory)
        _warn_of_problems(project)
        app = App(project)
        plan = app.plan(order.workflow)
        session = Session(app)
        interrupts.cancel = lambda: session.cancel("interrupted")
        events = _events(session) if order.form == "events" else None
        # Two streams that are told the same story on one terminal would write into each other.
        progress = None if events is not None and terminal else _progress(app, plan)
        sinks = [sink for sink in (events, progress) if sink is not None]
        began = time.monotonic()
        try:
            result = session.run(order.workflow, given, principal=who, sinks=sinks)
        finally:
            interrupts.over = True
            if progress is not None:
                progress.finish()
        code = _tell(order, result, time.monotonic() - began, events)
        leave_soon(code)
    return code


def _warn_of_problems(project: Project) -> None:
    """Say which plugins are left out, and what is wrong with settings; what refuses a run says so itself."""
    for item in project.plugins.problems:
        if item.severity != "info" and not _refuses(item):
            warn(f"{item.message}; {item.hint}" if item.hint else item.message)
    for item in project.settings.problems:
        if not _refuses(item):
            warn(str(item))


def _refuses(item: Diagnostic) -> bool:
    return item.severity == "error" and item.klass == "structure"


def _events(session: Session) -> EventLines | None:
    fileno = own_fileno()
    if fileno is None:
        return None
    return EventLines(fileno, gone=lambda: session.cancel("nobody reads the events any more"))


def _progress(app: App, plan: Plan) -> Progress:
    kinds = {step.id: step.kind_name for step in plan.steps.values() if step.on_spine}
    return Progress(choose_view(), kinds, app.loops)


def _tell(order: Order, result: RunResult | None, took: float, events: EventLines | None) -> int:
    if result is None:
        warn(f"{order.workflow} was cancelled before its first step")
    else:
        say_summary(result, took)
    if events is not None:
        lost, failure = events.finish()
        if lost:
            warn(f"stdout was read too slowly: {lost} events are lost; `seq` shows where")
        if failure is not None and not isinstance(failure, BrokenPipeError):
            raise failure
    if result is None:
        return INTERRUPTED
    if order.form == "json":
        return _tell_json(result)
    if order.form == "result":
        say_result(result)
    else:
        to_wire(result.result, "result")
        to_wire(dict(result.context), "context")
    return exit_code(result)


def _tell_json(result: RunResult) -> int:
    """One object in any case: what has no wire form is left out, and the error names it."""
    try:
        echo_json(result.to_dict(), compact=True)
        return exit_code(result)
    except CodecError as error:
        problem = error
    context = {key: value for key, value in result.context.items() if _has_wire_form(value)}
    left = attrs.evolve(result, context=context)
    if not _has_wire_form(result.result):
        left = attrs.evolve(left, result=None)
    told = left.to_dict()
    told["status"] = "failed"
    told["error"] = told["error"] or {"type": "CodecError", "message": str(problem), "step": result.last_step}
    echo_json(told, compact=True)
    raise problem


def _has_wire_form(value: Any) -> bool:
    try:
        to_wire(value)
    except CodecError:
        return False
    return True
