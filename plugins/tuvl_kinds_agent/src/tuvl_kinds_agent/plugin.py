"""Kinds Agent and AutonomousAgent: a language model as a step, alone or in a bounded tool loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tuvl_core import hookimpl

if TYPE_CHECKING:
    from tuvl_core import StepKind, Validator

TUVL_API = 1


@hookimpl
def tuvl_step_kinds() -> list[type[StepKind]]:
    """Kinds Agent and AutonomousAgent."""
    from tuvl_kinds_agent.agent import Agent
    from tuvl_kinds_agent.autonomous import AutonomousAgent

    return [Agent, AutonomousAgent]


@hookimpl
def tuvl_validators() -> list[Validator]:
    """The codes that the kinds' own checks can report."""
    from tuvl_core import Validator
    from tuvl_kinds_agent.codes import CODES

    return [Validator(codes=CODES, check=lambda plan: ())]
