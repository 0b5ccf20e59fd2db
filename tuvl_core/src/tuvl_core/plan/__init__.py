"""Compiled workflows: everything looked up, nothing left to find while a run is on its way.

Names are imported when first used: a project without workflows is checked without what looks at workflows.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from tuvl_core.plan.advancing import END, advance, next_step
    from tuvl_core.plan.bound import QUANTITIES, Leg, QuantityBound, RunBound, bound_run
    from tuvl_core.plan.check import check_project, check_workflow
    from tuvl_core.plan.compile import compile_workflow, plan_workflow
    from tuvl_core.plan.flow import FlowEdge, FlowGraph
    from tuvl_core.plan.model import Plan, PlanStep, Transition
    from tuvl_core.plan.rules import all_codes, rule_page
    from tuvl_core.plan.taint import TaintedUse, tainted_uses

__all__ = [
    "END",
    "QUANTITIES",
    "FlowEdge",
    "FlowGraph",
    "Leg",
    "Plan",
    "PlanStep",
    "QuantityBound",
    "RunBound",
    "TaintedUse",
    "Transition",
    "advance",
    "all_codes",
    "bound_run",
    "check_project",
    "check_workflow",
    "compile_workflow",
    "next_step",
    "plan_workflow",
    "rule_page",
    "tainted_uses",
]

_MODULES: Final = {
    "advancing": "END advance next_step",
    "bound": "QUANTITIES Leg QuantityBound RunBound bound_run",
    "check": "check_project check_workflow",
    "compile": "compile_workflow plan_workflow",
    "flow": "FlowEdge FlowGraph",
    "model": "Plan PlanStep Transition",
    "rules": "all_codes rule_page",
    "taint": "TaintedUse tainted_uses",
}
_WHERE: Final = {name: module for module, names in _MODULES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    module = _WHERE.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{module}"), name)
    globals()[name] = value
    return value
