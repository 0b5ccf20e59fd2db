"""Which IP addresses lie inside a network, and looking host names up."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import threading
from typing import Any, Final

__all__ = ["is_private", "look_up"]

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_TRANSLATED: Final = (
    ipaddress.IPv6Network("64:ff9b::/96"),  # RFC 6052
    ipaddress.IPv6Network("64:ff9b:1::/48"),  # RFC 8215
)


def is_private(text: str) -> bool:
    """Whether an address is anything but a public one: loopback, link-local, private, multicast.

    An IPv6 address that stands for an IPv4 address is judged by that one as well.
    """
    address = ipaddress.ip_address(text.partition("%")[0])
    return any(not each.is_global or each.is_multicast for each in (address, *_inside(address)))


def _inside(address: Address) -> list[ipaddress.IPv4Address]:
    """The IPv4 addresses that an IPv6 address carries."""
    if isinstance(address, ipaddress.IPv4Address):
        return []
    found = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    if any(address in network for network in _TRANSLATED) or int(address) < 2**32:
        found.append(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    return [each for each in found if each is not None]


async def look_up(host: str, port: int) -> list[str]:
    """Find the addresses of a host, in the system's order.

    The look-up runs in a daemon thread of its own: a name server that never answers must neither
    outlive the step's time limit nor keep the process from ending.

    Raises:
        OSError: The host has none.
    """
    try:
        ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        pass
    else:
        return [host]
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[Any] = loop.create_future()

    def ask() -> None:
        try:
            found, error = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM), None
        except (OSError, UnicodeError) as problem:
            found, error = [], problem
        try:
            loop.call_soon_threadsafe(tell, found, error)
        except RuntimeError:
            pass  # the loop is closed: nobody waits any more

    def tell(found: list[Any], error: Exception | None) -> None:
        if not answer.done():
            answer.set_result((found, error))

    threading.Thread(target=ask, name="tuvl-lookup", daemon=True).start()
    found, error = await answer
    if error is not None:
        raise error if isinstance(error, OSError) else OSError(str(error))
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))
