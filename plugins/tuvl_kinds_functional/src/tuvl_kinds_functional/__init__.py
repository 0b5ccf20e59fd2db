"""Kind Functional: a Python function of the project, or of an installed plugin, as a workflow step.

from tuvl_kinds_functional import node

@node("policy_check")
async def policy_check(ctx):
    return {"allowed": ctx["order"]["total"] <= 100}
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from tuvl_kinds_functional.node_context import NodeContext
    from tuvl_kinds_functional.registry import node

_WHERE: Final = {"NodeContext": "node_context", "node": "registry"}

__all__ = ["NodeContext", "node"]


def __getattr__(name: str) -> Any:
    # The command's start imports this package for its plugin module alone.
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
    globals()[name] = value
    return value
