"""A collector: takes OTLP over HTTP as protobuf, and keeps what it got. It can also stall."""

from __future__ import annotations

import gzip
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class Collector:
    """Listens on a port of its own, for as long as it is a context manager.

    Args:
        stall: Whether it takes connections and never answers.
    """

    def __init__(self, *, stall: bool = False) -> None:
        self.spans: list[Any] = []
        self.metrics: list[Any] = []
        self.services: set[str] = set()
        self.headers: list[dict[str, str]] = []
        self.asked = threading.Event()
        self.over = threading.Event()
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                collector.asked.set()
                if stall:
                    collector.over.wait(60)
                    return
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                collector.take(self.path, body)
                collector.headers.append({name.lower(): value for name, value in self.headers.items()})
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    def take(self, path: str, body: bytes) -> None:
        """Keep what a request holds."""
        if path == "/v1/traces":
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                self.services.add(_attributes(resource.resource)["service.name"])
                self.spans += [span for scope in resource.scope_spans for span in scope.spans]
        elif path == "/v1/metrics":
            for found in ExportMetricsServiceRequest.FromString(body).resource_metrics:
                self.metrics += [metric for scope in found.scope_metrics for metric in scope.metrics]

    def __enter__(self) -> Collector:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.over.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


def _attributes(holder: Any) -> dict[str, Any]:
    return {item.key: item.value.string_value for item in holder.attributes}
