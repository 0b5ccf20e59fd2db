"""`tuvl supervise --replay`: recorded events shown to the rules as they are now."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from agent_stage import Actor, agent, answer, node, tool_call, turn
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from supervised import inner

from tuvl_supervisor import replay
from tuvl_supervisor.replay import read_events

TUVL = str(Path(sys.executable).with_name("tuvl"))
RULES = """rules:
  - { when: tool_repeated, count: 3, then: steer }
  - { when: no_progress, tool: ping, count: 2, then: pause }
  - { when: iteration_reached, gte: 4, then: abort }"""


async def recorded(play, supervisor, *turns, **options):
    """The events of a run, as lines."""
    scene = await play(supervisor, actor=Actor(*turns), **options)
    return scene, [event.to_json() async for event in scene.app.stream("w")]


def supervise(root: Path, *arguments: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [TUVL, "supervise", "-C", str(root), *arguments], input=stdin, capture_output=True, text=True, check=False
    )


PINGS = [turn(tool_call("ping"))] * 4


async def test_it_shows_what_the_rules_of_today_would_have_done(play, tmp_path):
    _, lines = await recorded(play, None, *PINGS, answer())
    events = tmp_path / "events.ndjson"
    events.write_text("\n".join(lines))
    await play(RULES, actor=Actor(answer()))
    done = supervise(tmp_path, "--replay", str(events), "--json")
    assert done.returncode == 0, done.stderr
    [shown] = json.loads(done.stdout)["workflows"]
    [loop] = shown["loops"]
    assert (shown["workflow"], loop["step_id"], loop["visit"], loop["exit"], loop["watched"]) == (
        "w", "work", 1, "resolved", True,
    )  # fmt: skip
    fired = [(item["number"], item["rule"], item["then"], item["iteration"]) for item in loop["fired"]]
    assert fired == [
        (1, "no_progress", "pause", 2),
        (0, "tool_repeated", "steer", 3),
        (2, "iteration_reached", "abort", 4),
    ]
    by_seq = {json.loads(line)["seq"]: json.loads(line) for line in lines}
    assert by_seq[loop["fired"][0]["seq"]]["snapshot"]["agent_progress"]["unchanged"] == 2
    text = supervise(tmp_path, "w", "--replay", "-", stdin=events.read_text())
    assert text.returncode == 0
    assert "work#1: 3 rules would have fired, it left by resolved" in text.stdout
    assert "rule 3, iteration_reached, would have aborted it: turn 4 of 6 is reached" in text.stdout


async def test_inner_agents_and_unwatched_ones_are_told_apart(play, tmp_path):
    helper = Actor(*[turn(tool_call("ping"))] * 2, turn(content="so"))
    steps = agent("inner", more="max_iterations: 6") + inner("ping") + node("ping")
    rules = "watches: [inner]\nrules: [{ when: tool_repeated, count: 2, then: abort }]"
    scene, lines = await recorded(play, None, turn(tool_call("inner")), answer(), steps=steps, inner=helper)
    scene = await play(rules, steps=steps, actor=Actor(answer()), inner=helper)
    found = replay(scene.app.plan("w"), read_events(lines, "events"))
    assert [(loop.step_id, loop.watched, len(loop.fired)) for loop in found.loops] == [
        ("work", False, 0), ("inner", True, 1),
    ]  # fmt: skip
    assert found.loops[1].parent == "work#1"


@pytest.mark.parametrize(
    ("text", "says", "code"),
    [
        ("{", "events.ndjson:1: it is no JSON", 2),
        ('{"a": 1}', "events.ndjson:1: it is no event", 2),
        ('\n\n{"type": "step", "run_id": "r", "workflow": "nobody"}', "nobody", 2),
        ("", "there are no events", 2),
        ('{"type": "progress", "run_id": "r", "workflow": "w", "seq": 1, "step_id": "work", "snapshot": '
         '{"agent_progress": {"type": "iteration"}}}', "another version", 2),
    ],
)  # fmt: skip
async def test_what_are_no_events_is_said(play, tmp_path, text, says, code):
    await play(RULES, actor=Actor(answer()))
    (tmp_path / "events.ndjson").write_text(text)
    done = supervise(tmp_path, "--replay", str(tmp_path / "events.ndjson"))
    assert (done.returncode, "Traceback" in done.stderr) == (code, False)
    assert says in done.stderr


async def test_a_supervisor_that_cannot_be_read_is_told_apart_from_a_wrong_use(play, tmp_path):
    await play(None, actor=Actor(answer()))
    flow = tmp_path / "w.yaml"
    bad = "spec:\n  supervisor: { rules: [{ when: tool_repeat, then: pause }] }\n"
    flow.write_text(flow.read_text().replace("spec:\n", bad, 1))
    (tmp_path / "events.ndjson").write_text("")
    done = supervise(tmp_path, "w", "--replay", str(tmp_path / "events.ndjson"))
    assert done.returncode == 3
    assert "did you mean `tool_repeated`?" in done.stderr and "w.yaml:" in done.stderr


# --- the replay fires as the run did -----------------------------------------------------------

CALLS = st.sampled_from(['{"a": 1}', '{"a": 2}', "{", '{"a": true}'])
TURNS = st.lists(
    st.lists(st.tuples(st.sampled_from(["ping", "peek", "gone"]), CALLS), min_size=1, max_size=3), max_size=5
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(turns=TURNS, counts=st.tuples(st.integers(2, 4), st.integers(2, 4), st.integers(1, 6)), gt=st.floats(0, 1))
async def test_a_replay_fires_what_the_run_fired(play, turns, counts, gt):
    """With rules that only steer, the record of a supervised run is one of an unsupervised one."""
    rules = (
        f"rules:\n  - {{ when: tool_repeated, count: {counts[0]}, then: steer }}\n"
        f"  - {{ when: no_progress, count: {counts[1]}, then: steer }}\n"
        f"  - {{ when: iteration_reached, gte: {counts[2]}, then: steer }}\n"
        f"  - {{ when: budget_fraction, gt: {gt:.3f}, then: steer }}"
    )
    steps = agent("ping", "peek", more="max_iterations: 6\ntoken_budget: 100") + node("ping") + node("peek")
    said = [turn(*(tool_call(name, text, str(n)) for n, (name, text) in enumerate(calls))) for calls in turns]
    scene, lines = await recorded(play, rules, *said, answer(), steps=steps)
    events = [json.loads(line) for line in lines]
    told = [event["snapshot"]["agent_progress"] for event in events if event["type"] == "progress"]
    fired = sorted(item["rule"] for item in told if item["type"] == "supervisor")
    [loop] = replay(scene.app.plan("w"), read_events(lines, "events")).loops
    assert sorted(item.rule for item in loop.fired) == fired


async def test_a_stream_saved_from_a_server_reads_as_its_events(play, tmp_path):
    _, lines = await recorded(play, None, *PINGS, answer())
    await play(RULES, actor=Actor(answer()))
    stream = "".join(f"id: {n}\nevent: step\ndata: {line}\n\n: still here\n\n" for n, line in enumerate(lines, 1))
    plain, sent = (
        json.loads(supervise(tmp_path, "--replay", "-", "--json", stdin=text).stdout)
        for text in ("\n".join(lines), stream)
    )
    assert sent == plain
    assert sent["missing"] == {}


async def test_a_record_that_is_not_whole_is_told(play, tmp_path):
    _, lines = await recorded(play, None, *PINGS, answer())
    await play(RULES, actor=Actor(answer()))
    cut = [line for line in lines if json.loads(line)["seq"] not in (1, 2, 4)]
    done = supervise(tmp_path, "--replay", "-", stdin="\n".join(cut))
    assert done.returncode == 0
    assert "3 events are missing" in done.stderr
    assert list(
        json.loads(supervise(tmp_path, "--replay", "-", "--json", stdin="\n".join(cut)).stdout)["missing"].values()
    ) == [3]


def test_no_events_at_all_are_a_wrong_use(tmp_path):
    done = supervise(tmp_path, "--replay", "-", stdin=": nothing came\n\n")
    assert (done.returncode, "there are no events" in done.stderr) == (2, True)
