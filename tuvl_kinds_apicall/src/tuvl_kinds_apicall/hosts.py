"""Which hosts a value may choose: the setting `apicall.allow_hosts`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

import attrs

__all__ = ["AllowedHosts", "Origin", "normal_host"]

_ENTRY: Final = re.compile(r"\[?(?P<host>[^\[\]]+?)\]?(?::(?P<port>\d{1,5}))?")
_PORTS: Final = {"http": 80, "https": 443}


@attrs.frozen
class Origin:
    """Scheme, host and port: what has to stay the same for credentials to go along."""

    scheme: str
    host: str
    port: int

    @classmethod
    def of(cls, scheme: str, host: str, port: int | None) -> Origin:
        """Build one, with the scheme's own port where none is given."""
        scheme = scheme.lower()
        return cls(scheme, normal_host(host), port or _PORTS.get(scheme, 0))

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == _PORTS.get(self.scheme) else f":{self.port}"
        return f"{self.scheme}://{host}{port}"


def normal_host(host: str) -> str:
    """Bring a host name to the one form in which hosts are compared."""
    return host.strip("[]").rstrip(".").lower()


@attrs.frozen
class AllowedHosts:
    """Parsed entries of the setting.

    Attributes:
        exact: Hosts named in full, with a port or None for any.
        below: Domains whose subdomains are allowed, with a port or None; an empty one is `*`.
    """

    exact: frozenset[tuple[str, int | None]]
    below: frozenset[tuple[str, int | None]]

    @classmethod
    def parse(cls, entries: Iterable[str]) -> AllowedHosts:
        """Read the setting's entries; what is no host matches nothing."""
        exact, below = set(), set()
        for entry in entries:
            text = entry.strip()
            found = None if text.count(":") > 1 and "[" not in text else _ENTRY.fullmatch(text)
            host = normal_host(found["host"] if found else text)
            port = int(found["port"]) if found and found["port"] else None
            if host == "*":
                below.add(("", port))
            elif host.startswith("*."):
                below.add((host[1:], port))
            elif host:
                exact.add((host, port))
        return cls(frozenset(exact), frozenset(below))

    def names(self, origin: Origin) -> bool:
        """Whether an entry names the host in full, which opens private addresses to it too."""
        return bool({(origin.host, None), (origin.host, origin.port)} & self.exact)

    def allows(self, origin: Origin) -> bool:
        """Whether a value may choose this host."""
        return self.names(origin) or any(
            origin.host.endswith(domain) and port in (None, origin.port) for domain, port in self.below
        )

    def __bool__(self) -> bool:
        return bool(self.exact or self.below)

    def listed(self) -> list[str]:
        """Host names for declarations: what a step with a templated host may reach."""
        found = {host for host, _ in self.exact} | {f"*{domain}" for domain, _ in self.below}
        return sorted(found)
