"""A scripted model for tests and demos: the document ScriptedModel, and model strings `scripted/…`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tuvl_core import hookimpl

if TYPE_CHECKING:
    from tuvl_core import DocumentKind, Lazy
    from tuvl_models import ChatModel, ModelFamily, ModelLimits, ModelSettings

TUVL_API = 1


@hookimpl
def tuvl_document_kinds() -> list[Lazy]:
    """The document ScriptedModel."""
    from tuvl_core import Lazy

    return [Lazy("ScriptedModel", _document)]


@hookimpl(optionalhook=True)
def tuvl_chat_models() -> list[ModelFamily]:
    """Model strings `scripted/<name of a ScriptedModel>`."""
    from tuvl_models import ModelFamily

    return [ModelFamily(prefix="scripted", create=_create, tool_calling="native", check=_check, limits=_limits)]


def _create(settings: ModelSettings) -> ChatModel:
    from tuvl_testing.scripted.from_document import model_of

    return model_of(settings)


def _check(settings: ModelSettings) -> str | None:
    from tuvl_testing.scripted.from_document import problem_of

    return problem_of(settings)


def _limits(settings: ModelSettings) -> ModelLimits:
    from tuvl_testing.scripted.from_document import limits_of

    return limits_of(settings)


def _document() -> DocumentKind:
    from tuvl_core import DocumentKind
    from tuvl_testing.scripted.document import ScriptedModelSpec

    return DocumentKind(kind="ScriptedModel", spec=ScriptedModelSpec)
