"""What the parts of one server share."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import attrs
from starlette.requests import Request

from tuvl_core import Principal, RunService, UnauthenticatedError

__all__ = ["ANONYMOUS", "Site", "caller", "credentials", "site_of"]

ANONYMOUS = Principal(subject="anonymous")
"""Whom runs of a public trigger act for: no tenant, no scopes."""


@attrs.define(eq=False)
class Site:
    """One server, as its routes see it.

    Attributes:
        service: What requests about runs are handed to.
        closing: Set when every run of this worker is over and streams of other workers' runs should end.
    """

    service: RunService
    closing: asyncio.Event = attrs.field(factory=asyncio.Event)

    @property
    def settings(self) -> Any:
        """The project's settings."""
        return self.service.app.settings


def site_of(request: Request) -> Site:
    """The server that a request came to."""
    site: Site = request.app.state.site
    return site


def credentials(request: Request) -> Mapping[str, str]:
    """The request's headers by lower-case name.

    Raises:
        UnauthenticatedError: More than one `Authorization` was sent, and each could be meant.
    """
    if len(request.headers.getlist("authorization")) > 1:
        raise UnauthenticatedError("the header Authorization was sent more than once")
    return dict(request.headers)


def caller(request: Request) -> Principal:
    """Who is calling; on a public route everybody is the same, and nobody in particular."""
    principal: Principal | None = request.state.principal
    if principal is not None:
        return principal
    return Principal.local() if site_of(request).service.gate.dev else ANONYMOUS
