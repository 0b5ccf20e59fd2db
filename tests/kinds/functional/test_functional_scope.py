"""Which code a workflow may name, and how the project's files are read and loaded."""

from __future__ import annotations

import sys
import textwrap

import pytest

from tuvl_core import ProjectError

HEAD = "from tuvl_kinds_functional import node\n"


def step(runner: str, id: str = "s") -> dict[str, str]:
    return {"id": id, "kind": "Functional", "runner": runner}


async def refused(bench, runner: str) -> str:
    """What running a step with this runner is refused with."""
    bench.workflow(step(runner))
    await bench.close()
    with pytest.raises(ProjectError) as caught:
        await bench.run()
    (found, *_) = caught.value.diagnostics
    assert found.location is not None
    assert found.location.path == "w.yaml"
    return f"{found.code} {found.message} {found.hint}"


# --- names ----------------------------------------------------------------------------------


def test_a_runner_has_to_exist(bench):
    bench.write("nodes/n.py", HEAD + "@node('policy_check')\ndef f(ctx): ...\n")
    (found,) = bench.check(step("policy_chek"))
    assert (found.code, found.severity, found.klass) == ("TUVL-F001", "error", "structure")
    assert "policy_check" in (found.hint or "")
    assert found.location is not None and found.location.line > 1
    assert bench.codes(step("policy_check")) == []
    assert "nodes/" in (bench.check(step("entirely different"))[0].hint or "")


def test_without_a_nodes_folder(bench):
    assert bench.codes(step("x")) == ["TUVL-F001"]


def test_validate_runs_nothing(bench):
    bench.write("nodes/n.py", HEAD + "open('ran', 'w')\nraise SystemExit\n@node('n')\ndef f(ctx): ...\n")
    before = set(sys.modules)
    assert bench.codes(step("n")) == []
    assert not (bench.root / "ran").exists()
    assert not [name for name in set(sys.modules) - before if "nodes" in name]


@pytest.mark.parametrize(
    "source",
    [
        "from tuvl_kinds_functional import node\n@node('n')\ndef f(ctx): ...",
        "from tuvl_kinds_functional import node as step\n@step(name='n')\nasync def f(ctx, /): ...",
        "import tuvl_kinds_functional\n@tuvl_kinds_functional.node('n')\ndef f(*args): ...",
        "import tuvl_kinds_functional as t\nif True:\n    @t.node('n')\n    def f(ctx, extra=1): ...",
        "from tuvl_kinds_functional import *\ntry:\n    @node('n')\n    def f(ctx): ...\nfinally: pass",
        "from tuvl_kinds_functional import node\ndef f(ctx): ...\nnode('n')(f)",
        "from tuvl_kinds_functional import node\nx = node('n')(lambda ctx: None)",
        "from tuvl_kinds_functional import node\n@node('m')\n@node('n')\ndef f(ctx): ...",
        "# -*- coding: latin-1 -*-\nfrom tuvl_kinds_functional import node\n@node('n')\ndef f(ctx): ...",
    ],
)
async def test_every_way_of_writing_it(bench, source):
    bench.write("nodes/n.py", source + "\n")
    assert bench.codes(step("n")) == []
    assert (await bench.run(step("n"))).result.status == "completed"


@pytest.mark.parametrize(
    ("source", "part"),
    [
        ("@node('n')\ndef f(): ...", "one argument"),
        ("@node('n')\ndef f(a, b): ...", "one argument"),
        ("@node('n')\ndef f(ctx, *, key): ...", "one argument"),
        ("@node('n')\ndef f(ctx): yield 1", "generator"),
        ("@node('n')\nasync def f(ctx): yield 1", "generator"),
        ("@node('n')\nclass F: ...", "class"),
        ("from os import system\nnode('n')(system)", "os.system"),
        ("import subprocess\nnode('n')(subprocess.Popen)", "subprocess.Popen"),
    ],
)
async def test_what_cannot_be_a_node_is_seen_in_the_source(bench, source, part):
    bench.write("nodes/n.py", f"{HEAD}{source}\n")
    found = bench.check(step("n"))
    assert [item.code for item in found] == ["TUVL-F011", "TUVL-F003"]
    assert found[0].location is not None and found[0].location.path == "nodes/n.py"
    assert part in found[1].message
    assert part in await refused(bench, "n")


@pytest.mark.parametrize("source", ["@node\ndef f(ctx): ...", "@node('a' + 'b')\ndef f(ctx): ..."])
def test_a_name_has_to_be_a_literal(bench, source):
    bench.write("nodes/n.py", f"{HEAD}{source}\n")
    bench.workflow({"id": "r", "kind": "Response", "source": "x"})
    (found,) = bench.check()
    assert found.code == "TUVL-F011"
    assert found.location is not None and found.location.line == 2


def test_two_nodes_of_one_name(bench):
    bench.write("nodes/a.py", HEAD + "@node('n')\ndef f(ctx): ...\n")
    bench.write("nodes/b.py", HEAD + "@node('n')\ndef f(ctx): ...\n@node('m')\ndef g(ctx): ...\n")
    twin, use = bench.check(step("n"))
    assert (twin.code, twin.klass) == ("TUVL-F012", "flow")
    assert (use.code, use.klass) == ("TUVL-F003", "structure")
    for message in (twin.message, use.message):
        assert "nodes/a.py:2" in message
    assert "TUVL-F003" not in bench.codes(step("m"))


# --- one bad file costs only those who use it -----------------------------------------------------


@pytest.mark.parametrize(
    ("source", "line", "part"),
    [
        ("from tuvl_kinds_functional import node\n\n@node('bad')\ndef f(ctx:\n", 4, "never closed"),
        ("import not_installed_anywhere\n" + HEAD + "@node('bad')\ndef f(ctx): ...\n", 1, "not installed"),
        ("\0", 1, "no valid Python"),
        (HEAD + "@node('bad')\ndef f(ctx):\n\treturn 1\n        return 2\n", 5, "no valid Python"),
    ],
)
async def test_a_file_that_cannot_be_read(bench, source, line, part):
    bench.write("nodes/bad.py", source)
    bench.write("nodes/good.py", HEAD + "@node('good')\ndef f(ctx): return {'x': 1}\n")
    file, *_ = bench.check(step("bad"))
    assert (file.code, file.klass) == ("TUVL-F010", "flow")
    assert str(file.location).startswith(f"nodes/bad.py:{line}:")
    assert part in file.message
    assert (await bench.run(step("good"))).result.context == {"x": 1}
    assert "nodes/bad.py" in await refused(bench, "bad")


async def test_a_file_that_raises_costs_only_those_who_use_it(bench):
    bench.write("nodes/bad.py", HEAD + "x = 1\n1 / 0\n@node('bad')\ndef f(ctx): ...\n")
    bench.write("nodes/exits.py", HEAD + "import sys\nsys.exit(1)\n@node('exits')\ndef f(ctx): ...\n")
    bench.write("nodes/good.py", HEAD + "@node('good')\ndef f(ctx): return {'x': 1}\n")
    assert (await bench.run(step("good"))).result.context == {"x": 1}
    message = await refused(bench, "bad")
    assert "nodes/bad.py:3" in message
    assert "ZeroDivisionError" in message
    assert "nodes/exits.py:3" in await refused(bench, "exits")


async def test_a_registration_that_is_never_reached(bench):
    bench.write("nodes/n.py", HEAD + "if False:\n    @node('n')\n    def f(ctx): ...\n")
    assert "nodes/n.py:3" in await refused(bench, "n")


async def test_files_import_each_other_and_projects_never_meet(bench, tmp_path_factory):
    bench.write("nodes/prices.py", "VAT = 19\n")
    bench.write("nodes/n.py", HEAD + "from .prices import VAT\n@node('n')\ndef f(ctx): return {'vat': VAT}\n")
    first = await bench.run(step("n"))
    other = type(bench)(tmp_path_factory.mktemp("other"))
    other.write("nodes/prices.py", "VAT = 7\n")
    other.write("nodes/n.py", (bench.root / "nodes/n.py").read_text())
    second = await other.run(step("n"))
    again = await bench.run()
    await other.close()
    assert [run.result.context["vat"] for run in (first, second, again)] == [19, 7, 19]


async def test_an_edited_file_counts_when_the_project_is_loaded_again(bench):
    bench.write("nodes/n.py", HEAD + "@node('n')\ndef f(ctx): return {'v': 1}\n")
    assert (await bench.run(step("n"))).result.context == {"v": 1}
    bench.write("nodes/n.py", HEAD + "@node('n')\ndef f(ctx): return {'v': 2}\n")
    assert (await bench.run(step("n"))).result.context == {"v": 2}


async def test_a_link_out_of_the_project_is_not_followed(bench, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside") / "evil.py"
    outside.write_text(HEAD + "@node('evil')\ndef f(ctx): ...\n")
    (bench.root / "nodes").mkdir()
    (bench.root / "nodes" / "evil.py").symlink_to(outside)
    found = bench.check(step("evil"))
    assert "TUVL-F010" in [item.code for item in found]
    assert "evil.py" in await refused(bench, "evil")


# --- references -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "runner", ["os:system", "subprocess:Popen", "builtins:eval", "posix:system", "tuvl_core:scrub"]
)
async def test_nothing_else_is_importable_by_name(bench, runner):
    (found,) = bench.check(step(runner))
    assert (found.code, found.klass) == ("TUVL-F002", "structure")
    assert "TUVL-F002" in await refused(bench, runner)


@pytest.mark.parametrize("runner", ["os:", ":system", "os:system:x", "os:path.join", "a b:c", "../x:y", ""])
def test_what_is_no_reference(bench, runner):
    assert bench.codes(step(runner))


async def test_what_a_node_file_reexports_is_still_where_it_is(bench):
    bench.write(
        "nodes/n.py",
        HEAD + "import os, functools\n"
        "shell = getattr(os, 'sys' + 'tem')\n"
        "node('alias')(shell)\n"
        "node('partial')(functools.partial(shell))\n"
        "@functools.wraps(os.system)\n"
        "def wrapped(ctx): ...\n"
        "node('wrapped')(wrapped)\n",
    )
    for name in ("alias", "partial", "wrapped"):
        message = await refused(bench, name)
        assert "TUVL-F002" in message
        assert "system" in message


@pytest.fixture
def plugin(bench, tmp_path_factory, monkeypatch):
    """An installed plugin `acme_desk`."""
    site = tmp_path_factory.mktemp("site")
    package = site / "acme_desk"
    (package / "inner").mkdir(parents=True)
    files = {
        "__init__.py": "from os import system\n",
        "plugin.py": "TUVL_API = 1\n",
        "steps.py": textwrap.dedent(
            """
            import os
            from os import system
            from os import system as shell
            from json import dumps
            from .inner.more import deep
            from .inner import more as module
            number = 3
            later = getattr(os, "system")
            async def check(ctx): return {"checked": ctx["x"]}
            def two(a, b): ...
            class Desk: ...
            """
        ),
        "circle.py": "from .circle import round\n",
        "again.py": "from .steps import check as again\n",
        "exits.py": "import sys\nsys.exit(3)\ndef run(ctx): ...\n",
        "inner/__init__.py": "",
        "inner/more.py": "def deep(ctx): return {'deep': True}\n",
    }
    for name, text in files.items():
        (package / name).write_text(text)
    info = site / "acme_desk-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-desk\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[tuvl]\ndesk = acme_desk.plugin\n")
    monkeypatch.syspath_prepend(str(site))
    yield package
    for name in [name for name in sys.modules if name.partition(".")[0] == "acme_desk"]:
        del sys.modules[name]


async def test_code_of_an_installed_plugin(bench, plugin):
    for runner, key in [
        ("acme_desk.steps:check", "checked"),
        ("acme_desk.steps:deep", "deep"),
        ("acme_desk.again:again", "checked"),
        ("acme_desk.inner.more:deep", "deep"),
    ]:
        assert bench.codes(step(runner)) == []
        assert key in (await bench.run(step(runner), context={"x": 1})).result.context


@pytest.mark.parametrize(
    "runner",
    ["acme_desk:system", "acme_desk.steps:system", "acme_desk.steps:shell", "acme_desk.steps:dumps"],
)
async def test_what_a_plugin_reexports_is_still_where_it_is(bench, plugin, runner):
    assert bench.codes(step(runner)) == ["TUVL-F002"]
    assert "TUVL-F002" in await refused(bench, runner)


async def test_what_only_running_can_tell_is_refused_when_it_is_compiled(bench, plugin):
    assert bench.codes(step("acme_desk.steps:later")) == []
    assert "TUVL-F002" in await refused(bench, "acme_desk.steps:later")


@pytest.mark.parametrize(
    ("runner", "code", "part"),
    [
        ("acme_desk.steps:nothing", "TUVL-F001", "nothing"),
        ("acme_desk.nowhere:check", "TUVL-F001", "nowhere"),
        ("acme_desk.steps.os:system", "TUVL-F001", "acme_desk.steps.os"),
        ("acme_desk.steps:two", "TUVL-F001", "one argument"),
        ("acme_desk.steps:Desk", "TUVL-F001", "class"),
        ("acme_desk.steps:os", "TUVL-F001", "module"),
        ("acme_desk.circle:round", "TUVL-F001", "circle"),
        ("acme_deskx.steps:check", "TUVL-F002", "acme_deskx"),
    ],
)
async def test_references_that_lead_nowhere(bench, plugin, runner, code, part):
    (found,) = bench.check(step(runner))
    assert found.code == code
    assert part in found.message
    assert code in await refused(bench, runner)


async def test_a_module_that_ends_the_process_is_refused(bench, plugin):
    message = await refused(bench, "acme_desk.exits:run")
    assert "TUVL-F003" in message
    assert "SystemExit" in message


def test_a_blocked_plugin_is_not_installed(bench, plugin):
    bench.environ["TUVL_PLUGINS_BLOCK"] = "acme-desk"
    assert "TUVL-F002" in bench.codes(step("acme_desk.steps:check"))


def test_the_decorator_leaves_functions_as_they_are():
    from tuvl_kinds_functional import node

    def f(ctx):
        return ctx

    assert node("x")(f) is f
    for wrong in (f, "", " ", "a:b", None):
        with pytest.raises(TypeError, match="@node needs a name"):
            node(wrong)
