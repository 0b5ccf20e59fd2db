"""The kind itself."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tuvl_core import (
    UNSET,
    Capabilities,
    Cost,
    Diagnostic,
    Effects,
    Keys,
    Path,
    PlanView,
    Signals,
    StepCall,
    StepKind,
    StepResult,
    StepView,
    UndefinedNameError,
    reads_of,
)
from tuvl_kinds_response.checks import check
from tuvl_kinds_response.config import ResponseConfig

__all__ = ["Response"]


class Response(StepKind):
    """Say what the run answers; where several run, the last one counts."""

    name = "Response"
    Config = ResponseConfig
    signals = Signals("default")
    callable_as_tool = False
    mutates_context = False
    writes = Keys()
    effects = Effects.PURE
    capabilities = Capabilities()
    cost = Cost(seconds=0.0)

    def reads(self, step: StepView, plan: PlanView) -> Keys:
        """The first names of the paths it looks at."""
        return Keys(*(read.path[0] for read in reads_of(step.config)))

    def validate(self, step: StepView, plan: PlanView) -> Iterable[Diagnostic]:
        """Check that one of the two forms is there, and its paths."""
        return list(check(step, plan))

    async def run(self, call: StepCall) -> StepResult:
        """Take the values out of the context."""
        config: ResponseConfig = call.step.config
        if config.source is not None:
            result = _value(config.source, call)
        else:
            result = {name: _value(path, call) for name, path in (config.mapping or {}).items()}
        return StepResult(result=result, status=config.status)


def _value(path: Path, call: StepCall) -> Any:
    found = path.get(call.names)
    if found is UNSET:
        raise UndefinedNameError(f"{path.source!r} is not in the context")
    return found
