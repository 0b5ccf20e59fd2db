"""The kind itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tuvl_core import (
    Capabilities,
    Cost,
    Diagnostic,
    Effects,
    Keys,
    PlanView,
    Signals,
    StepCall,
    StepKind,
    StepResult,
    StepView,
    reads_of,
)
from tuvl_kinds_router.checks import check
from tuvl_kinds_router.config import Comparison, RouterConfig
from tuvl_kinds_router.decide import ByComparison, ByCondition, ByValue, Decision

__all__ = ["Router"]


class Router(StepKind):
    """Choose the way by a comparison, an expression, or a value that is the signal itself."""

    name = "Router"
    Config = RouterConfig
    mutates_context = False
    writes = Keys()
    effects = Effects.PURE
    capabilities = Capabilities()
    cost = Cost(seconds=0.0)

    def signals(self, step: StepView, plan: PlanView) -> Signals:
        """`true` and `false`, or the labels that are routed."""
        if step.config.match is None:
            return Signals("true", "false")
        if "default" not in step.routes:
            return Signals(*step.routes, open=True)
        field = ".".join(step.config.match.field.parts)
        return Signals(*step.routes, fallback=f"every value of `{field}` that has no route")

    def reads(self, step: StepView, plan: PlanView) -> Keys:
        """The first names of the paths it looks at."""
        return Keys(*_roots(step.config))

    def tool_parameters(self, step: StepView, plan: PlanView) -> Mapping[str, Any]:
        """As a tool: the names it decides by, each of any type; what is left out stays as it is."""
        names = [name for name in _roots(step.config) if not name.startswith("_")]
        properties: dict[str, Any] = {name: {} for name in names}
        return {"type": "object", "properties": properties, "additionalProperties": False}

    def validate(self, step: StepView, plan: PlanView) -> Iterable[Diagnostic]:
        """Check condition, paths and the routes of the signals."""
        return list(check(step, plan))

    def prepare(self, step: StepView, plan: PlanView) -> Decision:
        """Choose how the step decides."""
        config: RouterConfig = step.config
        condition = config.condition
        if isinstance(condition, Comparison):
            return ByComparison(condition.field, condition.operator, condition.value)
        if condition is not None:
            return ByCondition(condition)
        assert config.match is not None
        return ByValue(config.match.field, step.routes)

    async def run(self, call: StepCall) -> StepResult:
        """Decide."""
        decision: Decision = call.step.prepared
        return StepResult(decision.signal(call))


def _roots(config: RouterConfig) -> list[str]:
    """First names of everything that is looked at, each once."""
    return list(dict.fromkeys(read.path[0] for read in reads_of(config)))
