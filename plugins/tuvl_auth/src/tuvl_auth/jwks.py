"""The keys that an issuer publishes at a URL: fetched when they are needed, kept, and fetched anew."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from tuvl_auth.keys import Key, KeyProblem, jwk_set
from tuvl_core import UnauthenticatedError, log_event

if TYPE_CHECKING:
    import httpx

__all__ = ["PublishedKeys"]

_log = logging.getLogger("tuvl.auth")
_MAX_BYTES: Final = 512 * 1024
_OUTAGE_S: Final = 3600.0
"""For how long keys are good that cannot be fetched anew."""


class PublishedKeys:
    """Keys of a JWK set at a URL. One fetch goes at a time, and however many tokens ask for one, they are rare.

    Args:
        url: Where.
        keep_s: Seconds after which they are fetched anew.
        retry_s: Seconds between two fetches at least.
        timeout_s: Seconds that a fetch may take.
        trust_env: Whether to use the environment's proxies.
    """

    def __init__(self, url: str, *, keep_s: float, retry_s: float, timeout_s: float, trust_env: bool) -> None:
        parts = urlsplit(url)
        self._url = url
        self._shown = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
        self._keep_s, self._retry_s, self._timeout_s = keep_s, retry_s, timeout_s
        self._trust_env = trust_env
        self._keys: tuple[Key, ...] = ()
        self._fetched: float | None = None
        self._tried: float | None = None
        self._lock = asyncio.Lock()

    async def known(self, kid: str | None) -> tuple[Key, ...]:
        """The keys, fetched anew where they are old, or where none of them has this name.

        Raises:
            UnauthenticatedError: There are none, or none that is young enough to be trusted.
        """
        if self._wanting(kid):
            async with self._lock:
                # Whoever had the lock before may have brought what is wanted.
                if self._wanting(kid) and _older(self._tried, self._retry_s):
                    await self._fetch()
        if _older(self._fetched, max(_OUTAGE_S, self._keep_s)):
            raise UnauthenticatedError(
                "the token cannot be checked right now: the keys of its issuer cannot be fetched; try again later"
            )
        return self._keys

    def _wanting(self, kid: str | None) -> bool:
        unknown = kid is not None and all(key.kid != kid for key in self._keys)
        return unknown or _older(self._fetched, self._keep_s)

    async def _fetch(self) -> None:
        self._tried = time.monotonic()
        try:
            async with asyncio.timeout(self._timeout_s):
                self._keys = jwk_set(await self._load(), secrets=False)
            self._fetched = time.monotonic()
        except TimeoutError:
            self._failed(f"no answer within {self._timeout_s:g} s")
        except KeyProblem as problem:
            self._failed(str(problem))

    async def _load(self) -> Any:
        # Making a client imports httpx and reads certificates: some tenths of a second, off the event loop.
        client = await asyncio.to_thread(_client, self._trust_env)
        import httpx

        try:
            async with client, client.stream("GET", self._url, headers={"accept": "application/json"}) as answer:
                if answer.status_code != 200:
                    raise KeyProblem(f"it answers with status {answer.status_code}")
                body = bytearray()
                async for part in answer.aiter_bytes():
                    body += part
                    if len(body) > _MAX_BYTES:
                        raise KeyProblem(f"it has more than {_MAX_BYTES} bytes")
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise KeyProblem(f"it cannot be reached: {type(error).__name__}") from None
        try:
            return json.loads(body)
        except (ValueError, RecursionError):
            raise KeyProblem("it is no JSON") from None

    def _failed(self, reason: str) -> None:
        log_event(_log, logging.WARNING, "auth.jwks_failed", {"url": self._shown, "reason": reason})


def _client(trust_env: bool) -> httpx.AsyncClient:
    import httpx

    # No redirects: keys count from the place that is set, and from no other.
    return httpx.AsyncClient(follow_redirects=False, trust_env=trust_env, timeout=None)


def _older(moment: float | None, seconds: float) -> bool:
    return moment is None or time.monotonic() - moment >= seconds
