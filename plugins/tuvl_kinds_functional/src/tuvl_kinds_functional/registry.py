"""The `@node` decorator, and where registrations go while a project's files are loaded."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Final, TypeVar

__all__ = ["COLLECTING", "Registered", "node"]

F = TypeVar("F", bound=Callable[..., Any])

Registered = dict[str, list[Any]]
"""What was registered under each name; more than one object under a name is a mistake."""

COLLECTING: Final[ContextVar[Registered | None]] = ContextVar("tuvl_nodes", default=None)
"""The registrations of the project that is being loaded right now; None at any other time."""


def node(name: str) -> Callable[[F], F]:
    """Make a function available as `runner: <name>`.

    Write the name as a literal: `tuvl validate` reads it from the source, without running it. The
    function itself is returned unchanged, so that it can be called and tested like any other.

    Args:
        name: What a Functional step writes as its `runner`; unique in the project.

    Example:
        >>> @node("greet")
        ... def greet(ctx):
        ...     return {"greeting": f"Hello {ctx['name']}"}
        >>> greet({"name": "Ada"})
        {'greeting': 'Hello Ada'}
    """
    if not isinstance(name, str) or not name.strip() or ":" in name:
        raise TypeError(
            "@node needs a name without a colon, such as @node('policy_check'); "
            f"got {getattr(name, '__name__', name)!r}"
        )

    def register(function: F) -> F:
        collecting = COLLECTING.get()
        if collecting is not None:
            same = collecting.setdefault(name, [])
            if not any(item is function for item in same):
                same.append(function)
        return function

    return register
