"""Nodes that compute: comparisons, arithmetic, filters and tests."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from tuvl_core.errors import StepError, UndefinedNameError
from tuvl_core.templates.arithmetic import calculate, negate, numeric, total_length
from tuvl_core.templates.filters import Filter
from tuvl_core.templates.nodes import ListOf, Names, Node, Read
from tuvl_core.templates.values import contains, equal, opened, ordered, plain, text_of, truth
from tuvl_core.views import Secret

__all__ = [
    "COMPARISONS",
    "TESTS",
    "Chain",
    "Comparison",
    "Default",
    "Defined",
    "Filtered",
    "Joined",
    "Signed",
    "Test",
]

COMPARISONS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "==": equal,
    "!=": lambda left, right: not equal(left, right),
    "<": lambda left, right: operator.lt(*ordered(left, right)),
    "<=": lambda left, right: operator.le(*ordered(left, right)),
    ">": lambda left, right: operator.gt(*ordered(left, right)),
    ">=": lambda left, right: operator.ge(*ordered(left, right)),
    "in": lambda left, right: contains(right, left),
    "not in": lambda left, right: not contains(right, left),
}


class Comparison(Node):
    """`a < b`, `a < b <= c`: true when each pair is."""

    __slots__ = ("first", "rest")

    def __init__(self, first: Node, rest: Sequence[tuple[str, Node]]) -> None:
        self.first = first
        self.rest = rest

    def evaluate(self, names: Names) -> Any:
        left = self.first.evaluate(names)
        for sign, node in self.rest:
            right = node.evaluate(names)
            if not COMPARISONS[sign](left, right):
                return False
            left = right
        return True

    def reads(self, required: bool) -> Iterator[Read]:
        yield from self.first.reads(required)
        for _, node in self.rest:
            yield from node.reads(required)
            required = False


class Chain(Node):
    """`a + b - c`, `a * b / c`: from left to right."""

    __slots__ = ("first", "rest")

    def __init__(self, first: Node, rest: Sequence[tuple[str, Node]]) -> None:
        self.first = first
        self.rest = rest

    def evaluate(self, names: Names) -> Any:
        value = self.first.evaluate(names)
        hidden = isinstance(value, Secret)
        value = plain(value)
        for sign, node in self.rest:
            right = node.evaluate(names)
            hidden = hidden or isinstance(right, Secret)
            value = calculate(sign, value, plain(right))
        return Secret(value) if hidden else value

    def reads(self, required: bool) -> Iterator[Read]:
        yield from self.first.reads(required)
        for _, node in self.rest:
            yield from node.reads(required)


class Joined(ListOf):
    """`a ~ b`: the texts of values, one after the other."""

    __slots__ = ()

    def evaluate(self, names: Names) -> Any:
        texts: list[str] = []
        length = 0
        hidden = False
        for item in self.items:
            value, secret = opened(item.evaluate(names))
            hidden = hidden or secret
            texts.append(text_of(value))
            length = total_length(length + len(texts[-1]))
        return Secret("".join(texts)) if hidden else "".join(texts)


class Signed(Node):
    """`-a`, `+a`, `not a`."""

    __slots__ = ("operand", "sign")

    def __init__(self, sign: str, operand: Node) -> None:
        self.sign = sign
        self.operand = operand

    def evaluate(self, names: Names) -> Any:
        value = self.operand.evaluate(names)
        if self.sign == "not":
            return not truth(value)
        number = plain(value)
        number = negate(number) if self.sign == "-" else numeric(number)
        return Secret(number) if isinstance(value, Secret) else number

    def reads(self, required: bool) -> Iterator[Read]:
        return self.operand.reads(required)


class Filtered(Node):
    """A value that went through a filter."""

    __slots__ = ("arguments", "filter", "named", "subject")

    def __init__(self, subject: Node, filter: Filter, arguments: Sequence[Node], named: Mapping[str, Node]) -> None:
        self.subject = subject
        self.filter = filter
        self.arguments = arguments
        self.named = named

    def evaluate(self, names: Names) -> Any:
        value = self.subject.evaluate(names)
        if self.filter.structural:
            hidden = isinstance(value, Secret)
            value = plain(value)
        else:
            value, hidden = opened(value)
        arguments = [value]
        for node in self.arguments:
            argument, secret = opened(node.evaluate(names))
            arguments.append(argument)
            hidden = hidden or secret
        named = {}
        for key, node in self.named.items():
            named[key], secret = opened(node.evaluate(names))
            hidden = hidden or secret
        result = self.filter.apply(*arguments, **named)
        if isinstance(result, str):
            total_length(len(result))
        return Secret(result) if hidden else result

    def reads(self, required: bool) -> Iterator[Read]:
        for node in (self.subject, *self.arguments, *self.named.values()):
            yield from node.reads(required)


class Default(Node):
    """`a | default(b)`: b where anything in a is undefined; with `true`, also where a is false."""

    __slots__ = ("fallback", "subject", "untrue")

    def __init__(self, subject: Node, fallback: Node, untrue: Node) -> None:
        self.subject = subject
        self.fallback = fallback
        self.untrue = untrue

    def evaluate(self, names: Names) -> Any:
        try:
            value = self.subject.evaluate(names)
        except UndefinedNameError:
            return self.fallback.evaluate(names)
        if truth(self.untrue.evaluate(names)) and not truth(value):
            return self.fallback.evaluate(names)
        return value

    def reads(self, required: bool) -> Iterator[Read]:
        for node in (self.subject, self.fallback, self.untrue):
            yield from node.reads(False)


class Defined(Node):
    """`a is defined`."""

    __slots__ = ("expected", "subject")

    def __init__(self, subject: Node, expected: bool) -> None:
        self.subject = subject
        self.expected = expected

    def evaluate(self, names: Names) -> Any:
        try:
            self.subject.evaluate(names)
        except UndefinedNameError:
            return not self.expected
        return self.expected

    def reads(self, required: bool) -> Iterator[Read]:
        return self.subject.reads(False)


def _is_number(value: Any) -> bool:
    try:
        numeric(value)
    except StepError:
        return False
    return True


TESTS: Final[Mapping[str, Callable[[Any], bool]]] = {
    "boolean": lambda value: isinstance(value, bool),
    "mapping": lambda value: isinstance(value, Mapping),
    "none": lambda value: value is None,
    "null": lambda value: value is None,
    "number": _is_number,
    "sequence": lambda value: isinstance(value, (list, tuple)),
    "string": lambda value: isinstance(value, str),
}


class Test(Node):
    """`a is none`, `a is not mapping`."""

    __slots__ = ("expected", "passes", "subject")

    def __init__(self, subject: Node, passes: Callable[[Any], bool], expected: bool) -> None:
        self.subject = subject
        self.passes = passes
        self.expected = expected

    def evaluate(self, names: Names) -> Any:
        return self.passes(plain(self.subject.evaluate(names))) is self.expected

    def reads(self, required: bool) -> Iterator[Read]:
        return self.subject.reads(required)
