"""What a run can cost at most, told before it runs."""

from __future__ import annotations

from tuvl_core.plan.bound.demands import CODES, check_demands
from tuvl_core.plan.bound.result import QUANTITIES, Leg, QuantityBound, RunBound
from tuvl_core.plan.bound.run import bound_run

__all__ = ["CODES", "QUANTITIES", "Leg", "QuantityBound", "RunBound", "bound_run", "check_demands"]
