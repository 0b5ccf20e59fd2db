"""What is wrong with an APICall step, beyond the shape of its keys."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tuvl_core import Code, Diagnostic, PlanView, StepView
from tuvl_kinds_apicall.config import SAFE_METHODS, APICallConfig, HttpConfig
from tuvl_kinds_apicall.hosts import AllowedHosts
from tuvl_kinds_apicall.url import BadUrlError, UrlTemplate

__all__ = ["CODES", "check"]

BAD_URL: Final = Code(
    code="TUVL-H001",
    severity="error",
    klass="structure",
    title="an APICall's URL is no address of a server",
)
NO_HOSTS: Final = Code(
    code="TUVL-H002",
    severity="error",
    klass="flow",
    title="a value chooses an APICall's host, and the settings allow none",
)
BODIES: Final = Code(
    code="TUVL-H003",
    severity="error",
    klass="structure",
    title="an APICall has more than one of `json`, `body` and `form`",
)
BAD_HEADER: Final = Code(
    code="TUVL-H004",
    severity="error",
    klass="structure",
    title="a header of an APICall cannot be sent",
)
IDLE_RETRIES: Final = Code(
    code="TUVL-H005",
    severity="warning",
    klass="flow",
    title="an APICall's retries have no effect",
)
BAD_OUTPUT: Final = Code(
    code="TUVL-H006",
    severity="error",
    klass="structure",
    title="an APICall's answer cannot be kept under that name or taken from that path",
)
CODES: Final = (BAD_URL, NO_HOSTS, BODIES, BAD_HEADER, IDLE_RETRIES, BAD_OUTPUT)

_TOKEN: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_OURS: Final = frozenset(
    {"connection", "content-length", "host", "keep-alive", "proxy-authorization"}
    | {"te", "trailer", "transfer-encoding", "upgrade"}
)
Place = tuple[str | int, ...]
Finding = tuple[Code, str, Place, str | None]


def check(step: StepView, plan: PlanView) -> Iterator[Diagnostic]:
    """Every finding about one APICall step."""
    config: APICallConfig = step.config
    allowed = AllowedHosts.parse(plan.project.settings["apicall.allow_hosts"])
    for code, message, place, hint in _findings(config, allowed):
        yield Diagnostic.of(
            code,
            message,
            location=step.locate(*place),
            workflow=plan.workflow,
            step=step.id,
            hint=hint,
        )


def _findings(config: APICallConfig, allowed: AllowedHosts) -> Iterator[Finding]:
    yield from _url(config.http, allowed)
    yield from _headers(config.http)
    yield from _request(config.http)
    yield from _outputs(config)


def _url(http: HttpConfig, allowed: AllowedHosts) -> Iterator[Finding]:
    place = ("http", "url")
    try:
        url = UrlTemplate.compile(http.url)
    except BadUrlError as error:
        yield BAD_URL, f"the URL cannot be used: {error}", place, None
        return
    if url.chosen and not allowed:
        hint = 'list the hosts in tuvl.toml: `[apicall]` `allow_hosts = ["api.example.com"]`'
        message = "a value chooses the host, and the setting apicall.allow_hosts lists none"
        yield NO_HOSTS, message, place, hint


def _headers(http: HttpConfig) -> Iterator[Finding]:
    for name, template in http.headers.items():
        place = ("http", "headers", name)
        if not _TOKEN.fullmatch(name):
            yield BAD_HEADER, f"{name!r} is no header name", place, None
        elif name.lower() in _OURS:
            yield BAD_HEADER, f"the header {name!r} belongs to the connection; remove it", place, None
        elif isinstance(template.source, str) and re.search(r"[\r\n\0]", template.source.strip()):
            yield BAD_HEADER, f"the header {name!r} holds a line break", place, None


def _request(http: HttpConfig) -> Iterator[Finding]:
    bodies = [name for name in ("json", "body", "form") if getattr(http, name) is not None]
    if len(bodies) > 1:
        shown = " and ".join(f"`{name}`" for name in bodies)
        yield BODIES, f"a request has one body; the step has {shown}", ("http", bodies[1]), None
    if http.retries and http.method not in SAFE_METHODS and http.idempotency_key is None:
        message = f"a {http.method} without an idempotency key is never sent again"
        hint = "add http.idempotency_key if the server honours it, or remove retries"
        yield IDLE_RETRIES, message, ("http", "retries"), hint


def _outputs(config: APICallConfig) -> Iterator[Finding]:
    response = config.response
    if response.output_key is not None and (problem := _key_problem(response.output_key)):
        yield BAD_OUTPUT, problem, ("response", "output_key"), None
    seen: set[str] = set()
    for number, item in enumerate(response.extract):
        place: Place = ("response", "extract", number)
        problem = _key_problem(item.as_)
        if item.as_ in seen or item.as_ == response.output_key:
            problem = f"{item.as_!r} is written twice"
        seen.add(item.as_)
        if problem:
            yield BAD_OUTPUT, problem, (*place, "as"), None
        if "{{" in item.path.source:
            message = f"a dotted path has no braces: write `{item.path.source.strip('{} ')}`"
            yield BAD_OUTPUT, message, (*place, "path"), None


def _key_problem(key: str) -> str | None:
    if not key.strip():
        return "a context key has a name"
    if key.startswith("_"):
        return f"{key!r} starts with `_`; such names belong to the engine"
    return None
