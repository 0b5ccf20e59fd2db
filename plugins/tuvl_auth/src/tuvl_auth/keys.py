"""Keys, and the algorithms that each of them is good for.

A key's own type decides which algorithms count with it, never the token that claims to be signed by it: so no
public key is ever taken for a shared secret (RFC 8725, sections 2.1 and 3.1).
"""

from __future__ import annotations

import binascii
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import attrs
import jwt
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed448 import Ed448PublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from cryptography.x509 import load_pem_x509_certificate
from jwt.algorithms import ECAlgorithm, HMACAlgorithm, OKPAlgorithm, RSAAlgorithm

__all__ = ["ALGORITHMS", "SYMMETRIC", "Key", "KeyProblem", "jwk_set", "names", "of_pem", "of_public", "of_secret"]

_RSA: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")
_CURVES: Final = {"secp256r1": "ES256", "secp384r1": "ES384", "secp521r1": "ES512"}
_HMAC: Final = (("HS256", 32), ("HS384", 48), ("HS512", 64))
_RSA_BITS: Final = 2048
SYMMETRIC: Final = frozenset(name for name, _ in _HMAC)
ALGORITHMS: Final = frozenset({*_RSA, *_CURVES.values(), "EdDSA", *SYMMETRIC})
"""Every algorithm that can be allowed."""

_MOST_KEYS: Final = 100
_READERS: Final[Mapping[str, Any]] = {
    "RSA": RSAAlgorithm.from_jwk,
    "EC": ECAlgorithm.from_jwk,
    "OKP": OKPAlgorithm.from_jwk,
    "oct": HMACAlgorithm.from_jwk,
}
_MALFORMED: Final = (
    jwt.PyJWTError,
    ValueError,
    TypeError,
    KeyError,
    AttributeError,
    OverflowError,
    UnsupportedAlgorithm,
    binascii.Error,
)


class KeyProblem(Exception):
    """Something is no key that can be used; the text never holds any of it."""


@attrs.frozen(kw_only=True)
class Key:
    """A key that tokens may be signed with.

    Attributes:
        material: The public key, or the bytes of a shared secret.
        algorithms: What it is good for, the usual one first.
        kid: The name by which tokens refer to it; None: it has none.
    """

    material: Any = attrs.field(repr=False)
    algorithms: tuple[str, ...]
    kid: str | None = None


def of_public(material: Any, kid: str | None = None) -> Key:
    """Make a key of a public key.

    Raises:
        KeyProblem: It is too short, or of a type that no algorithm takes.
    """
    if isinstance(material, RSAPublicKey):
        if material.key_size < _RSA_BITS:
            raise KeyProblem(f"its RSA key has {material.key_size} bits; {_RSA_BITS} is the least that is safe")
        return Key(material=material, algorithms=_RSA, kid=kid)
    if isinstance(material, EllipticCurvePublicKey):
        name = _CURVES.get(material.curve.name)
        if name is None:
            raise KeyProblem(f"its curve {material.curve.name} is none of {', '.join(_CURVES)}")
        return Key(material=material, algorithms=(name,), kid=kid)
    if isinstance(material, (Ed25519PublicKey, Ed448PublicKey)):
        return Key(material=material, algorithms=("EdDSA",), kid=kid)
    raise KeyProblem("it holds no public key of type RSA, EC or Ed25519")


def of_secret(material: bytes, kid: str | None = None) -> Key:
    """Make a key of a shared secret: good for the algorithms that it is long enough for (RFC 7518, section 3.2).

    Raises:
        KeyProblem: It is too short for any.
    """
    fitting = tuple(name for name, least in _HMAC if len(material) >= least)
    if not fitting:
        raise KeyProblem(f"it has {len(material)} bytes; {_HMAC[0][1]} is the least that is safe")
    return Key(material=material, algorithms=fitting, kid=kid)


def of_pem(data: bytes) -> Key:
    """Read a public key or a certificate from PEM.

    Raises:
        KeyProblem: It is neither.
    """
    if b"PRIVATE KEY-----" in data:
        raise KeyProblem("it is a private key; give its public half: `openssl pkey -in … -pubout`")
    try:
        if b"BEGIN CERTIFICATE" in data:
            return of_public(load_pem_x509_certificate(data).public_key())
        return of_public(load_pem_public_key(data))
    except _MALFORMED:
        raise KeyProblem("it is no PEM of a public key or certificate") from None


def jwk_set(data: Any, *, secrets: bool) -> tuple[Key, ...]:
    """Read a JWK set (RFC 7517, section 5); members that are no key for signatures are passed over.

    Args:
        data: The set, parsed.
        secrets: Whether it may hold shared secrets. A set that is published may not.

    Raises:
        KeyProblem: It is no JWK set, or none of its keys can be used.
    """
    members = data.get("keys") if isinstance(data, Mapping) else None
    if not isinstance(members, list):
        raise KeyProblem("it is no JWK set: an object with a list `keys`")
    if len(members) > _MOST_KEYS:
        raise KeyProblem(f"it has more than {_MOST_KEYS} keys")
    found = tuple(key for member in members if (key := _of_jwk(member, secrets)) is not None)
    if not found:
        raise KeyProblem("none of its keys can be used for signatures")
    return found


def _of_jwk(data: Any, secrets: bool) -> Key | None:
    if not isinstance(data, Mapping) or not _signs(data):
        return None
    kty, kid = data.get("kty"), data.get("kid")
    reader = _READERS.get(kty) if isinstance(kty, str) else None
    private = kty != "oct" and "d" in data
    if reader is None or private or (kty == "oct" and not secrets) or not isinstance(kid, str | None):
        return None
    try:
        material = reader(dict(data))
        key = of_secret(material, kid) if kty == "oct" else of_public(material, kid)
    except (*_MALFORMED, KeyProblem):
        return None
    return _limited(key, data.get("alg"))


def _limited(key: Key, algorithm: Any) -> Key | None:
    """The key, for the one algorithm that its publisher names; None where it is not good for that."""
    if algorithm is None:
        return key
    return attrs.evolve(key, algorithms=(algorithm,)) if algorithm in key.algorithms else None


def _signs(data: Mapping[str, Any]) -> bool:
    operations = data.get("key_ops")
    listed = operations is None or (isinstance(operations, Sequence) and "verify" in operations)
    return data.get("use", "sig") == "sig" and listed


def names(keys: Iterable[Key]) -> str:
    """The algorithms of keys, for messages."""
    return ", ".join(dict.fromkeys(name for key in keys for name in key.algorithms))
