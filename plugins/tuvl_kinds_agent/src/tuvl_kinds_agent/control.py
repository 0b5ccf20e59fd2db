"""What supervisors ask of a loop, taken in where the loop may obey: at a turn, and between calls.

It comes from outside, so with effect handlers around it passes the door and is on record; a replay then
sees the same directives at the same places. Without handlers and without a supervisor it costs nothing.
"""

from __future__ import annotations

from typing import Any

from tuvl_core import LoopHandle, StepCall

__all__ = ["abort_at_end", "abort_before_call", "directives_at_turn"]


async def directives_at_turn(call: StepCall, loop: LoopHandle, turn: int) -> dict[str, Any] | None:
    """Wait while paused, then give `steer`, a list of texts, and `aborted`, a reason or None.

    None stands for nothing at all.
    """
    if call.run.handlers:
        name = f"turn#{turn}/inputs"
        found: dict[str, Any] = await call.effect(name, _drain, loop, kind="input")
        return found
    return await _drain(loop) if loop.touched else None


async def abort_before_call(call: StepCall, loop: LoopHandle, turn: int, number: int) -> str | None:
    """The reason of an abort that arrived while the model or a tool before was at work."""
    if call.run.handlers:
        name = f"turn#{turn}/inputs@{number}"
        reason: str | None = await call.effect(name, _abort_of, loop, kind="input")
        return reason
    return await _abort_of(loop)


async def abort_at_end(call: StepCall, loop: LoopHandle, turn: int) -> str | None:
    """The reason of an abort that arrived during the last turn: it holds, whatever the turn came to."""
    if call.run.handlers:
        reason: str | None = await call.effect(f"turn#{turn}/inputs@end", _abort_of, loop, kind="input")
        return reason
    return await _abort_of(loop) if loop.abort_requested else None


async def _drain(loop: LoopHandle) -> dict[str, Any]:
    if not loop.touched:
        return {"steer": [], "aborted": None}
    directives = await loop.checkpoint()
    return {"steer": list(directives.steer), "aborted": directives.aborted}


async def _abort_of(loop: LoopHandle) -> str | None:
    return loop.control.aborted if loop.abort_requested else None
