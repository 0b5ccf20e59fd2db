"""Sending: tries, redirects, time."""

from __future__ import annotations

import asyncio
import email.utils
import os
import ssl
import time
from typing import Any, Final

import attrs
import httpcore
import httpx

from tuvl_core import Span, inject_trace, span
from tuvl_kinds_apicall.body import read_body
from tuvl_kinds_apicall.config import SAFE_METHODS
from tuvl_kinds_apicall.failures import CallFailed, excerpt
from tuvl_kinds_apicall.hosts import Origin
from tuvl_kinds_apicall.request import Outgoing
from tuvl_kinds_apicall.transport import GUARDED, QUIET, PrivateAddressError

_BROKEN: Final = (
    httpcore.TimeoutException,
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.ProxyError,
    httpx.HTTPError,
    OSError,
)

__all__ = ["Answer", "Terms", "send"]

_IN_NO_HOST: Final = frozenset("[]%@/\\ ")
"""Characters that httpx lets stand in a host, and no host has."""
MAX_REDIRECTS: Final = 10
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_AGAIN: Final = frozenset({408, 425, 429, 502, 503, 504})
_ERROR_BYTES: Final = 16_000
_FIRST_PAUSE_S: Final = 0.25
_LONGEST_PAUSE_S: Final = 10.0


@attrs.frozen(kw_only=True)
class Terms:
    """The limits of one execution.

    Attributes:
        timeout: Seconds for everything.
        tries: How often the request may be sent.
        max_bytes: The most bytes of the answer.
        follow: Whether redirects are followed.
    """

    timeout: float
    tries: int
    max_bytes: int
    follow: bool


@attrs.frozen(kw_only=True)
class Answer:
    """What came back with a status below 400."""

    status: int
    content_type: str
    body: bytes


async def send(client: httpx.AsyncClient, outgoing: Outgoing, terms: Terms) -> Answer:
    """Send a request, again where that is allowed and of use, within the time there is.

    Each try gets an equal share of the time that is left; the last one gets all of it.

    Raises:
        CallFailed: There is no good answer.
    """
    loop = asyncio.get_running_loop()
    end = loop.time() + terms.timeout
    token = QUIET.set(True)
    try:
        for number in range(1, terms.tries + 1):
            share = (end - loop.time()) / (terms.tries - number + 1)
            try:
                return await _try(client, outgoing, terms, share)
            except CallFailed as failure:
                pause = _pause(failure, number)
                if number == terms.tries or not failure.again or loop.time() + pause >= end:
                    raise
            await asyncio.sleep(pause)
        raise AssertionError("there is at least one try")
    finally:
        QUIET.reset(token)


def _pause(failure: CallFailed, number: int) -> float:
    if failure.pause is not None:
        return failure.pause
    return min(_FIRST_PAUSE_S * 2.0 ** (number - 1), _LONGEST_PAUSE_S)


async def _try(client: httpx.AsyncClient, outgoing: Outgoing, terms: Terms, seconds: float) -> Answer:
    try:
        async with asyncio.timeout(max(seconds, 0.0)):
            return await _follow(client, outgoing, terms)
    except TimeoutError:
        message = f"there was no whole answer within {seconds:.3g} s"
        raise CallFailed(message, type="timeout", again=True) from None


async def _follow(client: httpx.AsyncClient, outgoing: Outgoing, terms: Terms) -> Answer:
    """Send a request and go where answers point, each hop judged like the first."""
    first = outgoing.origin
    for _ in range(MAX_REDIRECTS + 1):
        try:
            answer = await _hop(client, outgoing, terms)
        except (httpcore.ConnectError, httpx.InvalidURL, PrivateAddressError, *_BROKEN) as error:
            redirected = None if outgoing.origin == first else outgoing.origin
            raise _failed(error, redirected) from error
        if isinstance(answer, Answer):
            return answer
        outgoing = answer
    raise CallFailed(f"there were more than {MAX_REDIRECTS} redirects", type="redirect")


async def _hop(client: httpx.AsyncClient, outgoing: Outgoing, terms: Terms) -> Answer | Outgoing:
    """Send one request; gives the answer, or the request that it redirects to."""
    with span(outgoing.method, _span_attributes(outgoing), client=True) as current:
        try:
            return await _exchange(client, outgoing, terms, current)
        except CallFailed as failure:
            current.failed(str(failure.status) if failure.type == "http_status" else failure.type)
            raise


def _span_attributes(outgoing: Outgoing) -> dict[str, Any]:
    """A request by the semantic conventions for HTTP clients; never its path and query: they may hold keys."""
    return {
        "http.request.method": outgoing.method,
        "server.address": outgoing.origin.host,
        "server.port": outgoing.origin.port,
        "url.scheme": outgoing.origin.scheme,
    }


async def _exchange(client: httpx.AsyncClient, outgoing: Outgoing, terms: Terms, current: Span) -> Answer | Outgoing:
    request = _request(client, outgoing)
    if not outgoing.elsewhere:
        inject_trace(request.headers)
    response = await client.send(request, stream=True, auth=None, follow_redirects=False)
    current.set_attribute("http.response.status_code", response.status_code)
    try:
        location = response.headers.get("location")
        if terms.follow and response.status_code in _REDIRECTS and location is not None:
            return _redirected(outgoing, request.url, response.status_code, location)
        return await _read(response, outgoing, terms)
    finally:
        await response.aclose()


def _failed(error: Exception, redirected: Origin | None) -> CallFailed:
    target = f"the redirect's target {redirected}" if redirected else "the host"
    if isinstance(error, PrivateAddressError):
        return CallFailed(
            f"{target} has a private address, which is open only to hosts that the author wrote out or "
            "the setting apicall.allow_hosts names; no connection was made",
            type="blocked_address",
        )
    in_location = isinstance(error, httpx.RemoteProtocolError) and "location header" in str(error)
    if in_location or isinstance(error, httpx.InvalidURL):
        # httpx reads where a redirect leads even when it is told not to follow.
        return CallFailed("the answer redirects to no valid address", type="redirect")
    connecting = isinstance(error, httpcore.ConnectError)
    what = "there is no connection to" if connecting else "the connection broke off to"
    return CallFailed(f"{what} {target} ({_reason(error)})", type="connection", again=True)


def _reason(error: BaseException) -> str:
    """The first cause, which is the one that says something: `Connection refused`."""
    while (cause := _cause(error)) is not None:
        error = cause
    if isinstance(error, ssl.SSLError):
        text = error.reason or str(error)
    elif isinstance(error, OSError) and error.errno is not None and error.errno > 0:
        text = os.strerror(error.errno)
    else:
        text = str(error)
    return " ".join(text.split())[:200] or type(error).__name__


def _cause(error: BaseException) -> BaseException | None:
    # httpcore cuts the chain, but keeps what it mapped as its own argument.
    inner = error.args[0] if error.args else None
    return inner if isinstance(inner, BaseException) else error.__cause__


def _request(client: httpx.AsyncClient, outgoing: Outgoing) -> httpx.Request:
    origin = outgoing.origin
    try:
        url = httpx.URL(
            scheme=origin.scheme,
            host=origin.host,
            port=origin.port,
            raw_path=outgoing.target.encode("ascii"),
        )
    except (httpx.InvalidURL, ValueError) as error:
        raise CallFailed(f"the address is not valid ({_reason(error)})", type="bad_request") from error
    headers = [(name.encode("ascii"), value) for name, value in outgoing.headers]
    return client.build_request(
        outgoing.method,
        url,
        headers=headers,
        content=outgoing.content,
        extensions={GUARDED: outgoing.guarded},
    )


async def _read(response: httpx.Response, outgoing: Outgoing, terms: Terms) -> Answer:
    status = response.status_code
    if status >= 400:
        raise await _refusal(response, outgoing, terms)
    body = b""
    if outgoing.method != "HEAD" and status not in (204, 205, 304):
        try:
            body = await read_body(response, terms.max_bytes)
        except CallFailed as failure:
            raise CallFailed(
                f"the answer is {_named(response)}, but {failure}",
                type=failure.type,
                again=failure.again,
                status=status,
            ) from failure
    content_type = response.headers.get("content-type", "")
    return Answer(status=status, content_type=content_type, body=body)


async def _refusal(response: httpx.Response, outgoing: Outgoing, terms: Terms) -> CallFailed:
    """What a status of 400 or more becomes."""
    try:
        body = await read_body(response, min(_ERROR_BYTES, terms.max_bytes), cut=True)
        shown = excerpt(body, outgoing.secrets)
    except (CallFailed, *_BROKEN):
        shown = "a body that cannot be read"
    return CallFailed(
        f"the answer is {_named(response)}: {shown}",
        type="http_status",
        again=response.status_code in _AGAIN,
        status=response.status_code,
        pause=_retry_after(response),
    )


def _named(response: httpx.Response) -> str:
    """Status, phrase and type, such as `502 Bad Gateway (text/html)`."""
    kind = response.headers.get("content-type", "").partition(";")[0].strip()[:80]
    phrase = httpx.codes.get_reason_phrase(response.status_code)
    return " ".join(filter(None, [str(response.status_code), phrase, f"({kind or 'no type'})"]))


def _retry_after(response: httpx.Response) -> float | None:
    """Seconds that the server asks to wait, given as a number or as a date."""
    text = response.headers.get("retry-after", "").strip()
    if text.isdecimal() and len(text) < 10:
        return float(text)
    try:
        when = email.utils.parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    return max(when.timestamp() - time.time(), 0.0)


def _redirected(outgoing: Outgoing, url: httpx.URL, status: int, location: str) -> Outgoing:
    """The request that a redirect asks for; what the author attached stays with its origin."""
    try:
        target = url.join(location)
    except (httpx.InvalidURL, ValueError) as error:
        raise CallFailed("the answer redirects to no valid address", type="redirect") from error
    if target.scheme not in ("http", "https") or not target.host or set(target.host) & _IN_NO_HOST:
        raise CallFailed(f"the answer redirects to {target.scheme[:20]!r}, no web address", type="redirect")
    origin = Origin.of(target.scheme, target.host, target.port)
    changes: dict[str, Any] = {"origin": origin, "target": target.raw_path.decode("ascii")}
    method, content = outgoing.method, outgoing.content
    if (status == 303 and method != "HEAD") or (status in (301, 302) and method == "POST"):
        method, content = "GET", None
        changes["headers"] = tuple(pair for pair in outgoing.headers if not pair[0].lower().startswith("content-"))
    if origin != outgoing.origin:
        if content is not None or method not in SAFE_METHODS:
            raise CallFailed(
                f"the answer redirects a {method} to {origin}; the request stays with the host it was written for",
                type="redirect",
            )
        changes["headers"] = ()
        changes["elsewhere"] = True
    return attrs.evolve(outgoing, method=method, content=content, **changes)
