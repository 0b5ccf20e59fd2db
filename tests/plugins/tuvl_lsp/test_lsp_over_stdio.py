"""`tuvl lsp`, spoken to by a real client over stdio."""

from __future__ import annotations

import asyncio

from lsp_editor import DESK, MODEL
from lsprotocol import types


async def test_diagnostics_follow_what_is_typed(editor):
    editor.write("desk.yaml", DESK)
    editor.write("model.yaml", MODEL)
    await editor.start()
    editor.open("desk.yaml", DESK.replace("done: say", "done: sya"))
    found, _ = await editor.codes("desk.yaml", "TUVL-W014", "TUVL-W016")
    assert "did you mean `say`" in found.message
    assert found.range.start == types.Position(line=11, character=22)
    assert found.range.end == types.Position(line=11, character=25)
    assert found.source == "tuvl" and found.severity == types.DiagnosticSeverity.Error
    spot = types.Range(start=types.Position(line=11, character=22), end=types.Position(line=11, character=25))
    editor.change("desk.yaml", "say", spot)
    await editor.codes("desk.yaml")
    editor.change("desk.yaml", DESK.replace("kind: Response", "kind: [Response"))
    await editor.codes("desk.yaml", "TUVL-Y004")
    editor.close("desk.yaml")
    await editor.codes("desk.yaml")
    assert await editor.stop() == 0


async def test_what_depends_on_another_file_is_checked_again(editor):
    editor.write("desk.yaml", DESK)
    editor.write("model.yaml", MODEL)
    await editor.start()
    editor.open("model.yaml")
    editor.change("model.yaml", MODEL.replace("name: default", "name: other"))
    (found,) = await editor.codes("desk.yaml", "TUVL-A002")
    assert "default" in found.message
    editor.change("model.yaml", MODEL)
    await editor.codes("desk.yaml")


async def test_places_count_in_utf_16(editor):
    await editor.start()
    editor.open(
        "a.yaml", 'kind: Workflow\nmetadata: { name: a }\nspec: { steps: [{ id: "😀", kind: Response, source: a }] }\n'
    )
    (found,) = await editor.codes("a.yaml", "TUVL-W012")
    assert (found.range.start.character, found.range.end.character) == (22, 26)
    text = 'kind: Workflow\nmetadata: { name: a }\nspec: { steps: [{ id: b, description: "😀😀", kind: Resp▮onse, source: a }] }\n'
    assert "what the run answers" in (await editor.hover("a.yaml", text) or "")


async def test_hover(editor):
    editor.write("model.yaml", MODEL)
    await editor.start()

    async def over(old: str, new: str) -> str:
        return await editor.hover("desk.yaml", DESK.replace(old, new, 1)) or ""

    kind = await over("AutonomousAgent", "Autonomous▮Agent")
    assert "until it is done or bounded" in kind and "Signals: `default`" in kind
    assert "instruction" in await over("steering", "steer▮ing")
    assert "Workflow" in await over("Workflow", "Work▮flow")
    tool = await over("ref: look_up", "ref: look▮_up")
    assert "Look one order up." in tool and '"order_id"' in tool and "```json" in tool
    assert "Response" in await over("done: say", "done: s▮ay")
    assert "The one for all." in await over("model: default", "model: def▮ault")
    assert "JSON" not in await over("Go.", "G▮o.")
    assert await editor.hover("desk.yaml", "# ▮nothing\n" + DESK) is None


async def test_go_to_definition(editor):
    editor.write("model.yaml", MODEL)
    await editor.start()

    async def go(old: str, new: str):
        return await editor.definition("desk.yaml", DESK.replace(old, new, 1))

    assert await go("ref: look_up", "ref: look▮_up") == ("desk.yaml", 12, 10)
    assert await go("done: say", "done: s▮ay") == ("desk.yaml", 16, 10)
    assert await go("model: default", "model: def▮ault") == ("model.yaml", 1, 18)
    assert await go("done: say", "done: gone▮") is None
    assert await go("aborted: END", "aborted: EN▮D") is None


async def test_completion(editor):
    editor.write("model.yaml", MODEL)
    await editor.start()

    async def at(old: str, new: str) -> dict[str, str]:
        return await editor.complete("desk.yaml", DESK.replace(old, new, 1))

    kinds = await at("kind: Response", "kind: Re▮")
    assert {"Response", "APICall", "AutonomousAgent"} <= set(kinds)
    assert kinds["Response"] == DESK
    assert "Response" in await at("kind: Response", "kind:▮")
    keys = await at("        steering: Go.", "        ste▮")
    assert "steering: " in keys["steering"] and "outcome" not in keys and "max_iterations" in keys
    assert "mapping" in await at("      mapping: { answer: result }\n", "      ▮\n")
    assert {"id", "routes"} <= set(await at("    - id: say\n", "    - ▮\n"))
    assert {"look_up", "say"} == set(await at("ref: look_up", "ref: ▮"))
    assert {"agent", "look_up", "say", "END"} == set(await at("done: say", "done: s▮"))
    assert set(await at("done: say", "d▮: say")) == {"done"}
    assert set(await at("model: default", "model: d▮")) == {"default"}
    assert {"limits", "output", "steps"} <= set(await at("spec:\n", "spec:\n  ▮\n")) | {"steps"}
    assert await at("Go.", "Go▮.") == {}
    assert {"Workflow", "AgentModel"} <= set(await at("kind: Workflow", "kind: ▮"))
    assert set(await editor.complete("new.yaml", "▮")) == {"kind", "version", "enabled", "metadata", "spec"}


async def test_completion_of_choices(editor):
    await editor.start()
    text = "kind: AgentModel\nmetadata: { name: a }\nspec:\n  model: a/b\n  tool_calling: ▮\n"
    assert set(await editor.complete("a.yaml", text)) == {"auto", "native", "schema"}
    text = "kind: DataSource\nmetadata: { name: a }\nspec:\n  type: sqlite\n  primary: ▮\n"
    assert set(await editor.complete("b.yaml", text)) == {"true", "false"}


async def test_no_user_code_runs_and_nothing_else_writes_to_the_protocol(editor):
    editor.write("nodes/a.py", "from pathlib import Path\nPath('ran').touch()\nprint('noise')\n")
    editor.write("a.yaml", "kind: Workflow\nmetadata: { name: a }\nspec: { steps: [{ id: a, runner: hello }] }\n")
    await editor.start()
    editor.open("a.yaml")
    await editor.codes("a.yaml", "TUVL-F001")
    editor.write(
        "nodes/a.py",
        "from tuvl_kinds_functional import node\nfrom pathlib import Path\nPath('ran').touch()\n\n"
        "@node('hello')\ndef hello(ctx):\n    return {}\n",
    )
    change = types.FileEvent(uri=editor.uri("nodes/a.py"), type=types.FileChangeType.Changed)
    editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams(changes=[change]))
    await editor.codes("a.yaml")
    assert not (editor.root / "ran").exists()


async def test_a_new_file_on_the_disk_is_read(editor):
    editor.write("desk.yaml", DESK)
    await editor.start()
    editor.open("desk.yaml")
    await editor.codes("desk.yaml", "TUVL-A002")
    editor.write("model.yaml", MODEL)
    change = types.FileEvent(uri=editor.uri("model.yaml"), type=types.FileChangeType.Created)
    editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams(changes=[change]))
    await editor.codes("desk.yaml")


async def test_files_outside_of_the_project_are_left_alone(editor):
    await editor.start()
    for path in (".github/a.yml", "tests/a.yaml", "a.txt"):
        editor.open(path, "kind: Nope\n")
    editor.open("a.yaml", "kind: Nope\n")
    await editor.codes("a.yaml", "TUVL-S021")
    assert list(editor.diagnostics) == [editor.uri("a.yaml")]
    assert await editor.complete(".github/a.yml", "▮") == {}


async def test_each_folder_with_settings_is_a_project(editor):
    editor.write("one/tuvl.toml", "")
    editor.write("one/m.yaml", MODEL)
    editor.write("two/tuvl.toml", 'default_kind = "Response"\n')
    editor.write("two/m.yaml", MODEL)
    await editor.start()
    for path in ("one/m.yaml", "two/m.yaml"):
        editor.open(path, MODEL.replace("kind", "kid"))
    await editor.codes("one/m.yaml", "TUVL-S020")
    await editor.codes("two/m.yaml", "TUVL-S020")


async def test_a_project_that_cannot_be_opened_is_told(editor):
    editor.write("tuvl.toml", "default_kind = [\n")
    editor.write("m.yaml", MODEL)
    await editor.start()
    editor.open("m.yaml")
    async with asyncio.timeout(10):
        while not editor.messages and not editor.diagnostics:
            editor.news.clear()
            await editor.news.wait()
    assert "tuvl.toml" in str([*editor.messages, editor.diagnostics])


async def test_dir_names_the_only_project(editor, tmp_path):
    editor.write("inner/m.yaml", MODEL)
    await editor.start("-C", "inner", "--stdio")
    editor.open("inner/m.yaml", MODEL.replace("kind", "kid"))
    await editor.codes("inner/m.yaml", "TUVL-S020")
