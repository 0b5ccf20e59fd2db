"""A workflow as a drawing in SVG, with nothing in it that a browser would have to load."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final
from xml.sax.saxutils import escape

from tuvl_graph.layout import Box, lay_out
from tuvl_graph.picture import Edge, Node, Picture

__all__ = ["as_svg"]

_CHARACTER: Final = 7.3
_LINE: Final = 15.0
_PAD: Final = 10.0
_MOST_SIGNALS: Final = 5
_LOOP: Final = 26.0
_MARKS: Final = {"error": "✗", "warning": "!"}
_FILLS: Final = {
    "start": "#e3f2fd",
    "step": "#ffffff",
    "tool": "#f3e5f5",
    "unreadable": "#eeeeee",
    "missing": "#ffebee",
    "end": "#e8f5e9",
    "stop": "#fff8e1",
    "fail": "#ffebee",
    "supervisor": "#e0f2f1",
}
_STROKES: Final = {"error": "#c62828", "warning": "#ef6c00"}
_ROUND: Final = ("start", "end", "stop", "fail")
_QUIET: Final = ("@stop", "@fail")
_HEAD: Final = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" \
height="{height:.0f}" font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="12">
<title>{title}</title>
<defs><marker id="arrow" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="8" markerHeight="8" orient="auto">\
<path d="M0,0 L8,4 L0,8 z" fill="#455a64"/></marker></defs>
<rect width="100%" height="100%" fill="#ffffff"/>"""


def as_svg(picture: Picture) -> str:
    """Give the drawing's text."""
    texts = {node.id: _lines_of(node) for node in picture.nodes}
    labels = [_label_of(edge) for edge in picture.edges]
    sizes = {id: _size(lines, _PAD) for id, lines in texts.items()}
    rooms = {
        edge.source: _LOOP + _size(lines, 0.0)[0]
        for edge, lines in zip(picture.edges, labels, strict=True)
        if edge.source == edge.target
    }
    sizes |= {id: (sizes[id][0] + 2 * room, sizes[id][1]) for id, room in rooms.items()}
    drawn = lay_out(picture, sizes, [_size(lines, 2.0) for lines in labels])
    for id, room in rooms.items():
        drawn.nodes[id].room = room
    parts = [_HEAD.format(width=drawn.width, height=drawn.height, title=escape(picture.workflow))]
    for edge, way in zip(picture.edges, drawn.edges, strict=True):
        parts += _edge(edge, way)
    for edge, lines, way, box in zip(picture.edges, labels, drawn.edges, drawn.labels, strict=True):
        parts += _label(edge, lines, box if box is not None else _beside(way[0]))
    for node in picture.nodes:
        parts += _node(node, texts[node.id], drawn.nodes[node.id])
    return "\n".join([*parts, "</svg>"])


# --- nodes ----------------------------------------------------------------------------------


def _lines_of(node: Node) -> list[str]:
    shown = dict.fromkeys(
        f"{_MARKS[item.severity]} {item.code}" for item in node.diagnostics if item.severity in _MARKS
    )
    return [node.label, *([node.kind] if node.kind else []), *shown]


def _size(lines: Sequence[str], pad: float) -> tuple[float, float]:
    if not lines:
        return 0.0, 0.0
    return max(map(len, lines)) * _CHARACTER + 2 * pad, len(lines) * _LINE + 2 * pad


def _node(node: Node, lines: Sequence[str], box: Box) -> Iterator[str]:
    width = box.width - 2 * box.room
    stroke = _STROKES.get(node.severity or "", "#455a64")
    dash = "" if node.reachable else ' stroke-dasharray="4 3"'
    radius = box.height / 2 if node.role in _ROUND else 3.0
    thick = 2.5 if node.severity else 1.2
    yield f'<g id="{escape(node.id, {chr(34): "&quot;"})}" class="{node.role}">'
    told = "\n".join(f"{item.severity} {item.code}: {item.message}" for item in node.diagnostics)
    if told:
        yield f"<title>{escape(told)}</title>"
    yield (
        f'<rect x="{box.x - width / 2:.1f}" y="{box.y - box.height / 2:.1f}" width="{width:.1f}" '
        f'height="{box.height:.1f}" rx="{radius:.1f}" fill="{_FILLS[node.role]}" stroke="{stroke}" '
        f'stroke-width="{thick}"{dash}/>'
    )
    for number, line in enumerate(lines):
        colour = "#1a1a1a" if number == 0 else "#607d8b"
        if line[:1] in _MARKS.values():
            colour = _STROKES["error" if line[0] == _MARKS["error"] else "warning"]
        yield _text(line, box.x, _line_y(box, number, len(lines)), colour, bold=number == 0)
    yield "</g>"


def _line_y(box: Box, number: int, count: int) -> float:
    return box.y + (number - (count - 1) / 2) * _LINE + 4.0


def _text(text: str, x: float, y: float, colour: str, *, bold: bool = False, size: str = "") -> str:
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle" fill="{colour}"{weight}{size}>{escape(text)}</text>'


# --- edges ----------------------------------------------------------------------------------


def _label_of(edge: Edge) -> list[str]:
    if edge.role != "signal":
        return [edge.role]
    shown = list(edge.signals[:_MOST_SIGNALS])
    rest = len(edge.signals) - len(shown)
    return [*shown, f"and {rest} more"] if rest else shown


def _label(edge: Edge, lines: Sequence[str], box: Box) -> Iterator[str]:
    if not lines:
        return
    yield (
        f'<rect x="{box.x - box.width / 2:.1f}" y="{box.y - box.height / 2:.1f}" width="{box.width:.1f}" '
        f'height="{box.height:.1f}" fill="#ffffff" fill-opacity="0.85"/>'
    )
    colour = "#90a4ae" if edge.role != "signal" or edge.target in _QUIET else "#37474f"
    for number, line in enumerate(lines):
        yield _text(line, box.x, _line_y(box, number, len(lines)), colour, size=' font-size="11"')


def _beside(box: Box) -> Box:
    """Where the label of an edge stands that leads back to where it begins."""
    return Box(0.0, 0.0, box.layer, box.x + box.width / 2 - (box.room - _LOOP) / 2, box.y)


def _edge(edge: Edge, way: Sequence[Box]) -> Iterator[str]:
    if way[0] is way[-1]:
        box, side = way[0], way[0].x + way[0].width / 2 - way[0].room
        path = (
            f"M{side:.1f},{box.y - 8:.1f} C{side + _LOOP:.1f},{box.y - 24:.1f} {side + _LOOP:.1f},{box.y + 24:.1f} "
            f"{side:.1f},{box.y + 8:.1f}"
        )
    else:
        path = _curve(_points(way))
    dash = ' stroke-dasharray="5 4"' if edge.role != "signal" else ""
    colour = "#b0bec5" if edge.role != "signal" or edge.target in _QUIET else "#455a64"
    yield f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.3"{dash} marker-end="url(#arrow)"/>'


def _points(way: Sequence[Box]) -> list[tuple[float, float]]:
    """From the border of the one box through the others to the border of the last."""
    first, last = way[0], way[-1]
    down = 1 if last.layer > first.layer else -1
    inner = [(box.x, box.y) for box in way[1:-1]]
    begin = (_towards(first, inner[0][0]), first.y + down * first.height / 2)
    end = (_towards(last, inner[-1][0]), last.y - down * last.height / 2)
    return [begin, *inner, end]


def _towards(box: Box, x: float) -> float:
    """A point of a box's border that lies on the side of what it is linked to."""
    room = max(box.width / 2 - box.room - 14, 0.0)
    return box.x + max(-room, min(room, (x - box.x) * 0.4))


def _curve(points: Sequence[tuple[float, float]]) -> str:
    path = f"M{points[0][0]:.1f},{points[0][1]:.1f}"
    for (x, y), (next_x, next_y) in pairwise(points):
        middle = (y + next_y) / 2
        path += f" C{x:.1f},{middle:.1f} {next_x:.1f},{middle:.1f} {next_x:.1f},{next_y:.1f}"
    return path
