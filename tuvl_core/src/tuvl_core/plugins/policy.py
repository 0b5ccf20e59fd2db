"""Which plugins may load. First-party ones may unless blocked; `allow` is about everybody else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tuvl_core.plugins.candidate import Candidate
from tuvl_core.plugins.scan import canonical
from tuvl_core.settings import Setting, Settings
from tuvl_core.settings.kernel import PLUGIN_SETTINGS

__all__ = ["Policy"]


class Policy:
    """The settings in `[plugins]`, ready to be asked.

    A setting that cannot be read counts at its strictest: no third-party plugin loads by itself, and
    warnings are errors.

    Attributes:
        autoload: Whether third-party plugins load without being named.
        allow: Names of third-party distributions that may load; empty: all, if `autoload`.
        block: Names of distributions that never load.
        require: Distributions that must be there, each a name with an optional range.
        strict: Whether warnings about plugins are errors.
        choose: Which distribution a name belongs to where two bring it.
        sources: Where each of these comes from, by setting name.
    """

    __slots__ = ("allow", "autoload", "block", "choose", "require", "sources", "strict")

    def __init__(
        self,
        *,
        autoload: bool = True,
        allow: Sequence[str] = (),
        block: Sequence[str] = (),
        require: Sequence[str] = (),
        strict: bool = False,
        choose: Mapping[str, str] | None = None,
        sources: Mapping[str, str] | None = None,
    ) -> None:
        self.autoload = autoload
        self.allow = tuple(allow)
        self.block = tuple(block)
        self.require = tuple(require)
        self.strict = strict
        self.choose = dict(choose or {})
        self.sources = dict(sources or {})

    @classmethod
    def read(cls, root: Path | None, environ: Mapping[str, str], defaults: Mapping[str, Any]) -> Policy:
        """Read the policy from the environment and the project's settings files."""
        settings = Settings.load(root, environ, with_defaults(PLUGIN_SETTINGS, defaults), only_declared=True)
        broken = bool(settings.unreadable)

        def value(key: str, strictest: Any) -> Any:
            name = f"plugins.{key}"
            return strictest if name in settings.unreadable else settings[name]

        return cls(
            autoload=value("autoload", False) and not broken,
            allow=value("allow", ()),
            block=value("block", ()),
            require=value("require", ()),
            strict=value("strict", True) or broken,
            choose={key: str(item) for key, item in (value("choose", None) or {}).items()},
            sources={name: settings.source(name) for name in settings},
        )

    def apply(self, candidate: Candidate) -> None:
        """Leave a candidate out if the policy says so."""
        if _named(candidate, self.block):
            source = self._source("block")
            candidate.leave_out(
                "blocked",
                f"blocked by {source}",
                f"take {candidate.dist} out of {source} to use it",
            )
        elif candidate.first_party or candidate.local or _named(candidate, self.allow):
            return
        elif self.allow:
            source = self._source("allow")
            candidate.leave_out(
                "not allowed",
                f"{source} does not name it",
                f"add {candidate.dist} to {source} to use it",
            )
        elif not self.autoload:
            candidate.leave_out(
                "not allowed",
                f"plugins do not load by themselves ({self._source('autoload')})",
                f"name it in TUVL_PLUGINS_ALLOW={candidate.dist} to use it",
            )

    def _source(self, key: str) -> str:
        source = self.sources.get(f"plugins.{key}", "default")
        if source.startswith("environment "):
            return source.removeprefix("environment ")
        if source.endswith(".toml"):
            return f"`[{'tool.tuvl.' if source == 'pyproject.toml' else ''}plugins] {key}` in {source}"
        return f"`plugins.{key}` of this distribution"


def with_defaults(settings: Sequence[Setting], defaults: Mapping[str, Any]) -> list[Setting]:
    """Settings whose defaults are a distribution's own where it has any."""
    return [
        replace(setting, default=defaults[setting.name]) if setting.name in defaults else setting
        for setting in settings
    ]


def _named(candidate: Candidate, names: Sequence[str]) -> bool:
    if not names:
        return False
    if candidate.local:
        return candidate.dist in names
    from fnmatch import fnmatchcase

    own = canonical(candidate.dist)
    return any(fnmatchcase(own, canonical(name)) for name in names)
