"""Compiled workflows: everything looked up, nothing left to find while a run is on its way."""

from tuvl_core.plan.advancing import END, advance, next_step
from tuvl_core.plan.bound import QUANTITIES, Leg, QuantityBound, RunBound, bound_run
from tuvl_core.plan.check import CODES, check_project, check_workflow
from tuvl_core.plan.compile import compile_workflow, plan_workflow
from tuvl_core.plan.flow import FlowEdge, FlowGraph
from tuvl_core.plan.model import Plan, PlanStep, Transition
from tuvl_core.plan.rules import all_codes, rule_page
from tuvl_core.plan.taint import TaintedUse, tainted_uses

__all__ = [
    "CODES",
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
