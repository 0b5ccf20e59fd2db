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

# Every quantifier below is bounded by a class that cannot match what follows it, so that the time
# is linear in the text.
_NAMES: Final = (
    r"(?:x[-_])?api[-_ ]?key|access[-_]?key|(?:access|refresh|auth|id)[-_]?token|client[-_]?secret"
    r"|secret|passwd|password|pwd|proxy-authorization|authorization|set-cookie|cookie"
)
_SHAPES: Final = (
    # Credentials in a URL: scheme://user:password@host, the host stays.
    (r"(?<=://)[^\s/?#@\"'<>]+(?=@)", MASK),
    # Query parameters that carry credentials.
    (
        r"([?&;](?:[a-z0-9]+[-_.])*"
        r"(?:key|apikey|token|secret|password|passwd|pwd|auth|sig|signature|credential|code)=)[^\s&;#\"'<>]+",
        rf"\1{MASK}",
    ),
    # Schemes of the Authorization header.
    (r"\b(bearer|basic|token|digest|negotiate) +(?!\*\*\*)[a-z0-9._~+/=:-]{6,}", rf"\1 {MASK}"),
    # `api_key=…`, `"password": "…"`, `X-Api-Key: …`, `API key provided: …`
    (
        rf"\b((?:{_NAMES})[\"']?(?: provided| is)? ?(?:=>|[:=]) ?)"
        r"(?:(bearer|basic|token) )?(?:b?\"[^\"\n]*\"|b?'[^'\n]*'|[^\s,;&\"'<>)}\]]+)",
        rf"\1{MASK}",
    ),
    (r"\b(token=)[^\s,;&\"'<>)}\]]+", rf"\1{MASK}"),
    # Tokens that are known by their looks.
    (r"\b(?:sk|pk|rk)[-_](?:[a-z0-9]+[-_])*[a-z0-9*.]{6,}", MASK),
    (r"\b(?:gh[pousr]|github_pat|glpat|xox[a-z]|hf|npm|pypi)[-_][a-z0-9_-]{8,}", MASK),
    (r"\b(?:akia|asia)[a-z0-9]{12,}\b", MASK),
    (r"\baiza[a-z0-9_-]{20,}", MASK),
    (r"\beyj[a-z0-9_-]{6,}\.[a-z0-9_-]+(?:\.[a-z0-9_-]*)*", MASK),
    (r"-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*(?:-----END [A-Z ]*PRIVATE KEY-----)?", MASK),
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
    for pattern, replacement in _shapes():
        text = pattern.sub(replacement, text)
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
def _shapes() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(shape, re.IGNORECASE), new) for shape, new in _SHAPES)
