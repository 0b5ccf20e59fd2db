"""Contributions that are loaded when a project first uses their names."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from installed import forget, install

from tuvl_core import Plugins, all_codes, check_project, load_project, project_schema

CODE = """
import attrs
from tuvl_core import DocumentKind, Lazy, Section, StepKind, StepResult, hookimpl

LOADED = []

def _kind():
    LOADED.append("kind")
    class Shout(StepKind):
        '''Shout.'''
        name = "acme.Shout"
        async def run(self, call):
            return StepResult()
    return Shout

def _broken():
    import acme_nothing_of_that_name

def _other():
    LOADED.append("other")
    return Section(key="acme_other", spec=int)

def _document():
    LOADED.append("document")
    return DocumentKind(kind="acme.Region", spec=attrs.make_class("Region", {"country": attrs.field(type=str)}))

def _section():
    LOADED.append("section")
    return Section(key="acme_audit", spec=int)

@hookimpl
def tuvl_step_kinds():
    return [Lazy("acme.Shout", _kind), Lazy("acme.Broken", _broken)]

@hookimpl
def tuvl_document_kinds():
    return [Lazy("acme.Region", _document), Lazy("acme.Lost", _broken)]

@hookimpl
def tuvl_workflow_sections():
    return [Lazy("acme_audit", _section), Lazy("acme_lost", _broken)]

@hookimpl
def tuvl_step_sections():
    return [Lazy("acme_cache", _other)]
"""
STEP = "kind: Workflow\nmetadata: {{ name: w }}\nspec: {{ {more} steps: [{{ id: a, kind: {kind}{key} }}] }}\n"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "site"
    folder.mkdir()
    sys.path.insert(0, str(folder))
    yield folder
    sys.path.remove(str(folder))
    forget(*(name for name in list(sys.modules) if name.startswith("acme_")))


def load(site: Path, code: str = CODE, **environ: str) -> Plugins:
    install(site, "acme-lazy", code)
    return Plugins.load(environ=environ, search=[str(site), *sys.path])


def checked(root: Path, plugins: Plugins, text: str) -> list[tuple[str, str]]:
    (root / "p").mkdir(exist_ok=True)
    (root / "p" / "w.yaml").write_text(text)
    found = check_project(load_project(root / "p", plugins=plugins, environ={}))
    return [(item.code, f"{item.message} {item.hint}") for item in found if item.severity != "info"]


def loaded() -> list[str]:
    return sys.modules["acme_lazy"].LOADED


def test_only_what_is_used_is_loaded(site: Path, tmp_path: Path) -> None:
    plugins = load(site)
    assert {"acme.Shout", "acme.Broken"} <= set(plugins.kinds)
    assert loaded() == []
    found = checked(tmp_path, plugins, STEP.format(kind="acme.Shout", more="acme_audit: 3,", key=""))
    assert [code for code, _ in found if code.startswith(("TUVL-P", "TUVL-Y"))] == []
    assert sorted(loaded()) == ["kind", "section"]
    assert plugins.kinds["acme.Shout"] is plugins.kinds["acme.Shout"]


def test_a_document_and_its_mistake(site: Path, tmp_path: Path) -> None:
    plugins = load(site)
    text = "kind: acme.Region\nmetadata: { name: eu }\nspec: { county: x }\n"
    assert any("country" in told for _, told in checked(tmp_path, plugins, text))
    assert "document" in loaded()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("acme.Broken", STEP.format(kind="acme.Broken", more="", key="")),
        ("acme.Lost", "kind: acme.Lost\nmetadata: { name: x }\nspec: {}\n"),
        ("acme_lost", STEP.format(kind="acme.Shout", more="acme_lost: 3,", key="")),
        ("acme_cache", STEP.format(kind="acme.Shout", more="", key=", acme_cache: 3")),
    ],
)
def test_what_cannot_be_loaded_is_an_error_with_the_cause(site: Path, tmp_path: Path, name: str, text: str) -> None:
    plugins = load(site)
    found = checked(tmp_path, plugins, text)
    cause = "it gives 'acme_other'" if name == "acme_cache" else "acme_nothing_of_that_name"
    assert any(not code.startswith("TUVL-P") and repr(name) in told and cause in told for code, told in found)
    [(code, told)] = [item for item in found if item[0] == "TUVL-P001" and "acme" in item[1]]
    assert "TUVL_PLUGINS_BLOCK=acme-lazy" in told
    # The rest of the plugin goes on.
    assert "acme.Shout" in plugins.kinds


def test_what_nobody_uses_is_no_problem_unless_plugins_are_strict(site: Path, tmp_path: Path) -> None:
    plugins = load(site, TUVL_PLUGINS_STRICT="true")
    broken = [item for item in plugins.problems if item.plugin == "acme-lazy 1.0"]
    assert {item.severity for item in broken} == {"error"}
    assert len(broken) == 4


def test_listing_everything_leaves_the_broken_out(site: Path) -> None:
    plugins = load(site)
    assert "acme.Broken" not in dict(plugins.kinds.items())
    assert "acme.Broken" not in str(project_schema(plugins, default_kind="acme.Shout"))
    assert "acme.Shout" in str(project_schema(plugins, default_kind="acme.Shout"))


def test_a_near_name_is_hinted_without_loading(site: Path, tmp_path: Path) -> None:
    plugins = load(site)
    found = checked(tmp_path, plugins, STEP.format(kind="acme.Shuot", more="", key=""))
    assert any("did you mean `acme.Shout`?" in told for _, told in found)
    assert loaded() == []


def test_twins_are_found_without_loading(site: Path) -> None:
    install(site, "acme-zzz", CODE)
    plugins = load(site)
    assert "acme.Shout" not in plugins.kinds
    assert any(item.code == "TUVL-P004" and "acme.Shout" in item.message for item in plugins.problems)
    assert loaded() == []


@pytest.mark.parametrize(
    ("hook", "given", "cause"),
    [
        ("tuvl_step_kinds", 'Lazy("", int)', "has no `name`"),
        ("tuvl_step_kinds", 'Lazy("acme.X", 3)', "is no function"),
        ("tuvl_document_kinds", 'Lazy("Workflow", int)', "are the kernel's"),
        ("tuvl_workflow_sections", 'Lazy("steps", int)', "is the kernel's"),
        ("tuvl_validators", 'Lazy("ACME-1", int)', "nothing is lazy"),
    ],
)
def test_what_is_no_lazy_contribution(site: Path, hook: str, given: str, cause: str) -> None:
    code = f"from tuvl_core import Lazy, hookimpl\n@hookimpl\ndef {hook}():\n    return [{given}]\n"
    plugins = load(site, code)
    _ = plugins.kinds
    [own] = [item for item in plugins.candidates if item.dist == "acme-lazy"]
    assert own.state == "failed"
    assert cause in (own.error or "")


def test_codes_of_strangers_are_held_to_the_rules_when_they_are_lazy(site: Path) -> None:
    code = (
        "from tuvl_core import Code, Validator, hookimpl\n"
        "def codes():\n"
        "    return [Code(code='TUVL-X1', severity='error', klass='flow', title='t')]\n"
        "@hookimpl\ndef tuvl_validators():\n    return [Validator(codes=codes, check=lambda plan: ())]\n"
    )
    plugins = load(site, code)
    assert "TUVL-X1" not in all_codes(plugins)
    [own] = [item for item in plugins.candidates if item.dist == "acme-lazy"]
    assert "tuvl's own prefix" in (own.error or "")


def test_every_code_of_tuvls_own_has_one_owner() -> None:
    plugins = Plugins.load(environ={})
    codes = [code.code for _, validator in plugins.validators for code in validator.codes]
    assert "TUVL-H001" in codes
    assert len(codes) == len(set(codes))
