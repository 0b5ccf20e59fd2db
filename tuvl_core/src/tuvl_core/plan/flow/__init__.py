"""Where signals and values go in a workflow, told before it runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tuvl_core.plan.flow.data import CODES as DATA_CODES
from tuvl_core.plan.flow.data import check_data
from tuvl_core.plan.flow.declared import CODES as DECLARED_CODES
from tuvl_core.plan.flow.declared import check_output, check_signals
from tuvl_core.plan.flow.graph import ANY_OTHER, FlowEdge, FlowGraph
from tuvl_core.plan.flow.ways import CODES as WAY_CODES
from tuvl_core.plan.flow.ways import check_ways

if TYPE_CHECKING:
    from tuvl_core.diagnostics import Diagnostic
    from tuvl_core.plan.model import Plan

__all__ = ["ANY_OTHER", "CODES", "FlowEdge", "FlowGraph", "check_flow", "check_output", "check_signals"]

CODES = (*DECLARED_CODES, *WAY_CODES, *DATA_CODES)


def check_flow(plan: Plan) -> Iterator[Diagnostic]:
    """Findings about the ways through a workflow, where all of it could be read."""
    if plan.first is None or len(plan.steps) < len(plan.definition.spec.steps):
        return
    graph = FlowGraph.of(plan)
    yield from check_ways(graph)
    yield from check_data(graph)
