"""Reads server-sent events out of bytes (WHATWG HTML, section 9.2.6)."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

__all__ = ["EventReader", "SentEvent"]

_LINE: Final = re.compile(rb"\r\n|\n|\r")


class SentEvent(NamedTuple):
    """One frame: its id, its type, and its data with LF between lines."""

    id: str
    type: str
    data: str


class EventReader:
    """Takes bytes as they come and gives whole frames.

    Only CR, LF and CRLF end a line. What splits text by what else Unicode calls a line end would tear events apart.
    """

    def __init__(self) -> None:
        self._rest = b""
        self._id = ""
        self._type = ""
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> list[SentEvent]:
        """Take some bytes; give the frames that they complete."""
        text = self._rest + chunk
        # A CR at the end may be half of a CRLF.
        held = text[-1:] == b"\r"
        *lines, rest = _LINE.split(text[:-1] if held else text)
        self._rest = rest + b"\r" if held else rest
        return [event for line in lines if (event := self._take(line.decode("utf-8", "replace"))) is not None]

    def _take(self, line: str) -> SentEvent | None:
        if not line:
            event = SentEvent(self._id, self._type or "message", "\n".join(self._data)) if self._data else None
            self._type, self._data = "", []
            return event
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._type = value
        elif name == "id" and "\0" not in value:
            self._id = value
        return None
