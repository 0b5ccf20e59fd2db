"""What a company instantiates to ship its own tuvl: a name, a policy, and defaults."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from tuvl_core.plugins import Plugins
from tuvl_core.project import Project, load_project

__all__ = ["Distribution"]


@attrs.frozen(kw_only=True)
class Distribution:
    """A tuvl with a name and a policy of its own.

    Attributes:
        name: The command's name, such as `acme-flow`.
        defaults: Values for settings that nothing else sets, by setting name.
    """

    name: str = "tuvl"
    defaults: Mapping[str, Any] = attrs.field(factory=dict)

    def load_project(self, root: Path, *, environ: Mapping[str, str] | None = None) -> Project:
        """Load plugins and the project in `root` under this distribution's defaults.

        Args:
            root: The project's directory.
            environ: The environment; None: the process's own.
        """
        values = dict(os.environ if environ is None else environ)
        plugins = Plugins.load(root=root, environ=values, defaults=self.defaults)
        return load_project(root, plugins=plugins, environ=values)
