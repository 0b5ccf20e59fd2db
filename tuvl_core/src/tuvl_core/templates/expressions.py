"""Compiled expressions and conditions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import attrs

from tuvl_core.errors import StepError, TemplateError, TuvlError, UndefinedNameError
from tuvl_core.templates.names import KEYWORDS, PATH, path_parts
from tuvl_core.templates.nodes import Name, Node, Read
from tuvl_core.templates.values import truth

__all__ = [
    "Condition",
    "Expression",
    "compile_condition",
    "compile_expression",
    "failed",
    "merge_reads",
    "placeholder",
]

_PATH_ALONE: Final = re.compile(rf"\s*({PATH})\s*")
_PATH_AND_CLOSE: Final = re.compile(rf"\s*({PATH})\s*\}}\}}")
_SHOWN: Final = 80


def failed(source: str, problem: object) -> StepError:
    """Say that an expression, or what became of it, does not work with these values."""
    shown = source if len(source) <= _SHOWN else source[:_SHOWN] + "…"
    return StepError(f"`{{{{ {shown} }}}}`: {problem}", type="template_error")


@attrs.frozen(repr=False)
class Expression:
    """A compiled expression, such as `order.total > 100`; safe to share between runs.

    Attributes:
        source: The expression as it was written.
        parts: The names of the path, if it is nothing but a dotted path.
        reads: The places it looks at.
    """

    source: str
    _node: Node = attrs.field(eq=False)
    parts: tuple[str, ...] | None = attrs.field(init=False, eq=False)
    reads: tuple[Read, ...] = attrs.field(init=False, eq=False)

    def __attrs_post_init__(self) -> None:
        node = self._node
        object.__setattr__(self, "parts", node.parts if isinstance(node, Name) else None)
        object.__setattr__(self, "reads", merge_reads(node.reads(True)))

    @property
    def evaluator(self) -> Callable[[Mapping[str, Any]], Any]:
        """What `evaluate` comes down to: a path can only be undefined, so it needs no guard."""
        return self.evaluate if self.parts is None else self._node.evaluate

    def evaluate(self, names: Mapping[str, Any]) -> Any:
        """Compute the value.

        Args:
            names: What the expression reads; in a step, `call.names`.

        Raises:
            UndefinedNameError: A name has no value and no default.
            StepError: The values do not fit the operators and filters.
        """
        try:
            return self._node.evaluate(names)
        except UndefinedNameError as problem:
            if self.parts is not None:
                raise
            raise UndefinedNameError(str(failed(self.source, problem))) from None
        except TuvlError as problem:
            raise failed(self.source, problem) from None
        except Exception as problem:
            # A comparison, hash or length that a value brings along may raise anything.
            text = f"the values do not fit ({type(problem).__name__})"
            raise failed(self.source, text) from problem

    def __deepcopy__(self, memo: dict[int, Any]) -> Expression:
        return self

    def __str__(self) -> str:
        return self.source

    def __repr__(self) -> str:
        return f"Expression({self.source!r})"


@attrs.frozen
class Condition:
    """A compiled condition: an expression of which only the truth counts.

    Attributes:
        expression: What decides.
    """

    expression: Expression

    @property
    def source(self) -> str:
        """The condition as it was written, without braces."""
        return self.expression.source

    @property
    def reads(self) -> tuple[Read, ...]:
        """The places it looks at."""
        return self.expression.reads

    def evaluate(self, names: Mapping[str, Any]) -> bool:
        """Decide; the text `false` is false. Raises what `Expression.evaluate` raises."""
        return truth(self.expression.evaluate(names))


def compile_expression(text: str) -> Expression:
    """Compile one expression, written without braces.

    Raises:
        TemplateError: It is none; `offset` says where.
    """
    found = _PATH_ALONE.fullmatch(text)
    if found is not None and found[1] not in KEYWORDS:
        return Expression(found[1], Name(path_parts(found[1], found.start(1))))
    from tuvl_core.templates.parser import parse_expression

    return Expression(text.strip(), parse_expression(text))


def placeholder(source: str, start: int, shown: str | None = None) -> tuple[Expression, int]:
    """Compile the expression of one placeholder, and say where the text after it begins.

    Args:
        source: The template.
        start: Where the expression begins, after the opening braces.
        shown: What error messages show in place of the expression.

    Raises:
        TemplateError: It is no expression, or has no end.
    """
    found = _PATH_AND_CLOSE.match(source, start)
    if found is not None and found[1] not in KEYWORDS:
        # Nearly every placeholder is a path, for which no grammar has to be loaded.
        node: Node = Name(path_parts(found[1], found.start(1)))
        return Expression(shown or found[1], node), found.end()
    from tuvl_core.templates.parser import parse_placeholder

    node, end = parse_placeholder(source, start)
    return Expression(shown or source[start : end - 2].strip(), node), end


def compile_condition(text: str) -> Condition:
    """Compile a condition: one expression, with or without `{{ }}` around it.

    Raises:
        TemplateError: It is none; `offset` says where.
    """
    start = len(text) - len(text.lstrip())
    if not text.startswith("{{", start):
        return Condition(compile_expression(text))
    expression, end = placeholder(text, start + 2)
    if text[end:].strip():
        raise TemplateError(
            "a condition is one expression: put all of it inside `{{ }}`, or leave the braces out",
            end,
        )
    return Condition(expression)


def merge_reads(reads: Iterable[Read]) -> tuple[Read, ...]:
    """Give each path once; it is required if one of its reads is."""
    merged: dict[tuple[str, ...], bool] = {}
    for path, required in reads:
        merged[path] = merged.get(path, False) or required
    return tuple([Read(path, required) for path, required in merged.items()])
