"""Templates: text with `{{ expressions }}`, or a structure of such."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Generic, TypeVar

import attrs

from tuvl_core.errors import CodecError, TemplateError
from tuvl_core.templates.conversion import Converter, converter_for
from tuvl_core.templates.expressions import Condition, Expression, failed, merge_reads
from tuvl_core.templates.nodes import Read
from tuvl_core.templates.paths import Path
from tuvl_core.templates.text import OPEN, join_parts, split
from tuvl_core.templates.values import describe, text_of
from tuvl_core.unset import UNSET
from tuvl_core.views import MASK, Secret

__all__ = ["Template", "reads_of"]

T = TypeVar("T")
_Render = Callable[[Mapping[str, Any]], Any]


@attrs.frozen(kw_only=True, repr=False)
class Template(Generic[T]):
    """A compiled template; safe to share between runs.

    Build it with `Template.of`. In a config class, `Template[float]` declares a field that may hold
    one, and says what it renders to.

    Attributes:
        source: What it was made of.
        type: What it renders to; `typing.Any` for anything.
        reveals: Whether secrets are opened in the place it stands for.
        constant: Whether it reads nothing and computes nothing.
        parts: Of a text, literal text and expressions in turn. Empty for a structure.
        reads: The places of the context it looks at.
    """

    source: Any
    type: Any = Any
    reveals: bool = False
    constant: bool = attrs.field(eq=False)
    parts: tuple[str | Expression, ...] = attrs.field(eq=False)
    reads: tuple[Read, ...] = attrs.field(eq=False)
    _render: _Render = attrs.field(eq=False)

    @staticmethod
    def of(value: Any, type: Any = Any, reveals: bool = False) -> Template[Any]:
        """Compile what an author wrote. Never give it a value that a run produced.

        Args:
            value: Text; or a mapping or list, whose texts at any depth are templates (keys are
                not); or a scalar, which stands for itself. A `Secret` text gives a template whose
                result is a secret.
            type: What it has to render to.
            reveals: Whether secrets are opened in the place it stands for.

        Raises:
            TemplateError: An expression cannot be compiled, or a constant is not of the type.
                `offset` is the place in the text, `path` the way to it in a structure.
        """
        if isinstance(value, Template):
            return value
        text = value.reveal() if isinstance(value, Secret) else value
        if isinstance(text, str) and OPEN in text:
            return _of_text(value, text, type, reveals)
        if isinstance(value, (Mapping, list, tuple)):
            return _of_structure(value, type, reveals)
        return _of_constant(value, type, reveals)

    @property
    def lone(self) -> bool:
        """Whether it is one expression and nothing else, so that it yields the object itself."""
        return len(self.parts) == 1 and isinstance(self.parts[0], Expression)

    def render(self, names: Mapping[str, Any]) -> Any:
        """Give the value.

        One lone expression yields the object itself; text around it makes it text. What comes from
        a secret is a `Secret`.

        Args:
            names: What expressions read; in a step, `call.names`.

        Raises:
            UndefinedNameError: A name has no value and no default.
            StepError: A value does not fit an operator, a filter or the type.
        """
        return self._render(names)

    def render_text(self, names: Mapping[str, Any], encode: Callable[[Any], str] = text_of) -> str | Secret:
        """Render a text, each value encoded for where it lands; literal text stays as it is.

        Args:
            names: What expressions read.
            encode: Gives the text of one value, such as its percent-encoded form. It sees secrets
                opened; the result then is a `Secret`.

        Raises:
            UndefinedNameError: A name has no value and no default.
            StepError: A value has no text.
        """
        return join_parts(self.parts, names, encode, isinstance(self.source, Secret))

    def __hash__(self) -> int:
        return hash((self.reveals, frozenset(self.reads)))  # a source need not be hashable

    def __deepcopy__(self, memo: dict[int, Any]) -> Template[T]:
        return self

    def __repr__(self) -> str:
        # What was filled in from the environment may be a credential where secrets are opened.
        return f"Template({MASK if self.reveals else repr(self.source)})"


# --- text and constants -----------------------------------------------------------------------


def _of_text(source: Any, text: str, wanted: Any, reveals: bool) -> Template[Any]:
    hidden = isinstance(source, Secret)
    parts = split(text, hidden)
    expressions = [part for part in parts if isinstance(part, Expression)]
    render: _Render
    if len(parts) == 1 and not hidden:
        render = expressions[0].evaluator
    else:

        def render(names: Mapping[str, Any]) -> Any:
            return join_parts(parts, names, text_of, hidden)

    return Template(
        source=source,
        type=wanted,
        reveals=reveals,
        constant=False,
        parts=parts,
        reads=merge_reads(read for item in expressions for read in item.reads),
        render=_converted(render, converter_for(wanted), expressions[0].source),
    )


def _of_constant(source: Any, wanted: Any, reveals: bool) -> Template[Any]:
    value = _constant(source, source, converter_for(wanted))
    return Template(
        source=source,
        type=wanted,
        reveals=reveals,
        constant=True,
        parts=(source,) if isinstance(source, str) else (),
        reads=(),
        render=lambda names: value,
    )


def _constant(source: Any, value: Any, converter: Converter | None) -> Any:
    if converter is None:
        return value
    value = converter(value)
    if value is UNSET:
        raise TemplateError(f"{describe(source)} stands where {converter.needs} is needed")
    return value


def _converted(render: _Render, converter: Converter | None, source: str) -> _Render:
    if converter is None:
        return render

    def rendered(names: Mapping[str, Any]) -> Any:
        value = render(names)
        try:
            result = converter(value)
        except CodecError as problem:
            raise failed(source, problem) from None
        if result is UNSET:
            raise failed(source, f"gives {describe(value)} where {converter.needs} is needed")
        return result

    return rendered


# --- structures -------------------------------------------------------------------------------


def _of_structure(source: Any, wanted: Any, reveals: bool) -> Template[Any]:
    compiled = _compile(source, reveals)
    reads = reads_of(compiled)
    constant = all(item.constant for item in _templates_in(compiled))
    converter = converter_for(wanted)
    if constant:
        _constant(source, _fill(compiled, {}), converter)

    def render(names: Mapping[str, Any]) -> Any:
        return _fill(compiled, names)

    return Template(
        source=source,
        type=wanted,
        reveals=reveals,
        constant=constant,
        parts=(),
        reads=reads,
        render=_converted(render, converter, "…"),
    )


def _compile(value: Any, reveals: bool) -> Any:
    """Replace every text that holds an expression by its template."""
    if isinstance(value, Mapping):
        return {key: _compile_under(key, item, reveals) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_compile_under(index, item, reveals) for index, item in enumerate(value)]
    if isinstance(value, (str, Secret)):
        template = Template.of(value, reveals=reveals)
        return value if template.constant else template
    return value


def _compile_under(key: Any, value: Any, reveals: bool) -> Any:
    try:
        return _compile(value, reveals)
    except TemplateError as problem:
        raise TemplateError(str(problem), problem.offset, path=(key, *problem.path)) from None


def _fill(compiled: Any, names: Mapping[str, Any]) -> Any:
    """Build the structure anew, so that nothing of the definition can be changed through it."""
    if isinstance(compiled, Template):
        return compiled.render(names)
    if isinstance(compiled, dict):
        return {key: _fill(item, names) for key, item in compiled.items()}
    if isinstance(compiled, list):
        return [_fill(item, names) for item in compiled]
    return compiled


def _templates_in(compiled: Any) -> Iterator[Template[Any]]:
    if isinstance(compiled, Template):
        yield compiled
    elif isinstance(compiled, dict):
        for item in compiled.values():
            yield from _templates_in(item)
    elif isinstance(compiled, list):
        for item in compiled:
            yield from _templates_in(item)


# --- reads ------------------------------------------------------------------------------------


_PLAIN: Final = frozenset((str, int, float, bool, type(None)))
"""What holds nothing: most of a config."""


def reads_of(value: Any) -> tuple[Read, ...]:
    """Collect what templates, expressions, conditions and paths read, wherever they lie in a value.

    Args:
        value: One of these, or mappings, lists and attrs instances (a config) that hold some. A
            `Path` reads without requiring anything: whoever looks it up decides what absence means.
    """
    return merge_reads(_reads(value))


def _reads(value: Any) -> Iterator[Read]:
    waiting = [value]
    while waiting:  # depth first, in order
        item = waiting.pop()
        cls = type(item)
        if cls in _PLAIN:
            continue
        if isinstance(item, (Template, Expression, Condition)):
            yield from item.reads
        elif isinstance(item, Path):
            yield Read(item.parts, False)
        elif isinstance(item, (list, tuple)):
            waiting.extend(reversed(item))
        elif isinstance(item, Mapping):
            waiting.extend(reversed(list(item.values())))
        elif attrs.has(cls):
            waiting.extend([getattr(item, field.name) for field in reversed(attrs.fields(cls))])
