"""A tracer provider that keeps what starts and what ends, and a project with tools of every sort."""

from __future__ import annotations

import collections
import sys
from typing import Any

import pytest
from modelop_shop import SQLITE, Shop

MCP_SERVER = '''
import os

from mcp.server.mcpserver import Context, MCPServer

server = MCPServer("echo")


@server.tool()
def trace(ctx: Context) -> str:
    """Give the trace that the request names."""
    return str((ctx.request_context.meta or {}).get("traceparent"))


@server.tool()
def broken() -> str:
    """Fail with the token in the text."""
    raise ValueError("no access with " + os.environ.get("TOKEN", ""))


server.run("stdio")
'''


class Spans:
    """What a run has traced.

    Attributes:
        started: How often each span was started, by id.
        ended: How often each was ended.
        finished: Those that ended, in order.
    """

    def __init__(self) -> None:
        self.started: collections.Counter[int] = collections.Counter()
        self.ended: collections.Counter[int] = collections.Counter()
        self.finished: list[Any] = []

    def on_start(self, span: Any, parent_context: Any = None) -> None:
        self.started[span.context.span_id] += 1

    def _on_ending(self, span: Any) -> None:
        pass

    def on_end(self, span: Any) -> None:
        self.ended[span.context.span_id] += 1
        self.finished.append(span)

    def shutdown(self) -> None:
        pass

    def force_flush(self, timeout_millis: int = 0) -> bool:
        return True

    @property
    def once(self) -> bool:
        """Whether everything that was started has ended, once."""
        return self.started == self.ended and set(self.ended.values()) <= {1}

    def named(self, name: str) -> list[Any]:
        """Those of a name."""
        return [span for span in self.finished if span.name == name]

    def above(self, span: Any) -> list[str]:
        """The names of a span's ancestors, nearest first."""
        by_id = {item.context.span_id: item for item in self.finished}
        names = []
        while span.parent is not None and span.parent.span_id in by_id:
            span = by_id[span.parent.span_id]
            names.append(span.name)
        return names

    def text(self) -> str:
        """Everything that they say."""
        return "\n".join(span.to_json() for span in self.finished)


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Spans:
    """Trace everything of this test; as if the process had installed a provider."""
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider

    kept = Spans()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(kept)  # type: ignore[arg-type]
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    return kept


@pytest.fixture
async def shop(tmp_path):
    """A project on SQLite, with an MCP server beside it."""
    made = Shop(tmp_path, SQLITE)
    (tmp_path / "echo.py").write_text(MCP_SERVER)
    spec = {"transport": "stdio", "command": sys.executable, "args": [str(tmp_path / "echo.py")]}
    made.document("MCPServer", "echo", {**spec, "env": {"TOKEN": "s3cr3t-4"}})
    yield made
    await made.close()
