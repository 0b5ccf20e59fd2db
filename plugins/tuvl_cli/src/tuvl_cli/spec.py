"""How a package describes a subcommand without importing what does it."""

from __future__ import annotations

from tuvl_core import CommandSpec

__all__ = ["CommandSpec"]
