"""Rendering of config values, and the one place where secrets are opened on their way out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tuvl_core.templates import Template
from tuvl_core.views import Secret, open_secrets

__all__ = ["render"]


def render(value: Any, names: Mapping[str, Any], opened: set[str]) -> Any:
    """Render a template, or a mapping or list that holds some; other values come back as they are.

    Args:
        value: A compiled template, a structure of them, or plain data.
        names: What the templates read.
        opened: Collects the text of each secret that a revealing field opens, so that error texts
            can be cleaned of it.
    """
    if isinstance(value, Template):
        rendered = value.render(names)
        return _open(rendered, opened) if value.reveals else rendered
    if isinstance(value, Mapping):
        return {key: render(item, names, opened) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [render(item, names, opened) for item in value]
    return value


def _open(value: Any, opened: set[str]) -> Any:
    _collect(value, opened)
    return open_secrets(value)


def _collect(value: Any, opened: set[str]) -> None:
    if isinstance(value, Secret):
        text = value.reveal()
        if isinstance(text, str):
            opened.add(text)
    elif isinstance(value, Mapping):
        for item in value.values():
            _collect(item, opened)
    elif isinstance(value, (list, tuple)):
        for item in value:
            _collect(item, opened)
