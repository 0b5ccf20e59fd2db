"""Which texts of a server's configuration are secrets, and a result without them.

Everything in `args`, `env`, `url` and `headers` may be one. But a server is also told modes, folders and names
of files there, which its results are full of. So what counts is a name that says so, such as `--token=…` or
`API_KEY`, or the looks of the text itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from tuvl_core import MASK

__all__ = ["secrets_in", "without"]

_SHORTEST: Final = 6
_LONG: Final = 8
"""Secrets shorter than this are found as whole words only; a text of no telling name is none below it."""
_NAME: Final = re.compile(
    r"(?:^|[_.\-]|api|access|auth|private|client)(?:key|token|secret|pass|passwd|password|passphrase|pwd|pat|auth"
    r"|authorization|bearer|cookie|credential|signature|sig)s?$|(?:token|secret|password)$",
    re.I,
)
_NO_NAME: Final = re.compile(
    r"(?:sort|primary|partition|foreign|group|public|cache|index|order|map)[_.\-]?keys?$", re.I
)
_PAIR: Final = re.compile(r"-{0,2}([A-Za-z_][\w.\-]*)=(.+)", re.S)
_HEADER: Final = re.compile(r"([A-Za-z][\w\-]+): (.+)", re.S)
_SCHEME: Final = re.compile(r"(?:bearer|basic|token|digest|negotiate|apikey)\s+(\S.*)", re.I | re.S)
_STUCK: Final = re.compile(r"-[A-Za-z]\w{8}")
"""A value right after its option, as in `-pSECRET`."""
_BREAKS: Final = re.compile(r"[\s,;\"'{}()\[\]]+")
_PIECES: Final = re.compile(r"[-_.:@/+=#~]+")
_PATH: Final = re.compile(r"(?:~|\.{1,2})?/[^/]|[A-Za-z]:[\\/]|\\\\")
_FILE: Final = re.compile(r"[^.]+(?:\.[A-Za-z][A-Za-z0-9]{0,4})+")
_MIX: Final = 6
"""Letters and digits in one piece are ordinary below this, as in `v2` or `3d`; so is a word with a number."""
_NUMBERED: Final = re.compile(r"[A-Za-z]?[a-z]{1,8}\d{1,4}")
_LONG_WORD: Final = 24
_ORDINARY: Final = frozenset(["dummy", "example", "default", "changeme", "disabled", "enabled", "anonymous"])


def secrets_in(
    args: Iterable[str], env: Iterable[tuple[str, str]], url: str, headers: Iterable[tuple[str, str]]
) -> tuple[str, ...]:
    """Give the texts of a server's configuration that may be secrets, each once."""
    found: dict[str, None] = {}
    for name, value in (*env, *headers):
        found.update(dict.fromkeys(_inside(value, name)))
    option = ""
    for arg in args:
        found.update(dict.fromkeys(_inside(arg, option)))
        option = arg.lstrip("-") if arg.startswith("-") and "=" not in arg else ""
    found.update(dict.fromkeys(_of_url(url)))
    return tuple(found)


def without(value: Any, secrets: tuple[str, ...]) -> Any:
    """A value with `***` in the place of every secret: in texts, in keys, and as a whole number.

    Args:
        value: As JSON has it.
        secrets: What `secrets_in` found.
    """
    if not secrets:
        return value
    whole, replace = _replacer(secrets)

    def walk(item: Any) -> Any:
        if isinstance(item, str):
            return replace(item)
        if isinstance(item, Mapping):
            return _with_keys((replace(str(key)), walk(child)) for key, child in item.items())
        if isinstance(item, (list, tuple)):
            return [walk(child) for child in item]
        if isinstance(item, (int, float)) and not isinstance(item, bool) and str(item) in whole:
            return MASK
        return item

    return walk(value)


def _with_keys(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """A mapping in which none takes the place of another, though secrets in their keys look alike."""
    made: dict[str, Any] = {}
    for name, value in pairs:
        key, number = name, 1
        while key in made:
            number += 1
            key = f"{name} ({number})"
        made[key] = value
    return made


@lru_cache(maxsize=64)
def _replacer(secrets: tuple[str, ...]) -> tuple[frozenset[str], Callable[[str], str]]:
    forms: set[str] = set()
    for secret in secrets:
        forms |= {secret, quote(secret, safe="", errors="replace"), quote(secret, errors="replace")}
        forms |= {json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}
    # The longest first: one may be a part of another.
    ordered = sorted(forms, key=lambda form: (-len(form), form))
    longer = [form for form in ordered if len(form) >= _LONG]
    words = [re.compile(rf"(?<!\w){re.escape(form)}(?!\w)") for form in ordered if len(form) < _LONG]

    def replace(text: str) -> str:
        for form in longer:
            if form in text:
                text = text.replace(form, MASK)
        for word in words:
            text = word.sub(MASK, text)
        return text

    return frozenset(secrets), replace


def _inside(text: str, name: str = "") -> Iterator[str]:
    """The secrets in one text of a configuration; its name says whether it is one as a whole."""
    text = text.strip()
    named = _NAME.search(name) is not None and _NO_NAME.search(name) is None
    if (scheme := _SCHEME.fullmatch(text)) is not None:
        yield from _inside(scheme[1], "token")
        named = False
    if named and not _PATH.match(text) and "://" not in text:
        if len(text) >= _SHORTEST and text.lower() not in _ORDINARY:
            yield text
        return
    if "://" in text and not _BREAKS.search(text):
        yield from _of_url(text.partition("=")[2] if _PAIR.fullmatch(text.partition("://")[0]) else text)
    elif (pair := _PAIR.fullmatch(text)) or (pair := _HEADER.fullmatch(text)):
        yield from _inside(pair[2], pair[1])
    elif _BREAKS.search(text):
        for part in _BREAKS.split(text):
            yield from _inside(part)
    elif _looks_secret(text):
        yield from {text.lstrip("-"), text[2:] if _STUCK.match(text) else text.lstrip("-")}


def _of_url(url: str) -> Iterator[str]:
    try:
        parts = urlsplit(url.strip())
        given = parse_qsl(parts.query)
        user, password = parts.username or "", parts.password or ""
    except ValueError:
        return
    if len(unquote(password)) >= _SHORTEST:
        yield from (password, unquote(password))
    for name, value in given:
        yield from _inside(value, name)
    for piece in (user, *parts.path.split("/"), parts.fragment):
        if _looks_secret(piece):
            yield unquote(piece)


def _looks_secret(text: str) -> bool:
    """Whether a text of no telling name is none of what results are full of: words, numbers, paths, files, hosts."""
    if len(text) < _LONG or _PATH.match(text) or (_FILE.fullmatch(text) and len(text) < 64):
        return False
    return any(_is_mixed(piece) or len(piece) >= _LONG_WORD for piece in _PIECES.split(text))


def _is_mixed(piece: str) -> bool:
    """Whether letters and digits stand in it together as in no word."""
    if len(piece) < _MIX or _NUMBERED.fullmatch(piece):
        return False
    return any(map(str.isalpha, piece)) and any(map(str.isdigit, piece))
