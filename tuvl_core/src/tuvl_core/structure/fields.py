"""`field(…)`: what a key of a document means beyond its type."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any, Final

import attrs

__all__ = ["Key", "Meaning", "RefusedError", "field", "keys_of"]

_METADATA: Final = "tuvl"


@attrs.frozen(kw_only=True)
class Meaning:
    """What `field(…)` was told about a key."""

    name: str | None = None
    prose: bool = False
    reveals: bool = False
    source_text: bool = False
    min: float | None = None
    above: float | None = None
    max: float | None = None
    choices: tuple[Any, ...] = ()
    lookalikes: tuple[str, ...] = ()
    refers: str = ""
    doc: str = ""

    @property
    def bounds(self) -> bool:
        """Whether the value has to be checked beyond its type."""
        limits = (self.min, self.above, self.max)
        return bool(self.choices) or any(limit is not None for limit in limits)


@attrs.frozen(kw_only=True)
class Key:
    """One key of a document, as an attrs field declares it.

    Attributes:
        name: The key in YAML.
        attribute: The attribute it fills.
        argument: The argument of the class that takes it.
        type: The attribute's type.
        default: The default, a `attrs.Factory`, or `attrs.NOTHING` where the key must be given.
        meaning: What `field(…)` was told.
    """

    name: str
    attribute: str
    argument: str
    type: Any
    default: Any
    meaning: Meaning

    @property
    def required(self) -> bool:
        """Whether the key must be given."""
        return self.default is attrs.NOTHING


def field(
    *,
    default: Any = attrs.NOTHING,
    factory: Callable[[], Any] | None = None,
    name: str | None = None,
    prose: bool = False,
    reveals: bool = False,
    source_text: bool = False,
    min: float | None = None,
    above: float | None = None,
    max: float | None = None,
    choices: Sequence[Any] = (),
    lookalikes: Sequence[str] = (),
    refers: str = "",
    doc: str = "",
    validator: Any = None,
    converter: Any = None,
) -> Any:
    """Declare a key of a document: `attrs.field` with what YAML needs to know.

    Without it, a plain annotation with or without a default does as well.

    Args:
        default: The value where the key is not given; without it and `factory` the key is required.
        factory: Makes the default.
        name: The key in YAML, where it cannot be a Python name (`as`, `in`, `json`).
        prose: Text for a model or a person: `${…}` in it is left alone.
        reveals: Templates in it open secrets, such as an HTTP header. Everything else masks them.
        source_text: The value is what was written: `no`, `1.10` and `true` are text.
        min: The least number, or the least length of a text, list or mapping.
        above: A number that the value must be greater than.
        max: The greatest number, or length.
        choices: The values that are allowed.
        lookalikes: Keys that people write when they mean this one; the diagnostic names this one.
        refers: Of what the value is the name, for editors: a document kind, or `step`. Lists and mappings: each value.
        doc: One sentence for editors and the reference.
        validator: As in `attrs.field`; a `ValueError` becomes a diagnostic.
        converter: As in `attrs.field`.
    """
    meaning = Meaning(
        name=name,
        prose=prose,
        reveals=reveals,
        source_text=source_text,
        min=min,
        above=above,
        max=max,
        choices=tuple(choices),
        lookalikes=tuple(lookalikes),
        refers=refers,
        doc=doc,
    )
    given = {"factory": factory} if factory is not None else {"default": default}
    return attrs.field(
        **given,
        validator=_located(validator) if validator is not None else None,
        converter=converter,
        metadata={_METADATA: meaning},
    )


class RefusedError(ValueError):
    """A validator said no; `attribute` is the one it said it of."""

    def __init__(self, message: str, attribute: str) -> None:
        super().__init__(message)
        self.attribute = attribute


def _located(validator: Any) -> Callable[[Any, Any, Any], None]:
    """Have a validator's error name the attribute, so that it finds its place in the file."""
    check = attrs.validators.and_(*validator) if isinstance(validator, list) else validator

    def located(instance: Any, attribute: Any, value: Any) -> None:
        try:
            check(instance, attribute, value)
        except (ValueError, TypeError) as error:
            message = str(error.args[0]) if error.args else str(error)
            raise RefusedError(message, attribute.name) from error

    return located


_known: weakref.WeakKeyDictionary[type, tuple[Key, ...]] = weakref.WeakKeyDictionary()


def keys_of(cls: type) -> tuple[Key, ...]:
    """The keys that a class declares, in order.

    Raises:
        NameError: An annotation names something that its module does not hold.
    """
    known = _known.get(cls)
    if known is None:
        attrs.resolve_types(cls)
        known = _known[cls] = tuple(_key(item) for item in attrs.fields(cls) if item.init)
    return known


def _key(attribute: Any) -> Key:
    meaning = attribute.metadata.get(_METADATA) or Meaning()
    return Key(
        name=meaning.name or attribute.name,
        attribute=attribute.name,
        argument=attribute.alias,
        type=attribute.type,
        default=attribute.default,
        meaning=meaning,
    )
