"""From typed bodies back to the plain data that an author would write."""

from __future__ import annotations

from typing import Any

from tuvl_core.project.workflow import StepDefinition, StepHead, WorkflowBody, WorkflowSpec
from tuvl_core.structure import plain_data

__all__ = ["spec_data"]


def spec_data(spec: Any) -> Any:
    """The body of a document as plain data."""
    if not isinstance(spec, WorkflowSpec):
        return plain_data(spec)
    body = WorkflowBody(
        input=None if spec.input is None else dict(spec.input),
        limits=spec.limits,
        output=spec.output,
        reveal=spec.reveal,
    )
    sections = {key: plain_data(value) for key, value in spec.sections.items()}
    return {**plain_data(body), **sections, "steps": [_step_data(step) for step in spec.steps]}


def _step_data(step: StepDefinition) -> dict[str, Any]:
    head = StepHead(
        id=step.id,
        kind=step.kind,
        description=step.description,
        timeout=step.timeout,
        routes=dict(step.routes),
    )
    sections = {key: plain_data(value) for key, value in step.sections.items()}
    own = plain_data(step.config) if step.config is not None else {}
    return {**plain_data(head), **sections, **own}
