"""How the server serves."""

from __future__ import annotations

from typing import Final

from tuvl_core import Setting

__all__ = ["SETTINGS"]

SETTINGS: Final = (
    Setting(name="server.host", default="127.0.0.1", help="Address that `tuvl serve` listens on."),
    Setting(
        name="server.port", type=int, default=8885, minimum=0, help="Port that `tuvl serve` listens on; 0: a free one."
    ),
    Setting(name="server.workers", type=int, default=1, minimum=1, help="Processes that `tuvl serve` starts."),
    Setting(
        name="server.max_body_bytes",
        type=int,
        default=1_000_000,
        minimum=0,
        help="Bytes of a request's body at most; more is refused with 413.",
    ),
    Setting(
        name="server.heartbeat_s",
        type=float,
        default=15.0,
        minimum=0.05,
        help="Seconds after which a quiet event stream is sent a comment, so that nobody in between gives it up.",
    ),
    Setting(
        name="server.shutdown_grace_s",
        type=float,
        default=20.0,
        minimum=0,
        help="Seconds that runs have to end by themselves when the server ends; then they are cancelled.",
    ),
    Setting(
        name="server.cors_origins",
        type=tuple,
        default=(),
        help="Origins whose pages may call the API from a browser, such as `https://app.example`; none by default.",
    ),
    Setting(
        name="server.trusted_proxies",
        type=tuple,
        default=(),
        help="Addresses of proxies whose X-Forwarded-For and X-Forwarded-Proto are believed.",
    ),
    Setting(
        name="server.hosts",
        type=tuple,
        default=(),
        help="Names in the Host header that are answered; empty: all of them, and with --dev those of this machine.",
    ),
    Setting(
        name="server.access_log",
        type=bool,
        default=True,
        help="Write a line for each request: route, status, time and who; never values.",
    ),
)
