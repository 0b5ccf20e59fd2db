"""A real HTTP server on loopback that speaks OpenAI's chat API, with answers that a test lines up."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class OpenAIServer:
    """Answers chat completions.

    Attributes:
        url: Base URL, with `/v1`.
        answers: What comes next: a body, `(status, body)` or `(status, body, headers)`; the last one stays.
        requests: `(headers, body)` of what was asked.
        delay: Seconds before an answer.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.answers: list[Any] = []
        self.requests: list[tuple[dict[str, str], dict[str, Any]]] = []
        self.delay = 0.0

    def next(self) -> tuple[int, Any, dict[str, str]]:
        """The next answer."""
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if not isinstance(answer, tuple):
            return 200, answer, {}
        return (*answer, {})[:3]  # type: ignore[return-value]


def said(content: str | None = None, *calls: dict[str, Any], reason: str = "stop", usage: Any = ...) -> dict[str, Any]:
    """The body of a completion."""
    message: dict[str, Any] = {"role": "assistant", "content": content}
    if calls:
        message["tool_calls"] = list(calls)
        reason = "tool_calls"
    body: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "served-model",
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
    }
    if usage is ...:
        body["usage"] = {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12}
    elif usage is not None:
        body["usage"] = usage
    return body


def called(name: str, arguments: str, id: str = "call_1") -> dict[str, Any]:
    """A tool call in a completion."""
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


@contextmanager
def openai_server() -> Iterator[OpenAIServer]:
    """Serve on loopback while the block runs."""
    state: list[OpenAIServer] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            body = json.loads(self.rfile.read(length) or b"{}")
            server = state[0]
            server.requests.append(({k.lower(): v for k, v in self.headers.items()}, body))
            status, answer, headers = server.next()
            time.sleep(server.delay)
            payload = (answer if isinstance(answer, str) else json.dumps(answer)).encode()
            try:
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(payload)))
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(payload)
            except OSError:
                self.close_connection = True  # the caller went away: what a limit is for

        def log_message(self, format: str, *args: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    thread = threading.Thread(target=http.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    state.append(OpenAIServer(f"http://127.0.0.1:{http.server_address[1]}/v1"))
    try:
        yield state[0]
    finally:
        http.shutdown()
        http.server_close()
