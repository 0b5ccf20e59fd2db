"""Holds what every distribution has to have: one version, README, py.typed, and dependencies it may have."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
OWN = re.compile(r"tuvl[a-z-]*")
# The kernel, the interfaces of models, and a library that draws: none of them knows a plugin.
MAY_NEED = {"tuvl-core", "tuvl-graph", "tuvl-models"}


def main() -> int:
    root = read(ROOT / "pyproject.toml")
    version = root["version"]
    wrong = list(check_root(root, version))
    for path in sorted([*ROOT.glob("tuvl_*/pyproject.toml"), *ROOT.glob("plugins/*/pyproject.toml")]):
        wrong += [f"{path.parent.relative_to(ROOT)}: {text}" for text in check(path, version)]
    for line in wrong:
        print(f"dists: {line}")
    return 1 if wrong else 0


def read(path: Path) -> dict[str, Any]:
    project: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
    return project


def check_root(root: dict[str, Any], version: str) -> Iterator[str]:
    needed = [*root["dependencies"], *(item for extra in root["optional-dependencies"].values() for item in extra)]
    for requirement in needed:
        if not requirement.endswith(f"=={version}"):
            yield f"the root distribution pins {requirement}, not {version}"


def check(path: Path, version: str) -> Iterator[str]:
    project, folder = read(path), path.parent
    package = folder / "src" / folder.name
    if project["version"] != version:
        yield f"version {project['version']} is not {version}; one version for all"
    if not (folder / "README.md").is_file():
        yield "has no README.md"
    if not (package / "py.typed").is_file():
        yield f"has no {package.relative_to(folder)}/py.typed"
    if (folder / "__init__.py").exists():
        yield "the folder of a distribution must not be a package"
    for requirement in project["dependencies"]:
        name = re.split(r"[ <>=!~\[]", requirement)[0]
        if OWN.fullmatch(name) and name not in MAY_NEED:
            yield f"depends on {name}; plugins are strangers to each other"


if __name__ == "__main__":
    raise SystemExit(main())
