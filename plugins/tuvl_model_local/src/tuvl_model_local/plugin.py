"""A real language model on this machine, through llama.cpp on loopback."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tuvl_core import hookimpl

if TYPE_CHECKING:
    from tuvl_core import App, AppScope, Setting
    from tuvl_models import ChatModel, ModelFamily, ModelLimits, ModelSettings

TUVL_API = 1


@hookimpl(optionalhook=True)
def tuvl_chat_models() -> list[ModelFamily]:
    """Model strings `local/…`; so small a model calls tools by schema only."""
    from tuvl_models import ModelFamily

    return [ModelFamily(prefix="local", create=_create, tool_calling="schema", check=_check, limits=_limits)]


@hookimpl
def tuvl_settings() -> list[Setting]:
    """How much of the machine a local model may take."""
    from tuvl_core import Setting

    return [
        Setting(
            name="local.context_tokens",
            type=int,
            default=8192,
            minimum=512,
            help="Tokens of history that a local model can hold.",
        ),
        Setting(
            name="local.threads",
            type=int,
            default=0,
            minimum=0,
            help="Threads of a local model; 0: as many as there are cores.",
        ),
    ]


@hookimpl
def tuvl_app_scope(app: App) -> AppScope:
    """Stops the servers that an app has started when it closes."""
    from tuvl_model_local.scope import LocalScope

    return LocalScope()


def _create(settings: ModelSettings) -> ChatModel:
    from tuvl_model_local.model import LocalModel

    return LocalModel(settings)


def _check(settings: ModelSettings) -> str | None:
    from tuvl_model_local.weights import find_weights
    from tuvl_models import ModelError

    try:
        find_weights(settings)
    except ModelError as error:
        return str(error)
    return None


def _limits(settings: ModelSettings) -> ModelLimits:
    from tuvl_models import ModelLimits

    project = settings.project
    window = project.settings["local.context_tokens"] if project is not None else 8192
    window = -(-window // 256) * 256  # llama.cpp rounds it up
    return ModelLimits(
        window=window,
        answer_tokens=min(settings.max_tokens or window, window),
        usd_per_prompt_token=0.0,
        usd_per_answer_token=0.0,
        source="setting local.context_tokens",
    )
