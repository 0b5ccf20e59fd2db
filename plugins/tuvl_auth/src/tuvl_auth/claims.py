"""What a token that is good says about its bearer."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final, NoReturn

import attrs

from tuvl_core import Principal, UnauthenticatedError

__all__ = ["ALL", "Rules", "check_times", "principal_of"]

ALL: Final = "*"
_LONGEST: Final = 255


@attrs.frozen(kw_only=True)
class Rules:
    """What tokens must say, and how.

    Attributes:
        issuer: The only issuer; None: any.
        audience: One of these must be named; empty: no audience may be.
        leeway_s: By how much clocks may differ.
        subject: The claim that says who it is.
        tenant: The claim that says whose data they may see.
        scopes: The claim that says what they may do.
        groups: The claim that lists their groups.
        allow_all: Whether the scope `*` may be among theirs.
    """

    issuer: str | None = None
    audience: tuple[str, ...] = ()
    leeway_s: float = 10.0
    subject: str = "sub"
    tenant: str = "tenant"
    scopes: str = "scope"
    groups: str = "groups"
    allow_all: bool = False


def check_times(claims: Mapping[str, Any]) -> None:
    """Refuse times that are no numbers (RFC 7519, section 2: NumericDate), which a library may have read as such."""
    for name in ("exp", "nbf", "iat"):
        value = claims.get(name, 0)
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not number or not math.isfinite(value):
            raise UnauthenticatedError(f"the token is malformed: its claim {name} is no time")


def principal_of(claims: Mapping[str, Any], rules: Rules) -> Principal:
    """Read who it is.

    Raises:
        UnauthenticatedError: A claim is missing, of a wrong type, or claims too much.
    """
    if rules.subject not in claims:
        raise UnauthenticatedError(f"the token does not say who it is for: it lacks the claim {rules.subject}")
    scopes = _scopes(claims, rules.scopes)
    if ALL in scopes and not rules.allow_all:
        raise UnauthenticatedError(
            "the token claims the scope `*`, which stands for everything; auth.allow_all_scopes does not allow it"
        )
    return Principal(
        subject=_text(claims[rules.subject], rules.subject),
        tenant=_text(claims[rules.tenant], rules.tenant) if rules.tenant in claims else None,
        scopes=scopes,
        groups=frozenset(_list(claims, rules.groups)),
    )


def _scopes(claims: Mapping[str, Any], name: str) -> frozenset[str]:
    value = claims.get(name, "")
    if isinstance(value, str):  # RFC 8693, section 4.2; others give a list
        return frozenset(_text(part, name) for part in value.split(" ") if part)
    parts = _list(claims, name)
    if any(" " in part for part in parts):
        _refuse(name, "an item of the list holds a blank")
    return frozenset(parts)


def _list(claims: Mapping[str, Any], name: str) -> list[str]:
    value = claims.get(name, [])
    if not isinstance(value, list):
        _refuse(name, "it is no list of texts")
    return [_text(item, name) for item in value]


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        _refuse(name, "it holds what is no text")
    if not value.strip() or not value.isprintable():
        _refuse(name, "it is empty, or holds characters that cannot be shown")
    if len(value) > _LONGEST:
        _refuse(name, f"it has more than {_LONGEST} characters")
    return value


def _refuse(name: str, why: str) -> NoReturn:
    raise UnauthenticatedError(f"the token is malformed: in its claim {name}, {why}")
