"""What can go wrong with a server, and how it is told: in bounded words, without secrets."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from tuvl_core import scrub

__all__ = ["MAX_EXCERPT", "MAX_TEXT", "CallFailed", "clean", "excerpt", "explain", "first_cause"]

MAX_EXCERPT: Final = 500
MAX_TEXT: Final = 20_000
_LOOKED_AT: Final = 8_000
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


class CallFailed(Exception):
    """A call that came to nothing.

    Args:
        message: What happened, without secrets.
        type: The short name that becomes `_last_error_type`.
        again: Whether the server certainly did nothing, so that another try repeats nothing.
    """

    def __init__(self, message: str, *, type: str, again: bool = False) -> None:
        super().__init__(message)
        self.type = type
        self.again = again


def excerpt(text: str | bytes, secrets: Iterable[str], *, tail: bool = False) -> str:
    """The beginning, or the end, of what a server wrote: on one line, without secrets."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    text = text[-_LOOKED_AT:] if tail else text[:_LOOKED_AT]
    line = scrub(" ".join(_CONTROL.sub(" ", text).split()), secrets)  # before cutting: half a secret is one
    if len(line) > MAX_EXCERPT:
        line = "…" + line[1 - MAX_EXCERPT :] if tail else line[: MAX_EXCERPT - 1] + "…"
    return line


def clean(text: str, secrets: Iterable[str]) -> str:
    """A text that a server meant for its caller, without secrets and of bounded length."""
    if len(text) > MAX_TEXT:
        text = scrub(text[: MAX_TEXT + 1000], secrets)[:MAX_TEXT]
        return text + " … (cut)"
    return scrub(text, secrets)


def explain(error: BaseException, secrets: Iterable[str]) -> str:
    """Say what an exception of the SDK or of a library means; of a group, its first cause."""
    cause = first_cause(error)
    text = str(cause) or type(cause).__name__
    name = type(cause).__name__
    if name in ("ConnectError", "ConnectTimeout"):
        text = f"no connection ({text})" if str(cause) else "no connection"
    elif name == "HTTPStatusError":
        response = getattr(cause, "response", None)
        text = f"it answers with status {getattr(response, 'status_code', '?')}"
    elif name == "ValidationError":
        text = f"it does not speak the protocol ({text})"
    return excerpt(text, secrets)


def first_cause(error: BaseException) -> BaseException:
    """The first exception of a group of groups that is none itself."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
