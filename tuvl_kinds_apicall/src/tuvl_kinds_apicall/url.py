"""Addresses with values in them.

The author's own text decides what is scheme, host, path and query. A value is encoded for the place it
lands in, so that it can never begin another: a `/` in a path value is `%2F`, a `&` in a query value
`%26`. A value that stands where a host is needed chooses where the request goes; that is told apart,
because it is allowed only among the hosts that the project lists.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final
from urllib.parse import quote, unquote

import attrs

from tuvl_core import Expression, Secret, StepError, Template, reads_of
from tuvl_kinds_apicall.hosts import Origin
from tuvl_kinds_apicall.values import path_text, quoted, value_text

__all__ = ["Address", "BadUrlError", "UrlTemplate"]

_HOLE: Final = "\0"
_URL: Final = re.compile(
    r"(?P<scheme>[^:/?#]+)://(?P<authority>[^/?#\\]*)(?P<path>[^?#]*)(?:\?(?P<query>[^#]*))?(?:#.*)?",
    re.DOTALL,
)
_AUTHORITY: Final = re.compile(
    r"(?:(?P<user>.*)@)?(?P<host>\[[0-9A-Fa-f:.%\0]+\]|[^:@\[\]]*)(?::(?P<port>[0-9\0]*))?",
    re.DOTALL,
)
_NO_HOST: Final = re.compile(r"[\s\x01-\x1f<>\"|^`{}\\]")
_HOST_VALUE: Final = re.compile(r"[A-Za-z0-9._-]{1,253}")
_PATH_SAFE: Final = "/:@!$&'()*+,;=~-._%"
_QUERY_SAFE: Final = _PATH_SAFE + "?"


class BadUrlError(Exception):
    """The author's text is no address of a server."""


@attrs.frozen(kw_only=True)
class Address:
    """Where one request goes.

    Attributes:
        origin: Scheme, host and port.
        target: Path and query, percent-encoded.
        user: User name and password in front of the host, if the author wrote them.
        chosen: Whether a value had a say in host or port.
    """

    origin: Origin
    target: str
    user: tuple[str, str] | None = None
    chosen: bool = False


@attrs.frozen
class _Part:
    """Text of the author's with holes, and the templates that fill them."""

    text: str
    templates: tuple[Template[Any], ...] = ()

    def fill(self, render: Callable[[Any], Any], encode: Callable[[Any], str]) -> str:
        values = iter([encode(render(template)) for template in self.templates])
        return "".join(next(values) if piece == _HOLE else piece for piece in _pieces(self.text))


def _pieces(text: str) -> list[str]:
    return [piece for piece in re.split(f"({_HOLE})", text) if piece]


@attrs.frozen(kw_only=True)
class UrlTemplate:
    """A compiled `http.url`.

    Attributes:
        hidden: Whether a part of the author's text is a secret.
        chosen: Whether a value has a say in host or port.
        base: The template of everything before the path, where a value is the whole address.
        scheme: `http` or `https`; empty with `base`.
        user: User name and password, if any.
        host: The host.
        port: The port, if any.
        path: The path, cut at its slashes.
        query: The query, if any.
    """

    hidden: bool
    chosen: bool
    base: Template[Any] | None
    scheme: str
    user: _Part | None
    host: _Part
    port: _Part | None
    path: tuple[_Part, ...]
    query: _Part | None

    @classmethod
    def compile(cls, url: Template[str]) -> UrlTemplate:
        """Compile a URL.

        Raises:
            BadUrlError: It is no address of a server; the message says why.
        """
        hidden = isinstance(url.source, Secret)
        if hidden:
            url = Template.of(url.source.reveal(), reveals=True)
        if any(isinstance(part, str) and _HOLE in part for part in url.parts):
            raise BadUrlError("it holds a null character")
        text = "".join(part if isinstance(part, str) else _HOLE for part in url.parts).strip()
        holes = iter(
            [
                Template.of("{{ " + part.source + " }}", reveals=True)
                for part in url.parts
                if isinstance(part, Expression)
            ]
        )
        if text.startswith(_HOLE):
            return cls._based(text[1:], holes, hidden)
        found = _URL.fullmatch(text)
        if found is None:
            raise BadUrlError("a URL has the form https://host/path")
        if found["scheme"].lower() not in ("http", "https"):
            raise BadUrlError("only http:// and https:// are possible")
        authority = _AUTHORITY.fullmatch(found["authority"])
        if authority is None or not authority["host"]:
            raise BadUrlError("there is no host between `//` and the path")
        if _NO_HOST.search(authority["host"]) or found["path"][:1] not in ("", "/"):
            raise BadUrlError(f"{authority['host']!r} is no host name")
        user = None if authority["user"] is None else _part(authority["user"], holes)
        host = _part(authority["host"], holes)
        port = _part(authority["port"], holes) if authority["port"] else None
        if port is not None and not port.templates and not 0 < int(port.text) < 65536:
            raise BadUrlError(f"there is no port {port.text}")
        return cls(
            hidden=hidden,
            chosen=bool(host.templates or (port is not None and port.templates)),
            base=None,
            scheme=found["scheme"].lower(),
            user=user,
            host=host,
            port=port,
            path=_path(found["path"], holes),
            query=None if found["query"] is None else _part(found["query"], holes),
        )

    @classmethod
    def _based(cls, rest: str, holes: Iterator[Template[Any]], hidden: bool) -> UrlTemplate:
        base = next(holes)
        if rest and rest[0] not in "/?#":
            raise BadUrlError("after a value that is an address follows `/`, `?` or nothing")
        path, _, query = rest.partition("#")[0].partition("?")
        return cls(
            hidden=hidden,
            chosen=True,
            base=base,
            scheme="",
            user=None,
            host=_Part(""),
            port=None,
            path=_path(path, holes) if path else (),
            query=_part(query, holes) if query else None,
        )

    @property
    def literal_host(self) -> str | None:
        """The host, where the author wrote it out."""
        return None if self.chosen else Origin.of(self.scheme, self.host.text, None).host

    def host_names(self) -> tuple[str, ...]:
        """First names of what decides host and port."""
        parts = [self.host.templates, self.port.templates if self.port is not None else (), self.base]
        return tuple(dict.fromkeys(read.path[0] for read in reads_of(parts)))

    def address(self, render: Callable[[Any], Any]) -> Address:
        """Fill in the values.

        Args:
            render: Renders a template, opening secrets.

        Raises:
            StepError: A value is of no use at its place.
        """
        if self.base is not None:
            return self._from_base(render(self.base), render)
        port = None if self.port is None else self.port.fill(render, _port_text)
        host = self.host.text if not self.host.templates else self.host.fill(render, _host_text)
        user = None
        if self.user is not None:
            name, _, word = self.user.fill(render, lambda v: quoted(path_text(v, "url"))).partition(":")
            user = (unquote(name), unquote(word))
        return Address(
            origin=Origin.of(self.scheme, host, int(port) if port else None),
            target=self._target(render),
            user=user,
            chosen=self.chosen,
        )

    def _target(self, render: Callable[[Any], Any]) -> str:
        target = "/".join(_segment(part, render) for part in self.path) or "/"
        if self.query is not None and self.query.text:
            text = _Part(quote(self.query.text, safe=_QUERY_SAFE + _HOLE), self.query.templates)
            target += "?" + text.fill(render, _query_text)
        return target

    def _from_base(self, value: Any, render: Callable[[Any], Any]) -> Address:
        """A value is the whole address, or all of it up to the path."""
        text = value if isinstance(value, str) else ""
        found = _URL.fullmatch(text.strip()) if _HOLE not in text else None
        authority = _AUTHORITY.fullmatch(found["authority"]) if found else None
        if (
            found is None
            or authority is None
            or found["scheme"].lower() not in ("http", "https")
            or found["path"][:1] not in ("", "/")
            or not re.fullmatch(r"[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]", authority["host"])
        ):
            raise StepError("the value for http.url is no http:// or https:// address", type="bad_request")
        if authority["user"] is not None:
            raise StepError("the value for http.url holds a user name; that is refused", type="bad_request")
        if found["query"] is not None and (self.path or self.query):
            raise StepError("the value for http.url has a query, so nothing can follow", type="bad_request")
        port = authority["port"]
        if port and not 0 < int(port) < 65536:
            raise StepError("the value for http.url has no valid port", type="bad_request")
        target = quote(found["path"], safe=_PATH_SAFE)
        if self.path or self.query:
            rest = self._target(render) if self.path else "?" + self._target(render).partition("?")[2]
            target = target.rstrip("/") + rest if self.path else (target or "/") + rest
        elif found["query"]:
            target = (target or "/") + "?" + quote(found["query"], safe=_QUERY_SAFE)
        origin = Origin.of(found["scheme"], authority["host"], int(port) if port else None)
        return Address(origin=origin, target=target or "/", chosen=True)


def _part(text: str, holes: Iterator[Template[Any]]) -> _Part:
    return _Part(text, tuple(next(holes) for _ in range(text.count(_HOLE))))


def _path(text: str, holes: Iterator[Template[Any]]) -> tuple[_Part, ...]:
    encoded = quote(text, safe=_PATH_SAFE + _HOLE)
    return tuple(_part(segment, holes) for segment in encoded.split("/"))


def _segment(part: _Part, render: Callable[[Any], Any]) -> str:
    """One path segment. A value may not make it vanish or climb: that would be another resource."""
    if not part.templates:
        return part.text
    text = part.fill(render, lambda value: quoted(path_text(value, "the path of http.url")))
    if unquote(text) in ("", ".", ".."):
        what = "empty" if not text else repr(text)
        raise StepError(
            f"a value makes a segment of the path of http.url {what}, which would be another "
            "address than the one meant; nothing was sent",
            type="bad_request",
        )
    return text


def _query_text(value: Any) -> str:
    return "" if value is None else quoted(value_text(value, "the query of http.url"))


def _host_text(value: Any) -> str:
    text = path_text(value, "the host of http.url")
    if not _HOST_VALUE.fullmatch(text):
        raise StepError("the value for the host of http.url is no host name", type="bad_request")
    return text


def _port_text(value: Any) -> str:
    text = path_text(value, "the port of http.url")
    if not re.fullmatch(r"[0-9]{1,5}", text) or not 0 < int(text) < 65536:
        raise StepError("the value for the port of http.url is no port", type="bad_request")
    return text
