"""A model with its settings: attempts, time limit, and the way it is offered tools."""

from __future__ import annotations

import asyncio
import functools
import logging
from collections.abc import Callable
from typing import Literal

import attrs

from tuvl_core import log_event, scrub
from tuvl_models.chat import ChatModel, ChatReply, ChatRequest
from tuvl_models.document import ModelSettings, RetrySpec
from tuvl_models.errors import ModelError

__all__ = ["BoundModel"]

_log = logging.getLogger("tuvl.models")


class BoundModel:
    """A model as agents ask it.

    Args:
        create: Makes the model itself; called when it is first asked.
        settings: What it is made of.
        tool_calling: How it is offered tools where the settings leave that open.

    Attributes:
        settings: What it is made of.
        tool_calling: How it is offered tools.
    """

    __slots__ = ("_create", "settings", "tool_calling")

    def __init__(
        self,
        create: Callable[[], ChatModel],
        settings: ModelSettings,
        tool_calling: Literal["native", "schema"],
    ) -> None:
        self._create = functools.cache(create)
        self.settings = settings
        wanted = settings.tool_calling
        self.tool_calling = tool_calling if wanted == "auto" else wanted

    @property
    def chat(self) -> ChatModel:
        """The model itself."""
        return self._create()

    def with_retry(self, attempts: int, backoff: float) -> BoundModel:
        """The same model with other retries."""
        retry = RetrySpec(attempts=attempts, backoff=backoff)
        return BoundModel(self._create, attrs.evolve(self.settings, retry=retry), self.tool_calling)

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Ask, again where that may help, all within the time limit.

        Raises:
            ModelError: There was no answer. Its message holds no key.
        """
        seconds = request.timeout_s if request.timeout_s is not None else self.settings.timeout
        tries = _Tries(self)
        try:
            async with asyncio.timeout(seconds):
                if self.tool_calling == "native" or not (request.tools or request.outcomes):
                    return await tries.ask(request)
                from tuvl_models.schema_calling import from_schema, to_schema

                return from_schema(request, await tries.ask(to_schema(request)))
        except TimeoutError:
            raise ModelError(
                f"model {self.settings.model} did not answer within {seconds:g} s",
                type="llm_timeout",
                attempts=max(tries.made, 1),
            ) from None

    def clean(self, text: str) -> str:
        """Take the model's key, and whatever looks like one, out of a text."""
        key = self.settings.api_key
        return scrub(text, (str(key.reveal()),) if key is not None else ())


class _Tries:
    """The attempts of one call."""

    __slots__ = ("_model", "made")

    def __init__(self, model: BoundModel) -> None:
        self._model = model
        self.made = 0

    async def ask(self, request: ChatRequest) -> ChatReply:
        model, retry = self._model, self._model.settings.retry
        while True:
            self.made += 1
            try:
                reply = await model.chat.complete(request)
            except ModelError as error:
                if not error.retryable or self.made >= retry.attempts:
                    raise self._final(error) from None
                await self._wait(error, retry)
            except TimeoutError as error:
                # Not ours: the limit around the call raises CancelledError in here.
                raise self._final(ModelError("the connection timed out", type="llm_timeout")) from error
            except Exception as error:
                text = f"the model call failed: {type(error).__name__}: {error}"
                raise self._final(ModelError(text)) from None
            else:
                return reply if self.made == 1 else attrs.evolve(reply, attempts=self.made)

    async def _wait(self, error: ModelError, retry: RetrySpec) -> None:
        seconds = retry.backoff * 2 ** (self.made - 1)
        if error.retry_after_s is not None:
            seconds = max(seconds, error.retry_after_s)
        fields = {"model": self._model.settings.model, "attempt": self.made, "wait_s": seconds}
        log_event(_log, logging.WARNING, "model.retry", fields)
        await asyncio.sleep(seconds)

    def _final(self, error: ModelError) -> ModelError:
        return ModelError(
            self._model.clean(str(error)),
            type=error.type,
            retryable=error.retryable,
            attempts=self.made,
        )
