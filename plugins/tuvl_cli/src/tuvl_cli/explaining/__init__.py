"""What `tuvl explain` tells of a workflow."""

from __future__ import annotations

from tuvl_cli.explaining.data import explain
from tuvl_cli.explaining.text import as_text

__all__ = ["as_text", "explain"]
