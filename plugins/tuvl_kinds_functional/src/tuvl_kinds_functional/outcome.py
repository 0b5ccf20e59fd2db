"""From what a node returned, or raised, to what the step did."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tuvl_core import StepError, StepResult
from tuvl_kinds_functional.node_context import NodeContext

__all__ = ["failure", "outcome"]

SHAPES = "a dict, a signal (text), (dict, signal), or None"


def outcome(node: str, value: Any, ctx: NodeContext) -> StepResult:
    """Read a node's return value, on top of what it set and deleted in its context.

    Raises:
        StepError: It returned what is no result; the message names the node.
    """
    update, signal = value, "default"
    if value.__class__ is not dict:
        update, signal = _shape(node, value)
    for key in update:
        if key.__class__ is not str or key[:1] == "_":
            raise _bad_key(node, key)
    if not ctx.touched:
        return StepResult(signal, update)
    writes, deletes = ctx._view.changes()  # type: ignore[attr-defined]  # an overlay of the engine
    writes.update(update)
    return StepResult(signal, writes, [key for key in deletes if key not in update])


def failure(node: str, error: BaseException) -> StepError:
    """Turn what a node raised into the step's failure: its text and the name of its class."""
    try:
        text = str(error)
    except Exception:
        text = ""
    if isinstance(error, SystemExit):
        text = f"node {node!r} tried to end the process (SystemExit: {text})"
    return StepError(text or type(error).__name__, type=type(error).__name__)


def _shape(node: str, value: Any) -> tuple[Mapping[str, Any], str]:
    if value is None:
        return {}, "default"
    if isinstance(value, str):
        return {}, _signal(node, value)
    if isinstance(value, tuple):
        if len(value) == 2 and isinstance(value[0], Mapping) and isinstance(value[1], str):
            return value[0], _signal(node, value[1])
        parts = ", ".join(type(part).__name__ for part in value[:4])
        raise _bad_return(node, f"a tuple of {len(value)} ({parts})")
    if isinstance(value, Mapping):
        return value, "default"
    raise _bad_return(node, type(value).__name__)


def _signal(node: str, signal: str) -> str:
    # Members of a text enum are their value, not their name.
    text = signal if signal.__class__ is str else str.__str__(signal)
    if not text.strip():
        raise _bad_return(node, "an empty signal")
    return text


def _bad_return(node: str, what: str) -> StepError:
    return StepError(f"node {node!r} returned {what}; a node returns {SHAPES}", type="bad_return")


def _bad_key(node: str, key: object) -> StepError:
    why = "names that start with '_' belong to the engine" if isinstance(key, str) else "keys are text"
    return StepError(f"node {node!r} returned the key {key!r}; {why}", type="bad_return")
