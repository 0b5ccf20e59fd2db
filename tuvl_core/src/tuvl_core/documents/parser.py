"""The YAML parser: PyYAML's C parser, or the pure one where the extension is missing.

Only the syntax is PyYAML's. Tags are not resolved and nothing is constructed here, so no tag can
ever build an object; depth and size are bounded while the tree grows.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, Final

from tuvl_core.documents.nodes import Node, is_plain

__all__ = ["MAX_DEPTH", "MAX_NODES", "TooLargeError", "compose", "has_c_parser"]

MAX_DEPTH: Final = 64
MAX_NODES: Final = 100_000


class TooLargeError(Exception):
    """The document is deeper or has more nodes than any project needs."""


class _Bounds:
    """Stands in for PyYAML's resolver: its calls around each node are where the tree is bounded."""

    depth = 0
    nodes = 0

    def descend_resolver(self, parent: Any, index: Any) -> None:
        self.depth += 1
        self.nodes += 1
        if self.depth > MAX_DEPTH:
            raise TooLargeError(f"nested more than {MAX_DEPTH} levels deep")
        if self.nodes > MAX_NODES:
            raise TooLargeError(f"more than {MAX_NODES} values")

    def ascend_resolver(self) -> None:
        self.depth -= 1

    def check_resolver_prefix(self, *args: Any) -> bool:
        return False

    def resolve(self, kind: Any, value: Any, implicit: Any) -> None:
        return None


def has_c_parser() -> bool:
    """Whether PyYAML came with its C extension."""
    try:
        import yaml._yaml  # noqa: F401
    except ImportError:
        return False
    return True


@cache
def _parser_class() -> type[Any]:
    return _c_parser_class() if has_c_parser() else _pure_parser_class()


def _c_parser_class() -> type[Any]:
    from yaml._yaml import CParser

    class Parser(_Bounds, CParser):
        pass

    return Parser


def _pure_parser_class() -> type[Any]:
    from yaml import composer, parser, reader, scanner

    bases: Any = (_Bounds, reader.Reader, scanner.Scanner, parser.Parser, composer.Composer)

    def start(self: Any, text: str) -> None:
        reader.Reader.__init__(self, text)
        scanner.Scanner.__init__(self)
        parser.Parser.__init__(self)
        composer.Composer.__init__(self)

    return type("PureParser", bases, {"__init__": start})


def compose(text: str) -> Iterator[Node]:
    """Give the root node of each document of a stream; empty documents are left out.

    Raises:
        yaml.YAMLError: The text is no YAML.
        TooLargeError: A bound was reached.
    """
    parser = _parser_class()(text)
    try:
        while parser.check_node():
            root = parser.get_node()
            if not _is_empty(root):
                yield root
    finally:
        parser.dispose()


def _is_empty(root: Node) -> bool:
    return is_plain(root) and root.value == ""
