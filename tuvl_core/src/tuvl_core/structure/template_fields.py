"""Fields of type `Template[T]`: text is compiled, everything else is a constant of type T."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, get_args

from tuvl_core.errors import TemplateError
from tuvl_core.structure import codes
from tuvl_core.structure.problems import Problem, ProblemsError
from tuvl_core.structure.scalars import Expand, expand_tree, wrong_type
from tuvl_core.structure.unions import describe, shape_of, takes
from tuvl_core.templates import Condition, Expression, Path, Template, compile_condition, compile_expression, parse_path
from tuvl_core.views import Secret

__all__ = ["compiled_hooks", "template_hook"]

Hook = Callable[[Any, Any], Any]

_TEXT: Final = "{{"


def template_hook(cls: Any, hook_of: Callable[[Any], Hook], expand: Expand, reveals: bool) -> Hook:
    """Give the hook of a template type."""
    inner = (*get_args(cls), Any)[0]
    constant, fits, text_fits = hook_of(inner), shape_of(inner), takes(inner, "")

    def hook(value: Any, _: Any) -> Template[Any]:
        if isinstance(value, (dict, list)):
            if not fits(value):
                raise wrong_type(f"{describe(inner)} or a template", value)
            return _compile(value, expand_tree(value, expand), inner, reveals)
        if isinstance(value, str):
            text = expand(value)
            if isinstance(text, Secret) or _TEXT in text or text_fits:
                return _compile(value, text, inner, reveals)
        # No template: the value must be of the type itself, as in any other field.
        return Template.of(constant(value, inner), type=inner, reveals=reveals)

    return hook


def compiled_hooks(expand: Expand) -> dict[type, Hook]:
    """Give the hooks of fields that hold a dotted path, an expression or a condition."""

    def hook_for(parse: Callable[[str], Any]) -> Hook:
        def hook(value: Any, _: Any) -> Any:
            if not isinstance(value, str):
                raise wrong_type("text", value)
            text = expand(value)
            if isinstance(text, Secret):
                message = "a secret cannot be part of an expression"
                raise ProblemsError(Problem(code=codes.BAD_VALUE, message=message))
            try:
                return parse(text)
            except TemplateError as error:
                raise ProblemsError(*_faults(value, text, error)) from None

        return hook

    return {
        Path: hook_for(parse_path),
        Expression: hook_for(compile_expression),
        Condition: hook_for(compile_condition),
    }


def _compile(written: Any, expanded: Any, inner: Any, reveals: bool) -> Template[Any]:
    try:
        return Template.of(expanded, type=inner, reveals=reveals)
    except TemplateError as error:
        raise ProblemsError(*_faults(written, expanded, error)) from None


def _faults(written: Any, expanded: Any, error: TemplateError) -> Iterator[Problem]:
    """Every text in a tree that does not compile, at its place."""
    if isinstance(expanded, (dict, list)):
        items = expanded.items() if isinstance(expanded, dict) else enumerate(expanded)
        for key, item in items:
            try:
                Template.of(item)
            except TemplateError as inner:
                for problem in _faults(written[key], item, inner):
                    yield from ProblemsError(problem).below(key)
        return
    # Behind an expanded `${…}` the characters of the file and of the text no longer agree.
    offset = error.offset if written == expanded else None
    yield Problem(code=codes.BAD_TEMPLATE, message=str(error), offset=offset)
