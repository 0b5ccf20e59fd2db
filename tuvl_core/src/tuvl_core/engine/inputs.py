"""What stands before a run: may this caller run it, and does the input fit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tuvl_core.codec import to_wire
from tuvl_core.context import clone
from tuvl_core.errors import CodecError, DeniedError, InputError
from tuvl_core.project import WorkflowMetadata

if TYPE_CHECKING:
    from tuvl_core.identity import Principal
    from tuvl_core.plan import Plan

__all__ = ["authorize", "initial_context"]


def authorize(plan: Plan, principal: Principal) -> None:
    """Refuse a caller without the scope or group that the workflow requires.

    Raises:
        DeniedError: Names what is missing; never what the caller holds.
    """
    metadata = plan.definition.metadata
    assert isinstance(metadata, WorkflowMetadata)
    scope = metadata.required_scope
    if scope is not None and not principal.has_scope(scope):
        raise DeniedError(f"workflow {plan.workflow!r} requires scope {scope!r}")
    group = metadata.required_group
    if group is not None and not principal.has_group(group):
        raise DeniedError(f"workflow {plan.workflow!r} requires group {group!r}")
    for candidate, answer in plan.project.plugins.call("tuvl_authorize", principal=principal, plan=plan):
        if answer:
            raise DeniedError(f"{candidate.dist} denies workflow {plan.workflow!r}: {answer}")


def initial_context(plan: Plan, input: Mapping[str, Any] | None) -> dict[str, Any]:
    """Check a run's input and make the context it starts with, sharing nothing with the caller.

    Raises:
        InputError: The input is no mapping, uses the engine's names, or does not fit `spec.input`.
    """
    if input is None:
        input = {}
    if input.__class__ is not dict and not isinstance(input, Mapping):
        raise InputError(
            f"the input of workflow {plan.workflow!r} must be an object, not {type(input).__name__}",
            [("", "must be an object")],
        )
    bad = [key for key in input if not isinstance(key, str) or key.startswith("_")]
    if bad:
        raise InputError(
            f"input names must be text without a leading '_', which is the engine's: {bad[0]!r}",
            [(str(key), "is not an input name") for key in bad],
        )
    if plan.input_check is not None:
        _check(plan, input)
    try:
        context: dict[str, Any] = clone(dict(input))
    except RecursionError:
        text = f"the input of workflow {plan.workflow!r} is nested too deeply, or holds itself"
        raise InputError(text, [("", "is nested too deeply")]) from None
    return context


def _check(plan: Plan, input: Mapping[str, Any]) -> None:
    try:
        value = to_wire(dict(input), "input")
    except CodecError as error:
        raise InputError(str(error), [(error.path, str(error))]) from error
    problems = [
        (".".join(str(part) for part in error.instance_path), error.message)
        for error in plan.input_check.iter_errors(value)
    ]
    if problems:
        shown = "; ".join(f"{path or 'input'}: {message}" for path, message in problems[:5])
        raise InputError(f"the input does not fit spec.input of workflow {plan.workflow!r}: {shown}", problems)
