"""A broken plugin costs only itself, and says what to do about it."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from installed import forget, install

from tuvl_core import App, Plugins, ProjectError, check_project, load_project

KIND = """
from tuvl_core import StepKind, StepResult, hookimpl

class {cls}(StepKind):
    '''A kind.'''
    name = "{name}"

    async def run(self, call):
        return StepResult(writes={{"by": "{by}"}})

@hookimpl
def tuvl_step_kinds():
    return [{cls}]
"""

BROKEN = {
    "acme-import": ("import acme_nothing_of_that_name", "failed", "ModuleNotFoundError", "pip install --upgrade"),
    "acme-exit": ("import sys\nsys.exit(3)", "failed", "sys.exit(3)", "upgrade it"),
    "acme-gone": (None, "failed", "ModuleNotFoundError", "--force-reinstall"),
    "acme-signature": (
        "from tuvl_core import hookimpl\n\n@hookimpl\ndef tuvl_step_kinds(nonsense):\n    return []",
        "failed",
        "nonsense",
        "docs/reference/hooks.md",
    ),
    "acme-hook": (
        "from tuvl_core import hookimpl\n\n@hookimpl\ndef tuvl_step_kind():\n    return []",
        "failed",
        "did you mean tuvl_step_kinds",
        "docs/reference/hooks.md",
    ),
    "acme-unmarked": ("def tuvl_step_kinds():\n    return []", "failed", "not marked with @hookimpl", "hooks.md"),
    "acme-async": (
        "from tuvl_core import hookimpl\n\n@hookimpl\nasync def tuvl_step_kinds():\n    return []",
        "failed",
        "async def",
        "hooks.md",
    ),
    "acme-old": ("TUVL_API = 0", "incompatible", "plugin contract 0", "upgrade acme-old"),
    "acme-new": ("TUVL_API = 99", "incompatible", "plugin contract 99", "upgrade tuvl-core"),
    "acme-half": (
        KIND.format(cls="Half", name="acme.Half", by="half")
        + "\n@hookimpl\ndef tuvl_validators():\n    raise RuntimeError('half way')",
        "failed",
        "tuvl_validators: RuntimeError: half way",
        "TUVL_PLUGINS_BLOCK=acme-half",
    ),
    "acme-nokind": (
        "from tuvl_core import hookimpl\n\n@hookimpl\ndef tuvl_step_kinds():\n    return [dict]",
        "failed",
        "is no StepKind",
        "TUVL_PLUGINS_BLOCK=acme-nokind",
    ),
}

Load = Callable[..., Plugins]


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "site"
    folder.mkdir()
    sys.path.insert(0, str(folder))
    before = set(sys.modules)
    yield folder
    sys.path.remove(str(folder))
    forget(*(name for name in set(sys.modules) - before if name.startswith(("acme_", "tuvl_acme"))))


def load(site: Path, root: Path | None = None, **environ: str) -> Plugins:
    search = [str(site), *sys.path]
    plugins = Plugins.load(root=root, environ=environ, search=search)
    _ = plugins.kinds
    return plugins


def states(site: Path, plugins: Plugins) -> dict[str, str]:
    """What became of the plugins in `site`, whatever else is installed on this machine."""
    own = [item for item in plugins.candidates if item.path and Path(item.path).parent == site.resolve()]
    return {item.dist: item.state for item in own}


def project(root: Path, kind: str) -> None:
    (root / "w.yaml").write_text(
        f"kind: Workflow\nmetadata: {{ name: w }}\nspec: {{ steps: [{{ id: a, kind: {kind} }}] }}\n"
    )


@pytest.mark.parametrize("dist", BROKEN)
async def test_a_broken_plugin_is_named_and_everything_else_runs(site: Path, tmp_path: Path, dist: str) -> None:
    code, state, cause, remedy = BROKEN[dist]
    install(site, dist, code)
    install(site, "acme-good", KIND.format(cls="Good", name="acme.Good", by="good"))
    plugins = load(site)
    [broken] = [item for item in plugins.candidates if item.dist == dist]
    assert broken.state == state
    assert cause in (broken.error or "")
    assert remedy in (broken.remedy or "")
    assert "acme.Half" not in plugins.kinds
    assert states(site, plugins)["acme-good"] == "ready"
    [problem] = [item for item in plugins.problems if item.plugin == broken.label]
    assert problem.severity == "warning"
    project(tmp_path, "acme.Good")
    loaded = load_project(tmp_path, plugins=plugins, environ={})
    assert [item for item in check_project(loaded) if item.severity == "error"] == []
    async with App(loaded) as app:
        assert (await app.run("w")).context == {"by": "good"}


def test_a_workflow_that_needs_it_fails_with_the_cause(site: Path, tmp_path: Path) -> None:
    install(site, "acme-import", BROKEN["acme-import"][0])
    project(tmp_path, "acme.Thing")
    found = check_project(load_project(tmp_path, plugins=load(site), environ={}))
    [error] = [item for item in found if item.code == "TUVL-W011"]
    assert "acme-import 1.0" in (error.hint or "")
    assert "acme_nothing_of_that_name" in (error.hint or "")


def test_a_broken_plugin_does_not_hide_what_was_meant(site: Path, tmp_path: Path) -> None:
    install(site, "acme-import", BROKEN["acme-import"][0])
    (tmp_path / "w.yaml").write_text(
        "kind: Workflow\nmetadata: { name: w }\nspec:\n  steps:\n"
        "    - { id: a, kind: Routr }\n    - { id: b, kind: Response, suorce: x }\n    - { id: c, kind: Zzz }\n"
    )
    found = check_project(load_project(tmp_path, plugins=load(site), environ={}))
    hints = {item.step: item.hint or "" for item in found if item.severity == "error" and item.step}
    assert hints["a"] == "did you mean `Router`?"
    assert hints["b"] == "did you mean `source`?"
    assert "acme-import 1.0" in hints["c"]


async def test_a_missing_requirement_refuses_every_run(site: Path, tmp_path: Path) -> None:
    (tmp_path / "tuvl.toml").write_text('[plugins]\nrequire = ["acme-audit"]\n')
    install(site, "acme-good", KIND.format(cls="Good", name="acme.Good", by="good"))
    project(tmp_path, "acme.Good")
    app = App(load_project(tmp_path, plugins=load(site, tmp_path), environ={}))
    with pytest.raises(ProjectError) as caught:
        await app.run("w")
    assert "acme-audit" in str(caught.value.diagnostics[0])


def test_strict_makes_errors_of_warnings(site: Path) -> None:
    install(site, "acme-exit", "import sys\nsys.exit(3)")
    [problem] = [item for item in load(site, TUVL_PLUGINS_STRICT="1").problems if item.plugin == "acme-exit 1.0"]
    assert (problem.severity, problem.klass) == ("error", "structure")


def test_what_it_prints_at_import_is_not_on_stdout(site: Path, capsys: Any) -> None:
    install(site, "acme-chatty", "print('hello from acme')")
    load(site)
    out, err = capsys.readouterr()
    assert out == ""
    assert "hello from acme" in err


def test_no_secret_is_in_the_cause(site: Path) -> None:
    install(site, "acme-secret", "raise RuntimeError('cannot reach https://u:s3cr3t-1@db/x?api_key=s3cr3t-2')")
    [item] = [item for item in load(site).candidates if item.dist == "acme-secret"]
    assert "s3cr3t" not in item.summary


def test_an_interrupt_goes_on(site: Path) -> None:
    install(site, "acme-interrupt", "raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        load(site)


# --- twins ------------------------------------------------------------------------------------


def test_a_kind_of_tuvls_own_is_never_replaced_silently(site: Path) -> None:
    install(site, "aaa-http", KIND.format(cls="APICall", name="APICall", by="aaa"))
    plugins = load(site)
    assert plugins.kinds["APICall"].candidate.dist == "tuvl-kinds-apicall"
    [twin] = [item for item in plugins.candidates if item.dist == "aaa-http"]
    assert twin.state == "duplicate"
    assert "tuvl-kinds-apicall" in (twin.error or "")
    assert '[plugins.choose] "APICall" = "aaa-http"' in (twin.remedy or "")


@pytest.mark.parametrize("order", [("acme-one", "acme-two"), ("acme-two", "acme-one")])
def test_two_strangers_with_one_name_are_an_error_that_names_both(site: Path, order: tuple[str, str]) -> None:
    for dist in order:
        install(site, dist, KIND.format(cls="Foo", name="Foo", by=dist))
    plugins = load(site)
    assert "Foo" not in plugins.kinds
    assert states(site, plugins) == {"acme-one": "duplicate", "acme-two": "duplicate"}
    [problem] = [item for item in plugins.problems if item.code == "TUVL-P004"]
    assert problem.severity == "error"
    assert "acme-one 1.0 and acme-two 1.0 both bring the kind 'Foo'" in problem.message


@pytest.mark.parametrize("chosen", ["acme-one", "acme-two"])
def test_a_choice_decides(site: Path, tmp_path: Path, chosen: str) -> None:
    for dist in ("acme-one", "acme-two"):
        install(site, dist, KIND.format(cls="Foo", name="Foo", by=dist))
    (tmp_path / "tuvl.toml").write_text(f'[plugins.choose]\nFoo = "{chosen}"\n')
    plugins = load(site, tmp_path)
    assert plugins.kinds["Foo"].candidate.dist == chosen
    assert set(states(site, plugins).values()) == {"ready"}


def test_a_choice_of_nobody_is_said(site: Path, tmp_path: Path) -> None:
    (tmp_path / "tuvl.toml").write_text('[plugins.choose]\nFoo = "acme-none"\n')
    assert "TUVL-P006" in {item.code for item in load(site, tmp_path).problems}


def test_the_same_package_seen_twice_is_one(site: Path, tmp_path: Path) -> None:
    code = KIND.format(cls="Good", name="acme.Good", by="good")
    install(site, "acme-good", code)
    other = tmp_path / "other"
    install(other, "acme-good", code)
    plugins = Plugins.load(environ={}, search=[str(site), str(other)])
    assert [item.dist for item in plugins.candidates] == ["acme-good"]


# --- policy -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, {"acme-a": "ready", "acme-b": "ready"}),
        ({"TUVL_PLUGINS_BLOCK": "acme-a"}, {"acme-a": "blocked", "acme-b": "ready"}),
        ({"TUVL_PLUGINS_BLOCK": "Acme_A, acme.b"}, {"acme-a": "blocked", "acme-b": "blocked"}),
        ({"TUVL_PLUGINS_ALLOW": "acme-b"}, {"acme-a": "not allowed", "acme-b": "ready"}),
        ({"TUVL_PLUGINS_AUTOLOAD": "0"}, {"acme-a": "not allowed", "acme-b": "not allowed"}),
        (
            {"TUVL_PLUGINS_AUTOLOAD": "0", "TUVL_PLUGINS_ALLOW": "acme-a"},
            {"acme-a": "ready", "acme-b": "not allowed"},
        ),
        ({"TUVL_PLUGINS_AUTOLOAD": "maybe"}, {"acme-a": "not allowed", "acme-b": "not allowed"}),
    ],
)
def test_policy_from_the_environment(site: Path, environ: dict[str, str], expected: dict[str, str]) -> None:
    for dist in ("acme-a", "acme-b"):
        install(site, dist, "")
    plugins = load(site, **environ)
    assert states(site, plugins) == expected
    assert "APICall" in plugins.kinds
    assert not [item for item in plugins.problems if item.plugin in ("acme-a 1.0", "acme-b 1.0")]


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("tuvl.toml", '[plugins]\nblock = ["acme-a"]\n'),
        ("pyproject.toml", '[tool.tuvl.plugins]\nblock = ["acme-a"]\n'),
        (".env", "TUVL_PLUGINS_BLOCK=acme-a\n"),
    ],
)
def test_policy_from_the_project(site: Path, tmp_path: Path, file: str, text: str) -> None:
    install(site, "acme-a", "raise SystemExit")
    (tmp_path / file).write_text(text)
    assert states(site, load(site, tmp_path)) == {"acme-a": "blocked"}
    assert states(site, load(site, tmp_path, TUVL_PLUGINS_BLOCK="")) == {"acme-a": "failed"}


def test_a_first_party_plugin_can_be_blocked_and_is_named_where_it_is_missed(site: Path, tmp_path: Path) -> None:
    project(tmp_path, "APICall")
    plugins = load(site, TUVL_PLUGINS_BLOCK="tuvl-kinds-apicall")
    assert "APICall" not in plugins.kinds
    [error] = [
        item for item in check_project(load_project(tmp_path, plugins=plugins, environ={})) if item.code == "TUVL-W011"
    ]
    assert "take tuvl-kinds-apicall out of TUVL_PLUGINS_BLOCK" in (error.hint or "")


@pytest.mark.parametrize(
    ("wanted", "fine"), [("acme-a", True), ("acme-a>=1", True), ("acme-a>=2", False), ("acme-z", False)]
)
def test_what_is_required_has_to_be_there(site: Path, tmp_path: Path, wanted: str, fine: bool) -> None:
    install(site, "acme-a", "")
    (tmp_path / "tuvl.toml").write_text(f'[plugins]\nrequire = ["{wanted}"]\n')
    codes = {item.code for item in load(site, tmp_path).problems}
    assert ("TUVL-P005" not in codes) is fine


def test_the_range_on_tuvl_core_counts_before_anything_is_imported(site: Path) -> None:
    install(site, "acme-a", "raise SystemExit", needs="tuvl-core<2")
    assert states(site, load(site)) == {"acme-a": "incompatible"}


# --- files of the project ---------------------------------------------------------------------


def test_a_projects_own_file_is_a_plugin_and_a_broken_one_has_a_line(site: Path, tmp_path: Path) -> None:
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "good.py").write_text(KIND.format(cls="Good", name="acme.Good", by="good"))
    (tmp_path / "plugins" / "bad.py").write_text("x = 1\n\nraise ValueError('no')\n")
    (tmp_path / "plugins" / "_helper.py").write_text("raise ValueError('never loaded')\n")
    plugins = load(site, tmp_path, TUVL_PLUGINS_AUTOLOAD="0")
    assert plugins.kinds["acme.Good"].candidate.dist == "plugins/good.py"
    [problem] = [item for item in plugins.problems if item.plugin == "plugins/bad.py"]
    assert str(problem.location) == "plugins/bad.py:3:1"
    assert "rename it to _bad.py" in (problem.hint or "")


# --- hooks that are called later --------------------------------------------------------------

LATER = """
from tuvl_core import hookimpl

@hookimpl
def {hook}({argument}):
    raise RuntimeError("not today")
"""


@pytest.mark.parametrize("hook", ["tuvl_progress_sinks", "tuvl_effect_handlers", "tuvl_run_scope", "tuvl_authorize"])
async def test_a_hook_that_raises_when_a_run_starts(site: Path, tmp_path: Path, hook: str) -> None:
    argument = "principal" if hook == "tuvl_authorize" else "run"
    install(site, "acme-later", LATER.format(hook=hook, argument=argument))
    install(site, "acme-good", KIND.format(cls="Good", name="acme.Good", by="good"))
    project(tmp_path, "acme.Good")
    async with App(load_project(tmp_path, plugins=load(site), environ={})) as app:
        if hook == "tuvl_progress_sinks":
            assert (await app.run("w")).status == "completed"
        else:
            with pytest.raises(Exception, match="acme-later 1.0: .* raised RuntimeError: not today"):
                await app.run("w")


def test_the_scan_finds_what_importlib_finds() -> None:
    from importlib import metadata

    points = [point for point in metadata.entry_points(group="tuvl") if point.dist]
    expected = {(re.sub("[-_.]+", "-", point.dist.name.lower()), point.name) for point in points if point.dist}
    found = Plugins.load(environ={}).candidates
    assert {(re.sub("[-_.]+", "-", item.dist.lower()), item.name) for item in found} == expected
