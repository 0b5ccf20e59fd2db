"""The tight half of the grammar: one operand with its entries, filters and tests."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from tuvl_core.errors import TemplateError
from tuvl_core.templates.checks import check_arguments, entry, read_number, unexpected
from tuvl_core.templates.filters import FILTERS, Filter
from tuvl_core.templates.lexer import Cursor
from tuvl_core.templates.names import check_parts, path_parts
from tuvl_core.templates.nodes import Constant, ListOf, MappingOf, Name, Node, Tail
from tuvl_core.templates.operations import TESTS, Default, Defined, Filtered, Signed, Test

__all__ = ["Operands"]

_MAX_DEPTH: Final = 30
_MAX_NODES: Final = 200
_MAX_FILTERS: Final = 20
_WORDS: Final = {
    "true": True,
    "True": True,
    "false": False,
    "False": False,
    "null": None,
    "none": None,
    "None": None,
}
_ESCAPE: Final = re.compile(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)", re.DOTALL)
_ESCAPED: Final = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
_DEFAULT: Final = Filter(lambda value: value, "default_value", "boolean")


class Operands:
    """Reads operands; the grammar of operators builds on it.

    Args:
        cursor: At the first word of the expression.
    """

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self.depth = 0
        self._nodes = 0
        self._filters = 0

    def choice(self) -> Node:
        """Read an expression."""
        raise NotImplementedError

    def deepen(self) -> None:
        """Count one level of nesting."""
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise TemplateError(f"the expression is nested more than {_MAX_DEPTH} deep", self.cursor.start)

    def counted(self, node: Node) -> Node:
        """Count one part of the expression."""
        self._nodes += 1
        if self._nodes > _MAX_NODES:
            raise TemplateError(f"the expression has more than {_MAX_NODES} parts", self.cursor.start)
        return node

    def unary(self) -> Node:
        """Read one operand, signs and filters included."""
        node = self._filtered(self._tailed(self._signed()))
        if self.cursor.at("**", "("):
            raise unexpected(self.cursor)
        return node

    def _signed(self) -> Node:
        sign = self.cursor.text
        if not self.cursor.skip("-", "+"):
            return self._primary()
        self.deepen()
        node = Signed(sign, self._tailed(self._signed()))
        self.depth -= 1
        return self.counted(node)

    def _primary(self) -> Node:
        cursor = self.cursor
        kind, text, start = cursor.kind, cursor.text, cursor.start
        if kind == "number":
            return self._literal(read_number(text, start))
        if kind == "text":
            return self._literal(_unquoted(text))
        if kind == "word" and text in _WORDS:
            return self._literal(_WORDS[text])
        if kind == "name":
            cursor.advance()
            return self.counted(Name(path_parts(text, start)))
        if cursor.skip("("):
            return self._parenthesis()
        if cursor.skip("["):
            return self.counted(ListOf(self._items("]", "a list")))
        if cursor.skip("{"):
            return self._mapping()
        if kind == "end" or cursor.at_close:
            raise TemplateError("an expression is missing here", start)
        raise unexpected(cursor)

    def _literal(self, value: Any) -> Node:
        self.cursor.advance()
        return Constant(value)

    def _parenthesis(self) -> Node:
        """Read what is in parentheses: `(a)` is a itself; `()` and `(a, b)` are lists."""
        if self.cursor.skip(")"):
            return self.counted(ListOf(()))
        first = self.choice()
        if self.cursor.skip(","):
            return self.counted(ListOf((first, *self._items(")", "a list"))))
        self.cursor.expect(")", "what stands in parentheses")
        return first

    def _items(self, closing: str, what: str) -> Sequence[Node]:
        items: list[Node] = []
        while not self.cursor.skip(closing):
            items.append(self.choice())
            if not self.cursor.skip(","):
                self.cursor.expect(closing, what)
                break
        return items

    def _mapping(self) -> Node:
        entries: dict[str, Node] = {}
        while not self.cursor.skip("}"):
            key = self.cursor.text
            if self.cursor.kind != "text":
                raise TemplateError("the key of a mapping has to be a quoted text", self.cursor.start)
            self.cursor.advance()
            self.cursor.expect(":", "a key")
            entries[_unquoted(key)] = self.choice()
            if not self.cursor.skip(","):
                self.cursor.expect("}", "a mapping")
                break
        return self.counted(MappingOf(entries))

    def _tailed(self, node: Node) -> Node:
        cursor = self.cursor
        while True:
            start = cursor.start
            if cursor.kind == "tail":
                if isinstance(node, Constant):
                    raise TemplateError("a literal has no entries", start)
                parts = tuple(cursor.text[1:].split("."))
                check_parts(parts, start + 1)
                cursor.advance()
                node = self.counted(Tail(node, parts))
            elif cursor.skip("["):
                index = self.choice()
                if cursor.at(":"):
                    raise unexpected(cursor)
                cursor.expect("]", "an index")
                node = self.counted(entry(node, index, start + 1))
            else:
                return node

    def _filtered(self, node: Node) -> Node:
        while True:
            if self.cursor.skip("|"):
                node = self._tailed(self.counted(self._filter(node)))
            elif self.cursor.skip("is"):
                node = self.counted(self._test(node))
            else:
                return node

    def _filter(self, subject: Node) -> Node:
        name, start = self.cursor.text, self.cursor.start
        filter = _DEFAULT if name in ("default", "d") else FILTERS.get(name)
        if self.cursor.kind != "name" or filter is None:
            known = ", ".join(sorted({*FILTERS, "default"}))
            raise TemplateError(f"there is no filter {self.cursor.describe()}; there are: {known}", start)
        self._filters += 1
        if self._filters > _MAX_FILTERS:
            raise TemplateError(f"the expression has more than {_MAX_FILTERS} filters", start)
        self.cursor.advance()
        positional: list[Node] = []
        named: dict[str, Node] = {}
        if self.cursor.skip("("):
            self._arguments(positional, named)
        check_arguments(name, filter, positional, named, start)
        if filter is not _DEFAULT:
            return Filtered(subject, filter, positional, named)
        given = dict(zip(filter.arguments, positional, strict=False)) | named
        return Default(
            subject,
            given.get("default_value", Constant("")),
            given.get("boolean", Constant(False)),
        )

    def _arguments(self, positional: list[Node], named: dict[str, Node]) -> None:
        cursor = self.cursor
        while not cursor.skip(")"):
            start = cursor.start
            node = self.choice()
            if cursor.skip("="):
                if not isinstance(node, Name) or len(node.parts) > 1 or node.parts[0] in named:
                    raise TemplateError("this is no name of an argument, or is given twice", start)
                named[node.parts[0]] = self.choice()
            elif named:
                raise TemplateError("an argument without a name stands after one with", start)
            else:
                positional.append(node)
            if not cursor.skip(","):
                cursor.expect(")", "the arguments of a filter")
                break

    def _test(self, subject: Node) -> Node:
        expected = not self.cursor.skip("not")
        name, start = self.cursor.text, self.cursor.start
        if self.cursor.kind in ("name", "word"):
            if name in ("defined", "undefined"):
                self.cursor.advance()
                return Defined(subject, expected is (name == "defined"))
            if name.lower() in TESTS:
                self.cursor.advance()
                return Test(subject, TESTS[name.lower()], expected)
        known = ", ".join(sorted({*TESTS, "defined", "undefined"}))
        raise TemplateError(f"`is` cannot ask for {self.cursor.describe()}; it can for: {known}", start)


def _unquoted(text: str) -> str:
    return _ESCAPE.sub(_unescape, text[1:-1])


def _unescape(found: re.Match[str]) -> str:
    code = found[1]
    if len(code) > 1:
        return chr(int(code[1:], 16))
    return _ESCAPED.get(code, code if code in "\\'\"/" else found[0])
