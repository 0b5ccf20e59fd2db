"""What the settings say, and the names of keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

import attrs

from tuvl_core import SettingsError

if TYPE_CHECKING:
    from tuvl_core import App

__all__ = ["Config", "Keys"]

LONGEST_ID: Final = 200
"""Characters of an id at most that anybody is looked up by."""


@attrs.frozen
class Keys:
    """The names of a project's keys; `docs/reference/redis.md` says what lies under them.

    Attributes:
        base: What all of them begin with: prefix and project.
    """

    base: str

    def worker(self, worker: str) -> str:
        """There while that worker lives."""
        return f"{self.base}:worker:{worker}"

    def inbox(self, worker: str) -> str:
        """The channel on which that worker is asked, and told answers."""
        return f"{self.base}:inbox:{worker}"

    def loop(self, id: str) -> str:
        """One loop's snapshot."""
        return f"{self.base}:loop:{id}"

    def loops(self, tenant: str | None) -> str:
        """Ids of a tenant's loops, by when they are out of date."""
        return f"{self.base}:loops:{_tenant(tenant)}"

    def run(self, id: str) -> str:
        """One run's record."""
        return f"{self.base}:run:{id}"

    def runs(self, tenant: str | None) -> str:
        """Ids of a tenant's runs, by when they are forgotten."""
        return f"{self.base}:runs:{_tenant(tenant)}"

    def events(self, id: str) -> str:
        """The stream of one run's events."""
        return f"{self.base}:events:{id}"


def _tenant(tenant: str | None) -> str:
    # Encoded, so that no tenant's name can be that of the place for those without one.
    return "none" if tenant is None else "of:" + quote(tenant.encode("utf-8", "replace"), safe="")


def usable(id: str) -> bool:
    """Whether anything could have this id."""
    return 0 < len(id) <= LONGEST_ID and id.isprintable()


@attrs.frozen(kw_only=True)
class Config:
    """What the settings say.

    Attributes:
        url: Where Redis is, with its password.
        where: The same for people: host and port, or a path.
        password: What must appear in no message; "" where there is none.
        keys: Names of keys.
        ttl_s: Seconds after which a worker that says nothing counts as lost.
        timeout_s: Seconds that Redis may take.
        directive_s: Seconds that another worker may take to acknowledge.
        keep_s: Seconds for which a run that is over can be found.
        keep_bytes: Characters of a run's result and context at most.
    """

    url: str = attrs.field(repr=False)
    where: str
    password: str = attrs.field(repr=False)
    keys: Keys
    ttl_s: float
    timeout_s: float
    directive_s: float
    keep_s: float
    keep_bytes: int

    @classmethod
    def of(cls, app: App) -> Config:
        """Read an app's settings.

        Raises:
            SettingsError: `redis.url` is no URL of a Redis; the message does not show it, as it may hold a password.
        """
        settings = app.settings
        url = settings["redis.url"]
        parts = _parse(url)
        project = quote(app.project.root.resolve().name, safe="") or "root"
        ttl_s = settings["redis.ttl_s"]
        return cls(
            url=url,
            where=str(parts.get("path") or f"{parts.get('host', 'localhost')}:{parts.get('port', 6379)}"),
            password=str(parts.get("password") or ""),
            keys=Keys(f"{settings['redis.prefix']}:{project}"),
            ttl_s=ttl_s,
            timeout_s=settings["redis.timeout_s"],
            directive_s=settings["redis.directive_s"],
            keep_s=max(settings["run.keep_s"], ttl_s),
            keep_bytes=settings["run.keep_bytes"],
        )


def _parse(url: str) -> dict[str, Any]:
    from redis.asyncio.connection import parse_url

    try:
        return dict(parse_url(url))
    except (ValueError, TypeError):
        raise SettingsError(
            "setting redis.url (TUVL_REDIS_URL) is no URL of a Redis; write redis://HOST:PORT/DB, "
            "rediss://HOST:PORT/DB for TLS, or unix:///PATH"
        ) from None
