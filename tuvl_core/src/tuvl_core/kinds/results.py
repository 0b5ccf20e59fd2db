"""What a step gives back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from tuvl_core.kinds.declarations import EMPTY
from tuvl_core.unset import UNSET

__all__ = ["Dispatch", "StepResult"]


@attrs.define
class StepResult:
    """What a step did. The context changes through this and nothing else.

    Attributes:
        signal: Which route to take.
        writes: Context keys to set.
        deletes: Context keys to remove.
        error: For a failing exit: what went wrong; becomes `_last_error`.
        error_type: Its short name; becomes `_last_error_type`.
        result: The run's result, where the step decides it (a Response); UNSET otherwise.
        status: The HTTP status that goes with `result`.
        timed_out: Set by the engine alone: its own limit around a tool call passed.
    """

    signal: str = "default"
    writes: Mapping[str, Any] = EMPTY
    deletes: Sequence[str] = ()
    error: str | None = None
    error_type: str | None = None
    result: Any = UNSET
    status: int = 200
    timed_out: bool = False


@attrs.define
class Dispatch:
    """What came of a step that was called as a tool.

    Attributes:
        signal: The signal it left by; it never routes the workflow.
        delta: Public context keys it changed, the call's arguments not counted. Secrets are still
            wrapped: mask it before it leaves.
        deletes: Public context keys it removed.
        output: The value of its declared output key, or None.
        error: What went wrong, if it failed.
        error_type: The short name of the failure.
        timed_out: The engine's own limit fired: fatal for the caller's loop.
    """

    signal: str = "default"
    delta: Mapping[str, Any] = EMPTY
    deletes: Sequence[str] = ()
    output: Any = None
    error: str | None = None
    error_type: str | None = None
    timed_out: bool = False
