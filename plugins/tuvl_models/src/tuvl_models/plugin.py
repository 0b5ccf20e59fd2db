"""Interfaces of language models: the document AgentModel, and the hook that finds a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tuvl_core import hookimpl

if TYPE_CHECKING:
    from tuvl_core import DocumentKind, Setting, Validator

TUVL_API = 1
TUVL_HOOKSPECS = "tuvl_models.hookspecs"


@hookimpl
def tuvl_document_kinds() -> list[DocumentKind]:
    """The document AgentModel."""
    from tuvl_core import DocumentKind
    from tuvl_models.document import AgentModelSpec

    return [DocumentKind(kind="AgentModel", spec=AgentModelSpec)]


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
    from tuvl_models.checks import CODES, check

    return [Validator(codes=CODES, check=check)]
