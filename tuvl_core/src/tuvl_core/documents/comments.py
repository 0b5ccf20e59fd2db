"""Comments of a file. Nothing else reads them; only those that begin with a given word are looked for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tuvl_core.documents.document import Document
from tuvl_core.documents.nodes import Node

__all__ = ["Comment", "comments_of"]


class Comment(NamedTuple):
    """A comment.

    Attributes:
        line: Its line, from 1.
        column: Where its `#` stands, from 1.
        text: What stands behind the word that was looked for.
        covers: The line it is about: its own, or the next one that holds something where it stands alone.
    """

    line: int
    column: int
    text: str
    covers: int


def comments_of(documents: Sequence[Document], word: str) -> list[Comment]:
    """Every comment that begins with a word, in order.

    Args:
        documents: All documents of one file.
        word: Such as `tuvl:`.
    """
    text = documents[0].text
    if word not in text:
        return []
    start = re.compile(rf"(?:^|(?<=[ \t]))#[ \t]*{re.escape(word)}[ \t]*(.*)$")
    lines = re.split(r"\r\n|\r|\n", text)
    found = [(number, match) for number, line in enumerate(lines, 1) if (match := start.search(line))]
    texts = [span for document in documents for span in _scalars(document.root)]
    return [
        Comment(number, match.start() + 1, match[1].strip(), _covered(lines, number, match.start()))
        for number, match in found
        if not any(begin <= (number - 1, match.start()) < end for begin, end in texts)
    ]


def _covered(lines: list[str], number: int, column: int) -> int:
    if lines[number - 1][:column].strip():
        return number
    for below in range(number, len(lines)):
        if not lines[below].lstrip().startswith("#"):
            return below + 1
    return number


def _scalars(root: Node) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Begin and end, as line and column from 0, of each text: what looks like a comment there is none."""
    waiting, seen = [root], set()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:  # an alias
            continue
        seen.add(id(node))
        if node.id == "scalar":
            yield (node.start_mark.line, node.start_mark.column), (node.end_mark.line, node.end_mark.column)
        elif node.id == "mapping":
            waiting += [part for pair in node.value for part in pair]
        else:
            waiting += node.value
