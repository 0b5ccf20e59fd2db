"""From the node tree to plain data: dicts, lists, text, numbers, booleans, None.

What is wrong is reported and the rest is built as far as it makes sense, so that one mistake hides
no other.
"""

from __future__ import annotations

from typing import Any, Final

from tuvl_core.diagnostics import Code, Diagnostic, Location
from tuvl_core.documents import codes
from tuvl_core.documents.nodes import Node, excerpt, is_plain
from tuvl_core.documents.parser import MAX_DEPTH, MAX_NODES, TooLargeError
from tuvl_core.documents.scalars import PREFIX, ScalarError, plain_value, tagged_value

__all__ = ["Builder"]

MAX_PROBLEMS: Final = 50
"""A document that is wrong all over is not worth a diagnostic for each place."""

_COLLECTION_TAGS: Final = {
    "mapping": (None, "!", f"{PREFIX}map"),
    "sequence": (None, "!", f"{PREFIX}seq"),
}


class Builder:
    """Builds the data of one document and collects what is wrong with it."""

    def __init__(self, text: str, shown: str) -> None:
        """Start on a document of the file `shown` that holds `text`."""
        self.problems: list[Diagnostic] = []
        self._text = text
        self._shown = shown
        self._nodes = 0
        self._open: set[int] = set()

    def build(self, node: Node, depth: int = 1) -> Any:
        """Build the value of a node.

        Raises:
            TooLargeError: Aliases make the document larger than its bounds.
        """
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise TooLargeError(f"its aliases unfold to more than {MAX_NODES} values")
        if node.id == "scalar":
            if node.tag is None and node.style:  # type: ignore[attr-defined]
                return node.value  # Quotes or a block: text, whatever it looks like.
            return self._scalar(node)
        if depth > MAX_DEPTH:
            raise TooLargeError(f"its aliases unfold to more than {MAX_DEPTH} levels")
        if id(node) in self._open:
            self._problem(codes.RECURSIVE, "an alias stands inside the very value it names", node)
            return None
        if node.tag not in _COLLECTION_TAGS[node.id]:
            self._refuse_tag(node)
        self._open.add(id(node))
        try:
            return self._collection(node, depth)
        finally:
            self._open.discard(id(node))

    def _collection(self, node: Node, depth: int) -> Any:
        if node.id == "sequence":
            return [self.build(child, depth + 1) for child in node.value]
        if self._is_unquoted_template(node):
            return self._unquoted_template(node)
        return self._mapping(node, depth)

    def _mapping(self, node: Node, depth: int) -> dict[str, Any]:
        data: dict[str, Any] = {}
        first: dict[str, Node] = {}
        for key, value in node.value:
            self._nodes += 1
            ordinary = key.id == "scalar" and key.tag is None and key.value != "<<"
            if not ordinary and not self._is_usable_key(key):
                continue
            name = key.value
            if name in first:
                self._duplicate(first[name], key)
                continue
            first[name] = key
            data[name] = self.build(value, depth + 1)
        return data

    def _duplicate(self, first: Node, second: Node) -> None:
        here, there = second.start_mark.line + 1, first.start_mark.line + 1
        self._problem(
            codes.DUPLICATE_KEY,
            f"`{excerpt(second.value)}` is given twice: here (line {here}) and on line {there}",
            second,
            hint="keep one of the two",
        )

    def _is_usable_key(self, key: Node) -> bool:
        if key.id != "scalar":
            self._problem(
                codes.COMPLEX_KEY,
                f"a {key.id} cannot be a key; keys are plain text",
                key,
                hint="quote the text if it is meant literally",
            )
            return False
        if key.value == "<<" and is_plain(key):
            self._problem(
                codes.MERGE_KEY,
                "`<<` (merge) is no part of YAML 1.2",
                key,
                hint="write the keys out, or give the whole value as an alias",
            )
            return False
        if key.tag not in (None, "!", f"{PREFIX}str"):
            self._refuse_tag(key)
        return True

    def _scalar(self, node: Node) -> Any:
        tag = node.tag
        try:
            if tag is None:
                return plain_value(node.value)
            if tag == "!":
                return node.value
            return tagged_value(tag, node.value)
        except KeyError:
            self._refuse_tag(node)
        except ScalarError as error:
            self._problem(codes.BAD_SCALAR, str(error), node, hint="quote it if it is text")
        return node.value

    def _is_unquoted_template(self, node: Node) -> bool:
        """Whether this is `{{ x }}` without quotes: to YAML a mapping whose key is a mapping."""
        index = node.start_mark.index
        return self._text[index : index + 2] == "{{" and any(key.id == "mapping" for key, _ in node.value)

    def _unquoted_template(self, node: Node) -> str:
        source = self._text[node.start_mark.index : node.end_mark.index]
        self._problem(
            codes.UNQUOTED_TEMPLATE,
            "a value that starts with `{{` must be quoted: to YAML it is a mapping",
            node,
            hint=f'write "{source}"' if len(source) <= 80 and "\n" not in source else "quote it",
        )
        return source

    def _refuse_tag(self, node: Node) -> None:
        tag = excerpt(str(node.tag).replace(PREFIX, "!!"))
        self._problem(
            codes.TAG,
            f"the tag `{tag}` is not allowed; tags never build objects here",
            node,
            hint="remove the tag",
        )

    def _problem(self, code: Code, message: str, node: Node, hint: str | None = None) -> None:
        if len(self.problems) < MAX_PROBLEMS:
            mark = node.start_mark
            location = Location(path=self._shown, line=mark.line + 1, column=mark.column + 1)
            self.problems.append(Diagnostic.of(code, message, location=location, hint=hint))
