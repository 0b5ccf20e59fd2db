"""One document of a file: plain data, and the node tree that knows where everything stands."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

import attrs

from tuvl_core.diagnostics import Diagnostic, Location
from tuvl_core.documents.nodes import Mark, Node, is_block, is_plain, item
from tuvl_core.documents.position import line_and_column, offset_in_source

__all__ = ["Document"]

_BREAK: Final = re.compile(r"\r\n|\r|\n")


@attrs.define(kw_only=True, eq=False)
class Document:
    """One document.

    Attributes:
        path: The file, relative to the project's root, with `/` between folders.
        data: What it holds, as plain data; mapping keys are their source text.
        root: Its node tree.
        text: The text of the whole file.
        problems: What is wrong with it as YAML.
    """

    path: str
    data: dict[str, Any]
    root: Node = attrs.field(repr=False)
    text: str = attrs.field(repr=False)
    problems: tuple[Diagnostic, ...] = ()

    @property
    def kind(self) -> str | None:
        """What stands at `kind:`, or None."""
        return self.raw(("kind",)) or None

    @property
    def name(self) -> str | None:
        """What stands at `metadata.name`, or None."""
        return self.raw(("metadata", "name")) or None

    @property
    def schema_version(self) -> str:
        """What stands at `metadata.schema_version`; `v1` where nothing does."""
        return self.raw(("metadata", "schema_version")) or "v1"

    @property
    def enabled(self) -> bool:
        """Whether the document counts; false only where `enabled: false` is written."""
        return self.data.get("enabled") is not False

    def get(self, path: Sequence[str | int]) -> Any:
        """The value at a path.

        Raises:
            KeyError: There is none.
        """
        value: Any = self.data
        for part in path:
            try:
                value = value[part]
            except (KeyError, IndexError, TypeError):
                raise KeyError(".".join(map(str, path))) from None
        return value

    def raw(self, path: Sequence[str | int]) -> str | None:
        """The source text of the scalar at a path; None if there is no scalar or it is empty."""
        node = self._node(path)
        if node is None or node.id != "scalar":
            return None
        if is_plain(node) and node.value == "":
            return None
        return str(node.value)

    def locate(self, path: Sequence[str | int] = (), *, key: bool = False, offset: int | None = None) -> Location:
        """Where a value stands; the nearest thing around it that exists, where it does not.

        Args:
            path: Keys and indexes from the document's root.
            key: Give the place of the key, not of the value.
            offset: For text: give the place of this character of its value.
        """
        anchor_key, node, complete = self._walk(path)
        if complete and offset is not None and node.id == "scalar":
            index = offset_in_source(self.text, node, offset)
            line, column = line_and_column(self.text, index)
            return Location(path=self.path, line=line, column=column)
        # The value of a key that has its body below it starts a line later: the key says more.
        at_key = key or is_block(node) or (is_plain(node) and node.value == "")
        return self._at((anchor_key if at_key and anchor_key is not None else node).start_mark)

    def locate_again(self, path: Sequence[str | int], name: str) -> list[Location]:
        """Every place where the mapping at a path gives the key `name`."""
        node = self._node(path)
        if node is None or node.id != "mapping":
            return []
        return [self._at(key.start_mark) for key, _ in node.value if key.id == "scalar" and key.value == name]

    def source_line(self, number: int) -> str:
        """A line of the file, counted from 1; empty where there is none."""
        lines = _BREAK.split(self.text)
        return lines[number - 1] if 0 < number <= len(lines) else ""

    def _at(self, mark: Mark) -> Location:
        return Location(path=self.path, line=mark.line + 1, column=mark.column + 1)

    def _node(self, path: Sequence[str | int]) -> Node | None:
        _, node, complete = self._walk(path)
        return node if complete else None

    def _walk(self, path: Sequence[str | int]) -> tuple[Node | None, Node, bool]:
        """Go down a path: `(key of the last node, last node, whether the end was reached)`."""
        last_key, node = None, self.root
        for part in path:
            key, value = item(node, part)
            if value is None:
                return last_key, node, False
            last_key, node = key, value
        return last_key, node, True
