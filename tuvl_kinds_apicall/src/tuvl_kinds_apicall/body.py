"""Reading an answer: unpacked in small pieces, never beyond the limit."""

from __future__ import annotations

import zlib
from typing import Final

import httpx

from tuvl_kinds_apicall.failures import CallFailed

__all__ = ["read_body"]

_GZIP_MAGIC: Final = b"\x1f\x8b"
_WRAPPING: Final = 65_536
"""How many bytes more than the limit may arrive packed: headers and empty members of archives."""


async def read_body(response: httpx.Response, limit: int, *, cut: bool = False) -> bytes:
    """Read an answer's body.

    Args:
        response: An answer whose body has not been read.
        limit: The most bytes, after unpacking.
        cut: Give what fits, instead of failing, where there is more.

    Raises:
        CallFailed: It is too large, packed in an unknown way, or broken.
    """
    coding = response.headers.get("content-encoding", "").strip().lower()
    packed = coding not in ("", "identity")
    length = response.headers.get("content-length", "")
    if not packed and not cut and length.isdecimal() and int(length) > limit:
        raise _too_large(limit)
    unpack = _Unpacker(coding, limit) if packed else None
    body = bytearray()
    arrived = 0
    async for chunk in response.aiter_raw():
        arrived += len(chunk)
        body += unpack.feed(chunk, limit - len(body)) if unpack is not None else chunk
        if len(body) > limit or arrived > limit + _WRAPPING:
            if cut:
                return bytes(body[:limit])
            raise _too_large(limit)
    if unpack is not None and not cut:
        unpack.finish()
    return bytes(body)


class _Unpacker:
    """Undoes `gzip` or `deflate`, a bounded amount at a time, whatever the packed data claims."""

    def __init__(self, coding: str, limit: int) -> None:
        if coding not in ("gzip", "x-gzip", "deflate"):
            raise CallFailed(
                f"it is packed as {coding[:40]!r}, which was not asked for",
                type="bad_response",
            )
        self._gzip = coding != "deflate"
        self._start = b""
        self._begun = False
        self._engine: zlib._Decompress | None = None

    def feed(self, chunk: bytes, room: int) -> bytes:
        """Unpack the next piece; gives at most one byte more than there is room for."""
        if not self._begun:
            self._start += chunk
            if len(self._start) < 2:
                return b""
            chunk, self._start, self._begun = self._start, b"", True
            self._engine = self._choose(chunk)
        if self._engine is None:
            return chunk  # labelled as packed, but it is not
        try:
            return self._unpack(chunk, room)
        except zlib.error as error:
            raise CallFailed("what was packed in it is broken", type="bad_response", again=True) from error

    def finish(self) -> None:
        """Demand that the packed data came to its end."""
        if self._engine is not None and not self._engine.eof:
            raise CallFailed("what was packed in it is cut off", type="bad_response", again=True)

    def _choose(self, start: bytes) -> zlib._Decompress | None:
        if self._gzip:
            return zlib.decompressobj(31) if start.startswith(_GZIP_MAGIC) else None
        # RFC 9110: deflate is a zlib stream; some servers send it without the zlib header.
        wrapped = start[0] & 0x0F == 8 and int.from_bytes(start[:2], "big") % 31 == 0
        return zlib.decompressobj(15 if wrapped else -15)

    def _unpack(self, chunk: bytes, room: int) -> bytes:
        out = bytearray()
        while chunk and self._engine is not None and len(out) <= room:
            out += self._engine.decompress(chunk, room + 1 - len(out))
            chunk = self._engine.unconsumed_tail
            if self._engine.eof:
                chunk = self._engine.unused_data
                if not chunk.startswith(_GZIP_MAGIC):
                    break  # padding after the end
                self._engine = zlib.decompressobj(31)
        return bytes(out)


def _too_large(limit: int) -> CallFailed:
    return CallFailed(f"it is larger than http.max_bytes of {limit} bytes", type="too_large")
