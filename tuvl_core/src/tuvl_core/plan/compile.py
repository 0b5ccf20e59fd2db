"""From a workflow's name to a plan that can run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tuvl_core.diagnostics import Diagnostic, sort_diagnostics
from tuvl_core.errors import ProjectError, UnknownWorkflowError
from tuvl_core.plan.build import build_plan
from tuvl_core.plan.check import check_workflow
from tuvl_core.plan.model import Plan, PlanStep

if TYPE_CHECKING:
    from tuvl_core.project import Definition, Project, WorkflowSpec

__all__ = ["compile_workflow", "plan_workflow"]


def compile_workflow(project: Project, name: str) -> Plan:
    """Compile a workflow so that it can run.

    Args:
        project: The loaded project.
        name: The workflow's name.

    Raises:
        UnknownWorkflowError: The project has no such workflow.
        ProjectError: Structure errors stand in the way; flow errors do not.
    """
    definition = find_workflow(project, name)
    # Nothing runs on a limit, or with a plugin, that its operator did not mean.
    refuse(name, [*project.plugins.problems, *project.settings.problems])
    refuse(name, [*project.diagnostics_for(name), *_unreadable(project, definition)])
    plan = build_plan(project, definition)
    refuse(name, check_workflow(plan))
    if plan.first is None:
        raise ProjectError(f"workflow {name!r} has no step to start at")
    for step in plan.steps.values():
        if step.undeclared is not None:
            raise ProjectError(_crashed(step, "say what it declares", step.undeclared)) from step.undeclared
    for step in _children_first(plan):
        step.prepared = prepare_step(step, plan)
    if plan.spec.input is not None:
        import jsonschema_rs

        plan.input_check = jsonschema_rs.validator_for(dict(plan.spec.input))
    return plan


def plan_workflow(project: Project, name: str) -> Plan:
    """Plan a workflow for looking at it, however much of it is wrong: steps whose keys cannot be read are left out.

    Runs no user code; what comes of it cannot run.

    Args:
        project: The loaded project.
        name: The workflow's name.

    Raises:
        UnknownWorkflowError: The project has no such workflow.
        ProjectError: Its file may be one that cannot be read.
    """
    return build_plan(project, find_workflow(project, name))


def find_workflow(project: Project, name: str) -> Definition[WorkflowSpec]:
    """Look a workflow up; a file that cannot be read may be the one that holds it."""
    definition = project.workflows.get(name)
    if definition is not None:
        return definition
    own = [item for item in project.diagnostics_for(name) if item.severity == "error"]
    unreadable = own or sort_diagnostics(project.unreadable)
    if unreadable:
        raise ProjectError(f"workflow {name!r} was not found, and parts of the project cannot be read", unreadable)
    raise UnknownWorkflowError(name, tuple(project.workflows))


def _unreadable(project: Project, definition: Definition[WorkflowSpec]) -> list[Diagnostic]:
    """What else the workflow's file holds that cannot be read: nobody knows what it declares."""
    path = definition.locate("metadata").path
    return [
        item
        for item in project.diagnostics
        if item.code.startswith("TUVL-Y") and item.location is not None and item.location.path == path
    ]


def refuse(name: str, found: Sequence[Diagnostic]) -> None:
    """Raise if structure errors are among the findings."""
    errors = [item for item in found if item.severity == "error" and item.klass == "structure"]
    if errors:
        count = "1 error" if len(errors) == 1 else f"{len(errors)} errors"
        raise ProjectError(f"workflow {name!r} cannot run: {count}", errors)


def _children_first(plan: Plan) -> list[PlanStep]:
    """Order steps so that what a step refers to is prepared before it; cycles are broken anywhere."""
    ordered: dict[str, PlanStep] = {}
    visiting: set[str] = set()

    def visit(step: PlanStep) -> None:
        if step.id in ordered or step.id in visiting:
            return
        visiting.add(step.id)
        for child in step.children.values():
            visit(child)
        ordered[step.id] = step

    for step in plan.steps.values():
        visit(step)
    return list(ordered.values())


def prepare_step(step: PlanStep, plan: Plan) -> Any:
    """Have a kind prepare a step; what it raises by mistake names the kind and its package."""
    try:
        return step.kind.prepare(step, plan)
    except ProjectError:
        raise
    except Exception as error:
        raise ProjectError(_crashed(step, "prepare it", error)) from error


def _crashed(step: PlanStep, what: str, error: Exception) -> str:
    kind = f"kind {step.kind_name} ({step.distribution})"
    return f"{step.locate()}: step {step.id!r}: {kind} could not {what}: {type(error).__name__}: {error}"
