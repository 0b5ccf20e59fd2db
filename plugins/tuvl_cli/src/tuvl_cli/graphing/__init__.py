"""What `tuvl graph` draws of a workflow."""

from __future__ import annotations

from tuvl_cli.graphing.data import Picture, picture_of

__all__ = ["Picture", "picture_of"]
