"""What a run is asked to do: its input and who it acts for, from the command line."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import click

from tuvl_core import Principal, too_deep

__all__ = ["principal", "read_input"]

_OPTION = "'--input'"


def read_input(given: str | None) -> Any:
    """Read a run's input.

    Args:
        given: JSON text, `@` and the name of a file that holds it, `-` for stdin; None for no input.

    Raises:
        click.UsageError: It cannot be read, or is no JSON. Whether it fits the workflow is not looked at.
    """
    if given is None:
        return None
    if given == "-":
        stream = sys.stdin.buffer if sys.stdin is not None else None
        return _parse(_decode(stream.read() if stream else b"", "stdin"), "stdin")
    if given.startswith("@"):
        path = Path(given[1:])
        try:
            data = path.read_bytes()
        except (OSError, ValueError) as error:
            _refuse(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}")
        return _parse(_decode(data, str(path)), str(path))
    return _parse(given, "the text")


def principal(subject: str | None, tenant: str | None, scopes: Sequence[str], groups: Sequence[str] = ()) -> Principal:
    """Give who a run acts for.

    Without a subject it is the local user, who has tenant `default` and every scope unless told
    otherwise. A named subject has what is given and nothing else.
    """
    belongs = frozenset(groups)
    held = frozenset(part for scope in scopes for part in scope.split())
    if subject is not None:
        return Principal(subject=subject, tenant=tenant, scopes=held, groups=belongs)
    local = Principal.local()
    return Principal(subject=local.subject, tenant=tenant or local.tenant, scopes=held or local.scopes, groups=belongs)


def _decode(data: bytes, where: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        _refuse(f"{where} is no UTF-8 text: byte {error.start + 1} is no part of a character")


def _parse(text: str, where: str) -> Any:
    if not text.strip():
        _refuse(f"{where} is empty; an input without fields is {{}}")
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_constant=_constant, parse_float=_float)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        _refuse(f"{where} is no JSON: {error.msg} at {place}{_advice(text, where)}")
    except RecursionError:
        _refuse(f"{where} is nested too deeply")
    except ValueError as error:
        _refuse(f"{where} is no JSON that can be used: {error}")
    if too_deep(value):
        _refuse(f"{where} is nested too deeply")
    return value


def _advice(text: str, where: str) -> str:
    if where != "the text":
        return ""
    if Path(text).is_file():
        return f"; to read it from that file, write @{text}"
    return '; such as --input \'{"name": "Ada"}\', or @file, or - for stdin'


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} is given twice")
    return found


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON value")


def _float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"the number {text[:40]} is out of reach")
    return value


def _refuse(text: str) -> NoReturn:
    raise click.BadParameter(text, param_hint=_OPTION)
