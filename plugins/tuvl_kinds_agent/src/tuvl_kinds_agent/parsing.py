"""What becomes of an Agent's answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tuvl_core import StepCall, StepResult, text_of
from tuvl_kinds_agent.config import AgentSpec, Output
from tuvl_models import ChatReply, distinct_objects, find_objects, without_reasoning

__all__ = ["parse_problem", "parse_reply"]

Fields = Mapping[str, Any]

IDENTITY: Final = frozenset({"tenant_id", "user_id", "principal"})
"""Names of the run's identity: an answer does not set them unless `map` says so."""


def parse_reply(call: StepCall, reply: ChatReply) -> StepResult:
    """Turn an answer into context keys and a signal."""
    agent: AgentSpec = call.step.config.agent
    content = reply.content if isinstance(reply.content, str) else ""
    if agent.output.format == "text":
        return StepResult(writes={f"{call.step.id}_result": without_reasoning(content)})
    fields, problem = _fields(content, agent.output)
    if fields is None:
        return StepResult("parse_error", error=problem, error_type="parse_error")
    return StepResult(_signal(call, fields), writes=_writes(fields, agent.output))


def parse_problem(reply: ChatReply, output: Output) -> str | None:
    """What is wrong with an answer that has to be JSON; None if nothing is."""
    if output.format == "text":
        return None
    return _fields(reply.content if isinstance(reply.content, str) else "", output)[1]


def _fields(content: str, output: Output) -> tuple[Fields | None, str | None]:
    found = distinct_objects(find_objects(content))
    if len(found) != 1:
        what = "no complete JSON object" if not found else f"{len(found)} different JSON objects"
        return None, f"the answer has to be one JSON object; it holds {what}"
    wanted = [*(output.map or ()), *([output.signal_from] if output.signal_from else ())]
    missing = [name for name in wanted if name not in found[0]]
    if missing:
        return None, f"the answer lacks {', '.join(map(repr, missing))}"
    return found[0], None


def _writes(fields: Fields, output: Output) -> dict[str, Any]:
    """The fields under the keys they go to; the run's own keys are no model's to write."""
    if output.map is not None:
        return {key: fields[name] for name, key in output.map.items()}
    return {name: value for name, value in fields.items() if name[:1] != "_" and name not in IDENTITY}


def _signal(call: StepCall, fields: Fields) -> str:
    name = call.step.config.agent.output.signal_from
    if name is None or isinstance(fields[name], (dict, list)):
        return "default"
    label: str = text_of(fields[name]).strip()
    return label if label in call.step.routes else "default"
