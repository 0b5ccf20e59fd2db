"""Keys that an issuer publishes over HTTP: fetched, kept, changed, and out of reach."""

from __future__ import annotations

import asyncio
import json
import logging

import pytest

from tuvl_core import UnauthenticatedError


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


async def test_they_are_fetched_once_and_kept(gate, issuer, keys, sign):
    issuer.keys = [keys.jwk("rsa"), keys.jwk("ec"), keys.jwk("ed")]
    door = gate(jwks_url=issuer.url, audience=["tuvl"])
    assert issuer.asked == 0
    for key, algorithm in (("rsa", "RS256"), ("ec", "ES256"), ("ed", "EdDSA")) * 2:
        token = sign(getattr(keys, key), algorithm, headers={"kid": key}, aud="tuvl")
        assert (await door.admit(bearer(token))).subject == "ada"
    assert issuer.asked == 1


async def test_many_callers_share_one_fetch(gate, issuer, keys, sign):
    issuer.keys = [keys.jwk("rsa")]
    issuer.wait.clear()
    door = gate(jwks_url=issuer.url)
    token = sign(keys.rsa, "RS256", headers={"kid": "rsa"})
    calls = [asyncio.create_task(door.admit(bearer(token))) for _ in range(20)]
    while issuer.asked == 0:  # the event loop goes on while a fetch waits
        await asyncio.sleep(0.01)
    assert not any(call.done() for call in calls)
    issuer.wait.set()
    assert {found.subject for found in await asyncio.gather(*calls)} == {"ada"}
    assert issuer.asked == 1


async def test_a_new_key_is_found(gate, issuer, keys, sign):
    """Rotation: a token names a key that is not known yet, and the set is fetched anew."""
    issuer.keys = [keys.jwk("rsa")]
    door = gate(jwks_url=issuer.url, jwks_retry_s=0)
    old = bearer(sign(keys.rsa, "RS256", headers={"kid": "rsa"}))
    new = bearer(sign(keys.rsa2, "RS256", headers={"kid": "rsa2"}))
    assert (await door.admit(old)).subject == "ada"
    with pytest.raises(UnauthenticatedError, match="none of this server's"):
        await door.admit(new)
    issuer.keys = [keys.jwk("rsa2")]
    assert (await door.admit(new)).subject == "ada"
    with pytest.raises(UnauthenticatedError, match="none of this server's"):
        await door.admit(old)  # and the old one counts no more


async def test_names_that_nobody_has_do_not_flood_the_issuer(gate, issuer, keys, sign):
    issuer.keys = [keys.jwk("rsa")]
    door = gate(jwks_url=issuer.url, jwks_retry_s=3600)
    for number in range(30):
        with pytest.raises(UnauthenticatedError, match="none of this server's"):
            await door.admit(bearer(sign(keys.rsa, "RS256", headers={"kid": f"no{number}"})))
    assert issuer.asked == 1


async def test_keys_are_fetched_anew_in_time(gate, issuer, keys, sign, monkeypatch):
    issuer.keys = [keys.jwk("rsa")]
    door = gate(jwks_url=issuer.url, jwks_keep_s=300)
    token = bearer(sign(keys.rsa, "RS256", headers={"kid": "rsa"}))
    await door.admit(token)
    source = door._authenticators[0]._sources[0]
    source._fetched -= 299
    await door.admit(token)
    assert issuer.asked == 1
    source._fetched -= 2
    source._tried -= 302
    issuer.keys = [keys.jwk("ec")]
    with pytest.raises(UnauthenticatedError, match="none of this server's"):
        await door.admit(token)
    assert issuer.asked == 2


async def test_an_outage(gate, issuer, keys, sign, caplog):
    """Keys stay good for an hour while their issuer is away; then nobody can tell any more."""
    issuer.keys = [keys.jwk("rsa")]
    door = gate(jwks_url=f"{issuer.url}?key=planted-in-url", jwks_retry_s=0, jwks_keep_s=1)
    token = bearer(sign(keys.rsa, "RS256", headers={"kid": "rsa"}))
    await door.admit(token)
    source = door._authenticators[0]._sources[0]
    issuer.status = 500
    source._fetched -= 3500
    assert (await door.admit(token)).subject == "ada"
    assert "auth.jwks_failed" in caplog.text
    assert "status 500" in caplog.text
    assert "planted-in-url" not in caplog.text
    source._fetched -= 200
    with pytest.raises(UnauthenticatedError, match="cannot be fetched; try again"):
        await door.admit(token)
    issuer.status = 200
    assert (await door.admit(token)).subject == "ada"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"{", "no JSON"),
        (b"[]", "no JWK set"),
        (b'{"keys": 7}', "no JWK set"),
        (b'{"keys": []}', "none of its keys"),
        (
            b'{"keys": [7, null, {}, {"kty": "RSA"}, {"kty": "RSA", "n": 7, "e": "AQAB"}, {"kty": ["x"]}]}',
            "none of its",
        ),
        (b'{"keys": [{"kty": "oct", "k": "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY"}]}', "none of its"),
        (b'{"keys": [%s]}' % b",".join([b"{}"] * 101), "more than 100 keys"),
        (b"[" * 100_000, "no JSON"),
        (b" " * 600_000, "more than 524288 bytes"),
    ],
    ids=lambda value: str(value)[:30],
)
async def test_sets_that_cannot_be_used(gate, issuer, sign, body, said, caplog):
    issuer.body = body
    door = gate(jwks_url=issuer.url)
    with pytest.raises(UnauthenticatedError, match="cannot be fetched"):
        await door.admit(bearer(sign("0" * 64, "HS256", headers={"kid": "x"})))
    assert said in caplog.text


async def test_private_and_weak_keys_are_passed_over(gate, issuer, keys, sign, tmp_path):
    from jwt.algorithms import RSAAlgorithm

    published = {**RSAAlgorithm.to_jwk(keys.rsa, as_dict=True), "kid": "rsa"}
    issuer.keys = [published, keys.jwk("weak"), keys.jwk("rsa2", key_ops=["encrypt"]), keys.jwk("ec")]
    door = gate(jwks_url=issuer.url)
    assert (await door.admit(bearer(sign(keys.ec, "ES256", headers={"kid": "ec"})))).subject == "ada"
    for name in ("rsa", "rsa2"):
        with pytest.raises(UnauthenticatedError, match="none of this server's"):
            await door.admit(bearer(sign(getattr(keys, name), "RS256", headers={"kid": name})))


async def test_redirects_lead_nowhere(gate, issuer, keys, sign, caplog):
    issuer.keys, issuer.status, issuer.location = [keys.jwk("rsa")], 302, issuer.url
    door = gate(jwks_url=issuer.url)
    with pytest.raises(UnauthenticatedError, match="cannot be fetched"):
        await door.admit(bearer(sign(keys.rsa, "RS256", headers={"kid": "rsa"})))
    assert issuer.asked == 1


async def test_an_issuer_that_does_not_answer(gate, issuer, keys, sign, caplog):
    issuer.wait.clear()
    door = gate(jwks_url=issuer.url, jwks_timeout_s=0.05)
    token = bearer(sign(keys.rsa, "RS256", headers={"kid": "rsa"}))
    for _ in range(3):  # one waits, the others are told at once
        with pytest.raises(UnauthenticatedError, match="cannot be fetched"):
            await door.admit(token)
    assert issuer.asked <= 1
    assert "no answer within" in caplog.text


async def test_nobody_listens(gate, keys, sign, caplog):
    door = gate(jwks_url="http://127.0.0.1:9/jwks.json")
    with pytest.raises(UnauthenticatedError, match="cannot be fetched"):
        await door.admit(bearer(sign(keys.rsa, "RS256")))
    assert "cannot be reached" in caplog.text


async def test_a_call_that_goes_away_leaves_the_others(gate, issuer, keys, sign):
    issuer.keys = [keys.jwk("rsa")]
    issuer.wait.clear()
    door = gate(jwks_url=issuer.url, jwks_retry_s=0)
    token = bearer(sign(keys.rsa, "RS256", headers={"kid": "rsa"}))
    first, second = (asyncio.create_task(door.admit(token)) for _ in range(2))
    while issuer.asked == 0:
        await asyncio.sleep(0.01)
    first.cancel()
    issuer.wait.set()
    assert (await second).subject == "ada"
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_published_and_given_keys(gate, issuer, keys, sign, tmp_path):
    """A token whose key is at hand never asks the issuer."""
    issuer.keys = [keys.jwk("rsa")]
    (tmp_path / "jwks.json").write_text(json.dumps({"keys": [keys.jwk("ec")]}))
    door = gate(jwks_url=issuer.url, jwks_file="jwks.json")
    assert (await door.admit(bearer(sign(keys.ec, "ES256", headers={"kid": "ec"})))).subject == "ada"
    assert issuer.asked == 0
    assert (await door.admit(bearer(sign(keys.rsa, "RS256", headers={"kid": "rsa"})))).subject == "ada"
    assert issuer.asked == 1


def test_a_missing_audience_is_told(gate, issuer, caplog):
    caplog.set_level(logging.WARNING)
    gate(jwks_url=issuer.url, audience=["tuvl"])
    assert "auth.no_audience" not in caplog.text
    gate(jwks_url=issuer.url)
    assert "auth.no_audience" in caplog.text
