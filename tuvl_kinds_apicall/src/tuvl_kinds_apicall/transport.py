"""The connections of a process: one httpx client whose requests go only where they may.

A name is looked up once, its addresses are judged, and the connection is made to the address that was
judged: a name server that answers differently the second time changes nothing. Requests that may reach
private addresses and requests that may not have pools of their own, so that a connection of the first
never serves the second.
"""

from __future__ import annotations

import contextvars
import http.cookiejar
import logging
import ssl
import urllib.request
from collections.abc import AsyncIterator, Iterable
from typing import Any, Final

import httpcore
import httpx

from tuvl_kinds_apicall.addresses import is_private, look_up

__all__ = ["GUARDED", "QUIET", "PrivateAddressError", "make_client"]

GUARDED: Final = "tuvl_guarded"
"""The request extension that says: no private address."""
QUIET: Final[contextvars.ContextVar[bool]] = contextvars.ContextVar("tuvl_quiet", default=False)
"""Set while a request of ours is on its way; libraries then log no addresses and headers of it."""

_USER_AGENT: Final = "tuvl-apicall/3"
_IMPATIENCE_S: Final = 3.0
_LOGGERS: Final = ("httpx", "httpcore.connection", "httpcore.http11", "httpcore.proxy")


class PrivateAddressError(Exception):
    """A host that may not be reached has only private addresses."""


class _Network(httpcore.AsyncNetworkBackend):
    """Connects to addresses that were judged, never to names."""

    def __init__(self, guarded: bool) -> None:
        self._guarded = guarded
        self._sockets = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        addresses = await _addresses(host, port, self._guarded)
        for address in addresses[:-1]:
            patience = _IMPATIENCE_S if timeout is None else min(timeout, _IMPATIENCE_S)
            try:
                return await self._sockets.connect_tcp(address, port, patience, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                continue
        return await self._sockets.connect_tcp(addresses[-1], port, timeout, local_address, socket_options)

    async def sleep(self, seconds: float) -> None:
        await self._sockets.sleep(seconds)


async def _addresses(host: str, port: int, guarded: bool) -> list[str]:
    try:
        found = await look_up(host, port)
    except OSError as error:
        message = f"the name is unknown: {error.strerror or error}"
        raise httpcore.ConnectError(message) from None
    allowed = [address for address in found if not (guarded and is_private(address))]
    if found and not allowed:
        raise PrivateAddressError
    if not allowed:
        raise httpcore.ConnectError("the name has no address")
    return allowed


class _Transport(httpx.AsyncBaseTransport):
    """Chooses the pool by what the request may reach and by the proxy in between."""

    def __init__(self, *, trust_env: bool, max_connections: int) -> None:
        self._trust_env = trust_env
        self._max_connections = max_connections
        self._proxies = urllib.request.getproxies() if trust_env else {}
        self._pools: dict[tuple[bool, bool, str | None], httpcore.AsyncConnectionPool] = {}
        self._tls: ssl.SSLContext | None = None

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        guarded = bool(request.extensions.get(GUARDED, True))
        url = request.url
        proxy = self._proxy(url)
        if proxy is not None and guarded:
            # The proxy looks the name up again; that is what trusting the environment means.
            await _addresses(url.host, url.port or 0, guarded)
        pool = self._pool(url.scheme == "https", guarded, proxy)
        answer = await pool.handle_async_request(
            httpcore.Request(
                method=request.method,
                url=httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
                headers=request.headers.raw,
                content=request.stream,
                extensions=request.extensions,
            )
        )
        return httpx.Response(
            status_code=answer.status,
            headers=answer.headers,
            stream=_Stream(answer.stream),
            extensions=answer.extensions,
        )

    async def aclose(self) -> None:
        for pool in self._pools.values():
            await pool.aclose()
        self._pools.clear()

    def _proxy(self, url: httpx.URL) -> str | None:
        proxy = self._proxies.get(url.scheme) or self._proxies.get("all")
        if proxy is None or urllib.request.proxy_bypass(url.host):
            return None
        return proxy if "://" in proxy else f"http://{proxy}"

    def _pool(self, tls: bool, guarded: bool, proxy: str | None) -> httpcore.AsyncConnectionPool:
        key = (tls, guarded, proxy)
        if key not in self._pools:
            # An SSL context takes tens of milliseconds, so it is made once, when it is needed.
            if tls and self._tls is None:
                self._tls = httpx.create_ssl_context(trust_env=self._trust_env)
            self._pools[key] = httpcore.AsyncConnectionPool(
                ssl_context=self._tls if tls else None,
                proxy=None if proxy is None else _proxy(proxy),
                max_connections=self._max_connections,
                max_keepalive_connections=self._max_connections,
                keepalive_expiry=5.0,
                network_backend=_Network(guarded and proxy is None),
            )
        return self._pools[key]


def _proxy(text: str) -> httpcore.Proxy:
    url = httpx.URL(text)
    auth = (url.username, url.password) if url.username else None
    plain = url.copy_with(username=None, password=None)
    return httpcore.Proxy(str(plain), auth=auth)


class _Stream(httpx.AsyncByteStream):
    def __init__(self, inner: Any) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._inner:
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Quiet(logging.Filter):
    """Drops what libraries log about our requests: whole addresses, and headers of answers."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not QUIET.get()


def make_client(*, trust_env: bool, max_connections: int) -> httpx.AsyncClient:
    """Make the client of a process: no cookies kept, no redirects followed, nothing logged.

    Args:
        trust_env: Whether proxies and certificates named by the environment are used.
        max_connections: How many connections a pool keeps at once.
    """
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        if not any(isinstance(item, _Quiet) for item in logger.filters):
            logger.addFilter(_Quiet())
    # Cookies of one run must never reach another.
    jar = http.cookiejar.CookieJar(http.cookiejar.DefaultCookiePolicy(allowed_domains=()))
    headers = {
        "User-Agent": _USER_AGENT,
        "Accept": "application/json, */*;q=0.5",
        "Accept-Encoding": "gzip, deflate",
    }
    return httpx.AsyncClient(
        transport=_Transport(trust_env=trust_env, max_connections=max_connections),
        trust_env=False,
        timeout=None,
        follow_redirects=False,
        headers=headers,
        cookies=jar,
    )
