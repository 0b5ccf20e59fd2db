"""Take secrets out of text that others wrote: messages of libraries, servers and drivers."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import quote, quote_plus

from tuvl_core.codec import MASK

__all__ = ["scrub"]

_SHORT: Final = 4
"""Secrets shorter than this are replaced only as whole words: `a` must not empty a message."""

_NAMES: Final = (
    r"(?:x[-_])?api[-_ ]?key|access[-_]?key|(?:access|refresh|auth|id)[-_]?token|client[-_]?secret"
    r"|secret|passwd|password|pwd|proxy-authorization|authorization|set-cookie|cookie"
)
_PARAMETERS: Final = r"(?:key|apikey|token|secret|password|passwd|pwd|auth|sig|signature|credential|code)"
_VALUE: Final = r"(?:b?\"[^\"\n]*\"|b?'[^'\n]*'|[^\s,;&\"'<>)}\]]+)"

# Markers, pattern, replacement. A pattern is tried only where one of its markers is in the text, in
# small letters: most messages hold none of them.
_SHAPES: Final[tuple[tuple[tuple[str, ...], str, str], ...]] = (
    # Credentials in a URL, scheme://user:password@host: the host stays.
    (("://",), r"(?<=://)[^\s/?#@\"'<>]+(?=@)", MASK),
    # Query parameters that carry credentials.
    (
        ("?", "&"),
        rf"([?&;](?:[a-z0-9]+[-_.])*{_PARAMETERS}=)[^\s&;#\"'<>]+",
        rf"\1{MASK}",
    ),
    # Schemes of the Authorization header.
    (
        ("bearer", "basic", "token", "digest", "negotiate"),
        r"\b(bearer|basic|token|digest|negotiate) +[a-z0-9._~+/=:-]{6,}",
        rf"\1 {MASK}",
    ),
    # `api_key=…`, `"password": "…"`, `X-Api-Key: …`, `API key provided: …`
    (
        ("key", "token", "secret", "passw", "pwd", "authorization", "cookie"),
        rf"(?<![a-z0-9])((?:{_NAMES})[\"']?(?: provided| is)? ?(?:=>|[:=]) ?)"
        rf"(?:(?:bearer|basic|token) )?(?!\*\*\*){_VALUE}",
        rf"\1{MASK}",
    ),
    (("token=",), rf"\b(token=){_VALUE}", rf"\1{MASK}"),
    # Tokens that are known by their looks.
    (("sk", "pk", "rk"), r"\b(?:sk|pk|rk)[-_](?:[a-z0-9]+[-_])*[a-z0-9*.]{6,}", MASK),
    (
        ("gh", "glpat", "xox", "hf_", "npm_", "pypi-"),
        r"\b(?:gh[pousr]|github_pat|glpat|xox[a-z]|hf|npm|pypi)[-_][a-z0-9_-]{8,}",
        MASK,
    ),
    (("akia", "asia"), r"\b(?:akia|asia)[a-z0-9]{12,}\b", MASK),
    (("aiza",), r"\baiza[a-z0-9_-]{20,}", MASK),
    (("eyj",), r"\beyj[a-z0-9_-]{6,}\.[a-z0-9_-]+(?:\.[a-z0-9_-]*)*", MASK),
    (
        ("private key-----",),
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*(?:-----END [A-Z ]*PRIVATE KEY-----)?",
        MASK,
    ),
)


def scrub(text: str, secrets: Iterable[str] = ()) -> str:
    """Replace secrets in a text by `***`.

    Found are the given secrets, also percent-encoded or escaped as JSON, and what has the shape of
    a credential: `Bearer …`, `api_key=…`, passwords in URLs, well-known kinds of tokens. Hosts,
    status codes and names stay.

    Args:
        text: A message on its way out.
        secrets: Texts that must not show; `secret_texts` collects them.
    """
    for variant in _variants(secrets):
        if len(variant) >= _SHORT:
            text = text.replace(variant, MASK)
        else:
            text = re.sub(rf"(?<!\w){re.escape(variant)}(?!\w)", MASK, text)
    small = text.lower()
    for number, (markers, _, replacement) in enumerate(_SHAPES):
        if any(marker in small for marker in markers):
            text = _pattern(number).sub(replacement, text)
    return text


def _variants(secrets: Iterable[str]) -> list[str]:
    """Every way a secret may be written, the longest first: one may be a part of another."""
    found: set[str] = set()
    for secret in secrets:
        text = secret.strip()
        if text and text != MASK:
            quoted = quote(text, safe="", errors="replace")
            found |= {secret, text, quoted, quote(text, errors="replace")}
            found |= {quote_plus(text, errors="replace"), json.dumps(text)[1:-1], repr(text)[1:-1]}
    return sorted(found, key=lambda item: (-len(item), item))


@functools.cache
def _pattern(number: int) -> re.Pattern[str]:
    return re.compile(_SHAPES[number][1], re.IGNORECASE)
