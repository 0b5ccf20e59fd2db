"""Bearer tokens (RFC 6750) that are signed JWTs (RFC 7519), checked as RFC 8725 asks for."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, Final, NoReturn, Protocol

import attrs
import jwt

from tuvl_auth.claims import Rules, check_times, principal_of
from tuvl_auth.keys import Key, names
from tuvl_core import Principal, UnauthenticatedError

__all__ = ["BearerTokens", "GivenKeys"]

_MOST_CHARS: Final = 16_384
_TYPES: Final = frozenset({"jwt", "at+jwt"})
_SAID: Final[tuple[tuple[type[Exception], str], ...]] = (
    (jwt.ExpiredSignatureError, "the token has expired; get a new one"),
    (jwt.ImmatureSignatureError, "the token is not valid yet (nbf or iat lies ahead); are both clocks right?"),
    (jwt.InvalidIssuerError, "the token is of another issuer (iss) than auth.issuer"),
    (jwt.InvalidSignatureError, "the token's signature does not fit the key"),
    (jwt.InvalidAudienceError, "the token is for another audience (aud) than auth.audience"),
)


class KeySource(Protocol):
    """Where keys come from."""

    async def known(self, kid: str | None) -> Sequence[Key]:
        """Every key; looked for anew where none has this name and that may help."""
        ...


@attrs.frozen
class GivenKeys:
    """Keys that never change."""

    keys: tuple[Key, ...]

    async def known(self, kid: str | None) -> Sequence[Key]:
        """Every key."""
        return self.keys


class BearerTokens:
    """Tells who is calling by the token in the header `authorization`.

    Args:
        sources: Where keys come from, those that are at hand first.
        rules: What tokens must say.
        algorithms: The only ones that count; empty: all that fit a key.
    """

    def __init__(self, sources: Sequence[KeySource], rules: Rules, algorithms: frozenset[str] = frozenset()) -> None:
        self._sources = tuple(sources)
        self._rules = rules
        self._algorithms = algorithms
        self._options: Any = {"require": ["exp"], "verify_sub": False, "enforce_minimum_key_length": True}

    async def authenticate(self, credentials: Mapping[str, str]) -> Principal | None:
        """Give the bearer; None where no bearer token is given.

        Raises:
            UnauthenticatedError: The token is not good. The text says why, and holds none of it.
        """
        scheme, _, token = credentials.get("authorization", "").strip().partition(" ")
        if scheme.lower() != "bearer":
            return None
        token = token.strip()
        header = _header(token)
        kid = header.get("kid")
        keys = await self._fitting(kid, header["alg"])
        claims = self._verified(token, header["alg"], keys)
        check_times(claims)
        return principal_of(claims, self._rules)

    async def _fitting(self, kid: str | None, algorithm: str) -> list[Key]:
        """The keys that may have signed a token. What names its key is checked by that, or by keys without names."""
        nameless: list[Key] = []
        for source in self._sources:
            known = await source.known(kid)
            named = [key for key in known if kid is not None and key.kid == kid]
            if named:
                return self._allowed(named, algorithm)
            nameless += [key for key in known if kid is None or key.kid is None]
        if not nameless:
            raise UnauthenticatedError("the token is signed with a key (kid) that is none of this server's")
        return self._allowed(nameless, algorithm)

    def _allowed(self, keys: Sequence[Key], algorithm: str) -> list[Key]:
        counted = [
            attrs.evolve(key, algorithms=tuple(name for name in key.algorithms if self._counts(name))) for key in keys
        ]
        found = [key for key in counted if algorithm in key.algorithms]
        if not found:
            allowed = names(counted) or "none"
            raise UnauthenticatedError(f"the token's algorithm (alg) is not allowed with its key; allowed: {allowed}")
        return found

    def _counts(self, algorithm: str) -> bool:
        return not self._algorithms or algorithm in self._algorithms

    def _verified(self, token: str, algorithm: str, keys: Sequence[Key]) -> dict[str, Any]:
        for number in itertools.count(1):
            try:
                return self._decoded(token, algorithm, keys[number - 1])
            except jwt.InvalidSignatureError as error:
                if number == len(keys):
                    self._refuse(error)
            except Exception as error:  # the library raises more than its own, for claims that nobody meant
                self._refuse(error)
        raise AssertionError

    def _decoded(self, token: str, algorithm: str, key: Key) -> dict[str, Any]:
        rules = self._rules
        return jwt.decode(
            token,
            key.material,
            algorithms=[algorithm],
            audience=rules.audience or None,
            issuer=rules.issuer,
            leeway=rules.leeway_s,
            options=self._options,
        )

    def _refuse(self, error: Exception) -> NoReturn:
        if isinstance(error, jwt.MissingRequiredClaimError):
            raise UnauthenticatedError(f"the token lacks the claim {error.claim}") from None
        if isinstance(error, jwt.InvalidAudienceError) and not self._rules.audience:
            raise UnauthenticatedError("the token is for an audience (aud), and auth.audience names none") from None
        said = next((text for kind, text in _SAID if isinstance(error, kind)), None)
        raise UnauthenticatedError(said or "the token is malformed") from None


def _header(token: str) -> dict[str, Any]:
    """Read the header, of which nothing is believed but which key to try."""
    if len(token) > _MOST_CHARS:
        raise UnauthenticatedError(f"the token has more than {_MOST_CHARS} characters")
    if token.count(".") == 4:
        raise UnauthenticatedError("the token is encrypted; only signed ones are taken")
    try:
        header = jwt.get_unverified_header(token)
    except (jwt.DecodeError, ValueError, RecursionError):
        header = {}
    except jwt.InvalidTokenError:
        raise UnauthenticatedError(
            "the token's header cannot be used: it asks for extensions (crit), or its name of a key (kid) is no text"
        ) from None
    algorithm, type, kid = header.get("alg"), header.get("typ", "jwt"), header.get("kid")
    if not isinstance(algorithm, str) or not isinstance(type, str) or not isinstance(kid, str | None):
        raise UnauthenticatedError("the token is malformed: it is no JWT, or its header cannot be used")
    if algorithm.lower() == "none":
        raise UnauthenticatedError("the token is not signed")
    if "crit" in header or "b64" in header:
        raise UnauthenticatedError("the token's header asks for extensions (crit), and none is known")
    if type.lower().removeprefix("application/") not in _TYPES:
        raise UnauthenticatedError("the token is of another type (typ) than JWT or at+jwt")
    return header
