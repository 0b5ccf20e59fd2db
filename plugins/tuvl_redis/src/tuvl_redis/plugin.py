"""What tuvl-redis brings: the other workers of a project, where a Redis is set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tuvl_core import Setting, hookimpl

if TYPE_CHECKING:
    from tuvl_core import App, AppScope

TUVL_API = 1


@hookimpl
def tuvl_settings() -> list[Setting]:
    """Where Redis is, and how long things count."""
    return [
        Setting(
            name="redis.url",
            default="",
            secret=True,
            help="The Redis through which the workers of a project find each other, such as `redis://host:6379/0`; "
            "empty: each worker is alone.",
        ),
        Setting(
            name="redis.prefix",
            default="tuvl",
            help="What every key begins with; the name of the project's folder follows.",
        ),
        Setting(
            name="redis.ttl_s",
            type=float,
            default=15.0,
            minimum=0.5,
            help="Seconds after which a worker that says nothing counts as lost; it says something each third of that.",
        ),
        Setting(
            name="redis.timeout_s",
            type=float,
            default=2.0,
            minimum=0.1,
            help="Seconds that Redis may take to connect or to answer.",
        ),
        Setting(
            name="redis.directive_s",
            type=float,
            default=5.0,
            minimum=0.1,
            help="Seconds in which another worker must acknowledge what is asked of its loops and runs.",
        ),
    ]


@hookimpl
def tuvl_app_scope(app: App) -> AppScope | None:
    """Reach the other workers, where `redis.url` is set."""
    if not app.settings["redis.url"]:
        return None
    from tuvl_redis.scope import RedisScope

    return RedisScope(app)
