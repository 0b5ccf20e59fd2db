"""The cattrs converter: plain data to attrs classes, strictly, with every problem kept.

cattrs walks the classes; every leaf, list, mapping and union is ours, because cattrs' own turn text
into lists and numbers into text.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Iterator
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

_QUOTED_NAME: Final = re.compile(r"'(\w+)' must ")


class Structurer:
    """Converters for one environment, one for each way a field may treat its text."""

    def __init__(self, environment: Environment) -> None:
        """Start without converters; each is built when a class first needs it."""
        self._environment = environment
        self._converters: dict[tuple[bool, bool], Converter] = {}
        self._classes: dict[tuple[Any, bool, bool], Hook | None] = {}

    def read(self, data: Any, cls: Any) -> Any:
        """Turn plain data into a value of a type.

        Raises:
            ProblemsError: With everything that is wrong.
        """
        return self._hook_of(cls, prose=False, reveals=False)(data, cls)

    def _hook_of(self, cls: Any, *, prose: bool, reveals: bool) -> Hook:
        converter = self._converters.get((prose, reveals))
        if converter is None:
            converter = self._converters[prose, reveals] = self._build(prose, reveals)
        return converter.get_structure_hook(cls)

    def _build(self, prose: bool, reveals: bool) -> Converter:
        from cattrs import Converter

        converter = Converter(detailed_validation=True, forbid_extra_keys=True)
        expand = _unchanged if prose else self._environment.expand
        hook_of = converter.get_structure_hook
        for kind, hook in {**scalar_hooks(expand), **compiled_hooks(expand)}.items():
            converter.register_structure_hook(kind, hook)
        converter.register_structure_hook(Secret, secret_hook(expand))

        def register(fits: Callable[[Any], bool], factory: Callable[[Any], Hook]) -> None:
            converter.register_structure_hook_factory(fits, factory)

        # The last one registered is asked first.
        register(_is_class, lambda cls: self._class_hook(cls, converter, prose, reveals))
        register(_is_anything, lambda _: lambda value, _: expand_tree(value, expand))
        register(is_list_type, lambda cls: list_hook(cls, hook_of))
        register(is_mapping_type, lambda cls: mapping_hook(cls, hook_of))
        register(_is_literal, lambda cls: choice_hook(get_args(cls), expand))
        register(_is_enum, lambda cls: _enum_hook(cls, expand))
        register(lambda cls: bool(members(cls)), lambda cls: union_hook(cls, hook_of))
        register(_is_template, lambda cls: template_hook(cls, hook_of, expand, reveals))
        return converter

    def _class_hook(self, cls: Any, converter: Converter, prose: bool, reveals: bool) -> Hook:
        known = (cls, prose, reveals)
        if known in self._classes:
            # A class inside itself: its hook is still being built, and found when it is needed.
            return lambda value, _: (self._classes[known] or _unusable)(value, cls)
        self._classes[known] = None
        hook = self._classes[known] = self._build_class_hook(cls, converter, prose, reveals)
        return hook

    def _build_class_hook(self, cls: Any, converter: Converter, prose: bool, reveals: bool) -> Hook:
        from cattrs import ClassValidationError
        from cattrs.gen import make_dict_structure_fn, override

        keys = keys_of(get_origin(cls) or cls)
        overrides = {
            key.attribute: override(rename=key.name, struct_hook=self._field_hook(key, prose, reveals)) for key in keys
        }
        options: dict[str, Any] = {"_cattrs_use_linecache": False, **overrides}
        build = make_dict_structure_fn(cls, converter, **options)
        names = {key.attribute: key.name for key in keys}

        def hook(value: Any, _: Any) -> Any:
            if not isinstance(value, dict):
                raise wrong_type("a mapping", value)
            try:
                return build(value, cls)
            except ClassValidationError as group:
                raise ProblemsError(*_flatten(group, names, value)) from None

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


def _flatten(group: Any, names: dict[str, str], value: dict[str, Any]) -> Iterator[Problem]:
    from cattrs.errors import ForbiddenExtraKeysError

    noted, others = group.group_exceptions()
    for error, note in noted:
        name = names.get(note.name, note.name)
        if isinstance(error, ProblemsError):
            yield from error.below(name)
        elif isinstance(error, KeyError) and name not in value:
            yield Problem(code=codes.MISSING_KEY, message="must be given", path=(name,))
        else:
            message = f"could not be read: {type(error).__name__}: {error}"
            yield Problem(code=codes.BAD_VALUE, message=message, path=(name,))
    for error in others:
        if isinstance(error, ForbiddenExtraKeysError):
            for name in sorted(error.extra_fields, key=list(value).index):
                yield Problem(code=codes.UNKNOWN_KEY, message="", path=(name,), at_key=True)
        else:
            yield _refused_by_class(error, names)


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
