"""What a step kind is: the contract between the engine and whoever writes a kind.

Everything here is a Protocol, a base class or a value; nothing imports asyncio or a heavy library, so
that a plugin's entry module stays cheap to load. See `docs/reference/kinds.md` for the authoring guide.
"""

from __future__ import annotations

from tuvl_core.kinds.call import StepCall
from tuvl_core.kinds.declarations import Capabilities, Child, Cost, Effects, Keys, LoopShape, NoConfig, Signals, Sink
from tuvl_core.kinds.kind import StepKind, declared
from tuvl_core.kinds.results import Dispatch, StepResult
from tuvl_core.kinds.views import PlanView, StepView, UsageMeter
from tuvl_core.unset import UNSET

__all__ = [
    "UNSET",
    "Capabilities",
    "Child",
    "Cost",
    "Dispatch",
    "Effects",
    "Keys",
    "LoopShape",
    "NoConfig",
    "PlanView",
    "Signals",
    "Sink",
    "StepCall",
    "StepKind",
    "StepResult",
    "StepView",
    "UsageMeter",
    "declared",
]
