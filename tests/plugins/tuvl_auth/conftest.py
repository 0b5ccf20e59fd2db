"""Keys, an issuer that publishes them on a real socket, and a gate that is made from a project's settings."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

from tuvl_core import App, Gate, Plugins, load_project

WORKFLOW = """
kind: Workflow
metadata: { name: hello }
spec: { steps: [{ id: say, kind: Response, mapping: { hello: name } }] }
"""
SECRET = "0123456789abcdef0123456789abcdef-planted-secret"


class Keys:
    """Private keys of every type, made once."""

    def __init__(self) -> None:
        self.rsa = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.rsa2 = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.rsa3 = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.weak = rsa.generate_private_key(public_exponent=65537, key_size=1024)
        self.ec = ec.generate_private_key(ec.SECP256R1())
        self.ec384 = ec.generate_private_key(ec.SECP384R1())
        self.ed = ed25519.Ed25519PrivateKey.generate()

    def jwk(self, name: str, **more: Any) -> dict[str, Any]:
        public = getattr(self, name).public_key()
        kind = (
            RSAAlgorithm if name.startswith(("rsa", "weak")) else ECAlgorithm if name.startswith("ec") else OKPAlgorithm
        )
        return {**kind.to_jwk(public, as_dict=True), "kid": name, **more}

    def pem(self, name: str) -> bytes:
        return getattr(self, name).public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


@pytest.fixture(scope="session")
def keys() -> Keys:
    return Keys()


def signed(key: Any, algorithm: str, *, headers: dict[str, Any] | None = None, **claims: Any) -> str:
    """A token, good for an hour unless the claims say otherwise; a claim of ... is left out."""
    payload = {"sub": "ada", "tenant": "acme", "scope": "run:read agent:observe", "exp": time.time() + 3600} | claims
    payload = {name: value for name, value in payload.items() if value is not ...}
    return jwt.encode(payload, key, algorithm=algorithm, headers=headers)


class Issuer:
    """Publishes a JWK set over HTTP."""

    def __init__(self) -> None:
        self.keys: list[Any] = []
        self.status = 200
        self.body: bytes | None = None
        self.location: str | None = None
        self.asked = 0
        self.wait = threading.Event()
        self.wait.set()
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                issuer.asked += 1
                issuer.wait.wait(30)
                body = issuer.body if issuer.body is not None else json.dumps({"keys": issuer.keys}).encode()
                self.send_response(issuer.status)
                if issuer.location:
                    self.send_header("location", issuer.location)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                try:
                    self.wfile.write(body)
                except OSError:
                    return

            def log_message(self, *args: object) -> None:
                return

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05})
        self.thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}/jwks.json"

    def stop(self) -> None:
        self.wait.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture
def issuer():
    found = Issuer()
    yield found
    found.stop()


@pytest.fixture
def gate(tmp_path):
    """Make the gate of a server from settings, as `tuvl serve` would."""

    def make(environ: dict[str, str] | None = None, **settings: Any) -> Gate:
        lines = [f"{name} = {json.dumps(value)}" for name, value in settings.items()]
        (tmp_path / "tuvl.toml").write_text("\n".join(["[auth]", *lines]))
        (tmp_path / "w.yaml").write_text(WORKFLOW)
        project = load_project(
            tmp_path, plugins=Plugins.load(root=tmp_path, environ={}), environ=environ if environ is not None else {}
        )
        return Gate(App(project))

    return make


@pytest.fixture
def sign():
    return signed


@pytest.fixture
def secret() -> str:
    return SECRET
