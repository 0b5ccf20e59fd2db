"""What tuvl-grpc brings: a listener beside the HTTP server, its settings, and a client."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tuvl_core import Setting, hookimpl

if TYPE_CHECKING:
    from tuvl_core import Listener, RunService

TUVL_API = 1


@hookimpl
def tuvl_settings() -> list[Setting]:
    """Where it listens."""
    return [
        Setting(
            name="grpc.port",
            type=int,
            default=0,
            minimum=0,
            help="Port on which `tuvl serve` offers gRPC too; 0: it does not.",
        ),
        Setting(
            name="grpc.host",
            default="",
            help="Address to listen on for gRPC; empty: that of the HTTP server.",
        ),
        Setting(
            name="grpc.max_message_bytes",
            type=int,
            default=4_000_000,
            minimum=1024,
            help="Bytes of a request at most; one that is larger is refused.",
        ),
    ]


@hookimpl(optionalhook=True)
def tuvl_listeners(service: RunService, host: str) -> list[Listener]:
    """Serve gRPC where a port is set."""
    settings = service.app.settings
    if not settings["grpc.port"]:
        return []
    from tuvl_grpc.listener import GrpcListener

    return [GrpcListener(service, settings["grpc.host"] or host, settings["grpc.port"])]


@hookimpl(optionalhook=True)
def tuvl_remote_clients() -> Mapping[str, str]:
    """Speak to it."""
    return {"grpc": "tuvl_grpc.client:connect"}
