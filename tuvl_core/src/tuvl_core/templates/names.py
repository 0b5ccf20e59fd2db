"""Names that templates may read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from tuvl_core.context.names import ENGINE_NAMES
from tuvl_core.errors import TemplateError

__all__ = ["KEYWORDS", "NAME", "PATH", "check_parts", "path_parts"]

NAME: Final = r"[^\W\d]\w*"
PATH: Final = rf"{NAME}(?:\.\w+)*"

KEYWORDS: Final = frozenset(
    {"and", "else", "false", "if", "in", "is", "none", "not", "null", "or", "true"} | {"False", "None", "True"}
)
"""Words that are no names of the context."""

_MAX_PARTS: Final = 50
_PYTHON_NAME: Final = re.compile(r"__\w+__")


def path_parts(text: str, start: int) -> tuple[str, ...]:
    """Take a dotted path apart.

    Args:
        text: The path.
        start: Where it stands, for error messages.

    Raises:
        TemplateError: Templates may not read it.
    """
    parts = tuple(text.split("."))
    root = parts[0]
    if root[0] == "_" and root not in ENGINE_NAMES:
        known = ", ".join(sorted(ENGINE_NAMES))
        raise TemplateError(
            f"`{root}` is the engine's own; of names with a leading `_`, templates read {known}",
            start,
        )
    if len(parts) > _MAX_PARTS:
        raise TemplateError(f"a path has more than {_MAX_PARTS} names", start)
    if root in KEYWORDS:
        raise TemplateError(f"`{root}` is a word of the language and has no entries", start)
    check_parts(parts, start)
    return parts


def check_parts(parts: Sequence[str], start: int) -> None:
    """Refuse names that only Python's objects have."""
    for part in parts:
        if "__" in part and _PYTHON_NAME.fullmatch(part):
            raise TemplateError(f"`{part}` is no data: objects have no entries", start)
