"""Settings that cannot be meant, and the key for development with `tuvl token issue`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import jwt
import pytest
from click.testing import CliRunner
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from tuvl_auth.commands import command
from tuvl_core import Principal, SettingsError, UnauthenticatedError

TUVL = str(Path(sys.executable).with_name("tuvl"))


def tuvl_token_issue(root: Path, *args: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """The real command, in a process of its own."""
    command = [TUVL, "token", "issue", *args]
    env = {**os.environ, **environ}
    return subprocess.run(command, cwd=root, capture_output=True, text=True, env=env, timeout=60)


def issue(root: Path, *args: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """The same, in this process."""
    done = CliRunner().invoke(command, ["issue", "-C", str(root), *args], env=environ)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return subprocess.CompletedProcess(args, done.exit_code, done.stdout, done.stderr)


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token.strip()}"}


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"jwks_file": "missing.json"}, "missing.json cannot be read"),
        ({"jwks_file": "not.json"}, "not.json is no JSON"),
        ({"jwks_file": "empty.json"}, "none of its keys"),
        ({"public_keys": ["not.json"]}, "no PEM of a public key"),
        ({"public_keys": ["private.pem"]}, "is a private key; give its public half"),
        ({"public_keys": ["weak.pem"]}, "1024 bits; 2048 is the least"),
        ({"secret": "short"}, "5 bytes; 32 is the least"),
        ({"secret": "${NOBODY_SET_THIS}"}, "NOBODY_SET_THIS is not set"),
        ({"secret": "${nowhere://x}"}, "no plugin resolves secrets"),
        ({"jwks_url": "issuer.example"}, "no URL of a JWK set"),
        ({"jwks_url": "file:///etc/passwd"}, "no URL of a JWK set"),
        ({"jwks_url": "http://[bad"}, "no URL of a JWK set"),
        ({"jwks_url": "http://issuer.example/jwks.json"}, "use https"),
        ({"public_keys": ["rsa.pem"], "algorithms": ["none"]}, "it holds none; possible are"),
        ({"public_keys": ["rsa.pem"], "algorithms": ["RS256", "HS256"]}, "HS256 needs a shared secret"),
        ({"public_keys": ["rsa.pem"], "algorithms": ["ES256"]}, "leaves a key without algorithm"),
        ({"jwks_url": "https://issuer.example/", "algorithms": ["HS512"]}, "HS512 needs a shared secret"),
    ],
    ids=str,
)
def test_settings_that_cannot_be_meant(gate, keys, tmp_path, settings, said):
    (tmp_path / "not.json").write_text("{")
    (tmp_path / "empty.json").write_text('{"keys": []}')
    for name in ("rsa", "weak"):
        (tmp_path / f"{name}.pem").write_bytes(keys.pem(name))
    private = keys.rsa.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (tmp_path / "private.pem").write_bytes(private)
    with pytest.raises(SettingsError) as caught:
        gate(**settings)
    assert said in str(caught.value)
    assert f"setting auth.{'algorithms' if 'algorithms' in settings else next(iter(settings))} (tuvl.toml)" in str(
        caught.value
    )
    assert "short" not in str(caught.value)


def test_a_certificate(gate, keys, sign, tmp_path):
    import datetime

    from cryptography import x509
    from cryptography.hazmat.primitives.hashes import SHA256

    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "issuer")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(keys.rsa.public_key())
        .serial_number(1)
        .not_valid_before(now)
        .not_valid_after(now + datetime.timedelta(days=1))
        .sign(keys.rsa, SHA256())
    )
    (tmp_path / "c.pem").write_bytes(made.public_bytes(Encoding.PEM))
    assert gate(public_keys=["c.pem"]).open


def test_nothing_is_set(gate):
    assert not gate().open


async def test_a_token_for_development(gate, tmp_path, caplog):
    gate()
    done = tuvl_token_issue(
        tmp_path, "--subject", "ada", "--tenant", "acme", "--scope", "run:read a", "--scope", "b", "--group", "g"
    )
    assert done.returncode == 0, done.stderr
    assert "made the key .tuvl/dev-key.pem" in done.stderr
    assert len(done.stdout.split()) == 1
    found = await gate().admit(bearer(done.stdout))
    scopes = frozenset({"run:read", "a", "b"})
    assert found == Principal(subject="ada", tenant="acme", scopes=scopes, groups=frozenset("g"))
    assert "auth.dev_key" in caplog.text  # a server says so when it starts
    everything = issue(tmp_path, "--subject", "ada", "--scope", "*", "--json")
    assert everything.stderr == ""
    told = json.loads(everything.stdout)
    assert (told["sub"], told["scope"]) == ("ada", "*")
    assert (await gate().admit(bearer(told["token"]))).has_scope("anything")


def test_the_key_is_private(tmp_path):
    umask = os.umask(0)
    try:
        assert issue(tmp_path, "--subject", "ada").returncode == 0
    finally:
        os.umask(umask)
    key = tmp_path / ".tuvl" / "dev-key.pem"
    assert key.stat().st_mode & 0o777 == 0o600
    assert key.parent.stat().st_mode & 0o777 == 0o700
    assert [path.name for path in sorted(key.parent.iterdir())] == [".gitignore", "dev-key.pem"]
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    seen = subprocess.run(
        ["git", "status", "--porcelain", "-uall"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert seen.stdout.split() == ["??", ".tuvl/.gitignore"]


def test_other_entries_of_the_gitignore_stay(tmp_path):
    (tmp_path / ".tuvl").mkdir()
    (tmp_path / ".tuvl" / ".gitignore").write_bytes(b"data.db")
    for _ in range(2):
        assert issue(tmp_path, "--subject", "ada").returncode == 0
    assert (tmp_path / ".tuvl" / ".gitignore").read_bytes() == b"data.db\ndev-key.pem\n"


def test_two_at_once_make_one_key(tmp_path):
    with ThreadPoolExecutor() as pool:
        done = list(pool.map(lambda _: tuvl_token_issue(tmp_path, "--subject", "ada"), range(4)))
    kids = {jwt.get_unverified_header(item.stdout.strip())["kid"] for item in done}
    assert len(kids) == 1


async def test_a_key_that_others_can_read(gate, tmp_path):
    token = issue(tmp_path, "--subject", "ada").stdout
    key = tmp_path / ".tuvl" / "dev-key.pem"
    key.chmod(0o640)
    with pytest.raises(SettingsError, match="others can read"):
        gate()
    done = tuvl_token_issue(tmp_path, "--subject", "ada")
    assert (done.returncode, done.stdout) == (3, "")
    assert "chmod 600" in done.stderr
    key.chmod(0o600)
    assert (await gate().admit(bearer(token))).subject == "ada"
    key.write_text("no key")
    with pytest.raises(SettingsError, match="is no development key"):
        gate()


async def test_other_keys_put_it_out_of_use(gate, tmp_path, secret, sign):
    token = issue(tmp_path, "--subject", "ada", "--scope", "*").stdout
    door = gate({"TUVL_AUTH_SECRET": secret})
    with pytest.raises(UnauthenticatedError):
        await door.admit(bearer(token))
    assert not gate(dev_key=False).open
    for environ, said in (
        ({"TUVL_AUTH_SECRET": secret}, "auth.secret is set"),
        ({"TUVL_AUTH_DEV_KEY": "0"}, "dev_key is off"),
    ):
        done = issue(tmp_path, "--subject", "ada", **environ)
        assert (done.returncode, done.stdout) == (2, "")
        assert said in done.stderr.replace("\n", " ")


async def test_only_its_own_tokens_count(gate, tmp_path, sign):
    """A key that was copied from somewhere else says nothing: the issuer must be right as well."""
    from tuvl_auth.devkey import load

    token = issue(tmp_path, "--subject", "ada").stdout
    key = load(tmp_path)
    door = gate(issuer="https://not.this")  # what is set for other keys changes nothing here
    assert (await door.admit(bearer(token))).subject == "ada"
    with pytest.raises(UnauthenticatedError, match="another issuer"):
        await door.admit(bearer(sign(key, "EdDSA", iss="https://not.this")))
    with pytest.raises(UnauthenticatedError, match="lacks the claim iss"):
        await door.admit(bearer(sign(key, "EdDSA")))


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ([], "--subject"),
        (["--subject", " "], "no token can say that"),
        (["--subject", "a\nb"], "no token can say that"),
        (["--subject", "a", "--tenant", ""], "no token can say that"),
        (["--subject", "a", "--scope", 'x"y'], "is no scope"),
        (["--subject", "a", "--ttl", "0"], "is no duration"),
        (["--subject", "a", "--ttl", "-1h"], "is no duration"),
        (["--subject", "a", "--ttl", "400d"], "is no duration"),
        (["--subject", "a", "--ttl", "soon"], "is no duration"),
        (["--subject", "a", "-C", "nowhere"], "does not exist"),
    ],
    ids=str,
)
def test_wrong_use(tmp_path, args, said):
    done = issue(tmp_path, *args)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in " ".join(done.stderr.split())
    assert not (tmp_path / ".tuvl").exists()


def test_how_long_it_is_good(tmp_path):
    for ttl, seconds in (("90", 90), ("2m", 120), ("1h", 3600), ("7d", 7 * 86400)):
        token = json.loads(issue(tmp_path, "--subject", "a", "--ttl", ttl, "--json").stdout)["token"]
        claims = jwt.decode(token, options={"verify_signature": False})
        assert 0 <= claims["exp"] - claims["iat"] - seconds <= 1


def test_loading_the_plugin_brings_nothing_heavy():
    code = (
        "import sys; from tuvl_core import Plugins; from pathlib import Path; "
        "p = Plugins.load(root=Path('.'), environ={}); p.settings; import tuvl_auth.plugin; "
        "print([m for m in ('jwt', 'cryptography', 'httpx') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "[]", done.stderr
