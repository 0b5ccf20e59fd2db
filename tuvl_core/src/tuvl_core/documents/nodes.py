"""What the node tree of a YAML document looks like, whichever parser made it."""

from __future__ import annotations

from typing import Any, Final, Protocol

__all__ = ["Mark", "Node", "excerpt", "is_block", "is_plain", "item"]


_MAX_SHOWN: Final = 80


class Mark(Protocol):
    """A place in the text; everything counts from 0, in characters."""

    index: int
    line: int
    column: int


class Node(Protocol):
    """A scalar, sequence or mapping: `id` says which.

    A scalar's `value` is its text, a sequence's a list of nodes, a mapping's a list of pairs.
    """

    id: str
    tag: str | None
    value: Any
    start_mark: Mark
    end_mark: Mark


def item(node: Node, part: str | int) -> tuple[Node | None, Node | None]:
    """Find `(key node, value node)` of one step down a path; the first of duplicate keys."""
    if node.id == "mapping":
        for key, value in node.value:
            if key.id == "scalar" and key.value == part:
                return key, value
    elif node.id == "sequence" and isinstance(part, int) and 0 <= part < len(node.value):
        return None, node.value[part]
    return None, None


def is_block(node: Node) -> bool:
    """Whether the node is a collection written without brackets."""
    return node.id != "scalar" and not getattr(node, "flow_style", False)


def is_plain(node: Node) -> bool:
    """Whether the node is a scalar without tag and quotes, so that its text decides what it is."""
    return node.id == "scalar" and node.tag is None and not getattr(node, "style", None)


def excerpt(text: str) -> str:
    """Text of a file as it is shown in a message: on one line, and not longer than a line."""
    line = " ".join(text.split())
    return line if len(line) <= _MAX_SHOWN else f"{line[: _MAX_SHOWN - 1]}…"
