"""Where each node and each edge of a picture goes: layers from top to bottom, as in every drawing of a flow.

A layer of nodes and a layer of labels take turns, so that a label has a place of its own. Edges that span several
layers bend around what lies between.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Final

import attrs

from tuvl_graph.picture import Picture

__all__ = ["Box", "Drawn", "lay_out"]

GAP: Final = 28.0
"""Between neighbours of a layer."""
_SWEEPS: Final = 12
_ENDS: Final = ("end", "stop", "fail")


@attrs.define
class Box:
    """A place of a layer that something takes: a node, a label, or an edge that passes.

    Attributes:
        width: How wide it is.
        height: How high it is.
        layer: The layer, from 0 at the top.
        x: Its middle.
        y: Its middle.
        room: What it keeps free for itself at either side.
    """

    width: float
    height: float
    layer: int
    x: float = 0.0
    y: float = 0.0
    room: float = 0.0


@attrs.define
class Drawn:
    """A picture with its places.

    Attributes:
        nodes: The box of each node, by id.
        edges: For each edge of the picture the boxes that it passes, source and target included, in its own direction.
        labels: The box of each edge's label; None for one that leads back to where it begins.
        width: Of the whole.
        height: Of the whole.
    """

    nodes: Mapping[str, Box]
    edges: Sequence[Sequence[Box]]
    labels: Sequence[Box | None]
    width: float = 0.0
    height: float = 0.0


def lay_out(
    picture: Picture, node_size: Mapping[str, tuple[float, float]], label_size: Sequence[tuple[float, float]]
) -> Drawn:
    """Find a place for everything.

    Args:
        picture: What is drawn.
        node_size: Width and height of each node, by id.
        label_size: Width and height of the label of each edge.
    """
    layers, back = _layers(picture)
    boxes = {node.id: Box(*node_size[node.id], layers[node.id] * 2) for node in picture.nodes}
    links: list[tuple[Box, Box]] = []
    edges: list[list[Box]] = []
    labels: list[Box | None] = []
    passing: list[Box] = []
    for number, edge in enumerate(picture.edges):
        source, target = boxes[edge.source], boxes[edge.target]
        if source is target:
            edges.append([source, target])
            labels.append(None)
            continue
        upper, lower = (target, source) if number in back else (source, target)
        between = [Box(6.0, 0.0, layer) for layer in range(upper.layer + 1, lower.layer)]
        between[0].width, between[0].height = label_size[number]
        way = [upper, *between, lower]
        links += pairwise(way)
        passing += between
        labels.append(between[0])
        edges.append(way[::-1] if number in back else way)
    rows = _rows([*boxes.values(), *passing])
    neighbours = _neighbours(links)
    _order(rows, neighbours)
    _place(rows, neighbours)
    return _framed(Drawn(boxes, edges, labels), rows)


# --- layers ---------------------------------------------------------------------------------


def _layers(picture: Picture) -> tuple[dict[str, int], set[int]]:
    """The layer of each node, and which edges lead back up."""
    after: dict[str, list[tuple[int, str]]] = {node.id: [] for node in picture.nodes}
    for number, edge in enumerate(picture.edges):
        if edge.source != edge.target:
            after[edge.source].append((number, edge.target))
    order, back = _depth_first(after)
    layer = dict.fromkeys(after, 0)
    for id in order:
        for number, target in after[id]:
            if number in back:
                continue
            layer[target] = max(layer[target], layer[id] + 1)
    # Edges that lead back were turned round: what they lead to stays above where they begin.
    ends = {node.id for node in picture.nodes if node.role in _ENDS}
    lowest = max(layer.values(), default=0)
    below = max((layer[id] for id in layer if id not in ends), default=0) + 1
    layer |= dict.fromkeys(ends, max(lowest if ends else 0, below))
    return layer, back


def _depth_first(after: Mapping[str, Sequence[tuple[int, str]]]) -> tuple[list[str], set[int]]:
    """Nodes in an order in which every edge that does not lead back leads on, and the edges that lead back."""
    done: list[str] = []
    open_: set[str] = set()
    seen: set[str] = set()
    back: set[int] = set()
    for start in after:
        if start in seen:
            continue
        seen.add(start)
        open_.add(start)
        stack = [(start, iter(after[start]))]
        while stack:
            id, rest = stack[-1]
            number, target = next(rest, (-1, ""))
            if number < 0:
                stack.pop()
                open_.discard(id)
                done.append(id)
            elif target in open_:
                back.add(number)
            elif target not in seen:
                seen.add(target)
                open_.add(target)
                stack.append((target, iter(after[target])))
    return done[::-1], back


# --- order and place ------------------------------------------------------------------------

_Neighbours = Mapping[int, tuple[list[Box], list[Box]]]


def _rows(boxes: Sequence[Box]) -> list[list[Box]]:
    rows: list[list[Box]] = [[] for _ in range(max((box.layer for box in boxes), default=0) + 1)]
    for box in boxes:
        rows[box.layer].append(box)
    return rows


def _neighbours(links: Sequence[tuple[Box, Box]]) -> _Neighbours:
    """Of each box, by its identity, those above and those below that it is linked to."""
    found: dict[int, tuple[list[Box], list[Box]]] = {}
    for upper, lower in links:
        found.setdefault(id(upper), ([], []))[1].append(lower)
        found.setdefault(id(lower), ([], []))[0].append(upper)
    return found


def _order(rows: Sequence[list[Box]], neighbours: _Neighbours) -> None:
    """Bring linked boxes near one another, so that few edges cross."""
    for row in rows:
        for position, box in enumerate(row):
            box.x = float(position)
    for sweep in range(_SWEEPS):
        side = sweep % 2  # from above, then from below
        for row in rows if side == 0 else reversed(rows):
            row.sort(key=lambda box: _middle(neighbours.get(id(box), ([], []))[side], box.x))
            for position, box in enumerate(row):
                box.x = float(position)


def _middle(boxes: Sequence[Box], otherwise: float) -> float:
    return sum(box.x for box in boxes) / len(boxes) if boxes else otherwise


def _place(rows: Sequence[list[Box]], neighbours: _Neighbours) -> None:
    """Give each box of a layer its place: as near to what it is linked to as its neighbours allow."""
    for row in rows:
        _spread(row, lambda box: box.x)
    for sweep in range(_SWEEPS * 2):
        for row in rows if sweep % 2 == 0 else reversed(rows):
            _spread(row, lambda box: _wanted(box, neighbours))


def _wanted(box: Box, neighbours: _Neighbours) -> float:
    above, below = neighbours.get(id(box), ([], []))
    return _middle([*above, *below], box.x)


def _spread(row: Sequence[Box], wanted: Callable[[Box], float]) -> None:
    """Keep the order and the gaps, and be as near to what is wanted as that allows.

    Of boxes that would overlap all move together, to the middle of what they want.
    """
    offsets, reach = [], 0.0
    for box in row:
        offsets.append(reach + box.width / 2)
        reach += box.width + GAP
    groups: list[tuple[float, int]] = []
    for box, offset in zip(row, offsets, strict=True):
        groups.append((wanted(box) - offset, 1))
        while len(groups) > 1 and groups[-2][0] > groups[-1][0]:
            (first, many), (second, more) = groups[-2:]
            groups[-2:] = [((first * many + second * more) / (many + more), many + more)]
    shifts = [shift for shift, count in groups for _ in range(count)]
    for box, offset, shift in zip(row, offsets, shifts, strict=True):
        box.x = offset + shift


def _framed(drawn: Drawn, rows: Sequence[Sequence[Box]]) -> Drawn:
    """Give layers their heights, and move everything to where the drawing begins."""
    boxes = [box for row in rows for box in row]
    left = min((box.x - box.width / 2 for box in boxes), default=0.0)
    y = GAP
    for row in rows:
        high = max((box.height for box in row), default=0.0)
        for box in row:
            box.x += GAP - left
            box.y = y + high / 2
        y += high + GAP / 2
    drawn.width = max((box.x + box.width / 2 for box in boxes), default=0.0) + GAP
    drawn.height = y + GAP / 2
    return drawn
