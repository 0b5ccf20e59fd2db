"""From the bytes of an answer to a value.

A JSON type has to hold JSON. Without a type it is JSON if it parses, else text. Text types are text,
and what is neither text nor JSON stays bytes. The bytes decide before the label does: a byte order mark,
then UTF-8, then the declared charset, then Latin-1.
"""

from __future__ import annotations

import codecs
import json
import re
from typing import Any, Final, NoReturn

from tuvl_core import too_deep

__all__ = ["NotJsonError", "decode", "media_type"]

_CHARSET: Final = re.compile(r";\s*charset\s*=\s*\"?([^\";\s]+)", re.I)
_BINARY: Final = re.compile(
    r"(image|audio|video|font)/(?!svg)|application/(octet-stream|pdf|zip|gzip|x-tar|x-7z.*|"
    r"vnd\.(ms-|openxmlformats).*)"
)
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class NotJsonError(Exception):
    """The answer says it is JSON, and is not."""


def media_type(content_type: str) -> str:
    """The bare type of a `Content-Type`, in small letters; empty if there is none."""
    return content_type.partition(";")[0].strip().lower()


def decode(body: bytes, content_type: str) -> Any:
    """Give an answer's value.

    Raises:
        NotJsonError: The type is a JSON one and the body is no JSON.
    """
    if not body:
        return None
    kind = media_type(content_type)
    found = _CHARSET.search(content_type)
    charset = found[1] if found else None
    if kind in ("application/json", "text/json") or kind.endswith("+json"):
        return None if not body.strip() else _json(body, charset)
    if not kind:
        try:
            return _json(body, charset)
        except NotJsonError:
            pass
    if kind.startswith("text/") or kind.endswith(("+xml", "/xml")):
        return _text(body, charset)
    if _BINARY.fullmatch(kind) or _looks_binary(body):
        return body
    return _text(body, charset)


def _json(body: bytes, charset: str | None) -> Any:
    try:
        value = json.loads(_json_text(body, charset), parse_constant=_no_constant)
    except RecursionError:
        raise NotJsonError("it is nested too deep") from None
    except ValueError as error:  # UnicodeError too, and numbers of more digits than Python reads
        raise NotJsonError(getattr(error, "msg", None) or type(error).__name__) from None
    if too_deep(value):
        raise NotJsonError("it is nested too deep")
    return value


def _json_text(body: bytes, charset: str | None) -> str:
    try:
        return body.decode(json.detect_encoding(body))
    except UnicodeError:
        if charset is None or not _known(charset):
            raise
        return body.decode(charset)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _text(body: bytes, charset: str | None) -> str:
    for mark, coding in _MARKS:
        if body.startswith(mark):
            return body[len(mark) :].decode(coding, "replace")
    wide = charset is not None and re.match(r"utf-?(16|32)", charset, re.I)
    order = [charset, "utf-8"] if wide else ["utf-8", charset]
    for name in order:
        if name is not None and _known(name):
            try:
                return body.decode(name)
            except UnicodeError:
                continue
    return body.decode("latin-1")


def _known(charset: str) -> bool:
    """Whether a label names a text encoding; Python also knows `zip` and `rot13`."""
    try:
        return bool(codecs.lookup(charset)._is_text_encoding)
    except LookupError:
        return False


def _looks_binary(body: bytes) -> bool:
    if any(body.startswith(mark) for mark, _ in _MARKS):
        return False
    if b"\0" in body:
        return True
    try:
        body.decode()
    except UnicodeError:
        return True
    return False
