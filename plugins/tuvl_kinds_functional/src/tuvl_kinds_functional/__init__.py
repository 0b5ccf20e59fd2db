"""Kind Functional: a Python function of the project, or of an installed plugin, as a workflow step.

from tuvl_kinds_functional import node

@node("policy_check")
async def policy_check(ctx):
    return {"allowed": ctx["order"]["total"] <= 100}
"""

from __future__ import annotations

from tuvl_kinds_functional.node_context import NodeContext
from tuvl_kinds_functional.registry import node

__all__ = ["NodeContext", "node"]
