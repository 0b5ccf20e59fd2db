"""A project that nobody uses any more is gone: whoever edits or watches one loads it again and again."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import pytest
from mutants import FILES, SCRIPTS

from tuvl_core import App, Plugins, check_project, load_project

PLUGINS = Plugins.load(environ={})


@pytest.mark.parametrize("compiled", [False, True])
def test_nothing_keeps_a_project(tmp_path: Path, compiled: bool):
    for path, text in {**FILES, "llms/scripts.yaml": SCRIPTS[0]}.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    environ = {"SHOP_DB": "shop.db", "SHOP_API": "http://127.0.0.1:9"}

    def use() -> weakref.ref[object]:
        project = load_project(tmp_path, plugins=PLUGINS, environ=environ)
        check_project(project)
        if compiled:
            App(project).plan("shop")
        return weakref.ref(project)

    seen = [use() for _ in range(3)]
    gc.collect()
    assert [item() for item in seen] == [None, None, None]
