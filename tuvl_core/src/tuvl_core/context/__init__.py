"""The context of a run: what a step sees of it, what a step changed, and how that is merged."""

from __future__ import annotations

from tuvl_core.context.cloning import clone
from tuvl_core.context.delta import merge, public_delta, same
from tuvl_core.context.names import Names
from tuvl_core.context.overlay import Overlay

__all__ = ["Names", "Overlay", "clone", "merge", "public_delta", "same"]
