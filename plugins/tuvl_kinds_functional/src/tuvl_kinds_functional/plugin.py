"""Kind Functional: a Python function as a step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tuvl_core import hookimpl

if TYPE_CHECKING:
    from tuvl_core import Setting, StepKind, Validator

TUVL_API = 1


@hookimpl
def tuvl_step_kinds() -> list[type[StepKind]]:
    """Kind Functional."""
    from tuvl_kinds_functional.kind import Functional

    return [Functional]


@hookimpl
def tuvl_validators() -> list[Validator]:
    """Findings about the files in `nodes/`."""
    from tuvl_core import Validator
    from tuvl_kinds_functional.checks import check_files
    from tuvl_kinds_functional.codes import ALL

    return [Validator(codes=ALL, check=check_files)]


@hookimpl
def tuvl_settings() -> list[Setting]:
    """How many plain functions may run at once."""
    from tuvl_core import Setting

    return [
        Setting(
            name="functional.threads",
            type=int,
            default=64,
            minimum=1,
            help="How many plain (not async) node functions may run at once; others wait.",
        )
    ]
