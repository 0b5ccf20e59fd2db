"""From values of the context to a signal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import attrs

from tuvl_core import (
    UNSET,
    Condition,
    Path,
    StepCall,
    StepError,
    Template,
    UndefinedNameError,
    compare,
    is_empty,
    text_of,
)

__all__ = ["ByComparison", "ByCondition", "ByValue", "Decision"]

_TRUE_WHEN_MISSING = frozenset({"neq", "is_empty"})


class Decision(Protocol):
    """How a Router step finds its signal."""

    def signal(self, call: StepCall) -> str:
        """Decide, for one execution."""
        ...


@attrs.frozen
class ByCondition:
    """`condition: "<expression>"`."""

    condition: Condition

    def signal(self, call: StepCall) -> str:
        """`true` or `false`, by the truth of the expression's value."""
        return _text(self.condition.evaluate(call.names))


@attrs.frozen
class ByComparison:
    """`condition: {field, operator, value}`."""

    path: Path
    operator: str
    value: Template[Any]

    def signal(self, call: StepCall) -> str:
        """`true` or `false`; a missing field makes `neq` and `is_empty` true, all else false."""
        found = self.path.get(call.names, UNSET)
        if found is UNSET:
            return _text(self.operator in _TRUE_WHEN_MISSING)
        if self.operator == "is_empty":
            return _text(is_empty(found))
        if self.operator == "is_not_empty":
            return _text(not is_empty(found))
        value = self.value.render(call.names)
        try:
            return _text(compare(self.operator, found, value))
        except StepError as error:
            raise StepError(
                f"`{self.path.source} {self.operator} …` cannot be decided: {error}",
                type="cannot_compare",
            ) from None


@attrs.frozen
class ByValue:
    """`match: {field}`."""

    path: Path
    routes: Mapping[str, str]

    def signal(self, call: StepCall) -> str:
        """The value's text where it has a route; else `default`, where that has one.

        Without a `default` route nothing is hidden: the value leaves as a signal that the engine
        reports as unrouted, and a missing field is an error.
        """
        found = self.path.get(call.names, UNSET)
        label = None if found is UNSET or isinstance(found, (Mapping, list, tuple)) else text_of(found)
        if label is not None and label in self.routes:
            return label
        if "default" in self.routes:
            return "default"
        if found is UNSET:
            raise UndefinedNameError(f"{self.path.source!r} is not in the context, and there is no `default` route")
        if not label:
            what = "empty" if label == "" else f"a {type(found).__name__}"
            raise StepError(
                f"{self.path.source!r} is {what}, which is no signal, and there is no `default` route",
                type="no_signal",
            )
        return label


def _text(decided: bool) -> str:
    return "true" if decided else "false"
