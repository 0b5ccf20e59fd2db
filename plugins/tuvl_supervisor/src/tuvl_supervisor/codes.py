"""Codes of what can be wrong with a supervisor."""

from __future__ import annotations

from typing import Final, Literal

from tuvl_core import Code
from tuvl_supervisor.supervision import UNKNOWN_RULE

__all__ = ["CODES"]


def _error(number: int, klass: Literal["structure", "flow"], title: str) -> Code:
    return Code(code=f"TUVL-V{number:03}", severity="error", klass=klass, title=title)


def _warning(number: int, title: str) -> Code:
    return Code(code=f"TUVL-V{number:03}", severity="warning", klass="flow", title=title)


NEVER_FIRES: Final = _error(2, "flow", "a supervisor's rule that can never fire")
NO_STEP: Final = _error(3, "structure", "a supervisor watches a step that the workflow does not have")
NO_AGENT: Final = _warning(4, "a supervisor watches what is no agent")
HALF_A_JUDGE: Final = _error(5, "structure", "a judge has a model and no criteria, or criteria and no model")
NO_MODEL: Final = _error(6, "structure", "a judge's model cannot be found")
BAD_MODEL: Final = _error(7, "flow", "a judge's model cannot be asked")
NEVER_JUDGES: Final = _error(8, "flow", "a judge that is never asked")
UNROUTED_ABORT: Final = _warning(9, "a supervisor may abort an agent, and `aborted` has no route")
IDLE: Final = _warning(10, "a supervisor has neither rules nor a judge")
HARDLY_FIRES: Final = _warning(11, "a supervisor's rule that hardly ever fires")

CODES: Final = (
    UNKNOWN_RULE,
    NEVER_FIRES,
    NO_STEP,
    NO_AGENT,
    HALF_A_JUDGE,
    NO_MODEL,
    BAD_MODEL,
    NEVER_JUDGES,
    UNROUTED_ABORT,
    IDLE,
    HARDLY_FIRES,
)
