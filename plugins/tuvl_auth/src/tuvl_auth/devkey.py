"""The project's own key for development: `.tuvl/dev-key.pem`, readable by its owner alone."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from pathlib import Path
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

from tuvl_core import SettingsError

__all__ = ["ALGORITHM", "ISSUER", "PATH", "load", "make", "name_of"]

PATH: Final = ".tuvl/dev-key.pem"
ISSUER: Final = "tuvl-dev"
"""The issuer of tokens of a development key: none other counts with it."""
ALGORITHM: Final = "EdDSA"
_PRIVATE_BITS: Final = stat.S_IRWXG | stat.S_IRWXO


def load(root: Path) -> Ed25519PrivateKey | None:
    """Read the key of a project; None where it has none.

    Raises:
        SettingsError: It cannot be read, others can read it, or it is no such key.
    """
    path = root / PATH
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            data = file.read(10_000) if stat.S_ISREG(mode) else b""
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SettingsError(f"the development key {PATH} cannot be read: {error.strerror}") from None
    if os.name != "nt" and mode & _PRIVATE_BITS:
        raise SettingsError(
            f"others can read the development key {PATH}, and make tokens with it: "
            f"remove it and issue new tokens, or `chmod 600 {PATH}` if nobody has"
        )
    try:
        key = load_pem_private_key(data, password=None)
    except (ValueError, TypeError):
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise SettingsError(f"{PATH} is no development key: remove it, and `tuvl token issue` makes a new one")
    return key


def make(root: Path) -> tuple[Ed25519PrivateKey, bool]:
    """Give the key of a project, made where there is none; and whether it was.

    Raises:
        SettingsError: As `load`, or it cannot be written.
    """
    key = load(root)
    if key is not None:
        return key, False
    path = root / PATH
    key = Ed25519PrivateKey.generate()
    data = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    try:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        _ignore(path)
        made = _put(path, data)
    except OSError as error:
        raise SettingsError(f"the development key {PATH} cannot be written: {error.strerror}") from None
    return (key, True) if made else (load(root) or key, False)


def name_of(key: Any) -> str:
    """The name (kid) of a key: a part of its public half."""
    public = key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    return f"tuvl-dev-{public[:8].hex()}"


def _put(path: Path, data: bytes) -> bool:
    """Write the file at once and as a whole; False where somebody else was faster."""
    handle, name = tempfile.mkstemp(prefix=".dev-key-", dir=path.parent)  # 0600 from the start
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.link(name, path)
    except FileExistsError:
        return False
    finally:
        with contextlib.suppress(OSError):
            Path(name).unlink()
    return True


def _ignore(path: Path) -> None:
    """Keep the key out of the project's history."""
    ignored = path.parent / ".gitignore"
    found = ignored.read_bytes() if ignored.exists() else b""
    name = path.name.encode()
    if name not in found.splitlines():
        end = b"" if not found or found.endswith(b"\n") else b"\n"
        with ignored.open("ab") as file:
            file.write(end + name + b"\n")
