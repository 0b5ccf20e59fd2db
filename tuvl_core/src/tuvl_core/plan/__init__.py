"""Compiled workflows: everything looked up, nothing left to find while a run is on its way."""

from tuvl_core.plan.advancing import END, advance, next_step
from tuvl_core.plan.check import CODES, check_project, check_workflow
from tuvl_core.plan.compile import compile_workflow
from tuvl_core.plan.flow import FlowEdge, FlowGraph
from tuvl_core.plan.model import Plan, PlanStep, Transition
from tuvl_core.plan.rules import all_codes

__all__ = [
    "CODES",
    "END",
    "FlowEdge",
    "FlowGraph",
    "Plan",
    "PlanStep",
    "Transition",
    "advance",
    "all_codes",
    "check_project",
    "check_workflow",
    "compile_workflow",
    "next_step",
]
