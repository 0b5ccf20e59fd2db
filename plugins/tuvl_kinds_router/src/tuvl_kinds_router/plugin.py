"""Kind Router: decide which way a workflow goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tuvl_core import hookimpl

if TYPE_CHECKING:
    from tuvl_core import StepKind, Validator

TUVL_API = 1


@hookimpl
def tuvl_step_kinds() -> list[type[StepKind]]:
    """Kind Router."""
    from tuvl_kinds_router.kind import Router

    return [Router]


@hookimpl
def tuvl_validators() -> list[Validator]:
    """The codes that the kind's own checks can report."""
    from tuvl_core import Validator
    from tuvl_kinds_router.checks import CODES

    return [Validator(codes=CODES, check=lambda plan: ())]
