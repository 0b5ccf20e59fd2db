"""`tuvl token`: tokens for development."""

from __future__ import annotations

import json
import re
import sys
import time
from contextlib import redirect_stdout
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

if TYPE_CHECKING:
    from tuvl_core import Project

__all__ = ["command"]

_TTL: Final = re.compile(r"(\d{1,9})([smhd]?)")
_UNITS: Final = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_LONGEST_S: Final = 365 * 86400
_SCOPE: Final = re.compile(r"[!#-\[\]-~]+")  # RFC 6749, section 3.3


def _seconds(context: click.Context, parameter: click.Parameter, value: str) -> int:
    """Read a duration such as `30m`."""
    found = _TTL.fullmatch(value)
    seconds = int(found[1]) * _UNITS[found[2]] if found else 0
    if not 0 < seconds <= _LONGEST_S:
        raise click.BadParameter(f"{value!r} is no duration from 1s to 365d, such as 30m, 1h or 7d", context, parameter)
    return seconds


@click.group("token")
def command() -> None:
    """Issue tokens for development."""


@command.command("issue")
@click.option("--subject", metavar="S", required=True, help="Who it is for.")
@click.option("--tenant", metavar="T", help="Whose data they may see.")
@click.option("--scope", "scopes", metavar="S", multiple=True, help="What they may do; can be repeated.")
@click.option("--group", "groups", metavar="G", multiple=True, help="A group they belong to; can be repeated.")
@click.option(
    "--ttl",
    metavar="TTL",
    callback=_seconds,
    default="1h",
    show_default=True,
    help="How long it is good, such as 30m or 7d.",
)
@click.option(
    "-C",
    "directory",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=Path(),
    metavar="DIR",
    help="The project's directory; here by itself.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def issue(
    subject: str,
    tenant: str | None,
    scopes: tuple[str, ...],
    groups: tuple[str, ...],
    ttl: int,
    directory: Path,
    as_json: bool,
) -> None:
    """Print a token for development, signed with the project's own key.

    The key lies in `.tuvl/dev-key.pem`, made when it is first used, readable by you alone and out of the project's
    history. A server of this project takes the token as long as no other keys are set.
    """
    from tuvl_auth.building import configured
    from tuvl_auth.devkey import PATH, make

    claims = _claims(subject, tenant, scopes, groups)
    project = _project(directory)
    if others := configured(project.settings):
        raise click.UsageError(
            f"this project takes tokens of its own issuer only ({', '.join(others)} is set), and none of `tuvl token`: "
            "get one there, or unset it for development"
        )
    if not project.settings["auth.dev_key"]:
        raise click.UsageError("this project takes no tokens of `tuvl token`: auth.dev_key is off")
    key, made = make(project.root)
    expires = int(time.time()) + ttl
    token = _signed(key, claims, expires)
    until = datetime.fromtimestamp(expires, UTC).isoformat().replace("+00:00", "Z")
    if made:
        click.echo(f"made the key {PATH}; a server that runs already takes the token once it is restarted", err=True)
    if as_json:
        click.echo(json.dumps({"token": token, "expires": until, **claims}))
    else:
        click.echo(token)


def _claims(subject: str, tenant: str | None, scopes: tuple[str, ...], groups: tuple[str, ...]) -> dict[str, Any]:
    from tuvl_auth.claims import Rules, principal_of
    from tuvl_core import UnauthenticatedError

    held = [part for scope in scopes for part in scope.split()]
    if wrong := next((part for part in held if not _SCOPE.fullmatch(part)), None):
        raise click.BadParameter(f"{wrong!r} is no scope: printable ASCII without quotes", param_hint="'--scope'")
    claims: dict[str, Any] = {"sub": subject, "scope": " ".join(dict.fromkeys(held)), "groups": list(groups)}
    if tenant is not None:
        claims["tenant"] = tenant
    try:
        principal_of(claims, Rules(allow_all=True))  # a server would refuse what does not pass here
    except UnauthenticatedError as error:
        raise click.UsageError(f"no token can say that: {str(error).partition(': ')[2]}") from None
    return claims


def _signed(key: Any, claims: dict[str, Any], expires: int) -> str:
    import jwt

    from tuvl_auth.devkey import ALGORITHM, ISSUER, name_of

    payload = {"iss": ISSUER, "iat": int(time.time()), "exp": expires, **claims}
    return jwt.encode(payload, key, algorithm=ALGORITHM, headers={"kid": name_of(key)})


def _project(directory: Path) -> Project:
    from tuvl_core import Plugins, load_project

    with redirect_stdout(sys.stderr):  # a project's own plugins may print
        return load_project(directory, plugins=Plugins.load(root=directory))
