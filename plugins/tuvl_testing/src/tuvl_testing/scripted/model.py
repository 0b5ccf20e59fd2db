"""The scripted model itself."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import attrs

from tuvl_models import ChatReply, ChatRequest, ModelError, ModelFamily, add_family
from tuvl_testing.scripted.history import check_history
from tuvl_testing.scripted.turns import Turn, as_turn

if TYPE_CHECKING:
    from tuvl_core import Project

__all__ = ["ScriptedModel", "use_model"]

Follow = Literal["error", "last", "cycle"]


class ScriptedModel:
    """Says its turns one after another. It is no language model.

    Which turn is next follows from the request alone, by counting the assistant's messages in it; so
    one model serves any number of runs at once. It refuses a history that a strict provider refuses.

    Args:
        turns: Turns (`turn`, `answer`, `fails`), replies, texts, calls, exceptions, or functions of the
            request that give any of these.
        name: What it calls itself: `scripted/<name>`.
        then: What follows the last turn: an error, the last one again, or the first.
        keep: Whether to keep copies of what it was asked, in `requests`.

    Attributes:
        requests: What it was asked, if it keeps that.
    """

    tool_calling: Literal["native", "schema"] = "native"

    def __init__(self, *turns: Any, name: str = "script", then: Follow = "error", keep: bool = True) -> None:
        self._turns: Sequence[Any] = turns
        self._name = f"scripted/{name}"
        self._then = then
        self._keep = keep
        self.requests: list[ChatRequest] = []

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Say the turn that is next."""
        check_history(request.messages)
        if self._keep:
            self.requests.append(attrs.evolve(request, messages=copy.deepcopy(request.messages)))
        said = await self._next(request)
        if said.delay:
            import asyncio  # which checking a project can do without

            await asyncio.sleep(said.delay)
        if said.error is not None:
            raise said.error
        assert said.reply is not None
        return attrs.evolve(said.reply, model=self._name)

    async def _next(self, request: ChatRequest) -> Turn:
        number = sum(message["role"] == "assistant" for message in request.messages)
        count = len(self._turns)
        if number >= count:
            if self._then == "error" or not count:
                raise ModelError(f"{self._name} has {count} turns, and turn {number + 1} was asked for")
            number = count - 1 if self._then == "last" else number % count
        value = self._turns[number]
        if callable(value):
            value = value(request)
            if inspect.isawaitable(value):
                value = await value
        return as_turn(value)


def use_model(project: Project, model: Any, prefix: str = "scripted") -> None:
    """Let every model string of a prefix mean one model, in one project.

    Args:
        project: The project; its agents say `scripted/…`, or whatever prefix is given.
        model: The model.
        prefix: What stands before the `/`; `*` takes all that nobody else serves.
    """
    create: Callable[..., Any] = lambda settings: model  # noqa: E731
    calling: Literal["native", "schema"] = getattr(model, "tool_calling", "native")
    add_family(project, ModelFamily(prefix=prefix, create=create, tool_calling=calling))
