"""Kinds Agent and AutonomousAgent: a language model as a step, alone or in a bounded tool loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tuvl_core import hookimpl

if TYPE_CHECKING:
    from tuvl_core import Code, Lazy, StepKind, Validator

TUVL_API = 1


@hookimpl
def tuvl_step_kinds() -> list[Lazy]:
    """Kinds Agent and AutonomousAgent."""
    from tuvl_core import Lazy

    return [Lazy("Agent", _agent), Lazy("AutonomousAgent", _autonomous)]


@hookimpl
def tuvl_validators() -> list[Validator]:
    """The codes that the kinds' own checks can report."""
    from tuvl_core import Validator

    return [Validator(codes=_codes, check=lambda plan: ())]


def _agent() -> type[StepKind]:
    from tuvl_kinds_agent.agent import Agent

    return Agent


def _autonomous() -> type[StepKind]:
    from tuvl_kinds_agent.autonomous import AutonomousAgent

    return AutonomousAgent


def _codes() -> Sequence[Code]:
    from tuvl_kinds_agent.codes import CODES

    return CODES
