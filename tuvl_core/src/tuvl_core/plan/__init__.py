"""Compiled workflows: everything looked up, nothing left to find while a run is on its way."""

from tuvl_core.plan.check import CODES, check_project, check_workflow
from tuvl_core.plan.compile import compile_workflow
from tuvl_core.plan.model import Plan, PlanStep, Transition
from tuvl_core.plan.rules import all_codes

__all__ = [
    "CODES",
    "Plan",
    "PlanStep",
    "Transition",
    "all_codes",
    "check_project",
    "check_workflow",
    "compile_workflow",
]
