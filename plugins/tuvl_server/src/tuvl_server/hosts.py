"""Addresses and names of this machine."""

from __future__ import annotations

import ipaddress
import socket

from tuvl_core import TuvlError

__all__ = ["bind", "is_local_name", "is_loopback", "shown_address"]


def is_local_name(name: str) -> bool:
    """Whether a host's name in a URL can only mean this machine."""
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name.strip("[]")).is_loopback
    except ValueError:
        return False


def _addresses(host: str, port: int) -> list[tuple[socket.AddressFamily, str]]:
    try:
        found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        text = getattr(error, "strerror", None) or error
        raise TuvlError(f"cannot listen on {host!r}: {text}; name an address of this machine with --host") from None
    # IPv4 first, for that is what a client means that is told `localhost`.
    return sorted({(family, str(where[0])) for family, _, _, _, where in found}, key=lambda one: one[0])


def is_loopback(host: str) -> bool:
    """Whether nobody but this machine reaches an address.

    Raises:
        TuvlError: It is no address of any machine.
    """
    return all(ipaddress.ip_address(address.partition("%")[0]).is_loopback for _, address in _addresses(host, 0))


def bind(host: str, port: int) -> socket.socket:
    """Listen on an address; port 0 takes a free one.

    Raises:
        TuvlError: The address or the port cannot be had.
    """
    family, address = _addresses(host, port)[0]
    # Named as TCP: asyncio turns Nagle's algorithm off for what says so, and else an answer may wait 40 ms.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((address, port))
        listening.listen(2048)
    except (OSError, OverflowError) as error:
        listening.close()
        text = getattr(error, "strerror", None) or error
        hint = "choose another with --port, or end what listens there"
        raise TuvlError(f"cannot listen on {host}:{port}: {text}; {hint}") from None
    listening.setblocking(False)
    return listening


def shown_address(listening: socket.socket) -> str:
    """Where a socket listens, as a URL."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
