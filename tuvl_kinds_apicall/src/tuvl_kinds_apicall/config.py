"""The keys of an APICall step."""

from __future__ import annotations

from typing import Any, Final

import attrs

from tuvl_core import Path, Template
from tuvl_core import field as key

__all__ = ["METHODS", "SAFE_METHODS", "APICallConfig", "Extract", "HttpConfig", "ResponseConfig"]

SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
METHODS: Final = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE")


@attrs.frozen(kw_only=True)
class HttpConfig:
    """The request."""

    url: Template[str] = key(
        reveals=True,
        doc="Where to. Values in its path and query are percent-encoded; a value may choose the host "
        "only among the setting `apicall.allow_hosts`.",
    )
    method: str = key(default="GET", choices=METHODS, doc="The HTTP method.")
    headers: dict[str, Template[Any]] = key(
        factory=dict, reveals=True, doc="Headers; one whose value is null is left out."
    )
    params: dict[str, Template[Any]] = key(
        factory=dict,
        reveals=True,
        doc="Query parameters; a list repeats the name, null leaves it out.",
    )
    json: Template[Any] | None = key(default=None, reveals=True, doc="A body of JSON; its leaves may be templates.")
    body: Template[Any] | None = key(default=None, reveals=True, doc="A body of text or bytes.")
    form: dict[str, Template[Any]] | None = key(
        default=None, reveals=True, doc="A body of form fields; null leaves one out."
    )
    timeout: float = key(
        default=30.0,
        min=0.001,
        doc="Seconds for everything: connection, redirects, tries and the waits between them.",
    )
    max_bytes: int = key(default=5_000_000, min=1, doc="The most bytes that are read of an answer, after unpacking.")
    follow_redirects: bool = key(
        default=False,
        doc="Go where the answer points. Headers and body never go to another host, port or scheme.",
    )
    retries: int = key(
        default=0,
        min=0,
        max=10,
        doc="Further tries after a timeout, a broken connection or a status of 408, 425, 429, 502, "
        "503, 504. They count for GET, HEAD and OPTIONS, and for any method with an idempotency key.",
    )
    idempotency_key: Template[Any] | None = key(
        default=None, reveals=True, doc="Sent as `Idempotency-Key` with each try."
    )


@attrs.frozen(kw_only=True)
class Extract:
    """A value of the answer that goes into the context under a name of its own."""

    path: Path = key(doc="Dotted path in the answer, such as `data.items.0.id`.")
    as_: str = key(name="as", doc="The context key that gets it.")


@attrs.frozen(kw_only=True)
class ResponseConfig:
    """What to do with the answer."""

    output_key: str | None = key(
        default=None, doc="The context key that gets the whole answer; `<id>_result` by itself."
    )
    extract: tuple[Extract, ...] = key(factory=tuple, doc="Parts of the answer to keep by name.")


@attrs.frozen(kw_only=True)
class APICallConfig:
    """The keys of an APICall step."""

    http: HttpConfig = key(doc="The request.")
    response: ResponseConfig = key(factory=ResponseConfig, doc="What to do with the answer.")
