"""Unions: the value's own type says which member is meant."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any, Final, Literal, TypeVar, get_args, get_origin

import attrs

from tuvl_core.structure.containers import is_list_type, is_mapping_type, members
from tuvl_core.structure.fields import keys_of
from tuvl_core.structure.problems import ProblemsError
from tuvl_core.structure.scalars import wrong_type
from tuvl_core.templates import Condition, Expression, Path, Template
from tuvl_core.views import Secret

__all__ = ["describe", "takes", "union_hook", "unwrapped"]

Hook = Callable[[Any, Any], Any]

_SCALARS: Final[dict[Any, tuple[str, tuple[type, ...]]]] = {
    str: ("text", (str,)),
    int: ("a whole number", (int,)),
    float: ("a number", (int, float)),
    bool: ("true or false", (bool,)),
    type(None): ("nothing (null)", (type(None),)),
    Secret: ("text", (str,)),
    Path: ("a dotted path", (str,)),
    Expression: ("an expression", (str,)),
    Condition: ("a condition", (str,)),
}


def unwrapped(cls: Any) -> Any:
    """A type without `Annotated`, `NewType` and aliases around it."""
    while True:
        inner = getattr(cls, "__supertype__", None) or getattr(cls, "__value__", None)
        if inner is None and hasattr(cls, "__metadata__"):
            inner = cls.__origin__
        if inner is None:
            return cls
        cls = inner


def takes(cls: Any, value: Any) -> bool:
    """Whether a value has the shape of this type, so that a mistake in it is one of this type's."""
    cls = unwrapped(cls)
    if joined := members(cls):
        return any(takes(member, value) for member in joined)
    if cls in _SCALARS:
        shapes = _SCALARS[cls][1]
        referred = type(value) is str and "${" in value and cls is not type(None)
        return type(value) in shapes or referred
    if (get_origin(cls) or cls) is Template:
        return isinstance(value, str) or takes((*get_args(cls), Any)[0], value)
    if get_origin(cls) is Literal or (isinstance(cls, type) and issubclass(cls, enum.Enum)):
        return not isinstance(value, (dict, list)) and value is not None
    if is_list_type(cls):
        return isinstance(value, list)
    if is_mapping_type(cls) or attrs.has(get_origin(cls) or cls):
        return isinstance(value, dict)
    return cls in (Any, object) or isinstance(cls, TypeVar)


def describe(cls: Any) -> str:
    """What an author may write for a type."""
    cls = unwrapped(cls)
    if joined := members(cls):
        named = [member for member in joined if member is not type(None)]
        return " or ".join(dict.fromkeys(describe(member) for member in named))
    if cls in _SCALARS:
        return _SCALARS[cls][0]
    if (get_origin(cls) or cls) is Template:
        inner = describe((*get_args(cls), Any)[0])
        return "text" if inner == "text" else f"{inner} or a template"
    if is_list_type(cls):
        return "a list"
    return "a mapping" if is_mapping_type(cls) or attrs.has(get_origin(cls) or cls) else "a value"


def union_hook(cls: Any, hook_of: Callable[[Any], Hook]) -> Hook:
    """Give the hook of a union."""
    joined = members(cls)
    hooks = {member: hook_of(member) for member in joined}

    def hook(value: Any, _: Any) -> Any:
        if value is None and type(None) in joined:
            return None
        fitting = [member for member in joined if takes(member, value)]
        if not fitting and Secret in joined:
            return hooks[Secret](value, Secret)
        if not fitting:
            raise wrong_type(describe(cls), value)
        if isinstance(value, dict):
            fitting.sort(key=lambda member: _strangers(member, value))
        first: ProblemsError | None = None
        for member in fitting:
            try:
                return hooks[member](value, member)
            except ProblemsError as error:
                first = first or error
        assert first is not None
        raise first

    return hook


def _strangers(cls: Any, value: dict[str, Any]) -> int:
    """How many keys of a mapping a class does not know: the fewer, the likelier it is meant."""
    cls = unwrapped(cls)
    if not attrs.has(get_origin(cls) or cls):
        return 0
    keys = keys_of(get_origin(cls) or cls)
    missing = sum(1 for key in keys if key.required and key.name not in value)
    return missing + len(value.keys() - {key.name for key in keys})
