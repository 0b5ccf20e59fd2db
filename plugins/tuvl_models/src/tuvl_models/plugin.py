"""Interfaces of language models: the document AgentModel, and the hook that finds a model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from tuvl_core import hookimpl

if TYPE_CHECKING:
    from tuvl_core import Code, Diagnostic, DocumentKind, Lazy, PlanView, Setting, Validator

TUVL_API = 1
TUVL_HOOKSPECS = "tuvl_models.hookspecs"


@hookimpl
def tuvl_document_kinds() -> list[Lazy]:
    """The document AgentModel."""
    from tuvl_core import Lazy

    return [Lazy("AgentModel", _document)]


@hookimpl
def tuvl_settings() -> list[Setting]:
    """Whose a prefix of model strings is."""
    from tuvl_core import Setting

    return [
        Setting(
            name="models.choose",
            type=dict,
            help='Which distribution serves a prefix where two do: `openai = "acme-gateway"`.',
        )
    ]


@hookimpl
def tuvl_validators() -> list[Validator]:
    """Whether every AgentModel is served by something."""
    from tuvl_core import Validator

    return [Validator(codes=_codes, check=_check)]


def _document() -> DocumentKind:
    from tuvl_core import DocumentKind
    from tuvl_models.document import AgentModelSpec

    return DocumentKind(kind="AgentModel", spec=AgentModelSpec)


def _codes() -> Sequence[Code]:
    from tuvl_models.checks import CODES

    return CODES


def _check(plan: PlanView) -> Iterable[Diagnostic]:
    if not plan.project.definitions("AgentModel"):
        return ()
    from tuvl_models.checks import check

    return check(plan)
