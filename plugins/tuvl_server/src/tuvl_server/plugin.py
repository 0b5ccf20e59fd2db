"""What tuvl-server brings: the command `serve`, the section `trigger`, settings, hooks, and a client over HTTP."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from tuvl_core import hookimpl

if TYPE_CHECKING:
    from tuvl_core import Code, CommandSpec, Diagnostic, Lazy, PlanView, Section, Setting, Validator

TUVL_API = 1
TUVL_HOOKSPECS = "tuvl_server.hookspecs"


@hookimpl
def tuvl_settings() -> list[Setting]:
    """How it serves."""
    from tuvl_server.settings import SETTINGS

    return list(SETTINGS)


@hookimpl
def tuvl_workflow_sections() -> list[Lazy]:
    """The section `trigger`."""
    from tuvl_core import Lazy

    return [Lazy("trigger", _section)]


@hookimpl
def tuvl_validators() -> list[Validator]:
    """What can be wrong with triggers."""
    from tuvl_core import Validator

    return [Validator(codes=_codes, check=_check)]


@hookimpl(optionalhook=True)
def tuvl_cli_commands() -> list[CommandSpec]:
    """The command `tuvl serve`."""
    from tuvl_core import CommandSpec

    help = "Serve a project's workflows over HTTP, with the operator API."
    return [CommandSpec(name="serve", help=help, target="tuvl_server.commands:command")]


@hookimpl(optionalhook=True)
def tuvl_remote_clients() -> Mapping[str, str]:
    """Speak to it."""
    return dict.fromkeys(("http", "https"), "tuvl_server.client:connect")


def _section() -> Section:
    from tuvl_core import Section
    from tuvl_server.trigger import Trigger, schema_of

    return Section(key="trigger", spec=Trigger, input=schema_of)


def _codes() -> Sequence[Code]:
    from tuvl_server.codes import CODES

    return CODES


def _check(plan: PlanView) -> Iterable[Diagnostic]:
    if "trigger" not in plan.definition.spec.sections:  # type: ignore[attr-defined]
        return ()
    from tuvl_server.checks import check

    return check(plan)
