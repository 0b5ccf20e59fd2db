"""What a request sends: strict JSON within limits."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any, Final, NoReturn

from starlette.requests import ClientDisconnect, Request

from tuvl_core import InputError, too_deep
from tuvl_server.problems import ClientGoneError, HttpError

__all__ = ["json_object", "query_object", "typed"]

_NUMBER: Final = re.compile(r"-?[0-9]{1,400}(\.[0-9]{1,400})?([eE][+-]?[0-9]{1,3})?")
_BOOLEANS: Final = {"true": True, "false": False}


async def json_object(request: Request) -> dict[str, Any]:
    """Read a body that is a JSON object; nothing at all stands for an empty one.

    Raises:
        HttpError: 415 for one that is no JSON by its type; 413 comes from whoever counts the bytes.
        InputError: It is no JSON object (RFC 8259; a name occurs once, numbers are finite, text is Unicode).
        ClientGoneError: The client went away before it had sent it all.
    """
    try:
        body = await request.body()
    except ClientDisconnect:
        raise ClientGoneError from None
    given, _, parameters = request.headers.get("content-type", "").partition(";")
    if not body:
        return {}
    given = given.strip().lower()
    # A form could be sent by a page of anybody's: only what a browser asks about first is taken.
    if given != "application/json" and not (given.startswith("application/") and given.endswith("+json")):
        raise HttpError(415, "media-type", "send the input as JSON, with `Content-Type: application/json`")
    charset = parameters.partition("charset=")[2].strip().strip('"').lower()
    if charset not in ("", "utf-8", "utf8"):
        raise HttpError(415, "media-type", "JSON is UTF-8 (RFC 8259, section 8.1)")
    return _object(body)


def _object(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(
            body.decode("utf-8"), parse_constant=_no_constant, parse_float=_finite, object_pairs_hook=_once
        )
        if b"\\u" in body:
            json.dumps(value, ensure_ascii=False).encode()  # half a surrogate pair is no text
    except RecursionError:
        raise InputError("the body is nested too deeply", [("", "is nested too deeply")]) from None
    except UnicodeError:
        raise InputError("the body is no Unicode text", [("", "is no Unicode text")]) from None
    except ValueError as error:
        raise InputError(f"the body is no JSON: {error}", [("", "is no JSON")]) from None
    if not isinstance(value, dict):
        raise InputError("the body must be a JSON object", [("", "must be an object")])
    if too_deep(value):
        raise InputError("the body is nested too deeply", [("", "is nested too deeply")])
    return value


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not in JSON")


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"the number {text[:40]} is out of reach")
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the name {next(name for name in names if names.count(name) > 1)!r} occurs twice")
    return found


def query_object(request: Request, schema: Mapping[str, Any] | None) -> dict[str, Any]:
    """Read the query as an input: what the schema says is a number, a boolean or a list becomes one.

    Raises:
        InputError: A name that is no list occurs twice.
    """
    found: dict[str, Any] = {}
    for name in request.query_params:
        if name == "detach":
            continue
        texts = request.query_params.getlist(name)
        declared = _declared(schema, "properties", name)
        if declared.get("type") == "array":
            kind = _declared(declared, "items").get("type")
            found[name] = [_typed(text, kind) for text in texts]
        elif len(texts) > 1:
            raise InputError(f"{name} occurs twice in the query", [(name, "occurs twice")])
        else:
            found[name] = _typed(texts[0], declared.get("type"))
    return found


def typed(name: str, text: str, schema: Mapping[str, Any] | None) -> Any:
    """A segment of the path as what the schema asks for."""
    return _typed(text, _declared(schema, "properties", name).get("type"))


def _declared(schema: Any, *path: str) -> Mapping[str, Any]:
    for key in path:
        schema = schema.get(key) if isinstance(schema, Mapping) else None
    return schema if isinstance(schema, Mapping) else {}


def _typed(text: str, kind: Any) -> Any:
    """A text as what the schema asks for; where it is not that, the schema's own check says so."""
    if kind in ("integer", "number") and _NUMBER.fullmatch(text):
        return int(text) if text.lstrip("-").isdigit() else _finite_or(text)
    if kind == "boolean":
        return _BOOLEANS.get(text, text)
    return text


def _finite_or(text: str) -> float | str:
    value = float(text)
    return value if math.isfinite(value) else text
