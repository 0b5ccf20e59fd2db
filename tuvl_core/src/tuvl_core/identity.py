"""Who a run acts for."""

from __future__ import annotations

from typing import Final

import attrs

__all__ = ["ALL_SCOPES", "Principal"]

ALL_SCOPES = "*"


@attrs.frozen(kw_only=True)
class Principal:
    """The caller a run acts for: fixed at its start, never changed by a step or a model.

    Attributes:
        subject: Who it is, such as a user or service name.
        tenant: Whose data it may see; None means no tenant, and tenant-bound steps refuse.
        scopes: What it may do; `*` stands for everything.
        groups: Groups it belongs to.
    """

    subject: str
    tenant: str | None = None
    scopes: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()

    @classmethod
    def local(cls) -> Principal:
        """The person at this machine's terminal: subject `local`, tenant `default`, all scopes."""
        return _LOCAL

    def has_scope(self, scope: str) -> bool:
        """Whether the principal holds `scope`, or everything."""
        return scope in self.scopes or ALL_SCOPES in self.scopes

    def has_group(self, group: str) -> bool:
        """Whether the principal is in `group`, or holds everything."""
        return group in self.groups or ALL_SCOPES in self.scopes


_LOCAL: Final = Principal(subject="local", tenant="default", scopes=frozenset({ALL_SCOPES}))
