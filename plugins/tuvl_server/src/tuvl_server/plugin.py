"""What tuvl-server brings: the command `serve`, the section `trigger`, settings, hooks, and a client over HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tuvl_core import hookimpl

if TYPE_CHECKING:
    from tuvl_core import CommandSpec, Section, Setting, Validator

TUVL_API = 1
TUVL_HOOKSPECS = "tuvl_server.hookspecs"


@hookimpl
def tuvl_settings() -> list[Setting]:
    """How it serves."""
    from tuvl_server.settings import SETTINGS

    return list(SETTINGS)


@hookimpl
def tuvl_workflow_sections() -> list[Section]:
    """The section `trigger`."""
    from tuvl_core import Section
    from tuvl_server.trigger import Trigger, schema_of

    return [Section(key="trigger", spec=Trigger, input=schema_of)]


@hookimpl
def tuvl_validators() -> list[Validator]:
    """What can be wrong with triggers."""
    from tuvl_core import Validator
    from tuvl_server.checks import CODES, check

    return [Validator(codes=CODES, check=check)]


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
