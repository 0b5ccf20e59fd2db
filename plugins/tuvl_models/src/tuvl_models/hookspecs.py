"""The hook through which plugins serve language models."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tuvl_core import hookspec

if TYPE_CHECKING:
    from tuvl_models.family import ModelFamily


@hookspec
def tuvl_chat_models() -> Iterable[ModelFamily]:  # type: ignore[empty-body]
    """Model families this plugin serves.

    Called once per project, when something first looks for a model. Mark the implementation with
    `@hookimpl(optionalhook=True)`, so that the plugin also loads without tuvl-models.

    Returns:
        Families by prefix. Two owners of one prefix are an error, unless `[models.choose]` says whose
        it is. `*` takes every model string that nobody else takes.

    Raises:
        Exception: Anything: no model can be found then, and the message names the plugin.

    Example:
        ```python
        from tuvl_core import hookimpl
        from tuvl_models import ChatReply, ModelFamily, Usage

        class Parrot:
            tool_calling = "native"

            async def complete(self, request):
                text = request.messages[-1]["content"]
                usage = Usage(prompt_tokens=1, completion_tokens=1, total_tokens=2)
                return ChatReply(content=text, finish_reason="stop", usage=usage)

        @hookimpl(optionalhook=True)
        def tuvl_chat_models():
            return [ModelFamily(prefix="parrot", create=lambda settings: Parrot())]
        ```
    """
