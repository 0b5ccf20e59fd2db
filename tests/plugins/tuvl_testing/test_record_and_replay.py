"""The effect door: the same keys for the same run; a replay that calls nothing."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from refund_desk import EXAMPLE, stocked_shop

from tuvl_core import App, Effect, Plugins, RunResult, load_project
from tuvl_testing import DivergenceError, RecordingHandler, ReplayHandler

TICKET = {"ticket": {"order_id": "A-1001", "text": "My kettle is broken."}}
KEYS = [
    "work_ticket#1/turn#1/inputs",
    "work_ticket#1/llm#1",
    "work_ticket#1/turn#1/inputs@1",
    "work_ticket#1/tool#1:lookup_order",
    "work_ticket#1/turn#2/inputs",
    "work_ticket#1/llm#2",
    "work_ticket#1/turn#2/inputs@1",
    "work_ticket#1/tool#2:check_policy",
    "work_ticket#1/turn#3/inputs",
    "work_ticket#1/llm#3",
    "work_ticket#1/turn#3/inputs@end",
    "decide#1",
    "grant#1",
    "reply#1",
]


async def run(root: Path, folder: Path, handler: Any, model: str = "scripted", **variables: str) -> RunResult:
    """Work the ticket in a shop of its own."""
    environ = {**await stocked_shop(Path(tempfile.mkdtemp(dir=folder))), "MODEL": model, **variables}
    project = load_project(root, plugins=Plugins.load(root=root, environ=environ), environ=environ)
    async with App(project) as app:
        return await app.run("refund_desk", TICKET, handlers=[handler], run_id="run")


async def test_the_same_run_has_the_same_keys(tmp_path: Path) -> None:
    first, second = RecordingHandler(), RecordingHandler()
    one = await run(EXAMPLE, tmp_path, first)
    two = await run(EXAMPLE, tmp_path, second)
    assert one.result == two.result
    assert first.keys == second.keys == KEYS
    assert {record.kind for record in first.records} == {"input", "model", "tool", "step"}
    # What a refund is given by itself, its id and the time, is another each time.
    rest = [[record for record in handler.records if record.key != "grant#1"] for handler in (first, second)]
    assert rest[0] == rest[1]


async def test_a_replay_needs_no_model_no_server_and_no_database(tmp_path: Path) -> None:
    recorder = RecordingHandler()
    recorded = await run(EXAMPLE, tmp_path, recorder)
    root = tmp_path / "desk"
    shutil.copytree(EXAMPLE, root)
    # Whatever would be called now fails: the database cannot be opened, the server and the model do not exist.
    replay = ReplayHandler(recorder.dumps())
    nowhere = str(tmp_path / "desk" / "README.md" / "shop.db")
    replayed = await run(root, tmp_path, replay, "scripted/missing", SHOP_DB=nowhere, PYTHON="no-such-program")
    assert replayed.to_dict()["context"] == recorded.to_dict()["context"]
    assert replayed.result == recorded.result
    assert [(e.step, e.signal) for e in replayed.path] == [(e.step, e.signal) for e in recorded.path]
    assert replayed.usage == recorded.usage
    assert replay.left == []


async def test_a_divergence_is_named_with_both_sides(tmp_path: Path) -> None:
    recorder = RecordingHandler()
    await run(EXAMPLE, tmp_path, recorder)
    records = [record for record in recorder.records if record.key != "decide#1"]
    result = await run(EXAMPLE, tmp_path, ReplayHandler(records))
    assert result.status == "failed"
    assert result.error is not None
    assert "step 'decide#1'" in result.error.message
    assert "'grant#1'" in result.error.message


async def test_failures_come_back_as_they_were(tmp_path: Path) -> None:
    recorder = RecordingHandler()
    recorded = await run(EXAMPLE, tmp_path, recorder, PYTHON="no-such-program")
    replayed = await run(EXAMPLE, tmp_path, ReplayHandler(recorder.dumps()), PYTHON="no-such-program")
    assert recorded.result == replayed.result
    assert recorded.result["decision"] == "a person decides"


async def test_every_leaf_passes_the_door_and_a_handler_may_refuse(tmp_path: Path) -> None:
    class Refuse:
        def __init__(self) -> None:
            self.effects: list[tuple[str, str]] = []

        async def handle(self, effect: Effect, proceed: Any) -> Any:
            self.effects.append((effect.kind, effect.effects.value))
            if effect.key == "reply#1":
                raise RuntimeError("not allowed")
            return await proceed()

    handler = Refuse()
    result = await run(EXAMPLE, tmp_path, handler)
    assert result.status == "failed"
    assert "not allowed" in (result.error.message if result.error else "")
    assert ("tool", "reads") in handler.effects


def test_no_secret_is_in_a_record() -> None:
    from tuvl_core import Secret, to_lossless

    assert "s3cr3t" not in json.dumps(to_lossless({"key": Secret("s3cr3t")}))


def test_a_record_with_a_key_twice_is_none() -> None:
    line = json.dumps({"key": "a#1", "kind": "step", "value": None, "error": None})
    with pytest.raises(ValueError, match="twice"):
        ReplayHandler(f"{line}\n{line}\n")
    assert issubclass(DivergenceError, AssertionError)
