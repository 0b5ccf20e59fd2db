"""What a run can cost at most, told before it runs. Each module is imported when it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tuvl_core.plan.bound.result import QUANTITIES, Leg, QuantityBound, RunBound
    from tuvl_core.plan.bound.run import bound_run

__all__ = ["QUANTITIES", "Leg", "QuantityBound", "RunBound", "bound_run"]


def __getattr__(name: str) -> Any:
    if name == "bound_run":
        from tuvl_core.plan.bound import run as module
    elif name in __all__:
        from tuvl_core.plan.bound import result as module  # type: ignore[no-redef]
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(module, name)
    globals()[name] = value
    return value
