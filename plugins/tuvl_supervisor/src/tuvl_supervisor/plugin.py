"""Supervision: rules and a judge that watch agents, and what records say that they would have done."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from tuvl_core import hookimpl

if TYPE_CHECKING:
    from tuvl_core import (
        Code,
        CommandSpec,
        Diagnostic,
        Lazy,
        LoopHandle,
        LoopScope,
        PlanView,
        Run,
        RunScope,
        Section,
        Setting,
        Validator,
    )
    from tuvl_supervisor.kinds import RuleKind

TUVL_API = 1
TUVL_HOOKSPECS = "tuvl_supervisor.hookspecs"
SECTION = "supervisor"


@hookimpl
def tuvl_workflow_sections() -> list[Lazy]:
    """The key `supervisor` of a workflow."""
    from tuvl_core import Lazy

    return [Lazy(SECTION, _section)]


def _section() -> Section:
    from tuvl_core import Section
    from tuvl_supervisor.config import SupervisorSpec
    from tuvl_supervisor.costs import cost_of_judges

    return Section(key=SECTION, spec=SupervisorSpec, cost=cost_of_judges)


@hookimpl
def tuvl_settings() -> list[Setting]:
    """How long a judge may take."""
    from tuvl_core import Setting

    return [
        Setting(
            name="agent.judge_timeout_s",
            type=float,
            default=30.0,
            minimum=0.001,
            help="Seconds that a supervisor's judge may take for one verdict.",
        )
    ]


@hookimpl
def tuvl_validators() -> list[Validator]:
    """What can be wrong with a supervisor."""
    from tuvl_core import Validator

    return [Validator(codes=_codes, check=_check)]


def _check(plan: PlanView) -> Iterable[Diagnostic]:
    if SECTION not in plan.definition.spec.sections:  # type: ignore[attr-defined]
        return ()
    from tuvl_supervisor.checks import check

    return check(plan)


def _codes() -> Sequence[Code]:
    from tuvl_supervisor.codes import CODES

    return CODES


@hookimpl
def tuvl_rule_kinds() -> Iterable[RuleKind]:
    """The kinds of rules that ship."""
    from tuvl_supervisor.builtin import BUILTIN

    return BUILTIN


@hookimpl
def tuvl_loop_scope(loop: LoopHandle) -> LoopScope | None:
    """The supervisor of a loop, where its workflow has one."""
    sections = loop.plan.spec.sections  # type: ignore[attr-defined]  # a running loop's plan is a `Plan`
    if sections.get(SECTION) is None:
        return None
    from tuvl_supervisor.scopes import watch_of

    return watch_of(loop)


@hookimpl
def tuvl_run_scope(run: Run) -> RunScope | None:
    """Waits for a run's judges, where its workflow has one."""
    if run.plan.spec.sections.get(SECTION) is None:
        return None
    from tuvl_supervisor.scopes import judges_of

    return judges_of(run)


@hookimpl(optionalhook=True)
def tuvl_cli_commands() -> list[CommandSpec]:
    """`tuvl supervise`."""
    from tuvl_core import CommandSpec

    return [
        CommandSpec(
            name="supervise",
            help="Show what a workflow's rules would have done on recorded runs.",
            target="tuvl_supervisor.command:command",
        )
    ]
