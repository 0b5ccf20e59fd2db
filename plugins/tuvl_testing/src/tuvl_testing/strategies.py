"""Hypothesis strategies: JSON values, contexts, workflows, and whatever a model may say."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from tuvl_core import Secret
from tuvl_models import ChatReply, ModelError, ToolCall, Usage

__all__ = ["context_values", "contexts", "identifiers", "json_values", "model_turns", "signals", "workflows"]


def identifiers() -> st.SearchStrategy[str]:
    """Step ids and context keys."""
    return st.from_regex(r"[a-z][a-z0-9_]{0,10}", fullmatch=True)


def signals() -> st.SearchStrategy[str]:
    """Signals, those of the engine and of YAML 1.1's booleans among them."""
    return st.sampled_from(["default", "error", "aborted", "yes", "no", "on", "off", "true", "null"]) | identifiers()


def json_values(max_leaves: int = 12) -> st.SearchStrategy[Any]:
    """Whatever JSON can hold."""
    leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
    return st.recursive(
        leaves, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=max_leaves
    )


def context_values() -> st.SearchStrategy[Any]:
    """What a context may hold beside JSON: dates, decimals, ids, bytes, sets, secrets."""
    more = (
        st.uuids()
        | st.decimals(allow_nan=False, allow_infinity=False)
        | st.datetimes(timezones=st.just(dt.UTC))
        | st.dates()
        | st.binary(max_size=20)
        | st.frozensets(st.integers(), max_size=4)
        | st.text(min_size=1).map(Secret)
    )
    return json_values() | more | st.lists(more, max_size=3)


def contexts(values: st.SearchStrategy[Any] | None = None) -> st.SearchStrategy[dict[str, Any]]:
    """Contexts of public keys."""
    return st.dictionaries(identifiers(), json_values() if values is None else values, max_size=6)


def model_turns(tools: Sequence[str] = (), outcomes: Sequence[str] = ()) -> st.SearchStrategy[Any]:
    """One turn of a model, however malformed: a reply, or an exception that it raises."""
    calls = st.lists(_calls(tools), max_size=3).map(tuple)
    replies = st.builds(
        ChatReply,
        content=st.none() | _answers(outcomes),
        tool_calls=calls,
        finish_reason=st.none() | st.sampled_from(["stop", "tool_calls", "length", "content_filter", "odd"]),
        usage=st.none() | st.builds(Usage, total_tokens=st.integers(min_value=-5, max_value=2000)),
    )
    errors = st.sampled_from([ModelError("no"), ModelError("late", type="llm_timeout"), ValueError("odd")])
    return replies | errors


def _calls(tools: Sequence[str]) -> st.SearchStrategy[ToolCall]:
    names: st.SearchStrategy[Any] = st.text(max_size=20) | st.none() | st.integers()
    if tools:
        names = st.sampled_from(list(tools)) | names
    objects = st.dictionaries(identifiers(), json_values(4), max_size=3)
    arguments = objects.map(json.dumps) | objects | st.text(max_size=20) | st.sampled_from(["", " ", "[1]", "{"])
    ids = st.sampled_from(["call_0", "", None]) | st.text(max_size=8)
    return st.builds(ToolCall, id=ids, name=names, arguments=arguments | st.none())


def _answers(outcomes: Sequence[str]) -> st.SearchStrategy[str]:
    chosen: st.SearchStrategy[Any] = json_values(3)
    if outcomes:
        chosen = st.sampled_from(list(outcomes)) | chosen
    objects = st.fixed_dictionaries({}, optional={"outcome": chosen, "result": json_values(4)}).map(json.dumps)
    framed = st.builds(
        "{}{}{}".format,
        st.sampled_from(["", "```json\n", "I think: "]),
        objects,
        st.sampled_from(["", "\n```", " Done."]),
    )
    return framed | st.text(max_size=40) | objects.map(lambda text: text[:-1])


@st.composite
def workflows(draw: st.DrawFn, runner: str = "step") -> dict[str, Any]:
    """A workflow of Functional and Router steps whose routes stay inside it, as data for a document."""
    ids = draw(st.lists(identifiers(), min_size=1, max_size=6, unique=True))
    targets = st.sampled_from([*ids, "END"])
    steps: list[dict[str, Any]] = []
    for id in ids:
        if draw(st.booleans()):
            routes = draw(st.dictionaries(signals(), targets, max_size=3))
            steps.append({"id": id, "kind": "Functional", "runner": runner, "routes": routes})
        else:
            steps.append(
                {
                    "id": id,
                    "kind": "Router",
                    "condition": {"field": draw(identifiers()), "operator": "is_empty"},
                    "routes": {"true": draw(targets), "false": draw(targets)},
                }
            )
    limits = {"max_steps": draw(st.integers(min_value=1, max_value=30))}
    return {"kind": "Workflow", "metadata": {"name": "generated"}, "spec": {"limits": limits, "steps": steps}}
