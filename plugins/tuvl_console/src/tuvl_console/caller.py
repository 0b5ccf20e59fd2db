"""Who looks at the console, and whether a form came from it.

A browser that opens a page sends no bearer token. So the console takes the token once, and keeps it in a cookie that
scripts cannot read and that other sites cannot have sent. Forms count only when they come from the console's own pages:
with `--dev` nobody signs in, and any page that is open in the same browser could post to a loopback address.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qsl, urlsplit

from tuvl_core import DeniedError, InputError, Principal

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

__all__ = ["forget", "form_of", "remember", "who"]

COOKIE: Final = "tuvl_console"
PATH: Final = "/console"
_MOST_BYTES: Final = 64_000


async def who(request: Request) -> Principal:
    """Give the caller.

    Raises:
        UnauthenticatedError: Nobody has signed in, or the token is no longer good.
    """
    headers = {name.lower(): value for name, value in request.headers.items()}
    token = request.cookies.get(COOKIE)
    if token and "authorization" not in headers:
        headers["authorization"] = f"Bearer {token}"
    principal: Principal = await request.state.service.gate.admit(headers)
    return principal


def remember(response: Response, token: str, *, secure: bool) -> None:
    """Keep a token for the console, until the browser is closed."""
    response.set_cookie(COOKIE, token, path=PATH, httponly=True, samesite="strict", secure=secure)


def forget(response: Response) -> None:
    """Sign out."""
    response.delete_cookie(COOKIE, path=PATH, httponly=True, samesite="strict")


async def form_of(request: Request) -> dict[str, str]:
    """Read a form that one of the console's own pages sent.

    Raises:
        DeniedError: It came from somewhere else.
        InputError: It is too large, or no form.
    """
    _require_own(request)
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > _MOST_BYTES:
            raise InputError("this is more than a form of the console holds")
    try:
        return dict(parse_qsl(body.decode("utf-8"), keep_blank_values=True, max_num_fields=20))
    except ValueError:
        raise InputError("this is no form of the console") from None


def _require_own(request: Request) -> None:
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        own = site == "same-origin"
    else:
        origin = urlsplit(request.headers.get("origin") or "")
        own = bool(origin.netloc) and origin.netloc == request.headers.get("host")
    if not own:
        raise DeniedError("this form was not sent from the console's own pages")
