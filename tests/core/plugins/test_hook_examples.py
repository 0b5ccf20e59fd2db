"""Every hook is documented in the same parts, and its example loads."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from tuvl_core import Plugins, hookspecs

OWNED = ["tuvl_models.hookspecs", "tuvl_cli.hookspecs", "tuvl_server.hookspecs", "tuvl_supervisor.hookspecs"]
HOOKS = [
    *hookspecs.HOOKS,
    *(
        function
        for module in OWNED
        for name, function in sorted(vars(importlib.import_module(module)).items())
        if name.startswith("tuvl_")
    ),
]
EXAMPLE = re.compile(r"```python\n(.*?)```", re.S)


def test_every_specified_hook_is_listed() -> None:
    specified = set(Plugins.load(environ={}).hook_names)
    assert specified == {hook.__name__ for hook in HOOKS}


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook.__name__)
def test_the_docstring_has_its_parts(hook: Any) -> None:
    doc = inspect.getdoc(hook) or ""
    parts = ["Called ", "Returns:", "Raises:", "Example:"]
    assert [part for part in parts if part not in doc] == []
    for name in inspect.signature(hook).parameters:
        assert f"    {name}: " in doc
    assert doc.splitlines()[0].endswith(".")


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook.__name__)
def test_the_example_is_a_plugin_that_loads(hook: Any, tmp_path: Path) -> None:
    [code] = EXAMPLE.findall(inspect.getdoc(hook) or "")
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "example.py").write_text(dedent(code), encoding="utf-8")
    plugins = Plugins.load(root=tmp_path, environ={})
    _ = plugins.kinds, plugins.settings
    [example] = [item for item in plugins.candidates if item.local]
    assert (example.state, example.error) == ("ready", None)
    assert example.hooks == (hook.__name__,)
