"""Kind Functional: a Python function as a step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from tuvl_core import hookimpl

if TYPE_CHECKING:
    from tuvl_core import Code, Diagnostic, Lazy, PlanView, Setting, StepKind, Validator

TUVL_API = 1


@hookimpl
def tuvl_step_kinds() -> list[Lazy]:
    """Kind Functional."""
    from tuvl_core import Lazy

    return [Lazy("Functional", _kind)]


@hookimpl
def tuvl_validators() -> list[Validator]:
    """Findings about the files in `nodes/`."""
    from tuvl_core import Validator

    return [Validator(codes=_codes, check=_check)]


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


def _kind() -> type[StepKind]:
    from tuvl_kinds_functional.kind import Functional

    return Functional


def _codes() -> Sequence[Code]:
    from tuvl_kinds_functional.codes import ALL

    return ALL


def _check(plan: PlanView) -> Iterable[Diagnostic]:
    if not (plan.project.root / "nodes").is_dir():
        return ()
    from tuvl_kinds_functional.checks import check_files

    return check_files(plan)
