"""Language models, as tuvl's agents see them: interfaces, the document AgentModel, and how one is found.

A plugin serves models by contributing a `ModelFamily` through the hook `tuvl_chat_models`. Names are
imported when first used: the command's start must not wait for them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from tuvl_models.bound import BoundModel
    from tuvl_models.chat import ChatModel, ChatReply, ChatRequest, ToolCall, Usage
    from tuvl_models.document import AgentModelSpec, ModelSettings, RetrySpec
    from tuvl_models.errors import ModelError
    from tuvl_models.family import ModelFamily, add_family, families, model_problem, resolve_model
    from tuvl_models.json_text import distinct_objects, find_objects, read_list, without_reasoning
    from tuvl_models.limits import ModelLimits, model_limits
    from tuvl_models.tokens import estimate_tokens

_MODULES: Final = {
    "bound": "BoundModel",
    "chat": "ChatModel ChatReply ChatRequest ToolCall Usage",
    "document": "AgentModelSpec ModelSettings RetrySpec",
    "errors": "ModelError",
    "family": "ModelFamily add_family families model_problem resolve_model",
    "json_text": "distinct_objects find_objects read_list without_reasoning",
    "limits": "ModelLimits model_limits",
    "tokens": "estimate_tokens",
}
_WHERE: Final = {name: module for module, names in _MODULES.items() for name in names.split()}

__all__ = [
    "AgentModelSpec",
    "BoundModel",
    "ChatModel",
    "ChatReply",
    "ChatRequest",
    "ModelError",
    "ModelFamily",
    "ModelLimits",
    "ModelSettings",
    "RetrySpec",
    "ToolCall",
    "Usage",
    "add_family",
    "distinct_objects",
    "estimate_tokens",
    "families",
    "find_objects",
    "model_limits",
    "model_problem",
    "read_list",
    "resolve_model",
    "without_reasoning",
]


def __getattr__(name: str) -> Any:
    module = _WHERE.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
