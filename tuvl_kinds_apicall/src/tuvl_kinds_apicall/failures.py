"""What can go wrong with a request, and how it is told."""

from __future__ import annotations

import re
from typing import Final

from tuvl_core import scrub

__all__ = ["CallFailed", "excerpt"]

MAX_EXCERPT: Final = 500
_LOOKED_AT: Final = 8_000
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


class CallFailed(Exception):
    """A request that came to nothing.

    Args:
        message: What happened, without headers, query or body.
        type: The short name that becomes `_last_error_type`.
        again: Whether another try could help.
        status: The status of the answer, if there was one.
        pause: How long the server asks to wait before another try.
    """

    def __init__(
        self,
        message: str,
        *,
        type: str,
        again: bool = False,
        status: int | None = None,
        pause: float | None = None,
    ) -> None:
        super().__init__(message)
        self.type = type
        self.again = again
        self.status = status
        self.pause = pause


def excerpt(body: bytes, secrets: tuple[str, ...]) -> str:
    """The beginning of a body on one line, cleaned of secrets; binary content is described."""
    head = body[:_LOOKED_AT]
    if not head.strip():
        return "an empty body"
    text = head.decode("utf-8", "replace")
    if b"\0" in head or text.count("\ufffd") > len(text) // 10:
        return f"{len(body)} bytes that are no text"
    line = " ".join(_CONTROL.sub(" ", text).split())
    line = scrub(line, secrets)  # before cutting: half a secret is still half a secret
    if len(line) > MAX_EXCERPT:
        line = line[: MAX_EXCERPT - 1] + "…"
    return line
