"""Makes the authenticator of a project from its settings."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import urlsplit

from tuvl_auth.bearer import BearerTokens, GivenKeys
from tuvl_auth.claims import Rules
from tuvl_auth.devkey import ISSUER, PATH, load, name_of
from tuvl_auth.jwks import PublishedKeys
from tuvl_auth.keys import ALGORITHMS, SYMMETRIC, Key, KeyProblem, jwk_set, names, of_pem, of_public, of_secret
from tuvl_auth.settings import KEYS
from tuvl_core import Secret, SettingsError, log_event

if TYPE_CHECKING:
    from tuvl_core import Project, Settings

__all__ = ["authenticator", "configured"]

_log = logging.getLogger("tuvl.auth")
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


def configured(settings: Settings) -> list[str]:
    """The settings that bring keys, those that are set."""
    return [name for name in KEYS if settings[name]]


def authenticator(project: Project) -> BearerTokens | None:
    """Make the authenticator; None where nothing could have signed a token.

    Raises:
        SettingsError: A setting cannot be used as it is: a server must not start with it.
    """
    settings = project.settings
    if not configured(settings):
        return _of_development(project)
    given = tuple(_given(project))
    allowed = _algorithms(settings)
    _check_use(given, allowed, settings)
    sources: list[Any] = [GivenKeys(given)] if given else []
    if settings["auth.jwks_url"]:
        sources.append(_published(settings))
    if settings["auth.jwks_url"] and not settings["auth.audience"]:
        fields = {"hint": "set auth.audience, or tokens that were made for another service of the issuer count here"}
        log_event(_log, logging.WARNING, "auth.no_audience", fields)
    return BearerTokens(sources, _rules(settings), allowed)


def _of_development(project: Project) -> BearerTokens | None:
    """The project's own key, where it is allowed and exists."""
    private = load(project.root) if project.settings["auth.dev_key"] else None
    if private is None:
        return None
    fields = {"path": PATH, "hint": "fit for this machine; set auth.jwks_url or another key for others to come in"}
    log_event(_log, logging.WARNING, "auth.dev_key", fields)
    key = of_public(private.public_key(), name_of(private))
    # Whoever has the key can name any scope anyway.
    return BearerTokens([GivenKeys((key,))], Rules(issuer=ISSUER, allow_all=True))


def _given(project: Project) -> Iterator[Key]:
    settings = project.settings
    if file := settings["auth.jwks_file"]:
        yield from _of_file(project.root / file, settings)
    for file in settings["auth.public_keys"]:
        try:
            yield of_pem(_read(project.root / file, "auth.public_keys", settings))
        except KeyProblem as problem:
            _refuse(settings, "auth.public_keys", f"{file} cannot be used: {problem}")
    if settings["auth.secret"]:
        try:
            yield of_secret(_opened(project).encode())
        except KeyProblem as problem:
            _refuse(settings, "auth.secret", f"it cannot be used: {problem}; `openssl rand -hex 32` makes a good one")


def _of_file(path: Path, settings: Settings) -> tuple[Key, ...]:
    name = "auth.jwks_file"
    data = _read(path, name, settings)
    try:
        return jwk_set(json.loads(data), secrets=True)
    except KeyProblem as problem:
        _refuse(settings, name, f"{path.name} cannot be used: {problem}")
    except (ValueError, RecursionError):
        _refuse(settings, name, f"{path.name} is no JSON")


def _opened(project: Project) -> str:
    """The shared secret, wherever it lies."""
    try:
        value = project.environment.expand(project.settings["auth.secret"])
    except Exception as error:  # says which variable or scheme, and none of what it holds
        _refuse(project.settings, "auth.secret", str(error))
    return value.reveal() if isinstance(value, Secret) else str(value)


def _published(settings: Settings) -> PublishedKeys:
    name = "auth.jwks_url"
    url = settings[name]
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host, parts = None, urlsplit("")
    if parts.scheme not in ("http", "https") or not host:
        _refuse(settings, name, "it is no URL of a JWK set, such as https://issuer.example/.well-known/jwks.json")
    if parts.scheme == "http" and host not in _LOOPBACK:
        _refuse(
            settings,
            name,
            f"keys from {host} would come unprotected, and anybody on the way could be the issuer: use https",
        )
    return PublishedKeys(
        url,
        keep_s=settings["auth.jwks_keep_s"],
        retry_s=settings["auth.jwks_retry_s"],
        timeout_s=settings["auth.jwks_timeout_s"],
        trust_env=settings["auth.trust_env"],
    )


def _algorithms(settings: Settings) -> frozenset[str]:
    name = "auth.algorithms"
    allowed = frozenset(settings[name])
    if unknown := sorted(allowed - ALGORITHMS):
        _refuse(settings, name, f"it holds {', '.join(unknown)}; possible are {', '.join(sorted(ALGORITHMS))}")
    return allowed


def _check_use(given: tuple[Key, ...], allowed: frozenset[str], settings: Settings) -> None:
    """Refuse keys and algorithms that can never meet: whoever set them meant something else."""
    if not allowed:
        return
    name = "auth.algorithms"
    for key in given:
        if not allowed.intersection(key.algorithms):
            _refuse(settings, name, f"it leaves a key without algorithm; one that is set is good for {names([key])}")
    shared = any(SYMMETRIC.intersection(key.algorithms) for key in given)
    if allowed & SYMMETRIC and not shared:
        wrong = ", ".join(sorted(allowed & SYMMETRIC))
        _refuse(settings, name, f"{wrong} needs a shared secret, and only public keys are set: leave it out")


def _rules(settings: Settings) -> Rules:
    return Rules(
        issuer=settings["auth.issuer"] or None,
        audience=tuple(settings["auth.audience"]),
        leeway_s=settings["auth.leeway_s"],
        subject=settings["auth.claim_subject"],
        tenant=settings["auth.claim_tenant"],
        scopes=settings["auth.claim_scopes"],
        groups=settings["auth.claim_groups"],
        allow_all=settings["auth.allow_all_scopes"],
    )


def _read(path: Path, name: str, settings: Settings) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        _refuse(settings, name, f"{path} cannot be read: {error.strerror}")


def _refuse(settings: Settings, name: str, why: str) -> NoReturn:
    raise SettingsError(f"setting {name} ({settings.source(name)}): {why}") from None
