"""Who is calling."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tuvl_core.errors import DeniedError, UnauthenticatedError
from tuvl_core.identity import Principal

if TYPE_CHECKING:
    from tuvl_core.contributions import Authenticator
    from tuvl_core.engine import App

__all__ = ["Gate"]


class Gate:
    """Tells who a caller is, by asking every authenticator that plugins bring.

    Args:
        app: The app that is served.
        dev: Whether every caller is the local operator; for loopback only, and whoever listens holds that.

    Raises:
        Exception: An authenticator could not be made: the server must not start.
    """

    def __init__(self, app: App, *, dev: bool = False) -> None:
        self.dev = dev
        found = [] if dev else app.plugins.call("tuvl_authenticate", app=app)
        self._authenticators: list[Authenticator] = [one for _, one in found if one is not None]

    @property
    def open(self) -> bool:
        """Whether anybody could get in at all."""
        return self.dev or bool(self._authenticators)

    async def admit(self, credentials: Mapping[str, str]) -> Principal:
        """Give the caller.

        Args:
            credentials: The request's headers, or what the protocol has in their place; lower-case names.

        Raises:
            UnauthenticatedError: Nobody knows who that is.
        """
        if self.dev:
            return Principal.local()
        for authenticator in self._authenticators:
            try:
                principal = await authenticator.authenticate(credentials)
            except UnauthenticatedError:
                raise
            except DeniedError as error:
                raise UnauthenticatedError(str(error)) from None
            if principal is not None:
                return principal
        if not self._authenticators:
            raise UnauthenticatedError(
                "this server has no key by which it could tell who is calling: for development run `tuvl token issue` "
                "and restart it, or use --dev; else set the keys of an issuer"
            )
        raise UnauthenticatedError(
            "credentials are missing, or of no kind that this server knows: send `Authorization: Bearer TOKEN`"
        )
