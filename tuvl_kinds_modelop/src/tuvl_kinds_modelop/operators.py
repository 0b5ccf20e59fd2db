"""What filters compare by."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, Final

__all__ = ["LIKEABLE", "NAMES", "OPERATORS", "UNCOMPARABLE"]

OPERATORS: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "eq": operator.eq,
    "gt": operator.gt,
    "gte": operator.ge,
    "lt": operator.lt,
    "lte": operator.le,
}
"""Operators with one value of the field's own type."""

NAMES: Final = (*OPERATORS, "in", "like", "is_null")
"""Every operator."""

UNCOMPARABLE: Final = frozenset({"jsonb", "bytea"})
"""Types of which only `is_null` can be asked."""

LIKEABLE: Final = frozenset({"string", "text", "varchar", "enum"})
"""Types that `like` looks at."""
