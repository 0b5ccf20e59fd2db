"""Plain data to attrs classes, strictly, with every problem kept.

Classes, leaves, lists, mappings and unions are ours: cattrs' own turn text into lists and numbers into text, and
it compiles a function for each class, which costs a process that reads a few documents more than reading them.
What is none of these, such as `Annotated` and `NewType`, is left to cattrs, which is imported only then.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar, get_args, get_origin

import attrs

from tuvl_core.structure import codes
from tuvl_core.structure.checks import check_value
from tuvl_core.structure.containers import is_list_type, is_mapping_type, list_hook, mapping_hook, members
from tuvl_core.structure.environment import Environment
from tuvl_core.structure.fields import Key, RefusedError, keys_of
from tuvl_core.structure.problems import Problem, ProblemsError
from tuvl_core.structure.scalars import choice_hook, expand_tree, scalar_hooks, secret_hook, wrong_type
from tuvl_core.structure.template_fields import compiled_hooks, template_hook
from tuvl_core.structure.unions import union_hook
from tuvl_core.templates import Template
from tuvl_core.views import Secret

if TYPE_CHECKING:
    from cattrs import Converter

__all__ = ["Structurer"]

Hook = Callable[[Any, Any], Any]
Rule = tuple[Callable[[Any], bool], Callable[[Any], Hook]]

_PLAIN: Final = re.compile(r"[A-Za-z_][\w./-]{0,63}")
_MAX_LISTED: Final = 8
_QUOTED_NAME: Final = re.compile(r"'(\w+)' must ")


class Structurer:
    """Hooks for one environment; each is made when a type is first read."""

    def __init__(self, environment: Environment) -> None:
        """Start without hooks."""
        self._environment = environment
        self._hooks: dict[tuple[Any, bool, bool], Hook] = {}
        self._leaves: dict[bool, dict[Any, Hook]] = {}
        self._converters: dict[tuple[bool, bool], Converter] = {}
        self._classes: dict[tuple[Any, bool, bool], Hook | None] = {}

    def read(self, data: Any, cls: Any) -> Any:
        """Turn plain data into a value of a type.

        Raises:
            ProblemsError: With everything that is wrong.
        """
        return self._hook_of(cls, prose=False, reveals=False)(data, cls)

    def _hook_of(self, cls: Any, *, prose: bool, reveals: bool) -> Hook:
        """Give the hook of a type, for a field that treats its text so."""
        known = (cls, prose, reveals)
        hook = self._hooks.get(known)
        if hook is None:
            hook = self._leaves_of(prose).get(cls) or self._made(cls, prose, reveals)
            self._hooks[known] = hook
        return hook

    def _leaves_of(self, prose: bool) -> dict[Any, Hook]:
        leaves = self._leaves.get(prose)
        if leaves is None:
            expand = self._expand(prose)
            leaves = {**scalar_hooks(expand), **compiled_hooks(expand), Secret: secret_hook(expand)}
            self._leaves[prose] = leaves
        return leaves

    def _expand(self, prose: bool) -> Callable[[str], Any]:
        return _unchanged if prose else self._environment.expand

    def _made(self, cls: Any, prose: bool, reveals: bool) -> Hook:
        # A class that is a leaf and something else too, such as a text that is an enumeration, is for cattrs to judge.
        mixed = isinstance(cls, type) and issubclass(cls, tuple(self._leaves_of(prose)))
        for fits, make in () if mixed else self._rules(prose, reveals):
            if fits(cls):
                return make(cls)
        return self._converter(prose, reveals).get_structure_hook(cls)

    def _rules(self, prose: bool, reveals: bool) -> Sequence[Rule]:
        """Which types are read how; the first that fits counts."""
        expand = self._expand(prose)
        hook_of = partial(self._hook_of, prose=prose, reveals=reveals)
        return (
            (_is_template, lambda cls: template_hook(cls, hook_of, expand, reveals)),
            (lambda cls: bool(members(cls)), lambda cls: union_hook(cls, hook_of)),
            (_is_enum, lambda cls: _enum_hook(cls, expand)),
            (_is_literal, lambda cls: choice_hook(get_args(cls), expand)),
            (is_mapping_type, lambda cls: mapping_hook(cls, hook_of)),
            (is_list_type, lambda cls: list_hook(cls, hook_of)),
            (_is_anything, lambda _: lambda value, _: expand_tree(value, expand)),
            (_is_class, lambda cls: self._class_hook(cls, prose, reveals)),
        )

    def _converter(self, prose: bool, reveals: bool) -> Converter:
        converter = self._converters.get((prose, reveals))
        if converter is None:
            from cattrs import Converter

            converter = self._converters[prose, reveals] = Converter(detailed_validation=True, forbid_extra_keys=True)
            for kind, hook in self._leaves_of(prose).items():
                converter.register_structure_hook(kind, hook)
            for fits, make in reversed(self._rules(prose, reveals)):  # the last one registered is asked first
                converter.register_structure_hook_factory(fits, make)
        return converter

    def _class_hook(self, cls: Any, prose: bool, reveals: bool) -> Hook:
        known = (cls, prose, reveals)
        if known in self._classes:
            # A class inside itself: its hook is still being built, and found when it is needed.
            return lambda value, _: (self._classes[known] or _unusable)(value, cls)
        self._classes[known] = None
        hook = self._classes[known] = self._build_class_hook(cls, prose, reveals)
        return hook

    def _build_class_hook(self, cls: Any, prose: bool, reveals: bool) -> Hook:
        build = get_origin(cls) or cls
        keys = keys_of(build)
        reads = [(key, self._field_hook(key, prose, reveals)) for key in keys]
        known = frozenset(key.name for key in keys)
        names = {key.attribute: key.name for key in keys}

        def hook(value: Any, _: Any) -> Any:
            if not isinstance(value, dict):
                raise wrong_type("a mapping", value, hint=_as_mapping(value, keys))
            arguments, found = _read_fields(reads, value)
            if not known.issuperset(value):
                strangers = [name for name in value if name not in known]
                found += [Problem(code=codes.UNKNOWN_KEY, message="", path=(name,), at_key=True) for name in strangers]
            if found:
                raise ProblemsError(*found)
            try:
                return build(**arguments)
            except Exception as error:
                raise ProblemsError(_refused_by_class(error, names)) from None

        return hook

    def _field_hook(self, key: Key, prose: bool, reveals: bool) -> Hook:
        meaning = key.meaning
        read = self._hook_of(key.type, prose=prose or meaning.prose, reveals=reveals or meaning.reveals)
        if not meaning.bounds:
            return read

        def hook(value: Any, cls: Any) -> Any:
            result = read(value, cls)
            check_value(result, value, meaning)
            return result

        return hook


def _as_mapping(value: Any, keys: Sequence[Key]) -> str | None:
    """How a text would be written that stands in the place of a mapping: by its key that must be given, or is a name.

    Otherwise the keys that there are, since nobody knows which of them was meant.
    """
    if not isinstance(value, str) or not keys:
        return None
    names = [key.name for key in keys if key.required] or [key.name for key in keys if key.meaning.refers]
    if len(names) == 1 and _PLAIN.fullmatch(value):
        return f"write `{{ {names[0]}: {value} }}`"
    more = ", …" if len(keys) > _MAX_LISTED else ""
    return f"its keys: {', '.join(key.name for key in keys[:_MAX_LISTED])}{more}"


def _read_fields(reads: list[tuple[Key, Hook]], value: dict[str, Any]) -> tuple[dict[str, Any], list[Problem]]:
    """Read every field before complaining about any: the class's arguments, and what is wrong."""
    arguments: dict[str, Any] = {}
    found: list[Problem] = []
    for key, read in reads:
        name = key.name
        if name in value:
            try:
                arguments[key.argument] = read(value[name], key.type)
            except ProblemsError as error:
                found += error.below(name)
            except Exception as error:
                message = f"could not be read: {type(error).__name__}: {error}"
                found.append(Problem(code=codes.BAD_VALUE, message=message, path=(name,)))
        elif key.required:
            found.append(Problem(code=codes.MISSING_KEY, message="must be given", path=(name,)))
    return arguments, found


def _refused_by_class(error: Exception, names: dict[str, str]) -> Problem:
    """A validator of the class itself said no; attrs' validators tell which attribute is meant."""
    text = str(error.args[0]) if error.args else type(error).__name__
    attribute = error.attribute if isinstance(error, RefusedError) else None
    if attribute is None and (quoted := _QUOTED_NAME.match(text)) is not None:
        attribute = quoted[1]  # attrs' own validators start with the name in quotes.
    path = (names[attribute],) if attribute in names else ()
    return Problem(code=codes.BAD_VALUE, message=text, path=path)


def _unusable(value: Any, cls: Any) -> Any:
    raise TypeError(f"{cls} could not be prepared")


def _unchanged(text: str) -> str:
    return text


def _is_class(cls: Any) -> bool:
    return attrs.has(get_origin(cls) or cls)


def _is_anything(cls: Any) -> bool:
    return cls is Any or cls is object or isinstance(cls, TypeVar)


def _is_literal(cls: Any) -> bool:
    return get_origin(cls) is Literal


def _is_enum(cls: Any) -> bool:
    return isinstance(cls, type) and issubclass(cls, enum.Enum)


def _is_template(cls: Any) -> bool:
    return (get_origin(cls) or cls) is Template


def _enum_hook(cls: Any, expand: Callable[[str], Any]) -> Hook:
    by_value = choice_hook((member.value for member in cls), expand)
    return lambda value, _: cls(by_value(value, cls))
