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

__all__ = ["describe", "shape_of", "takes", "union_hook", "unwrapped"]

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


Fits = Callable[[Any], bool]


def takes(cls: Any, value: Any) -> bool:
    """Whether a value has the shape of this type, so that a mistake in it is one of this type's."""
    return shape_of(cls)(value)


def shape_of(cls: Any) -> Fits:
    """Give the test whether a value has the shape of a type."""
    cls = unwrapped(cls)
    origin = get_origin(cls) or cls
    if joined := members(cls):
        shapes = [shape_of(member) for member in joined]
        return lambda value: any(fits(value) for fits in shapes)
    if cls in _SCALARS:
        types = _SCALARS[cls][1]
        if cls is type(None) or str in types:
            return lambda value: type(value) in types
        return lambda value: type(value) in types or (type(value) is str and "${" in value)
    if origin is Template:
        inner = shape_of((*get_args(cls), Any)[0])
        return lambda value: isinstance(value, str) or inner(value)
    if origin is Literal or (isinstance(cls, type) and issubclass(cls, enum.Enum)):
        return lambda value: value is not None and not isinstance(value, (dict, list))
    if is_list_type(cls):
        return lambda value: isinstance(value, list)
    if is_mapping_type(cls) or attrs.has(origin):
        return lambda value: isinstance(value, dict)
    anything = cls in (Any, object) or isinstance(cls, TypeVar)
    return lambda value: anything


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
    shapes = [(member, shape_of(member)) for member in joined]
    named = [member for member in joined if member is not type(None)]
    only = named[0] if len(named) == 1 and attrs.has(named[0]) and describe(named[0]) == "a mapping" else None

    def hook(value: Any, _: Any) -> Any:
        if value is None and type(None) in joined:
            return None
        fitting = [member for member, fits in shapes if fits(value)]
        if not fitting and Secret in joined:
            return hooks[Secret](value, Secret)
        if not fitting and only is not None:
            fitting = [only]  # which says what to write
        if not fitting:
            raise wrong_type(describe(cls), value)
        if len(fitting) == 1:
            return hooks[fitting[0]](value, fitting[0])
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
