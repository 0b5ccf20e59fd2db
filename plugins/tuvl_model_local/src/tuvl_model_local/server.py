"""llama.cpp's server in this process, on a free port of loopback: one for each file of weights."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

from tuvl_models import ModelError

__all__ = ["LocalServer", "release", "retain", "running", "server_for"]

_lock = threading.Lock()
_servers: dict[tuple[Path, int, int], LocalServer] = {}
_users = 0


class LocalServer:
    """A running server.

    Attributes:
        url: Its base URL on loopback.
    """

    def __init__(self, weights: Path, context_tokens: int, threads: int) -> None:
        self._server: Any = _start(weights, context_tokens, threads)
        self.url: str = self._server.listening_address

    def stop(self) -> None:
        """End the server; its memory is free then."""
        self._server = None


def server_for(weights: Path, context_tokens: int, threads: int) -> LocalServer:
    """The server of a file of weights; started when it is first asked for. Blocks for about a second."""
    key = (weights.resolve(), context_tokens, threads)
    with _lock:
        server = _servers.get(key)
        if server is None:
            server = _servers[key] = LocalServer(*key)
        return server


def running() -> tuple[LocalServer, ...]:
    """The servers of this process."""
    with _lock:
        return tuple(_servers.values())


def retain() -> None:
    """Count one more app that may use the servers."""
    global _users
    with _lock:
        _users += 1


def release() -> None:
    """Count one app less; after the last one every server stops."""
    global _users
    with _lock:
        _users -= 1
        if _users > 0:
            return
        stopped = list(_servers.values())
        _servers.clear()
    for server in stopped:
        server.stop()


def _start(weights: Path, context_tokens: int, threads: int) -> Any:
    try:
        import xllamacpp
    except ImportError as error:
        raise ModelError(
            f"the runtime of local models is not installed, or has no wheel for this platform ({error}): "
            "`pip install xllamacpp`, or name another model"
        ) from None
    params = xllamacpp.CommonParams()
    params.model.path = str(weights)
    params.hostnames = ["127.0.0.1"]
    params.port = 0  # any free one
    params.offline = True
    params.ui = False
    params.use_jinja = True
    params.endpoint_metrics = True  # the server's own count of tokens
    params.n_ctx = context_tokens
    params.n_parallel = 1
    params.verbosity = -1
    params.cpuparams.n_threads = threads or os.cpu_count() or 1
    try:
        return xllamacpp.Server(params)
    except Exception as error:
        raise ModelError(f"llama.cpp cannot serve {weights.name}: {error}") from None
