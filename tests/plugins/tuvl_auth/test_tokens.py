"""Which tokens are taken, for whom, and what is said of the others."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import logging
import time

import jwt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tuvl_core import Principal, UnauthenticatedError


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def segment(value: object) -> str:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def by_hand(header: dict, claims: object, secret: bytes) -> str:
    """A token that no library would make."""
    body = f"{segment(header)}.{segment(claims)}"
    return f"{body}.{segment(hmac.new(secret, body.encode(), hashlib.sha256).digest())}"


async def refused(gate, token: str) -> str:
    with pytest.raises(UnauthenticatedError) as caught:
        await gate.admit(bearer(token))
    assert token not in str(caught.value)
    assert caught.value.__cause__ is None
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "algorithm"),
    [("rsa", "RS256"), ("rsa", "PS512"), ("ec", "ES256"), ("ec384", "ES384"), ("ed", "EdDSA")],
)
@pytest.mark.parametrize("source", ["file", "pem"])
async def test_a_token_of_each_type(gate, keys, sign, tmp_path, name, algorithm, source):
    if source == "file":
        (tmp_path / "jwks.json").write_text(json.dumps({"keys": [keys.jwk(name)]}))
        door = gate(jwks_file="jwks.json")
    else:
        (tmp_path / "key.pem").write_bytes(keys.pem(name))
        door = gate(public_keys=["key.pem"])
    token = sign(getattr(keys, name), algorithm, headers={"kid": name}, groups=["desk"])
    found = await door.admit(bearer(token))
    assert found == Principal(
        subject="ada",
        tenant="acme",
        scopes=frozenset({"run:read", "agent:observe"}),
        groups=frozenset({"desk"}),
    )
    forged = token[: token.rindex(".") + 1] + segment(bytes(64))
    assert "signature" in await refused(door, forged)


async def test_a_shared_secret(gate, sign, secret):
    door = gate({"TUVL_AUTH_SECRET": secret})
    assert (await door.admit(bearer(sign(secret, "HS256")))).subject == "ada"
    assert "signature" in await refused(door, sign("x" * 64, "HS256"))


async def test_a_secret_from_elsewhere(gate, sign, secret, tmp_path):
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "vault.py").write_text(
        "from tuvl_core import hookimpl\nTUVL_API = 1\n@hookimpl\ndef tuvl_secret_resolvers():\n"
        f"    return {{'t-vault': lambda ref: {secret!r} + ref}}\n"
    )
    door = gate(secret="${t-vault://x}")
    assert (await door.admit(bearer(sign(f"{secret}x", "HS256")))).subject == "ada"
    door = gate({"MINE": secret}, secret="${MINE}")
    assert (await door.admit(bearer(sign(secret, "HS256")))).subject == "ada"


async def test_the_scheme(gate, sign, secret):
    door = gate({"TUVL_AUTH_SECRET": secret})
    token = sign(secret, "HS256")
    assert (await door.admit({"authorization": f"  bEARER   {token} "})).subject == "ada"
    for headers in ({}, {"authorization": ""}, {"authorization": f"Basic {token}"}, {"x-token": token}):
        with pytest.raises(UnauthenticatedError, match="missing, or of no kind"):
            await door.admit(headers)
    for headers in (
        {"authorization": "Bearer"},
        {"authorization": "Bearer "},
        {"authorization": f"Bearer {token}, {token}"},
    ):
        with pytest.raises(UnauthenticatedError, match="malformed|encrypted"):
            await door.admit(headers)


async def test_a_public_key_is_no_secret(gate, keys, tmp_path):
    """Whoever signs with the public key's text as if it were a shared secret is refused (RFC 8725, section 2.1)."""
    (tmp_path / "key.pem").write_bytes(keys.pem("rsa"))
    (tmp_path / "jwks.json").write_text(json.dumps({"keys": [keys.jwk("ec")]}))
    door = gate(public_keys=["key.pem"], jwks_file="jwks.json")
    good = {"sub": "eve", "exp": time.time() + 60}
    for text in (keys.pem("rsa"), keys.pem("rsa").strip(), json.dumps(keys.jwk("ec")).encode()):
        for kid in ({}, {"kid": "ec"}, {"kid": "rsa"}):
            assert "not allowed with its key" in await refused(door, by_hand({"alg": "HS256", **kid}, good, text))


async def test_a_secret_beside_public_keys_does_not_mix(gate, keys, sign, secret, tmp_path):
    (tmp_path / "key.pem").write_bytes(keys.pem("rsa"))
    door = gate({"TUVL_AUTH_SECRET": secret}, public_keys=["key.pem"])
    assert (await door.admit(bearer(sign(secret, "HS256")))).subject == "ada"
    assert (await door.admit(bearer(sign(keys.rsa, "RS256")))).subject == "ada"
    claims = {"sub": "eve", "exp": time.time() + 60}
    assert "signature" in await refused(door, by_hand({"alg": "HS256"}, claims, keys.pem("rsa")))


async def test_the_header_does_not_bring_a_key(gate, keys, sign, secret):
    """A key that lies in the token, or that it points to, counts for nothing."""
    door = gate({"TUVL_AUTH_SECRET": secret})
    brought = {"jwk": {**keys.jwk("rsa")}, "jku": "https://evil.example/jwks.json", "x5u": "https://evil.example/c"}
    assert "not allowed" in await refused(door, sign(keys.rsa, "RS256", headers=brought))
    assert "signature" in await refused(door, sign("e" * 64, "HS256", headers=brought))


@pytest.mark.parametrize("algorithm", ["none", "None", "NONE", "nOnE"])
async def test_unsigned(gate, secret, algorithm):
    door = gate({"TUVL_AUTH_SECRET": secret})
    body = f"{segment({'alg': algorithm})}.{segment({'sub': 'eve', 'exp': time.time() + 60})}"
    for token in (f"{body}.", f"{body}.{segment(b'x')}"):
        assert "not signed" in await refused(door, token)


@pytest.mark.parametrize(
    ("claims", "said"),
    [
        ({"exp": ...}, "lacks the claim exp"),
        ({"exp": 1}, "expired"),
        ({"exp": -11}, "expired"),
        ({"nbf": 11}, "not valid yet"),
        ({"iat": 11}, "not valid yet"),
        ({"exp": "9999999999"}, "malformed"),
        ({"exp": None}, "lacks the claim exp"),
        ({"exp": True}, "expired"),
        ({"exp": 1e400}, "malformed"),
        ({"exp": float("nan")}, "malformed"),
        ({"nbf": "1"}, "malformed"),
        ({"nbf": [1]}, "malformed"),
        ({"sub": ...}, "lacks the claim sub"),
        ({"sub": ""}, "sub, it is empty"),
        ({"sub": 7}, "sub, it holds what is no text"),
        ({"sub": None}, "no text"),
        ({"sub": "a\nb"}, "cannot be shown"),
        ({"sub": "a" * 300}, "more than 255"),
        ({"tenant": 7}, "tenant, it holds"),
        ({"tenant": None}, "tenant, it holds"),
        ({"tenant": ""}, "tenant, it is empty"),
        ({"scope": 7}, "scope, it is no list"),
        ({"scope": {"a": 1}}, "scope, it is no list"),
        ({"scope": ["a", 7]}, "scope, it holds"),
        ({"scope": ["a b"]}, "a blank"),
        ({"scope": "a\tb"}, "cannot be shown"),
        ({"scope": "a *"}, "allow_all_scopes"),
        ({"scope": ["*"]}, "allow_all_scopes"),
        ({"groups": "desk"}, "groups, it is no list"),
        ({"groups": [None]}, "groups, it holds"),
        ({"aud": "other"}, "auth.audience names none"),
    ],
    ids=str,
)
async def test_claims_that_are_refused(gate, sign, secret, claims, said):
    door = gate({"TUVL_AUTH_SECRET": secret})
    for name in ("exp", "nbf", "iat"):
        if type(claims.get(name)) is int and abs(claims[name]) < 1000 and claims[name] != 1:
            claims = {**claims, name: time.time() + claims[name] * 2}
    payload = {"sub": "ada", "exp": time.time() + 60} | claims
    token = by_hand({"alg": "HS256"}, {k: v for k, v in payload.items() if v is not ...}, secret.encode())
    assert said in await refused(door, token)


async def test_claims_that_are_taken(gate, sign, secret):
    door = gate({"TUVL_AUTH_SECRET": secret})
    bare = await door.admit(bearer(sign(secret, "HS256", tenant=..., scope=...)))
    assert bare == Principal(subject="ada")
    listed = await door.admit(bearer(sign(secret, "HS256", scope=["a", "b"], exp=int(time.time()) - 5)))
    assert listed.scopes == {"a", "b"}  # the leeway is 10 s
    spaced = await door.admit(bearer(sign(secret, "HS256", scope=" a  b ")))
    assert spaced.scopes == {"a", "b"}


async def test_claims_by_other_names(gate, sign, secret):
    door = gate(
        {"TUVL_AUTH_SECRET": secret},
        claim_subject="email",
        claim_tenant="https://acme.example/org",
        claim_scopes="permissions",
        claim_groups="roles",
        allow_all_scopes=True,
    )
    more = {"email": "a@b.c", "https://acme.example/org": "t", "permissions": ["*"], "roles": ["r"]}
    found = await door.admit(bearer(sign(secret, "HS256", sub=..., tenant="not this", **more)))
    assert found == Principal(subject="a@b.c", tenant="t", scopes=frozenset("*"), groups=frozenset("r"))
    assert "lacks the claim email" in await refused(door, sign(secret, "HS256"))


async def test_audience_and_issuer(gate, sign, secret):
    door = gate({"TUVL_AUTH_SECRET": secret}, audience=["tuvl", "desk"], issuer="https://issuer.example")
    good = {"iss": "https://issuer.example", "aud": ["x", "desk"]}
    assert (await door.admit(bearer(sign(secret, "HS256", **good)))).subject == "ada"
    assert "lacks the claim aud" in await refused(door, sign(secret, "HS256", **{**good, "aud": ...}))
    assert "lacks the claim iss" in await refused(door, sign(secret, "HS256", **{**good, "iss": ...}))
    assert "another audience" in await refused(door, sign(secret, "HS256", **{**good, "aud": "other"}))
    assert "lacks the claim aud" in await refused(door, sign(secret, "HS256", **{**good, "aud": []}))
    for issuer in ("https://issuer.example/", "https://evil.example"):
        assert "another issuer" in await refused(door, sign(secret, "HS256", **{**good, "iss": issuer}))
    strange = by_hand(
        {"alg": "HS256"},
        {"sub": "a", "exp": time.time() + 9, **good, "iss": ["https://issuer.example"]},
        secret.encode(),
    )
    assert await refused(door, strange)


@pytest.mark.parametrize(
    ("headers", "said"),
    [
        ({"crit": ["exp"], "exp": 1}, "crit"),
        ({"crit": []}, "crit"),
        ({"crit": ["b64"], "b64": True}, "crit"),
        ({"typ": "logout+jwt"}, "another type"),
        ({"typ": 7}, "malformed"),
        ({"kid": 7}, "kid"),
        ({"kid": "nobody"}, None),
        ({"typ": "application/AT+JWT"}, None),
    ],
    ids=str,
)
async def test_headers(gate, secret, headers, said):
    door = gate({"TUVL_AUTH_SECRET": secret})
    token = by_hand({"alg": "HS256", **headers}, {"sub": "ada", "exp": time.time() + 60}, secret.encode())
    if said is None:
        assert (await door.admit(bearer(token))).subject == "ada"
        return
    assert said in await refused(door, token)


async def test_what_is_no_token(gate, secret, sign):
    door = gate({"TUVL_AUTH_SECRET": secret})
    good = sign(secret, "HS256")
    assert "more than" in await refused(door, f"{good}{'A' * 20_000}")
    assert "encrypted" in await refused(door, "a.b.c.d.e")
    deep = f"{segment(b'[' * 9000)}.{segment(b'{}')}.{segment(b'x')}"
    for token in ("x", "a.b", "a.b.c", "...", "ü.ä.ö", "\ud800.b.c", good.replace(".", ""), deep, good + "."):
        assert "malformed" in await refused(door, token)
    body = by_hand({"alg": "HS256"}, ["no", "object"], secret.encode())
    assert "malformed" in await refused(door, body)
    assert "malformed" in await refused(door, by_hand({"alg": "HS256"}, b"[" * 9000, secret.encode()))


async def test_names_of_keys(gate, keys, sign, tmp_path):
    """Of two keys, the one that the token names is tried; a name that nobody has leads to none."""
    (tmp_path / "jwks.json").write_text(json.dumps({"keys": [keys.jwk("rsa"), keys.jwk("rsa2")]}))
    door = gate(jwks_file="jwks.json")
    assert (await door.admit(bearer(sign(keys.rsa2, "RS256", headers={"kid": "rsa2"})))).subject == "ada"
    assert (await door.admit(bearer(sign(keys.rsa2, "RS256")))).subject == "ada"
    assert "signature" in await refused(door, sign(keys.rsa2, "RS256", headers={"kid": "rsa"}))
    assert "signature" in await refused(door, sign(keys.rsa3, "RS256"))
    assert "none of this server's" in await refused(door, sign(keys.rsa, "RS256", headers={"kid": "other"}))


async def test_algorithms(gate, keys, sign, tmp_path):
    (tmp_path / "jwks.json").write_text(
        json.dumps({"keys": [keys.jwk("rsa", alg="RS256"), keys.jwk("rsa2"), keys.jwk("ec", use="enc")]})
    )
    door = gate(jwks_file="jwks.json")
    assert "allowed: RS256" in await refused(door, sign(keys.rsa, "RS512", headers={"kid": "rsa"}))
    assert (await door.admit(bearer(sign(keys.rsa2, "RS512", headers={"kid": "rsa2"})))).subject == "ada"
    assert "none of this server's" in await refused(door, sign(keys.ec, "ES256", headers={"kid": "ec"}))
    door = gate(jwks_file="jwks.json", algorithms=["RS256"])
    assert "allowed: RS256" in await refused(door, sign(keys.rsa2, "RS512", headers={"kid": "rsa2"}))


async def test_nothing_of_a_token_or_key_is_told(gate, keys, sign, secret, tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    (tmp_path / "key.pem").write_bytes(keys.pem("rsa"))
    door = gate({"TUVL_AUTH_SECRET": secret}, public_keys=["key.pem"])
    tokens = [
        sign(secret, "HS256", sub="planted-subject"),
        sign(keys.rsa, "RS256", exp=1),
        sign("p" * 40, "HS256", planted="x"),
    ]
    told = []
    for token in tokens:
        try:
            told.append(repr(await door.admit(bearer(token))))
        except UnauthenticatedError as error:
            told.append(f"{error}{error!r}{error.__context__ and error.__suppress_context__}")
    text = "\n".join([*told, caplog.text, repr(door._authenticators[0]._sources)])
    for part in [secret, "planted-secret", *(piece for token in tokens for piece in token.split("."))]:
        assert part not in text


SECRET_BYTES = b"0123456789abcdef0123456789abcdef-planted-secret"


@pytest.fixture
def door(gate, secret):
    """One gate for all examples of a test."""
    return gate({"TUVL_AUTH_SECRET": secret})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(data=st.data())
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_a_changed_token_is_never_taken(data, door, secret):
    """One character more, less or other: it is refused, as a refusal and as nothing else."""
    good = jwt.encode({"sub": "ada", "exp": 4_000_000_000}, secret, algorithm="HS256")
    at = data.draw(st.integers(0, len(good) - 1))
    new = data.draw(st.text(alphabet=st.characters(codec="latin-1", exclude_categories=["Cc"]), max_size=3))
    changed = good[:at] + new + good[at + data.draw(st.integers(0, 2)) :]
    if changed.strip() == good:
        return
    with pytest.raises(UnauthenticatedError):
        await door.admit(bearer(changed))


@given(header=st.dictionaries(st.sampled_from(["alg", "typ", "kid", "crit", "b64", "jwk", "x"]), JSON), claims=JSON)
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_whatever_is_signed_is_taken_or_refused(door, header, claims):
    """An issuer gone mad breaks nothing: no exception but a refusal, no principal of wrong types."""
    if isinstance(claims, dict):
        claims = {"sub": "ada", "exp": 4_000_000_000, **claims}
    try:
        found = await door.admit(bearer(by_hand({"alg": "HS256", **header}, claims, SECRET_BYTES)))
    except UnauthenticatedError:
        return
    assert isinstance(found.subject, str)
    assert found.tenant is None or isinstance(found.tenant, str)
    assert all(isinstance(item, str) for item in found.scopes | found.groups)


CLAIMS = st.fixed_dictionaries(
    {}, optional=dict.fromkeys(("sub", "exp", "nbf", "iat", "aud", "iss", "tenant", "scope", "groups", "jti"), JSON)
)


@given(claims=CLAIMS)
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_whatever_claims_hold(door, claims):
    await test_whatever_is_signed_is_taken_or_refused.hypothesis.inner_test(door, {}, claims)
