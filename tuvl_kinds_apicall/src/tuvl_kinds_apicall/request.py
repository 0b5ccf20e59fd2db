"""What is sent: a step's request with its values filled in."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final
from urllib.parse import quote, unquote, urlencode

import attrs

from tuvl_core import CodecError, StepError, Template, wire_dumps
from tuvl_kinds_apicall.config import HttpConfig
from tuvl_kinds_apicall.hosts import AllowedHosts, Origin
from tuvl_kinds_apicall.url import Address, UrlTemplate
from tuvl_kinds_apicall.values import header_value, many_texts, value_text

__all__ = ["Outgoing", "fill"]

Render = Callable[[Any], Any]

_BENIGN: Final = frozenset({"accept", "accept-language", "cache-control", "content-type", "prefer", "user-agent"})
_SHORT: Final = 6
_LONG: Final = 20
_CREDENTIAL: Final = re.compile(r"key|token|secret|pass|pwd|auth|sig|cred|code|session", re.I)


@attrs.frozen(kw_only=True)
class Outgoing:
    """One request, ready to be sent.

    Attributes:
        method: The HTTP method.
        origin: Scheme, host and port.
        target: Path and query, encoded.
        headers: What the author attached, credentials of the URL included.
        content: The body, or None.
        open_hosts: Hosts that the author wrote out; they may have private addresses.
        allowed: The hosts that the project's settings list.
        secrets: Texts that must not show in an error.
        elsewhere: Whether a redirect has led it away from the host that it was written for.
    """

    method: str
    origin: Origin
    target: str
    headers: tuple[tuple[str, bytes], ...] = ()
    content: bytes | None = None
    open_hosts: frozenset[str] = frozenset()
    allowed: AllowedHosts
    secrets: tuple[str, ...] = ()
    elsewhere: bool = False

    @property
    def guarded(self) -> bool:
        """Whether it must not reach a private address."""
        return self.origin.host not in self.open_hosts and not self.allowed.names(self.origin)

    def __str__(self) -> str:
        return f"{self.method} {self.origin}"


def fill(http: HttpConfig, url: UrlTemplate, allowed: AllowedHosts, render: Render) -> Outgoing:
    """Fill a step's values in.

    Raises:
        StepError: A value is missing, of no use at its place, or chooses a host it may not.
    """
    address = url.address(render)
    if address.chosen and not allowed.allows(address.origin):
        raise StepError(
            f"a value chose the host {address.origin.host!r}, which the setting apicall.allow_hosts "
            "does not list; nothing was sent",
            type="blocked_host",
        )
    params = _pairs(http.params, render, "parameter")
    headers = _headers(http, address, render)
    content, content_type = _content(http, render)
    if content_type is not None and "content-type" not in {name.lower() for name, _ in headers}:
        headers.append(("Content-Type", content_type.encode("latin-1")))
    literal = url.literal_host
    return Outgoing(
        method=http.method,
        origin=address.origin,
        target=_with_query(address.target, params),
        headers=tuple(headers),
        content=content,
        open_hosts=frozenset() if literal is None else frozenset({literal}),
        allowed=allowed,
        secrets=tuple(_secrets(headers, address, params, url.hidden)),
    )


def _headers(http: HttpConfig, address: Address, render: Render) -> list[tuple[str, bytes]]:
    found = []
    for name, template in http.headers.items():
        value = render(template)
        if value is not None:
            found.append((name, header_value(name, value)))
    if http.idempotency_key is not None:
        key = header_value("Idempotency-Key", render(http.idempotency_key) or "")
        if not key:
            raise StepError(
                "the value for http.idempotency_key is empty, so the request cannot be told from "
                "another; nothing was sent",
                type="bad_request",
            )
        found = [pair for pair in found if pair[0].lower() != "idempotency-key"]
        found.append(("Idempotency-Key", key))
    if address.user is not None and "authorization" not in {name.lower() for name, _ in found}:
        word = base64.b64encode(":".join(address.user).encode())
        found.append(("Authorization", b"Basic " + word))
    return found


def _content(http: HttpConfig, render: Render) -> tuple[bytes | None, str | None]:
    """The body and its type; a content type in `headers` wins."""
    if http.json is not None:
        try:
            return wire_dumps(render(http.json), "http.json").encode(), "application/json"
        except (CodecError, UnicodeEncodeError) as error:
            raise StepError(f"http.json cannot be sent: {error}", type="bad_request") from error
    if http.form is not None:
        body = urlencode(_pairs(http.form, render, "form field"))
        return body.encode(), "application/x-www-form-urlencoded"
    if http.body is not None:
        return _body(render(http.body)), None
    return None, None


def _body(value: Any) -> bytes | None:
    if value is None or isinstance(value, bytes):
        return value
    if isinstance(value, (Mapping, list, tuple)):
        raise StepError("http.body is text or bytes; for a mapping or list use http.json", type="bad_request")
    return value_text(value, "http.body").encode()


def _pairs(templates: Mapping[str, Template[Any]], render: Render, place: str) -> list[tuple[str, str]]:
    return [pair for name, template in templates.items() for pair in many_texts(name, render(template), place)]


def _with_query(target: str, params: list[tuple[str, str]]) -> str:
    if not params:
        return target
    sign = "&" if "?" in target else "?"
    return f"{target}{sign}{urlencode(params, quote_via=quote)}"


def _secrets(
    headers: Iterable[tuple[str, bytes]],
    address: Address,
    params: Iterable[tuple[str, str]],
    hidden: bool,
) -> Iterable[str]:
    """What the author attached as credentials, in every piece in which a server might repeat it."""
    for name, value in headers:
        if name.lower() not in _BENIGN:
            text = value.decode("latin-1")
            yield text
            yield from text.split(" ")[1:]
    if address.user is not None:
        yield from address.user
    path, _, query = address.target.partition("?")
    if hidden:
        yield from (part for part in path.split("/") if len(part) >= _SHORT)
    written = (pair.partition("=")[::2] for pair in query.split("&") if pair)
    for name, text in [*written, *params]:
        if hidden or _CREDENTIAL.search(name) or len(text) >= _LONG:
            yield unquote(text)
