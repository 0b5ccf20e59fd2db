"""From a typed workflow to resolved steps: kinds, children, spine. Runs no user code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tuvl_core.kinds import Child, declared
from tuvl_core.plan.model import Plan, PlanStep

if TYPE_CHECKING:
    from tuvl_core.project import Definition, Project, StepDefinition, WorkflowSpec

__all__ = ["build_plan"]


def build_plan(project: Project, definition: Definition[WorkflowSpec]) -> Plan:
    """Resolve kinds, spine and children. Steps whose keys could not be read are left out."""
    steps = {
        step.id: _plan_step(project, step)
        for step in definition.spec.steps
        if step.config is not None and step.kind in project.plugins.kinds
    }
    plan = Plan(workflow=definition.name, definition=definition, project=project, steps=steps, spine=())
    for step in steps.values():
        try:
            _declare(step, plan)
        except Exception as error:  # reported by the checks, and refused by the compiler
            step.undeclared = error
    _lay_spine(plan)
    return plan


def _plan_step(project: Project, definition: StepDefinition) -> PlanStep:
    entry = project.plugins.kinds[definition.kind]
    candidate = entry.candidate
    return PlanStep(
        id=definition.id,
        kind=entry.kind,
        kind_name=definition.kind,
        distribution=f"{candidate.dist} {candidate.version or ''}".strip(),
        config=definition.config,
        definition=definition,
        timeout=definition.timeout,
    )


def _declare(step: PlanStep, plan: Plan) -> None:
    kind = step.kind
    step.composite = bool(declared(kind, "composite", step, plan))
    step.mutates_context = bool(declared(kind, "mutates_context", step, plan))
    step.effects = declared(kind, "effects", step, plan)
    step.transactional = bool(declared(kind, "transactional", step, plan))
    step.output_key = declared(kind, "output_key", step, plan)
    children: Sequence[Child] = declared(kind, "children", step, plan)
    step.child_refs = tuple(children)
    step.children = {child.ref: plan.steps[child.ref] for child in children if child.ref in plan.steps}


def _lay_spine(plan: Plan) -> None:
    """A step that only its owner calls, and no route leads to, is off the spine."""
    owned = {child.ref for step in plan.steps.values() for child in step.child_refs if child.role == "tool"}
    routed = {target for step in plan.steps.values() for target in step.routes.values()}
    for step in plan.steps.values():
        step.on_spine = step.id not in owned or step.id in routed
    plan.spine = tuple(step.id for step in plan.steps.values() if step.on_spine)
    following: str | None = None
    for step in reversed(plan.steps.values()):
        step.following = following
        if step.on_spine:
            following = step.id
