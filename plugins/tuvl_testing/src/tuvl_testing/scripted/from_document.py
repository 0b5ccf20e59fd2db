"""From a ScriptedModel document to a model: turns filled in from the conversation."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import attrs

from tuvl_core import Definition, ProjectError
from tuvl_models import ChatRequest, ModelError, ModelLimits, ModelSettings, ToolCall, Usage
from tuvl_testing.scripted.document import ScriptedModelSpec, TurnSpec
from tuvl_testing.scripted.model import ScriptedModel
from tuvl_testing.scripted.turns import DEFAULT_USAGE, Turn, answer, turn

__all__ = ["limits_of", "model_of", "problem_of"]

_CONTEXT: Final = "$context"
_RESULT: Final = "$result"


def model_of(settings: ModelSettings) -> ScriptedModel:
    """The scripted model that a model string names.

    Raises:
        ModelError: The project has no such script, it is not in order, or there are several and none was named.
    """
    script = _script_of(settings)
    turns = [_Said(item) for item in script.spec.turns]
    return ScriptedModel(*turns, name=script.name, then=script.spec.then, keep=False)


def problem_of(settings: ModelSettings) -> str | None:
    """Why there is no scripted model of a model string; None where there is one."""
    try:
        _script_of(settings)
    except ModelError as error:
        return str(error)
    return None


def limits_of(settings: ModelSettings) -> ModelLimits:
    """What one turn of a scripted model takes at most: it is all written down, and nobody pays for it."""
    try:
        turns = _script_of(settings).spec.turns
    except ModelError:
        return ModelLimits()
    usages = [_Said(item).usage() for item in turns]
    calls = max(len(item.calls) for item in turns)
    if settings.tool_calling == "schema":  # then what a turn says is read for calls too
        calls = max(calls, *(len(item.content or "") for item in turns))
    known = [usage.total_tokens for usage in usages if usage is not None and usage.total_tokens > 0]
    return ModelLimits(
        # A turn that tells no tokens has as many as its text is taken for.
        window=max(known) if len(known) == len(usages) else None,
        tool_calls=calls,
        usd_per_prompt_token=0.0,
        usd_per_answer_token=0.0,
        source="the script",
    )


def _script_of(settings: ModelSettings) -> Definition[ScriptedModelSpec]:
    project = settings.project
    scripts = project.definitions("ScriptedModel") if project is not None else {}
    name = settings.rest
    if not name:
        name = next(iter(scripts)) if len(scripts) == 1 else "default"
    if project is None:
        raise ModelError(f"there is no ScriptedModel {name!r}: the model is used outside a project")
    try:
        return project.find("ScriptedModel", name)
    except ProjectError as error:
        raise ModelError(error.message) from None


class _Said:
    """A turn of a document, filled in for a request."""

    def __init__(self, spec: TurnSpec) -> None:
        self._spec = spec

    def __call__(self, request: ChatRequest) -> Turn:
        spec = self._spec
        if spec.error is not None:
            return Turn(error=ModelError(spec.error, type=spec.type, retryable=spec.retryable), delay=spec.delay)
        usage = self.usage()
        if spec.answer is not None:
            result = _filled(spec.answer.result, request)
            said = answer(spec.answer.outcome, result, usage=usage, delay=spec.delay)
            if spec.finish_reason and said.reply is not None:
                said = attrs.evolve(said, reply=attrs.evolve(said.reply, finish_reason=spec.finish_reason))
            return said
        calls = [
            ToolCall(id=item.id, name=item.name, arguments=_arguments(item.arguments, request)) for item in spec.calls
        ]
        return turn(*calls, content=spec.content, finish_reason=spec.finish_reason, usage=usage, delay=spec.delay)

    def usage(self) -> Usage | None:
        """The tokens of the turn; None where it tells none."""
        spec = self._spec.usage
        if self._spec.no_usage or spec is None:
            return None if self._spec.no_usage else DEFAULT_USAGE
        total = spec.total_tokens
        return Usage(
            prompt_tokens=spec.prompt_tokens,
            completion_tokens=spec.completion_tokens,
            total_tokens=total if total is not None else spec.prompt_tokens + spec.completion_tokens,
        )


def _arguments(value: Any, request: ChatRequest) -> Any:
    filled = _filled(value, request)
    return filled if filled is None or isinstance(filled, str) else json.dumps(filled, ensure_ascii=False)


def _filled(value: Any, request: ChatRequest) -> Any:
    """Put values of the conversation where a script refers to them."""
    if isinstance(value, Mapping):
        if len(value) == 1 and (wanted := next(iter(value))) in (_CONTEXT, _RESULT):
            role = "user" if wanted == _CONTEXT else "tool"
            return _picked(role, str(value[wanted]), request)
        return {name: _filled(item, request) for name, item in value.items()}
    return [_filled(item, request) for item in value] if isinstance(value, list) else value


def _picked(role: str, path: str, request: ChatRequest) -> Any:
    said = [message["content"] for message in request.messages if message["role"] == role]
    if not said:
        raise ModelError(f"the script refers to {path!r} of a {role} message, and there is none")
    try:
        found = json.loads(said[0] if role == "user" else said[-1])
        for part in path.split("."):
            found = found[int(part)] if isinstance(found, list) else found[part]
    except (ValueError, LookupError, TypeError):
        raise ModelError(f"the script refers to {path!r}, which the {role} message does not hold") from None
    return found
