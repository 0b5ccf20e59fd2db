"""Loops inside a step that somebody may watch, pause, steer or abort while they run.

A kind that opens a loop (an agent's turns) gets a `LoopHandle`. Whoever supervises it, a rule, a judge
or an operator, finds the handle in the app's registry and acts through `handle.control`. The loop looks
at `handle.touched` at the top of each turn; as long as nobody has asked for the control, that is one
attribute read and nothing else exists.
"""

from __future__ import annotations

from tuvl_core.loops.control import LoopControl
from tuvl_core.loops.directives import Applied, Directive, DirectiveAction, Directives, DirectiveSource
from tuvl_core.loops.handle import LoopHandle, LoopScope
from tuvl_core.loops.registry import LoopRegistry

__all__ = [
    "Applied",
    "Directive",
    "DirectiveAction",
    "DirectiveSource",
    "Directives",
    "LoopControl",
    "LoopHandle",
    "LoopRegistry",
    "LoopScope",
]
