"""Language models of every provider, through LiteLLM."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tuvl_core import hookimpl

if TYPE_CHECKING:
    from tuvl_models import ChatModel, ModelFamily, ModelLimits, ModelSettings

TUVL_API = 1


@hookimpl(optionalhook=True)
def tuvl_chat_models() -> list[ModelFamily]:
    """Every model string that no other package serves."""
    from tuvl_models import ModelFamily

    return [ModelFamily(prefix="*", create=_create, tool_calling="native", limits=_limits)]


def _create(settings: ModelSettings) -> ChatModel:
    from tuvl_model_litellm.model import LiteLLMModel

    return LiteLLMModel(settings)


def _limits(settings: ModelSettings) -> ModelLimits:
    from tuvl_model_litellm.prices import limits_of

    return limits_of(settings)
