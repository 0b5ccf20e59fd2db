"""Draws workflows: as data, Mermaid and SVG. A library and no plugin: `tuvl graph` and the console use it."""

from __future__ import annotations

from tuvl_graph.mermaid import as_mermaid
from tuvl_graph.picture import Edge, Node, Picture, picture_of
from tuvl_graph.svg import as_svg

__all__ = ["Edge", "Node", "Picture", "as_mermaid", "as_svg", "picture_of"]
