"""The markers of hooks and of their implementations."""

from __future__ import annotations

from typing import Final

import pluggy

__all__ = ["TUVL_API", "hookimpl", "hookspec"]

hookspec: Final = pluggy.HookspecMarker("tuvl")
"""Marks the specification of a hook, in a module that `TUVL_HOOKSPECS` of an entry module names."""

hookimpl: Final = pluggy.HookimplMarker("tuvl")
"""Marks a plugin's implementation of a hook."""

TUVL_API: Final = 1
"""The contract between kernel and plugins. It changes with the major version only."""
