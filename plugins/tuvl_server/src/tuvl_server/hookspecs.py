"""The hooks through which packages serve more over HTTP, or over another protocol beside it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tuvl_core import hookspec

if TYPE_CHECKING:
    from tuvl_core import HttpRoute, Listener, RunService


@hookspec
def tuvl_http_routes(service: RunService) -> Iterable[HttpRoute]:  # type: ignore[empty-body]
    """Paths that this plugin serves over HTTP.

    Called once in each worker, when a server starts. Mark the implementation with
    `@hookimpl(optionalhook=True)`, so that the plugin also loads without tuvl-server.

    Args:
        service: What requests about runs are handed to.

    Returns:
        Routes. A path of tuvl's own, or of a plugin before this one, stays theirs.

    Raises:
        Exception: Anything: the plugin's routes are then missing, with a warning; the server starts.

    Example:
        ```python
        from tuvl_core import HttpRoute, hookimpl

        async def hello(request):
            from starlette.responses import PlainTextResponse

            return PlainTextResponse(f"hello {request.state.principal.subject}")

        @hookimpl(optionalhook=True)
        def tuvl_http_routes(service):
            return [HttpRoute(path="/acme/hello", endpoint=hello, help="say hello")]
        ```
    """


@hookspec
def tuvl_listeners(service: RunService, host: str) -> Iterable[Listener]:  # type: ignore[empty-body]
    """Protocols that this plugin serves beside HTTP.

    Called once in each worker, when a server starts. Mark the implementation with
    `@hookimpl(optionalhook=True)`, so that the plugin also loads without tuvl-server.

    Args:
        service: What requests about runs are handed to.
        host: The address that the HTTP server listens on.

    Returns:
        Listeners; each is started once the app is open, and stopped while runs drain.

    Raises:
        Exception: Anything: the plugin's listeners are then missing, with a warning; the server starts.

    Example:
        ```python
        from tuvl_core import hookimpl

        class Nightly:
            def __init__(self, service):
                self.service = service

            async def start(self):
                return "a queue of nightly runs"

            async def stop(self, grace_s):
                pass

        @hookimpl(optionalhook=True)
        def tuvl_listeners(service, host):
            return [Nightly(service)]
        ```
    """
