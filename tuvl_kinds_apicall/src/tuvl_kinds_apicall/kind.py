"""The kind itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

import attrs

from tuvl_core import (
    UNSET,
    Capabilities,
    Cost,
    Diagnostic,
    Effects,
    Keys,
    Path,
    PlanView,
    ProjectError,
    Signals,
    Sink,
    StepCall,
    StepError,
    StepKind,
    StepResult,
    StepView,
    reads_of,
)
from tuvl_kinds_apicall.checks import check
from tuvl_kinds_apicall.config import SAFE_METHODS, APICallConfig
from tuvl_kinds_apicall.hosts import AllowedHosts
from tuvl_kinds_apicall.url import BadUrlError, UrlTemplate

if TYPE_CHECKING:
    from tuvl_core import App
    from tuvl_kinds_apicall.request import Outgoing
    from tuvl_kinds_apicall.send import Answer, Terms

__all__ = ["CLIENT", "STATUS", "APICall"]

CLIENT: Final = "apicall.client"
"""The name under which the HTTP client lies among the process's resources."""
STATUS: Final = "_api_status_code"
"""The context key that holds the last status; null where no answer came."""


@attrs.frozen(kw_only=True)
class _Prepared:
    url: UrlTemplate
    allowed: AllowedHosts
    output_key: str
    extract: tuple[tuple[str, Path], ...]
    terms: Terms


class APICall(StepKind):
    """Send one HTTP request and keep its answer."""

    name = "APICall"
    Config = APICallConfig
    signals = Signals("default", "error")
    mutates_context = False

    def output_key(self, step: StepView, plan: PlanView) -> str:
        """The key of the whole answer."""
        return _output_key(step)

    def reads(self, step: StepView, plan: PlanView) -> Keys:
        """The names that the request's templates read."""
        return Keys(*(read.path[0] for read in reads_of(step.config.http)))

    def writes(self, step: StepView, plan: PlanView) -> Keys:
        """The answer, its extracted parts and the status."""
        extracted = (item.as_ for item in step.config.response.extract)
        return Keys(_output_key(step), STATUS, *extracted)

    def effects(self, step: StepView, plan: PlanView) -> Effects:
        """Looking for GET, HEAD and OPTIONS; repeatable with an idempotency key; else final."""
        http = step.config.http
        if http.method in SAFE_METHODS:
            return Effects.READS
        return Effects.IRREVERSIBLE if http.idempotency_key is None else Effects.WRITES

    def capabilities(self, step: StepView, plan: PlanView) -> Capabilities:
        """The host, the hosts a value may choose, or any where redirects are followed."""
        config: APICallConfig = step.config
        if config.http.follow_redirects:
            return Capabilities(network=("*",))
        try:
            url = UrlTemplate.compile(config.http.url)
        except BadUrlError:
            return Capabilities(network=("*",))
        if url.literal_host is not None:
            return Capabilities(network=(url.literal_host,))
        return Capabilities(network=tuple(_allowed(plan).listed()))

    def cost(self, step: StepView, plan: PlanView) -> Cost:
        """Time within `http.timeout`; what the server charges is no cost of models."""
        return Cost(seconds=step.config.http.timeout)

    def sinks(self, step: StepView, plan: PlanView) -> Sequence[Sink]:
        """What chooses the host, among those that the settings allow; without any, `validate` says that it cannot."""
        source = step.config.http.url
        if source.constant or not _allowed(plan).listed():
            return []
        try:
            names = UrlTemplate.compile(source).host_names()
        except BadUrlError:
            return []
        return [Sink("url_host", names, ("http", "url"))] if names else []

    def validate(self, step: StepView, plan: PlanView) -> Iterable[Diagnostic]:
        """Check URL, headers, body, retries and the names of outputs."""
        return list(check(step, plan))

    def prepare(self, step: StepView, plan: PlanView) -> _Prepared:
        """Compile the URL and paths, and fix the limits."""
        from tuvl_kinds_apicall.send import Terms

        config: APICallConfig = step.config
        http = config.http
        try:
            url = UrlTemplate.compile(http.url)
        except BadUrlError as error:
            raise ProjectError(f"{step.locate('http', 'url')}: step {step.id!r}: {error}") from error
        repeatable = http.method in SAFE_METHODS or http.idempotency_key is not None
        return _Prepared(
            url=url,
            allowed=_allowed(plan),
            output_key=_output_key(step),
            extract=tuple((item.as_, item.path) for item in config.response.extract),
            terms=Terms(
                timeout=http.timeout,
                tries=1 + (http.retries if repeatable else 0),
                max_bytes=http.max_bytes,
                follow=http.follow_redirects,
            ),
        )

    async def open_resources(self, app: App) -> None:
        """Open the client whose connections all requests share."""
        from tuvl_kinds_apicall.transport import make_client

        client = make_client(
            trust_env=app.settings["apicall.trust_env"],
            max_connections=app.settings["apicall.max_connections"],
        )
        app.resources[CLIENT] = client
        app.on_close(client.aclose)

    async def run(self, call: StepCall) -> StepResult:
        """Send the request, read the answer, keep what was asked for."""
        from tuvl_kinds_apicall.failures import CallFailed
        from tuvl_kinds_apicall.request import fill
        from tuvl_kinds_apicall.send import send

        prepared: _Prepared = call.step.prepared
        try:
            outgoing = fill(call.step.config.http, prepared.url, prepared.allowed, call.render)
        except StepError as error:
            error.writes = {**error.writes, STATUS: None}
            raise
        try:
            answer = await send(call.resources[CLIENT], outgoing, prepared.terms)
        except CallFailed as failure:
            raise StepError(
                f"step {call.step.id!r}: {outgoing}: {failure}",
                type=failure.type,
                writes={STATUS: failure.status},
            ) from failure
        return _kept(call, prepared, outgoing, answer)


def _kept(call: StepCall, prepared: _Prepared, outgoing: Outgoing, answer: Answer) -> StepResult:
    from tuvl_kinds_apicall.decode import NotJsonError, decode
    from tuvl_kinds_apicall.failures import excerpt

    where = f"step {call.step.id!r}: {outgoing}"
    writes: dict[str, Any] = {STATUS: answer.status}
    try:
        value = decode(answer.body, answer.content_type)
    except NotJsonError as error:
        raise StepError(
            f"{where}: the answer is {answer.status} ({answer.content_type[:80]}), but its body is no "
            f"JSON ({error}): {excerpt(answer.body, outgoing.secrets)}",
            type="bad_response",
            writes=writes,
        ) from error
    writes[prepared.output_key] = value
    for key, path in prepared.extract:
        found = path.get(value)
        if found is UNSET:
            raise StepError(
                f"{where}: the answer ({answer.status}) holds nothing at {path.source!r}",
                type="bad_response",
                writes=writes,
            )
        writes[key] = found
    return StepResult(writes=writes)


def _output_key(step: StepView) -> str:
    key: str | None = step.config.response.output_key
    return key if key is not None else f"{step.id}_result"


def _allowed(plan: PlanView) -> AllowedHosts:
    return AllowedHosts.parse(plan.project.settings["apicall.allow_hosts"])
