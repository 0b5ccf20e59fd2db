"""Parts of a compiled expression. Each can be evaluated and knows the names it reads.

A node never calls into a value: it looks up entries of mappings and items of lists, and computes
with the functions of this package. That is the whole of what an expression can do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tuvl_core.errors import UndefinedNameError
from tuvl_core.templates.paths import Segment, segment, step_into, walk
from tuvl_core.templates.values import opened, plain, truth
from tuvl_core.unset import UNSET
from tuvl_core.views import Secret

__all__ = [
    "Choice",
    "Constant",
    "Item",
    "ListOf",
    "Logic",
    "MappingOf",
    "Name",
    "Names",
    "Node",
    "Read",
    "Tail",
    "undefined",
]

Names = Mapping[str, Any]


class Read(NamedTuple):
    """A place of the context that an expression looks at.

    Attributes:
        path: Its names, from the outside in.
        required: Whether rendering fails, in every case, when there is nothing.
    """

    path: tuple[str, ...]
    required: bool


def undefined(parts: Sequence[str], names: Names) -> UndefinedNameError:
    """Say which path leads nowhere, and how far it leads."""
    value = names.get(parts[0], UNSET)
    hint = ""
    for count, part in enumerate(parts[1:], 1):
        if value is UNSET:
            break
        value = step_into(value, segment(part))
        if value is UNSET:
            hint = f" ({'.'.join(parts[:count])!r} has no {part!r})"
    path = ".".join(parts)
    return UndefinedNameError(f"{path!r} is not in the context{hint}; set it before, or give it a `default(…)`")


class Node:
    """A part of an expression."""

    __slots__ = ()

    def evaluate(self, names: Names) -> Any:
        """Compute the value."""
        raise NotImplementedError

    def reads(self, required: bool) -> Iterator[Read]:
        """Give what is read; `required` says whether this part is evaluated in every case."""
        return iter(())


class Constant(Node):
    """A literal."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def evaluate(self, names: Names) -> Any:
        return self.value


class Name(Node):
    """A dotted path."""

    __slots__ = ("_root", "_segments", "parts")

    def __init__(self, parts: tuple[str, ...]) -> None:
        self.parts = parts
        self._root = parts[0]
        self._segments: tuple[Segment, ...] = tuple(map(segment, parts[1:]))

    def evaluate(self, names: Names) -> Any:
        # Nearly every placeholder is this node, and nearly every step leads into a dict.
        value = names.get(self._root, UNSET)
        for part in self._segments:
            if type(value) is dict and part[0] in value:
                value = value[part[0]]
            else:
                value = step_into(value, part)
        if value is UNSET:
            raise undefined(self.parts, names)
        return value

    def reads(self, required: bool) -> Iterator[Read]:
        yield Read(self.parts, required)


class Tail(Node):
    """Names behind something that is no name itself: `(orders | first).id`."""

    __slots__ = ("_segments", "parts", "subject")

    def __init__(self, subject: Node, parts: tuple[str, ...]) -> None:
        self.subject = subject
        self.parts = parts
        self._segments = tuple(map(segment, parts))

    def evaluate(self, names: Names) -> Any:
        value = walk(self.subject.evaluate(names), self._segments)
        if value is UNSET:
            raise UndefinedNameError(f"there is no {'.'.join(self.parts)!r}")
        return value

    def reads(self, required: bool) -> Iterator[Read]:
        return self.subject.reads(required)


class Item(Node):
    """A computed entry: `prices[country]`, `items[-1]`."""

    __slots__ = ("index", "subject")

    def __init__(self, subject: Node, index: Node) -> None:
        self.subject = subject
        self.index = index

    def evaluate(self, names: Names) -> Any:
        subject = self.subject.evaluate(names)
        index, hidden = opened(self.index.evaluate(names))
        if isinstance(subject, Secret):
            subject, hidden = plain(subject), True
        value = self._look_up(subject, index)
        if value is UNSET:
            raise UndefinedNameError("there is nothing under the key or index in `[…]`")
        return Secret(value) if hidden else value

    def _look_up(self, subject: Any, index: Any) -> Any:
        if isinstance(subject, (list, tuple)) and type(index) is int:
            return subject[index] if -len(subject) <= index < len(subject) else UNSET
        if isinstance(index, str):
            return step_into(subject, segment(index))
        if isinstance(subject, Mapping) and type(index) is int:
            return step_into(subject, segment(str(index)))
        return UNSET

    def reads(self, required: bool) -> Iterator[Read]:
        yield from self.subject.reads(required)
        yield from self.index.reads(required)


class ListOf(Node):
    """A list literal."""

    __slots__ = ("items",)

    def __init__(self, items: Sequence[Node]) -> None:
        self.items = items

    def evaluate(self, names: Names) -> Any:
        return [item.evaluate(names) for item in self.items]

    def reads(self, required: bool) -> Iterator[Read]:
        for item in self.items:
            yield from item.reads(required)


class MappingOf(Node):
    """A mapping literal; its keys are text."""

    __slots__ = ("entries",)

    def __init__(self, entries: Mapping[str, Node]) -> None:
        self.entries = entries

    def evaluate(self, names: Names) -> Any:
        return {key: node.evaluate(names) for key, node in self.entries.items()}

    def reads(self, required: bool) -> Iterator[Read]:
        for node in self.entries.values():
            yield from node.reads(required)


class Logic(Node):
    """`a and b and c`, `a or b or c`: the value that decides."""

    __slots__ = ("decides", "operands")

    def __init__(self, operands: Sequence[Node], *, decides: bool) -> None:
        self.operands = operands
        self.decides = decides

    def evaluate(self, names: Names) -> Any:
        value: Any = None
        for operand in self.operands:
            value = operand.evaluate(names)
            if truth(value) is self.decides:
                break
        return value

    def reads(self, required: bool) -> Iterator[Read]:
        for operand in self.operands:
            yield from operand.reads(required)
            required = False  # the first may have decided


class Choice(Node):
    """`a if condition else b`."""

    __slots__ = ("condition", "no", "yes")

    def __init__(self, condition: Node, yes: Node, no: Node) -> None:
        self.condition = condition
        self.yes = yes
        self.no = no

    def evaluate(self, names: Names) -> Any:
        chosen = self.yes if truth(self.condition.evaluate(names)) else self.no
        return chosen.evaluate(names)

    def reads(self, required: bool) -> Iterator[Read]:
        yield from self.condition.reads(required)
        yield from self.yes.reads(False)
        yield from self.no.reads(False)
