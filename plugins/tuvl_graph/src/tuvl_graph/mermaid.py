"""A workflow as a Mermaid flowchart, which GitHub and many others draw."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tuvl_graph.picture import Edge, Node, Picture

__all__ = ["as_mermaid"]

_SHAPES: Final = {
    "start": ('(["', '"])'),
    "end": ('(["', '"])'),
    "stop": ('(["', '"])'),
    "fail": ('(["', '"])'),
    "tool": ('[["', '"]]'),
    "supervisor": ('{{"', '"}}'),
}
_CLASSES: Final = {
    "error": "stroke:#c62828,stroke-width:3px",
    "warning": "stroke:#ef6c00,stroke-width:3px",
    "unreachable": "stroke-dasharray:4 4,opacity:0.6",
}
_ENTITIES: Final = {'"': "#quot;", "<": "#lt;", ">": "#gt;", "&": "#amp;", "#": "#35;"}
_MARKS: Final = {"error": "✗", "warning": "⚠"}


def as_mermaid(picture: Picture) -> str:
    """Give the chart's text."""
    return "\n".join(_lines(picture))


def _lines(picture: Picture) -> Iterator[str]:
    names = {node.id: f"n{number}" for number, node in enumerate(picture.nodes)}
    yield "flowchart TD"
    for node in picture.nodes:
        before, after = _SHAPES.get(node.role, ('["', '"]'))
        yield f"  {names[node.id]}{before}{_label(node)}{after}"
    for edge in picture.edges:
        yield f"  {names[edge.source]} {_arrow(edge)} {names[edge.target]}"
    used = [(names[node.id], _class(node)) for node in picture.nodes]
    for style, look in _CLASSES.items():
        members = [name for name, found in used if found == style]
        if members:
            yield f"  classDef {style} {look}"
            yield f"  class {','.join(members)} {style}"


def _class(node: Node) -> str | None:
    return node.severity or (None if node.reachable else "unreachable")


def _label(node: Node) -> str:
    lines = [f"<b>{_text(node.label)}</b>"]
    if node.kind:
        lines.append(_text(node.kind))
    shown = dict.fromkeys(
        f"{_MARKS[item.severity]} {item.code}" for item in node.diagnostics if item.severity in _MARKS
    )
    return "<br/>".join([*lines, *shown])


def _arrow(edge: Edge) -> str:
    if edge.role == "watches":
        return "-. watches .->"
    if edge.role == "tool":
        return "-. tool .->"
    signals = ", ".join(_text(signal) for signal in edge.signals)
    return f'-->|"{signals}"|' if signals else "-->"


def _text(text: str) -> str:
    """Text that Mermaid shows and does not read: its own escapes are entities."""
    return "".join(_ENTITIES.get(character, character) for character in text)
