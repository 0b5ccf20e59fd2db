"""What tuvl-auth brings: bearer tokens, their settings, and `tuvl token`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tuvl_core import hookimpl

if TYPE_CHECKING:
    from tuvl_core import App, Authenticator, CommandSpec, Setting

TUVL_API = 1


@hookimpl
def tuvl_settings() -> list[Setting]:
    """Keys, what tokens must say, and which claims say it."""
    from tuvl_auth.settings import SETTINGS

    return list(SETTINGS)


@hookimpl
def tuvl_authenticate(app: App) -> Authenticator | None:
    """Bearer tokens; None where there is no key that could have signed one."""
    from tuvl_auth.building import authenticator

    return authenticator(app.project)


@hookimpl(optionalhook=True)
def tuvl_cli_commands() -> list[CommandSpec]:
    """Tokens for development."""
    from tuvl_core import CommandSpec

    return [CommandSpec(name="token", help="Issue tokens for development.", target="tuvl_auth.commands:command")]
