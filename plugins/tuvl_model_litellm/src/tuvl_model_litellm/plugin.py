"""Language models of every provider, through LiteLLM."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tuvl_core import hookimpl

if TYPE_CHECKING:
    from tuvl_models import ChatModel, ModelFamily, ModelSettings

TUVL_API = 1


@hookimpl(optionalhook=True)
def tuvl_chat_models() -> list[ModelFamily]:
    """Every model string that no other package serves."""
    from tuvl_models import ModelFamily

    return [ModelFamily(prefix="*", create=_create, tool_calling="native")]


def _create(settings: ModelSettings) -> ChatModel:
    from tuvl_model_litellm.model import LiteLLMModel

    return LiteLLMModel(settings)
