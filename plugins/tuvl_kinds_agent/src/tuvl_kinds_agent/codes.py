"""Codes of what can be wrong with Agent and AutonomousAgent steps."""

from __future__ import annotations

from typing import Final, Literal

from tuvl_core import Code

__all__ = ["CODES"]


def _error(number: int, klass: Literal["structure", "flow"], title: str) -> Code:
    return Code(code=f"TUVL-A{number:03}", severity="error", klass=klass, title=title)


def _warning(number: int, title: str) -> Code:
    return Code(code=f"TUVL-A{number:03}", severity="warning", klass="flow", title=title)


NO_MODEL: Final = _error(1, "structure", "an agent names no model")
UNKNOWN_MODEL: Final = _warning(2, "an agent names a model that cannot be found; `run` refuses its workflow")
NO_STEERING: Final = _warning(3, "an AutonomousAgent has no steering")
OUT_OF_SCOPE: Final = _error(4, "flow", "a steering file or skill lies outside the agent's directory")
NO_FILE: Final = _warning(5, "a steering file or skill does not exist or is no text")
NO_TOOLS: Final = _warning(6, "an AutonomousAgent has no tools, so it only thinks once")
BAD_REF: Final = _error(7, "structure", "a tool refers to no other step of the workflow")
NO_DESCRIPTION: Final = _error(8, "flow", "a tool has no description for the model to read")
UNROUTED_OUTCOME: Final = _error(9, "flow", "an outcome has no route")
UNROUTED_BOUND: Final = _warning(10, "reaching a bound of an AutonomousAgent has no route")
UNROUTED_ABORT: Final = _warning(11, "an abort of an AutonomousAgent has no route")
GOAL: Final = _error(12, "flow", "`agent.goal` is no key; the persistent instruction is `steering`")
BAD_OUTCOME: Final = _error(13, "flow", "an outcome that no model can choose")
BAD_PARAMETERS: Final = _error(14, "structure", "a tool's parameters are no JSON Schema of an object")
CYCLE: Final = _error(15, "structure", "agents are each other's tools")
NO_TOOL_KIND: Final = _error(16, "structure", "a step whose kind cannot be a tool")
TWIN_TOOL: Final = _error(17, "structure", "one step is the same agent's tool twice")
BAD_MODEL: Final = _error(18, "flow", "an agent names a model that cannot be asked")
UNROUTED_EXIT: Final = _warning(20, "an exit of an Agent has no route")
NO_QUESTION: Final = _error(21, "flow", "an Agent sends its model nothing")
JSON_ONLY: Final = _error(22, "structure", "a key of an Agent's output that needs `format: json`")
BAD_RETRY: Final = _error(23, "structure", "an Agent is to ask again after what cannot happen")
BAD_TARGET: Final = _error(24, "structure", "a field of an Agent's answer goes to a private key")

CODES: Final = (
    NO_MODEL,
    UNKNOWN_MODEL,
    NO_STEERING,
    OUT_OF_SCOPE,
    NO_FILE,
    NO_TOOLS,
    BAD_REF,
    NO_DESCRIPTION,
    UNROUTED_OUTCOME,
    UNROUTED_BOUND,
    UNROUTED_ABORT,
    GOAL,
    BAD_OUTCOME,
    BAD_PARAMETERS,
    CYCLE,
    NO_TOOL_KIND,
    TWIN_TOOL,
    BAD_MODEL,
    UNROUTED_EXIT,
    NO_QUESTION,
    JSON_ONLY,
    BAD_RETRY,
    BAD_TARGET,
)
