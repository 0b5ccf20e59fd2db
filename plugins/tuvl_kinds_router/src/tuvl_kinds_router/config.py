"""The keys of a Router step."""

from __future__ import annotations

from typing import Any, Final

import attrs

from tuvl_core import Condition, Path, Template
from tuvl_core import field as key

__all__ = ["NO_VALUE", "OPERATORS", "UNARY", "Comparison", "Match", "RouterConfig"]

UNARY: Final = ("is_empty", "is_not_empty")
OPERATORS: Final = ("eq", "neq", "gt", "gte", "lt", "lte", "in", "contains", *UNARY)
NO_VALUE: Final[Template[Any]] = Template.of(None)
"""Stands for a `value` that was not written; a `null` that was written is another object."""


@attrs.frozen(kw_only=True)
class Comparison:
    """A comparison of one value of the context."""

    field: Path = key(doc="Dotted path of the value, such as `order.total`.")
    operator: str = key(choices=OPERATORS, doc="How to compare it.")
    value: Template[Any] = key(default=NO_VALUE, doc="What to compare it with.")


@attrs.frozen(kw_only=True)
class Match:
    """A value of the context that is the signal itself."""

    field: Path = key(doc="Dotted path of the value.")


@attrs.frozen(kw_only=True)
class RouterConfig:
    """The keys of a Router step: `condition` or `match`."""

    condition: Condition | Comparison | None = key(
        default=None, doc="A comparison, or an expression; the signal is `true` or `false`."
    )
    match: Match | None = key(default=None, doc="A value whose text is the signal.")
