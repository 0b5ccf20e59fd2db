"""A model with its settings: attempts, time limit, and the way it is offered tools."""

from __future__ import annotations

import asyncio
import functools
import logging
from collections.abc import Awaitable, Callable
from typing import Literal

import attrs

from tuvl_core import TimeLimit, log_event, scrub
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

    __slots__ = ("_chat", "_create", "_no_schema", "settings", "tool_calling")

    def __init__(
        self,
        create: Callable[[], ChatModel],
        settings: ModelSettings,
        tool_calling: Literal["native", "schema"],
    ) -> None:
        self._create = functools.cache(create)
        self._chat: ChatModel | None = None
        self._no_schema = False  # the provider has refused one
        self.settings = settings
        wanted = settings.tool_calling
        self.tool_calling = tool_calling if wanted == "auto" else wanted

    @property
    def chat(self) -> ChatModel:
        """The model itself."""
        if self._chat is None:
            self._chat = self._create()
        return self._chat

    def with_retry(self, attempts: int, backoff: float) -> BoundModel:
        """The same model with other retries."""
        retry = RetrySpec(attempts=attempts, backoff=backoff)
        return BoundModel(self._create, attrs.evolve(self.settings, retry=retry), self.tool_calling)

    def complete(self, request: ChatRequest) -> Awaitable[ChatReply]:
        """Ask, again where that may help, all within the time limit.

        Raises:
            ModelError: When awaited, and there was no answer. Its message holds no key.
        """
        if self.tool_calling == "schema" and (request.tools or request.outcomes):
            return self._by_schema(request)
        return self._within_limit(request, by_schema=request.response_format is not None)

    def clean(self, text: str) -> str:
        """Take the model's key, and whatever looks like one, out of a text."""
        key = self.settings.api_key
        return scrub(text, (str(key.reveal()),) if key is not None else ())

    async def _by_schema(self, request: ChatRequest) -> ChatReply:
        from tuvl_models.schema_calling import from_schema, to_schema

        return from_schema(request, await self._within_limit(to_schema(request), by_schema=True))

    async def _within_limit(self, request: ChatRequest, *, by_schema: bool) -> ChatReply:
        seconds = request.timeout_s if request.timeout_s is not None else self.settings.timeout
        made = tried = 1  # calls that were made, and those that count against `retry.attempts`
        if by_schema and self._no_schema:
            request = _described(request)
        try:
            with TimeLimit(seconds, self.settings.model) as limit:
                while True:
                    try:
                        reply = await (self._chat or self.chat).complete(request)
                        return reply if made == 1 else attrs.evolve(reply, attempts=made)
                    except Exception as error:
                        failure = self._failure(error, made)
                        if by_schema and failure.schema_refused and request.response_format is not None:
                            self._warn_of_refusal(failure)
                            request = _described(request)
                        else:
                            await self._wait_for_another(failure, tried, limit.due)
                            tried += 1
                        made += 1
        except TimeoutError:
            raise ModelError(
                f"model {self.settings.model} did not answer within {seconds:g} s",
                type="llm_timeout",
                attempts=made,
            ) from None

    def _warn_of_refusal(self, failure: ModelError) -> None:
        if not self._no_schema:
            self._no_schema = True
            fields = {"model": self.settings.model, "error": str(failure)}
            log_event(_log, logging.WARNING, "model.schema_refused", fields)

    async def _wait_for_another(self, failure: ModelError, tried: int, due: float) -> None:
        """Wait before another attempt; where none would help, is left, or fits into the time, fail as it failed."""
        retry = self.settings.retry
        if not failure.retryable or tried >= retry.attempts:
            raise failure from None
        seconds = retry.backoff * 2 ** (tried - 1)
        if failure.retry_after_s is not None:
            seconds = max(seconds, failure.retry_after_s)
        if asyncio.get_running_loop().time() + seconds >= due:
            raise failure from None
        fields = {"model": self.settings.model, "attempt": tried, "wait_s": seconds}
        log_event(_log, logging.WARNING, "model.retry", fields)
        await asyncio.sleep(seconds)

    def _failure(self, error: Exception, made: int) -> ModelError:
        """What an attempt raised, as a failure that is fit to be shown."""
        if isinstance(error, ModelError):
            return ModelError(
                self.clean(str(error)),
                type=error.type,
                retryable=error.retryable,
                retry_after_s=error.retry_after_s,
                attempts=made,
                schema_refused=error.schema_refused,
            )
        if isinstance(error, TimeoutError):  # not the limit of this call: that one cancels
            return ModelError("the connection timed out", type="llm_timeout", attempts=made)
        text = f"the model call failed: {type(error).__name__}: {error}"
        return ModelError(self.clean(text), attempts=made)


def _described(request: ChatRequest) -> ChatRequest:
    from tuvl_models.schema_calling import without_schema

    return without_schema(request)
