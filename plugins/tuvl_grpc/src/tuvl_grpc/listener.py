"""The gRPC server as a listener of `tuvl serve`."""

from __future__ import annotations

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from tuvl_core import RunService, TuvlError
from tuvl_grpc.proto import runs_pb2, runs_pb2_grpc
from tuvl_grpc.servicer import Runs

__all__ = ["GrpcListener"]

RUNS = runs_pb2.DESCRIPTOR.services_by_name["Runs"].full_name


class GrpcListener:
    """Serves runs over gRPC, with the standard health and reflection services beside them.

    Args:
        service: What requests are handed to.
        host: Address to listen on.
        port: Port; 0 takes a free one.

    Attributes:
        port: The port it listens on.
    """

    def __init__(self, service: RunService, host: str, port: int) -> None:
        self._service = service
        self._host = host
        self.port = port
        self._server: grpc.aio.Server | None = None
        self._health = health.aio.HealthServicer()

    async def start(self) -> str:
        """Begin to listen.

        Raises:
            TuvlError: The address cannot be had.
        """
        limit = self._service.app.settings["grpc.max_message_bytes"]
        server = grpc.aio.server(
            options=[
                ("grpc.max_receive_message_length", limit),
                # So that a reader that is gone without a word is noticed, and its run with it.
                ("grpc.keepalive_time_ms", 30_000),
                ("grpc.keepalive_timeout_ms", 10_000),
                ("grpc.http2.min_recv_ping_interval_without_data_ms", 10_000),
            ]
        )
        runs_pb2_grpc.add_RunsServicer_to_server(Runs(self._service), server)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, server)
        reflection.enable_server_reflection((RUNS, health.SERVICE_NAME, reflection.SERVICE_NAME), server)
        address = f"[{self._host}]" if ":" in self._host else self._host
        try:
            self.port = server.add_insecure_port(f"{address}:{self.port}")
        except RuntimeError:
            text = (
                f"gRPC cannot listen on {address}:{self.port}: the port is taken, or the address is not of this machine"
            )
            raise TuvlError(f"{text}; choose another with grpc.port and grpc.host") from None
        await server.start()
        for name in ("", RUNS):
            await self._health.set(name, health_pb2.HealthCheckResponse.SERVING)
        self._server = server
        return f"gRPC on {address}:{self.port}"

    async def stop(self, grace_s: float) -> None:
        """Take no more calls, and end those that go on once the grace is over."""
        await self._health.enter_graceful_shutdown()
        if self._server is not None:
            await self._server.stop(grace_s)
