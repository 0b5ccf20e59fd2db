"""Hooks that are called when a workflow is compiled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tuvl_core.hookspecs.markers import hookspec

if TYPE_CHECKING:
    from tuvl_core.kinds import PlanView, StepView


@hookspec
def tuvl_tool_parameters(step: StepView, plan: PlanView) -> Mapping[str, Any] | None:
    """Override what a model may pass to a step that it calls as a tool.

    Called once for each tool of each agent, while its workflow is compiled.

    Args:
        step: The step that is some agent's tool.
        plan: The workflow it belongs to.

    Returns:
        A JSON Schema of type `object`, or None to leave the step's own parameters as they are. Two
        answers for one step are an error that names both plugins.

    Raises:
        Exception: Anything: a workflow that has the step does not compile; the others do.

    Example:
        ```python
        from tuvl_core import hookimpl

        @hookimpl
        def tuvl_tool_parameters(step):
            if step.id != "lookup_order":
                return None
            number = {"type": "string", "pattern": "^A-[0-9]+$"}
            return {"type": "object", "properties": {"order_id": number}, "required": ["order_id"]}
        ```
    """
