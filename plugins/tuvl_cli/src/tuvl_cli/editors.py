"""Sets editors up: the schema as a file of the project, and the settings that point there."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

__all__ = ["MODELINE", "SCHEMA_FILE", "SETTINGS_FILE", "install", "settings_lines"]

SCHEMA_FILE: Final = ".tuvl/schema.json"
SETTINGS_FILE: Final = ".vscode/settings.json"
# What a project's files are: neither hidden folders nor tests.
GLOBS: Final = ("*.yaml", "*.yml", "!**/.*/**", "!**/tests/**")
_SCHEMAS: Final = "yaml.schemas"

MODELINE: Final = f"# yaml-language-server: $schema={SCHEMA_FILE}"
"""The comment at a file's top that many editors understand; its path counts from the file itself."""


def install(root: Path, schema: dict[str, Any]) -> bool:
    """Write the schema and VS Code's settings; what else the settings say stays.

    Returns:
        Whether the settings could be written: those with comments in them are left alone.

    Raises:
        OSError: A file cannot be written.
    """
    _write(root / SCHEMA_FILE, json.dumps(schema, indent=1, ensure_ascii=False) + "\n")
    settings = root / SETTINGS_FILE
    try:
        text = settings.read_text(encoding="utf-8-sig") if settings.is_file() else ""
    except UnicodeDecodeError:
        return False
    merged = _merged(text)
    if merged is None:
        return False
    if merged != text:
        _write(settings, merged)
    return True


def settings_lines() -> str:
    """What belongs into VS Code's settings, on one line."""
    return json.dumps({_SCHEMAS: {SCHEMA_FILE: list(GLOBS)}})[1:-1]


def _merged(text: str) -> str | None:
    """The settings with ours in them; None where rewriting them would lose something."""
    try:
        settings = json.loads(text) if text.strip() else {}
    except ValueError:
        return None  # VS Code allows comments there, which no JSON writer keeps
    if not isinstance(settings, dict) or not isinstance(settings.setdefault(_SCHEMAS, {}), dict):
        return None
    if settings[_SCHEMAS].get(SCHEMA_FILE) is None:
        settings[_SCHEMAS][SCHEMA_FILE] = list(GLOBS)
    elif text.strip():
        return text
    found = re.search(r"^([ \t]+)\S", text, re.MULTILINE)
    return json.dumps(settings, indent=found[1] if found else 2, ensure_ascii=False) + "\n"


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
