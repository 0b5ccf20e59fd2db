"""The judge: a model that is shown a loop's numbers and says whether they meet the criteria."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import attrs

from tuvl_core import Bound, BoundExpired, LoopHandle, TuvlError, counter, span, wire_dumps
from tuvl_models import ChatReply, ChatRequest, ModelError, distinct_objects, estimate_tokens, find_objects
from tuvl_supervisor.supervision import Judge

__all__ = ["JUDGE_ERRORS", "VERDICTS", "NoVerdict", "Verdict", "judge_loop", "numbers_of", "read_verdict", "request_of"]

VERDICTS: Final = counter("tuvl.agent", "tuvl.agent.supervisor.verdicts")
JUDGE_ERRORS: Final = counter("tuvl.agent", "tuvl.agent.supervisor.judge_errors")

MAX_REASON_CHARS: Final = 500
_CUT: Final = frozenset({"length", "max_tokens"})
_SHOWN: Final = (
    "iteration",
    "max_iterations",
    "tokens_used",
    "token_budget",
    "undeclared_calls",
    "repeats",
    "unchanged",
)

_PROMPT: Final = (
    "You supervise an agent: a language model that works in turns and calls tools. You see numbers about its work, "
    "never the work itself. Judge by these criteria whether it may go on as it does:\n\n{criteria}\n\n"
    "The numbers: `iteration`: turns so far, of `max_iterations`; `tokens_used` of `token_budget` (null: no budget); "
    "`tool_calls`: calls so far by tool; `undeclared_calls`: calls of tools that do not exist; `repeats`: how many "
    "times in a row the last call was made; `unchanged`: how many times in a row it gave the same result.\n\n"
    'Answer with one JSON object and nothing else: {{"passed": true or false, "reason": "one short sentence"}}'
)
_FORMAT: Final[Mapping[str, Any]] = {
    "type": "json_schema",
    "json_schema": {
        "name": "verdict",
        "strict": True,
        "schema": {
            "type": "object",
            "properties": {"passed": {"type": "boolean"}, "reason": {"type": "string"}},
            "required": ["passed", "reason"],
            "additionalProperties": False,
        },
    },
}


class NoVerdict(TuvlError):
    """A judge gave no verdict.

    Args:
        message: Why.
        type: Its short name: `judge_timeout`, `content_filter`, `truncated`, `no_verdict`.
    """

    def __init__(self, message: str, type: str) -> None:
        super().__init__(message)
        self.type = type


@attrs.frozen
class Verdict:
    """What a judge said.

    Attributes:
        passed: Whether the loop may go on as it does.
        reason: Why, in a sentence of its own; bounded.
    """

    passed: bool
    reason: str


def numbers_of(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """What a judge sees of a loop: numbers and declared names, as they stand now."""
    shown: dict[str, Any] = {
        name: value for name in _SHOWN if isinstance(value := metadata.get(name, ""), (int, float, type(None)))
    }
    calls = metadata.get("tool_calls")
    if isinstance(calls, Mapping):
        shown["tool_calls"] = {str(ref): count for ref, count in calls.items() if isinstance(count, int)}
    return shown


def request_of(judge: Judge, numbers: Mapping[str, Any]) -> ChatRequest:
    """The question for a verdict."""
    return ChatRequest(
        messages=[
            {"role": "system", "content": _PROMPT.format(criteria=judge.criteria)},
            {"role": "user", "content": wire_dumps(numbers)},
        ],
        temperature=0,
        response_format=_FORMAT,
        timeout_s=judge.timeout_s,
    )


async def judge_loop(loop: LoopHandle, judge: Judge, iteration: int, numbers: Mapping[str, Any]) -> Verdict:
    """Ask for a verdict; what it costs counts in the run, whatever becomes of it.

    Raises:
        NoVerdict: It took too long, or said nothing that is a verdict.
        ModelError: The model gave no answer.
    """
    request = request_of(judge, numbers)
    # The limit holds for a model that does not heed its cancellation as well.
    bound = Bound(judge.timeout_s, f"judge of {loop.step_id}")
    tokens, attempts = 0, 1
    try:
        reply: ChatReply = await bound.run(_complete(loop, judge, iteration, request))
        tokens = _tokens(judge, request, reply)
        attempts = reply.attempts
    except BoundExpired:
        raise NoVerdict(f"the judge gave no verdict within {judge.timeout_s:g} s", "judge_timeout") from None
    except ModelError as error:
        attempts = error.attempts
        if error.type == "llm_timeout":
            raise NoVerdict(f"the judge gave no verdict in time: {error}", "judge_timeout") from None
        raise
    finally:
        loop.usage.add(tokens=tokens, llm_calls=1, llm_attempts=max(attempts, 1))
    return read_verdict(reply)


async def _complete(loop: LoopHandle, judge: Judge, iteration: int, request: ChatRequest) -> ChatReply:
    model = judge.model.settings.model
    name = f"judge@{iteration}"
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.request.model": model, "tuvl.agent.step_id": loop.step_id}
    # The loop goes on meanwhile: its turn may be over before there is a verdict.
    with span(f"chat {model}", attributes, client=True, own=True):
        reply: ChatReply = await loop.effect(name, judge.model.complete, request, kind="model")
    return reply


def _tokens(judge: Judge, request: ChatRequest, reply: ChatReply) -> int:
    total = reply.usage.total_tokens if reply.usage is not None else 0
    return total or estimate_tokens(judge.model, request.messages, reply)


def read_verdict(reply: ChatReply) -> Verdict:
    """Take a reply for a verdict.

    Raises:
        NoVerdict: It was blocked or cut, or holds no verdict, or two that differ.
    """
    if reply.finish_reason == "content_filter":
        raise NoVerdict("the provider's content filter blocked the verdict", "content_filter")
    if reply.finish_reason in _CUT:
        raise NoVerdict("the verdict was cut at the model's token limit; raise its max_tokens", "truncated")
    content = reply.content if isinstance(reply.content, str) else ""
    found = distinct_objects(item for item in find_objects(content) if isinstance(item.get("passed"), bool))
    if len(found) != 1:
        what = "no verdict" if not found else "verdicts that contradict each other"
        raise NoVerdict(f"the judge gave {what}: an object with `passed` and `reason` is asked for", "no_verdict")
    reason = found[0].get("reason")
    text = " ".join(reason.split()) if isinstance(reason, str) else ""
    return Verdict(found[0]["passed"], text[:MAX_REASON_CHARS])
