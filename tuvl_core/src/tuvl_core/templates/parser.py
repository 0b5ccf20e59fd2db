"""The grammar of expressions: a subset of Jinja's, with its precedence, closed by construction.

    choice     := or ('if' or 'else' choice)?
    or         := and ('or' and)*
    and        := not ('and' not)*
    not        := 'not'* comparison
    comparison := sum (('==' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | 'not' 'in') sum)*
    sum        := joined (('+' | '-') joined)*
    joined     := product ('~' product)*
    product    := unary (('*' | '/' | '//' | '%') unary)*
    unary      := ('-' | '+')* primary tail* ('|' filter | 'is' 'not'? test)*
    primary    := number | text | word | path | '(' choice ')' | list | mapping

There are no calls, no powers, no statements, no attributes of Python objects, and no way to add
them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tuvl_core.errors import TemplateError
from tuvl_core.templates.checks import refuse_non_numbers, unexpected
from tuvl_core.templates.lexer import Cursor
from tuvl_core.templates.nodes import Choice, Logic, Node
from tuvl_core.templates.operands import Operands
from tuvl_core.templates.operations import COMPARISONS, Chain, Comparison, Joined, Signed

__all__ = ["parse_expression", "parse_placeholder"]

_COMPARING: Final = frozenset(COMPARISONS) - {"not in"}


def parse_expression(source: str) -> Node:
    """Compile a text that is one expression.

    Raises:
        TemplateError: It is none.
    """
    cursor = Cursor(source, 0, len(source))
    node = _parse(cursor)
    if not cursor.at_end:
        raise unexpected(cursor)
    return node


def parse_placeholder(source: str, start: int) -> tuple[Node, int]:
    """Compile the expression of one placeholder.

    Args:
        source: The template.
        start: Where the expression begins, after the opening braces.

    Returns:
        The expression, and where the text after the closing braces begins.

    Raises:
        TemplateError: It is no expression, or has no end.
    """
    if source[start : start + 1] in ("-", "+"):
        raise TemplateError("leave a blank after `{{`; blanks around are not trimmed", start)
    cursor = Cursor(source, start, len(source))
    node = _parse(cursor)
    if cursor.at_end:
        raise TemplateError("`{{` has no `}}`", start - 2)
    if not cursor.at_close:
        raise unexpected(cursor)
    return node, cursor.start + 2


def _parse(cursor: Cursor) -> Node:
    try:
        return _Parser(cursor).choice()
    except RecursionError:
        raise TemplateError("the expression is nested too deep", cursor.start) from None


class _Parser(Operands):
    """Reads operators, from the loosest to the tightest."""

    def choice(self) -> Node:
        """Read an expression."""
        self.deepen()
        node = self._or()
        if self.cursor.skip("if"):
            condition = self._or()
            self.cursor.expect("else", "an inline `if`")
            node = self.counted(Choice(condition, node, self.choice()))
        self.depth -= 1
        return node

    def _or(self) -> Node:
        return self._logic("or", self._and, decides=True)

    def _and(self) -> Node:
        return self._logic("and", self._not, decides=False)

    def _logic(self, word: str, operand: Callable[[], Node], *, decides: bool) -> Node:
        operands = [operand()]
        while self.cursor.skip(word):
            operands.append(operand())
        if len(operands) == 1:
            return operands[0]
        return self.counted(Logic(operands, decides=decides))

    def _not(self) -> Node:
        if not self.cursor.skip("not"):
            return self._comparison()
        self.deepen()
        node = Signed("not", self._not())
        self.depth -= 1
        return self.counted(node)

    def _comparison(self) -> Node:
        first = self._sum()
        rest: list[tuple[str, Node]] = []
        while True:
            sign = self.cursor.text
            if self.cursor.skip(*_COMPARING):
                rest.append((sign, self._sum()))
            elif self.cursor.skip("not"):
                self.cursor.expect("in", "`not`")
                rest.append(("not in", self._sum()))
            else:
                return self.counted(Comparison(first, rest)) if rest else first

    def _sum(self) -> Node:
        return self._chain(("+", "-"), self._joined)

    def _joined(self) -> Node:
        items = [self._product()]
        while self.cursor.skip("~"):
            items.append(self._product())
        return items[0] if len(items) == 1 else self.counted(Joined(items))

    def _product(self) -> Node:
        return self._chain(("*", "/", "//", "%"), self.unary)

    def _chain(self, signs: tuple[str, ...], operand: Callable[[], Node]) -> Node:
        start = self.cursor.start
        first = operand()
        rest: list[tuple[str, Node]] = []
        while self.cursor.at(*signs):
            sign = self.cursor.text
            refuse_non_numbers(sign, first, start)
            self.cursor.advance()
            start = self.cursor.start
            node = operand()
            refuse_non_numbers(sign, node, start)
            rest.append((sign, self.counted(node)))
        return self.counted(Chain(first, rest)) if rest else first
