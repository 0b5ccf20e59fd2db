"""The settings of tuvl-auth."""

from __future__ import annotations

from typing import Final

from tuvl_core import Setting

__all__ = ["KEYS", "SETTINGS"]

KEYS: Final = ("auth.jwks_url", "auth.jwks_file", "auth.public_keys", "auth.secret")
"""The settings that bring keys; where one of them is set, the project's development key counts no more."""

SETTINGS: Final = (
    Setting(
        name="auth.jwks_url",
        default="",
        help="Where the issuer of tokens publishes its keys (a JWK set); `https`, or `http` on this machine.",
    ),
    Setting(name="auth.jwks_file", default="", help="A file with a JWK set, from the project's directory."),
    Setting(
        name="auth.public_keys",
        type=tuple,
        default=(),
        help="PEM files with public keys or certificates, from the project's directory.",
    ),
    Setting(
        name="auth.secret",
        default="",
        secret=True,
        help="A secret shared with the issuer (HS256 and up), 32 bytes at least; `${scheme://ref}` gets it elsewhere.",
    ),
    Setting(name="auth.issuer", default="", help="The only issuer (`iss`) whose tokens are taken; empty: any."),
    Setting(
        name="auth.audience",
        type=tuple,
        default=(),
        help="The audiences (`aud`) of which a token must name one; none: only tokens that name none are taken.",
    ),
    Setting(
        name="auth.algorithms",
        type=tuple,
        default=(),
        help="The only algorithms, such as `RS256`; none: all that fit a key's type. `none` never counts.",
    ),
    Setting(
        name="auth.leeway_s",
        type=float,
        default=10.0,
        minimum=0,
        help="Seconds by which clocks may differ.",
    ),
    Setting(name="auth.claim_subject", default="sub", help="The claim that says who it is."),
    Setting(name="auth.claim_tenant", default="tenant", help="The claim that says whose data they may see."),
    Setting(
        name="auth.claim_scopes",
        default="scope",
        help="The claim that says what they may do: text with blanks between, or a list of texts.",
    ),
    Setting(name="auth.claim_groups", default="groups", help="The claim that lists the groups they belong to."),
    Setting(
        name="auth.allow_all_scopes",
        type=bool,
        default=False,
        help="Take tokens whose scopes hold `*`, which stands for everything.",
    ),
    Setting(
        name="auth.dev_key",
        type=bool,
        default=True,
        help="Take tokens of `tuvl token issue`, where its key exists and no other is set.",
    ),
    Setting(
        name="auth.jwks_keep_s",
        type=float,
        default=300.0,
        minimum=1,
        help="Seconds after which the keys of `auth.jwks_url` are fetched anew.",
    ),
    Setting(
        name="auth.jwks_retry_s",
        type=float,
        default=10.0,
        minimum=0,
        help="Seconds between two fetches at least, however many tokens name a key that is not known.",
    ),
    Setting(
        name="auth.jwks_timeout_s",
        type=float,
        default=5.0,
        minimum=0.001,
        help="Seconds that fetching keys may take.",
    ),
    Setting(
        name="auth.trust_env",
        type=bool,
        default=False,
        help="Use the environment's proxies when keys are fetched.",
    ),
)
