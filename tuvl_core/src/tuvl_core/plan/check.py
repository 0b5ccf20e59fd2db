"""Static checks: the kernel's own and whatever kinds and plugins bring, each inside its own guard."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from tuvl_core.diagnostics import Code, Diagnostic, sort_diagnostics
from tuvl_core.plan.suppress import suppress
from tuvl_core.project import collector_paused

if TYPE_CHECKING:
    from tuvl_core.plan.model import Plan, PlanStep
    from tuvl_core.plugins import Candidate
    from tuvl_core.project import Project

__all__ = ["CODES", "check_project", "check_workflow"]

NO_SPINE: Final = Code(
    code="TUVL-W001",
    severity="error",
    klass="structure",
    title="a workflow has no step to start at",
)
BAD_INPUT_SCHEMA: Final = Code(
    code="TUVL-W002",
    severity="error",
    klass="structure",
    title="`spec.input` is no JSON Schema",
)
NO_INPUT: Final = Code(
    code="TUVL-W004",
    severity="error",
    klass="flow",
    title="`spec.input` asks for a key that it forbids, so no input fits",
)
CHECK_CRASHED: Final = Code(
    code="TUVL-P020",
    severity="warning",
    klass="flow",
    title="a plugin's check raised; its own findings are missing",
)
CODES: Final = (NO_SPINE, BAD_INPUT_SCHEMA, NO_INPUT, CHECK_CRASHED)


def check_project(project: Project, *, suppressed: bool = False) -> list[Diagnostic]:
    """Check a whole project: documents, every workflow, and the plugins themselves.

    Args:
        project: The loaded project.
        suppressed: Give findings too that a comment or the settings suppress; each has its `suppression`.
    """
    with collector_paused():
        found = [*project.diagnostics, *project.plugins.problems]
        for definition in project.workflows.values():
            from tuvl_core.plan.build import build_plan  # what looks at workflows is imported where there are any

            found.extend(check_workflow(build_plan(project, definition)))
        for candidate, validator in project.plugins.validators:
            if validator.documents is not None:
                check = partial(validator.documents, project)
                found += _guarded(check, owner=_owner(candidate), workflow=None)
    told = suppress(dict.fromkeys(found), project)
    return sort_diagnostics([item for item in told if suppressed or item.suppression is None])


def check_workflow(plan: Plan) -> list[Diagnostic]:
    """Check one workflow's plan. Runs no user code."""
    from tuvl_core.plan.bound.demands import check_demands
    from tuvl_core.plan.flow import check_flow, check_output, check_signals
    from tuvl_core.plan.taint import check_taint

    found = [*_kernel_checks(plan), *check_output(plan)]
    for step in plan.steps.values():
        own = _guarded(partial(_of_step, step, plan), owner=step.distribution, workflow=plan.workflow, step=step)
        found += [*own, *check_signals(step, plan, own)]
    for candidate, validator in plan.project.plugins.validators:
        found += _guarded(
            partial(validator.check, plan),
            owner=_owner(candidate),
            workflow=plan.workflow,
        )
    return sort_diagnostics([*found, *check_flow(plan), *check_demands(plan), *check_taint(plan)])


def _owner(candidate: Candidate) -> str:
    return f"{candidate.dist} {candidate.version or ''}".strip()


def _of_step(step: PlanStep, plan: Plan) -> Iterable[Diagnostic]:
    if step.undeclared is not None:
        raise step.undeclared
    return step.kind.validate(step, plan)


def _kernel_checks(plan: Plan) -> Iterable[Diagnostic]:
    from tuvl_core.tools.schemas import check_schema

    definition = plan.definition
    if plan.steps and not plan.spine and len(plan.steps) == len(definition.spec.steps):
        yield Diagnostic.of(
            NO_SPINE,
            "every step is only some other step's tool, so no step starts the run",
            location=definition.locate("spec", "steps"),
            workflow=plan.workflow,
            hint="declare the step that owns the tools, or route to one of them",
        )
    schema = definition.spec.input
    if schema is not None and (problem := check_schema(schema)):
        yield Diagnostic.of(
            BAD_INPUT_SCHEMA,
            f"the input is no JSON Schema: {problem}",
            location=definition.locate("spec", "input"),
            workflow=plan.workflow,
        )
    elif schema is not None:
        yield from _impossible_input(plan, schema)


def _impossible_input(plan: Plan, schema: Mapping[str, Any]) -> Iterable[Diagnostic]:
    if schema.get("additionalProperties") is not False or schema.get("patternProperties"):
        return
    from tuvl_core.structure import did_you_mean

    known = schema.get("properties", {})
    for index, name in enumerate(schema.get("required", ())):
        if name not in known:
            yield Diagnostic.of(
                NO_INPUT,
                f"the input needs `{name}`, and `additionalProperties: false` forbids it: it is no property",
                location=plan.definition.locate("spec", "input", "required", index),
                workflow=plan.workflow,
                hint=did_you_mean(name, known) or "add it to `properties`",
            )


def _guarded(
    check: Callable[[], Iterable[Diagnostic]],
    *,
    owner: str,
    workflow: str | None,
    step: PlanStep | None = None,
) -> list[Diagnostic]:
    try:
        return list(check())
    except Exception as error:
        return [
            Diagnostic.of(
                CHECK_CRASHED,
                f"a check of {owner} raised {type(error).__name__}: {error}{_origin(error)}",
                location=step.locate() if step is not None else None,
                workflow=workflow,
                step=step.id if step is not None else None,
                plugin=owner,
                hint="report it to the package's authors; its other findings may be missing",
            )
        ]


def _origin(error: Exception) -> str:
    """Where it was raised: module and line, which are the same on every machine."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return f" ({trace.tb_frame.f_globals.get('__name__', '?')}, line {trace.tb_lineno})" if trace is not None else ""
