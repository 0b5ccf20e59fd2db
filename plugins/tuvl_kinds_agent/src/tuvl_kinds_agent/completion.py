"""An Agent's question: its messages, and the tries until there is an answer that can be read."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any, Final

from tuvl_core import (
    UNSET,
    CodecError,
    RunError,
    StepCall,
    StepError,
    StepResult,
    Template,
    UndefinedNameError,
    mask,
    wire_dumps,
)
from tuvl_kinds_agent.config import AgentSpec, Retry
from tuvl_kinds_agent.genai import observed_completion
from tuvl_kinds_agent.messages import EMPTY_CONTEXT, well_formed_text
from tuvl_kinds_agent.parsing import parse_problem
from tuvl_models import BoundModel, ChatReply, ChatRequest, ModelError, Usage, estimate_tokens

__all__ = ["complete"]

_JSON_ONLY: Final = "Answer with one JSON object and nothing else, with no markdown fences."
_CUT: Final = frozenset({"length", "max_tokens"})


async def complete(call: StepCall) -> ChatReply | StepResult:
    """Ask the model; a result takes the reply's place where there is none that can be used."""
    call.check_limits()
    model: BoundModel = call.step.prepared
    agent: AgentSpec = call.step.config.agent
    request = ChatRequest(messages=_messages(call, agent), tools=(), timeout_s=agent.timeout)
    tries = _Tries(model, agent)
    try:
        if call.run.traced or call.run.measured:
            reply = await observed_completion(call, model, request, "llm#1", tries.ask)
        else:
            reply = await call.effect("llm#1", tries.ask, request, kind="model")
    except RunError:
        raise
    except Exception as error:
        call.usage.add(tokens=tries.tokens, llm_calls=1, llm_attempts=max(tries.attempts, 1))
        return _failed(call, error)
    call.usage.add(tokens=reply.usage.total_tokens, llm_calls=1, llm_attempts=reply.attempts)
    return _unusable(call, reply) or reply


class _Tries:
    """Asks until the answer can be read, as often as `retry` allows: attempts of one effect."""

    def __init__(self, model: BoundModel, agent: AgentSpec) -> None:
        self._model, self._agent = model, agent
        self.tokens = 0
        self.attempts = 0

    async def ask(self, request: ChatRequest) -> ChatReply:
        """Give the last reply, with the tokens and attempts of all."""
        retry, output = self._agent.retry, self._agent.output
        number = 0
        while True:
            number += 1
            last = number == retry.attempts
            try:
                reply = await self._model.complete(request)
            except ModelError as error:
                self.attempts += getattr(error, "attempts", 1)
                if last or error.type != "llm_timeout" or "timeout" not in retry.on:
                    raise
            else:
                self._count(request, reply)
                again = "parse_error" in retry.on and parse_problem(reply, output) is not None
                if last or not again:
                    return self._whole(reply)
            await asyncio.sleep(_pause(retry, number))

    def _count(self, request: ChatRequest, reply: ChatReply) -> None:
        total = reply.usage.total_tokens if reply.usage is not None else 0
        if not total:
            total = estimate_tokens(self._model, request.messages, reply)
        self.tokens += total
        self.attempts += reply.attempts

    def _whole(self, reply: ChatReply) -> ChatReply:
        usage = reply.usage
        prompt, answer = (usage.prompt_tokens, usage.completion_tokens) if usage else (0, 0)
        return ChatReply(
            content=reply.content,
            tool_calls=(),
            finish_reason=reply.finish_reason,
            usage=Usage(prompt_tokens=prompt, completion_tokens=answer, total_tokens=self.tokens),
            model=reply.model,
            attempts=self.attempts,
        )


def _pause(retry: Retry, number: int) -> float:
    return float(retry.backoff * 2 ** (number - 1))


def _failed(call: StepCall, error: Exception) -> StepResult:
    kind = getattr(error, "type", "llm_error") if isinstance(error, ModelError) else "llm_error"
    text = str(error) if isinstance(error, ModelError) else f"{type(error).__name__}: {error}"
    signal, kind = ("timeout", "timeout") if kind == "llm_timeout" else ("error", kind)
    return StepResult(signal, error=call.run.scrub(text[:2000]), error_type=kind)


def _unusable(call: StepCall, reply: ChatReply) -> StepResult | None:
    if reply.finish_reason == "content_filter":
        text = "the provider's content filter blocked the answer"
        return StepResult("error", error=text, error_type="content_filter")
    if reply.finish_reason in _CUT:
        text = "the answer was cut at the model's token limit; raise its max_tokens"
        return StepResult("error", error=text, error_type="truncated")
    return None


# --- messages -------------------------------------------------------------------------------


class _Masked(Mapping[str, Any]):
    """Names with secrets masked: a prompt shows `***` where one stands, not instead of everything."""

    def __init__(self, names: Mapping[str, Any]) -> None:
        self._names = names

    def __getitem__(self, key: str) -> Any:
        return mask(self._names[key])

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def _messages(call: StepCall, agent: AgentSpec) -> list[dict[str, Any]]:
    names = _Masked(call.names)
    system = [_rendered(agent.system, names)] if agent.system is not None else []
    if agent.output.format == "json":
        system.append(_JSON_ONLY)
    asked = [_rendered(agent.prompt, names)] if agent.prompt is not None else []
    if agent.context_injection:
        asked.append(_injected(call, agent.context_injection))
    messages = [{"role": "system", "content": "\n\n".join(system)}] if system else []
    messages.append({"role": "user", "content": "\n\n".join(asked) or EMPTY_CONTEXT})
    return messages


def _rendered(template: Template[str], names: Mapping[str, Any]) -> str:
    return well_formed_text(str(template.render(names)))


def _injected(call: StepCall, keys: tuple[str, ...]) -> str:
    sent: dict[str, Any] = {}
    for key in keys:
        sent[key] = value = call.names.get(key, UNSET)
        if value is UNSET:
            raise UndefinedNameError(f"{key!r} of `context_injection` is not in the context")
    try:
        return wire_dumps(sent, "context")
    except CodecError as error:
        raise StepError(f"the context cannot be shown to a model: {error}", type="no_wire_form") from None
