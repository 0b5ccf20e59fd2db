"""Strict scalars: a value has the type that the class asks for, or is refused.

The one conversion there is: a text that is brought in by `${…}` is read as YAML would read it, when
the field wants a number or a boolean.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, Final

from tuvl_core.documents import ScalarError, plain_value
from tuvl_core.structure import codes
from tuvl_core.structure.nearest import did_you_mean
from tuvl_core.structure.problems import Problem, ProblemsError, shown
from tuvl_core.views import Secret

__all__ = ["Expand", "choice_hook", "expand_tree", "scalar_hooks", "secret_hook", "wrong_type"]

Expand = Callable[[str], Any]
Hook = Callable[[Any, Any], Any]

_NAMES: Final = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    type(None): "nothing (null)",
}


def scalar_hooks(expand: Expand) -> dict[type, Hook]:
    """Give the hook of each scalar type."""

    def text(value: Any, _: Any) -> str:
        if type(value) is not str:
            raise wrong_type("text", value)
        return _open(expand(value))

    def checked(kind: type, fits: Callable[[Any], bool]) -> Hook:
        def hook(value: Any, _: Any) -> Any:
            read = _referred(value, expand)
            if not fits(read):
                raise wrong_type(_NAMES[kind], value, referred=read is not value)
            return float(read) if kind is float else read

        return hook

    return {
        str: text,
        int: checked(int, lambda value: type(value) is int),
        float: checked(float, _is_finite),
        bool: checked(bool, lambda value: type(value) is bool),
        type(None): checked(type(None), lambda value: value is None),
    }


def secret_hook(expand: Expand) -> Hook:
    """Give the hook of `Secret`: a text that no message ever shows."""

    def hook(value: Any, _: Any) -> Secret:
        if type(value) is not str:
            kind = "a mapping" if isinstance(value, dict) else "a list"
            got = kind if isinstance(value, (dict, list)) else "something else"
            message = f"expected text, got {got}"
            raise ProblemsError(Problem(code=codes.WRONG_TYPE, message=message, hint="quote it"))
        return Secret(expand(value))

    return hook


def choice_hook(choices: Iterable[Any], expand: Expand) -> Hook:
    """Give the hook of a type whose values are listed."""
    allowed = tuple(choices)

    def hook(value: Any, _: Any) -> Any:
        read = _open(expand(value)) if isinstance(value, str) else value
        for choice in allowed:
            if type(choice) is type(read) and choice == read:
                return choice
        raise not_allowed(value, allowed)

    return hook


def expand_tree(value: Any, expand: Expand) -> Any:
    """Expand every text in a tree of lists and mappings; keys stay as they are.

    Raises:
        ProblemsError: With the path of each text that cannot be expanded.
    """
    if isinstance(value, str):
        return expand(value)
    if not isinstance(value, (dict, list)):
        return value
    found: list[Problem] = []
    items = value.items() if isinstance(value, dict) else enumerate(value)
    built = {}
    for key, item in items:
        try:
            built[key] = expand_tree(item, expand)
        except ProblemsError as error:
            found.extend(error.below(key))
    if found:
        raise ProblemsError(*found)
    return built if isinstance(value, dict) else list(built.values())


def wrong_type(expected: str, value: Any, *, referred: bool = False, hint: str | None = None) -> ProblemsError:
    """Say what was expected and what was found, and what to write; a variable's own value is never shown."""
    if referred:
        message = f"expected {expected}, and {shown(value)} gives something else"
        return ProblemsError(Problem(code=codes.WRONG_TYPE, message=message))
    message = f"expected {expected}, got {shown(value)}"
    return ProblemsError(Problem(code=codes.WRONG_TYPE, message=message, hint=hint or _quotes(expected, value)))


def not_allowed(value: Any, allowed: tuple[Any, ...]) -> ProblemsError:
    """Say which values are allowed, and which of them was probably meant."""
    listed = ", ".join(_yaml(choice) for choice in allowed)
    message = f"expected one of {listed}; got {shown(value)}"
    hint = did_you_mean(value, map(str, allowed)) if isinstance(value, str) else None
    return ProblemsError(Problem(code=codes.BAD_VALUE, message=message, hint=hint))


def _referred(value: Any, expand: Expand) -> Any:
    """Read what `${…}` brings in as YAML would; everything else stays the very same object."""
    if type(value) is not str or "${" not in value:
        return value
    text = _open(expand(value))
    if text == value:
        return value
    try:
        return plain_value(text)
    except ScalarError:
        return text


def _open(text: Any) -> str:
    if isinstance(text, Secret):
        message = "a secret cannot stand here: the field would show it"
        hint = "use a field that is made for secrets, or a template"
        raise ProblemsError(Problem(code=codes.BAD_VALUE, message=message, hint=hint))
    return str(text)


def _is_finite(value: Any) -> bool:
    return type(value) is int or (type(value) is float and math.isfinite(value))


def _quotes(expected: str, value: Any) -> str | None:
    if expected == "text":
        scalar = value is not None and not isinstance(value, (dict, list))
        return "quote it if it is text" if scalar else None
    if isinstance(value, str):
        try:
            return "remove the quotes" if not isinstance(plain_value(value), str) else None
        except ScalarError:
            return None
    return None


def _yaml(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return str(value)
