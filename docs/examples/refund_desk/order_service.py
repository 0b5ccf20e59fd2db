"""The shop's order service: a real HTTP server on loopback, with a handful of orders.

Run it alone with `python order_service.py 8181` and ask it: `curl localhost:8181/orders/A-1001`.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ORDERS = {
    "A-1001": {"item": "kettle", "total": "39.90", "days_since_delivery": 4, "condition": "broken"},
    "A-1002": {"item": "raincoat", "total": "89.00", "days_since_delivery": 12, "condition": "unused"},
    "A-1003": {"item": "headphones", "total": "149.00", "days_since_delivery": 95, "condition": "used"},
    "A-1004": {"item": "desk", "total": "620.00", "days_since_delivery": 2, "condition": "broken"},
    "A-1005": {"item": "novel", "total": "14.50", "days_since_delivery": 21, "condition": "used"},
}


class OrderHandler(BaseHTTPRequestHandler):
    """Answers `GET /orders/<id>`."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Give one order, or 404."""
        head, _, order_id = self.path.rpartition("/")
        order = ORDERS.get(order_id) if head == "/orders" else None
        if order is None:
            self._answer(404, {"message": f"no order {order_id}"})
        else:
            self._answer(200, {"order_id": order_id, **order})

    def _answer(self, status: int, body: dict[str, object]) -> None:
        payload = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, format: str, *args: object) -> None:
        """Keep the terminal for the run."""


@contextmanager
def order_service(port: int = 0) -> Iterator[str]:
    """Serve on loopback while the block runs; gives the base URL. Port 0 takes any free one."""
    server = ThreadingHTTPServer(("127.0.0.1", port), OrderHandler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


if __name__ == "__main__":
    with order_service(int(sys.argv[1]) if len(sys.argv) > 1 else 8181) as url:
        print(f"serving orders at {url}/orders/<id>; Ctrl-C ends it")
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            pass
