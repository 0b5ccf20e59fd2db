"""Distributions as pip would leave them, in a folder that is put on the path: no pip, no network."""

from __future__ import annotations

import sys
from pathlib import Path
from textwrap import dedent

__all__ = ["forget", "install"]


def install(
    site: Path,
    dist: str,
    code: str | None,
    *,
    version: str = "1.0",
    needs: str = "tuvl-core>=3,<4",
    name: str = "plugin",
) -> str:
    """Write a distribution with one module and one entry point of the group `tuvl`.

    Args:
        site: The folder that stands for site-packages.
        dist: The distribution's name.
        code: The module's code; None: the module is gone from the disk.
        version: Its version.
        needs: What it says about tuvl-core.
        name: The entry point's name.

    Returns:
        The module's name.
    """
    module = dist.replace("-", "_")
    site.mkdir(exist_ok=True)
    if code is not None:
        (site / f"{module}.py").write_text(dedent(code), encoding="utf-8")
    info = site / f"{module}-{version}.dist-info"
    info.mkdir()
    metadata = f"Metadata-Version: 2.1\nName: {dist}\nVersion: {version}\nRequires-Dist: {needs}\n"
    (info / "METADATA").write_text(metadata, encoding="utf-8")
    (info / "entry_points.txt").write_text(f"[tuvl]\n{name} = {module}\n", encoding="utf-8")
    return module


def forget(*modules: str) -> None:
    """Forget imported modules, so that the next load imports them anew."""
    for module in modules:
        sys.modules.pop(module, None)
