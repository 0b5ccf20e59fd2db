"""Events as server-sent events (WHATWG HTML, section 9.2)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping

from sse_starlette import EventSourceResponse, ServerSentEvent
from sse_starlette.sse import AppStatus
from starlette.types import Receive, Scope, Send

from tuvl_core import LiveRun, RecordedEvent, StepEvent, log_event
from tuvl_server.site import Site

__all__ = ["EventStream"]

_log = logging.getLogger("tuvl.server")

# Streams end with their runs, and runs are drained before the server ends: nothing is cut off before.
AppStatus.disable_automatic_graceful_drain()  # type: ignore[no-untyped-call]


class EventStream(EventSourceResponse):
    """The events of a run as they come, the last one last; then the stream ends.

    A frame has the event's number as its `id`, its type as `event`, and one line of strict JSON as `data`. While it
    is quiet a comment comes every `server.heartbeat_s` seconds.

    Args:
        events: What to send.
        site: The server.
        owner: The run that belongs to this request: it is let go when its reader is.
        here: Whether the run is this worker's own; a stream of another worker's ends when this one does.
        headers: What to send along.
    """

    def __init__(
        self,
        events: AsyncIterator[StepEvent | RecordedEvent],
        site: Site,
        *,
        owner: LiveRun | None = None,
        here: bool = True,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            _frames(events),
            headers=dict(headers or {}),
            sep="\n",
            ping=site.settings["server.heartbeat_s"],
            ping_message_factory=lambda: ServerSentEvent(comment="still here", sep="\n"),
        )
        self._closing = None if here else site.closing
        self._owner = owner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            if self._owner is not None:
                # Shielded: whoever cuts this request off as well has the run end all the same.
                await asyncio.shield(self._owner.left())

    async def _listen_for_exit_signal_with_grace(self) -> None:
        """Wait for the end of the server by its own word, not by a look at the process's handlers of signals."""
        await (self._closing or asyncio.Event()).wait()


async def _frames(events: AsyncIterator[StepEvent | RecordedEvent]) -> AsyncIterator[bytes]:
    # Strict JSON holds no raw CR or LF, so that one `data` line is the whole event. What else ends a line for some
    # readers, such as U+2028 and U+0085, ends none in an event stream.
    try:
        async for event in events:
            yield f"id: {event.seq}\nevent: {event.type}\ndata: {event.to_json()}\n\n".encode()
    except Exception as error:
        # Nobody can be told any more but by a stream that ends too early; its reader takes it up again.
        log_event(_log, logging.WARNING, "http.stream_broken", {"error": type(error).__name__}, exc_info=True)
    finally:
        close = getattr(events, "aclose", None)
        if close is not None:
            await close()
