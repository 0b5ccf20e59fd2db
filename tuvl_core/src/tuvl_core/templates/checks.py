"""What a compiled expression must not hold, refused before anything runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from tuvl_core.errors import TemplateError
from tuvl_core.templates.filters import Filter
from tuvl_core.templates.lexer import Cursor
from tuvl_core.templates.names import check_parts
from tuvl_core.templates.nodes import Constant, Item, ListOf, MappingOf, Name, Node

__all__ = ["check_arguments", "entry", "read_number", "refuse_non_numbers", "unexpected"]

_MAX_NUMBER: Final = 400
_MEANT: Final = {
    "&&": "write `and`",
    "||": "write `or`",
    "!": "write `not`",
    "=": "write `==` to compare",
    "**": "there are no powers",
    "(": "nothing can be called",
    ":": "there are no slices and no assignments",
}


def unexpected(cursor: Cursor) -> TemplateError:
    """Say that the current word does not belong where it stands."""
    hint = _MEANT.get(cursor.text) if cursor.kind == "sign" else None
    message = f"{cursor.describe()} is not expected here"
    return TemplateError(f"{message}: {hint}" if hint else message, cursor.start)


def entry(subject: Node, index: Node, start: int) -> Node:
    """Build `subject[index]`; below a path, a literal key only makes the path longer."""
    if isinstance(subject, Constant):
        raise TemplateError("a literal has no entries", start)
    if isinstance(index, Constant) and isinstance(index.value, str):
        check_parts((index.value,), start)
        if isinstance(subject, Name):
            return Name((*subject.parts, index.value))
    return Item(subject, index)


def refuse_non_numbers(sign: str, node: Node, start: int) -> None:
    """Refuse an operand that surely is no number: text is neither repeated nor formatted."""
    if sign == "+":
        return
    literal = isinstance(node, Constant) and (isinstance(node.value, bool) or not isinstance(node.value, (int, float)))
    if literal or isinstance(node, (ListOf, MappingOf)):
        raise TemplateError(f"`{sign}` stands between numbers only", start)


def check_arguments(
    name: str, filter: Filter, positional: Sequence[Node], named: Mapping[str, Node], start: int
) -> None:
    """Refuse arguments that a filter does not take, and the lack of those it needs."""
    places = [item for item in filter.arguments if not item.startswith("*")]
    free = {item.lstrip("*") for item in filter.arguments} - set(places[: len(positional)])
    unknown = set(named) - free
    if len(positional) > len(places) or unknown:
        takes = ", ".join(item.lstrip("*") for item in filter.arguments) or "none"
        raise TemplateError(f"the filter `{name}` has no such argument; it takes: {takes}", start)
    if len(positional) + len(named) < filter.required:
        needs = ", ".join(item.lstrip("*") for item in filter.arguments[: filter.required])
        raise TemplateError(f"the filter `{name}` needs: {needs}", start)


def read_number(text: str, start: int) -> int | float:
    """Read a number, within bounds."""
    if len(text) > _MAX_NUMBER:
        raise TemplateError(f"a number has more than {_MAX_NUMBER} characters", start)
    if text.isdigit():
        return int(text)
    number = float(text)
    if number == float("inf"):
        raise TemplateError("a number is too large", start)
    return number
