"""Servers that die, hang, chatter and do not want to go: cases M-1 and M-2, with their neighbours."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import time

import pytest
from processes import none_left, processes


async def test_exit_inside_a_call(calls):
    """Case M-2 (a) and (c)."""
    calls.server(env={"TOKEN": "s3cr3t-4"})
    began = time.monotonic()
    done = await calls("die", {"code": 7}, timeout=300)
    assert time.monotonic() - began < 5
    assert (done.signals, done.error_type) == (["error"], "connection")
    for word in ("'faults'", "'die'", "code 7", "fatal: the token *** is refused"):
        assert word in done.error
    assert "s3cr3t" not in done.error
    app = calls.bench.app
    again = await app.run("w")
    assert again.path[-1].signal == "error"


async def test_a_call_after_a_death_gets_a_fresh_server(calls):
    calls.server()
    steps = [
        {"id": "first", "kind": "MCP", "mcp": {"server": "faults", "tool": "pid"}},
        {"id": "end", "kind": "MCP", "mcp": {"server": "faults", "tool": "die"}, "routes": {"error": "again"}},
        {"id": "again", "kind": "MCP", "mcp": {"server": "faults", "tool": "pid"}},
    ]
    done = await calls.bench.run(*steps)
    assert done.signals == ["default", "error", "default"], done.error
    assert done.context["first_result"]["pid"] != done.context["again_result"]["pid"]


async def test_a_server_killed_between_calls_is_started_again(calls):
    first = await calls.value("pid")
    os.kill(first["pid"], signal.SIGKILL)
    await asyncio.sleep(0.7)
    done = await calls.bench.run()
    assert done.signals == ["default"], done.error
    assert done.context["call_result"]["pid"] != first["pid"]


async def test_a_server_killed_a_moment_before_a_call(calls):
    first = await calls.value("pid")
    os.kill(first["pid"], signal.SIGKILL)
    began = time.monotonic()
    done = await calls.bench.run()  # it may or may not have been noticed
    assert time.monotonic() - began < 5
    assert done.signals in (["default"], ["error"])


async def test_an_answer_just_before_the_end_counts(calls):
    for _ in range(5):
        assert await calls.value("last_words") == "just in time"


async def test_banner_and_stray_lines_are_borne_and_told_once(calls, caplog):
    """Case M-2 (b)."""
    calls.server("--banner")
    with caplog.at_level(logging.WARNING):
        assert await calls.value("stray") == "fine"
        assert (await calls.bench.run()).context["call_result"] == "fine"
    told = [record.getMessage() for record in caplog.records if "stray" in record.getMessage()]
    assert len(told) == 1
    assert "faults" in told[0] and "Welcome" in told[0]
    assert len(caplog.records) == 1


async def test_a_server_that_does_not_start_is_told_with_its_reason(calls):
    calls.server("--exit-at-start", "3")
    began = time.monotonic()
    done = await calls("echo")
    assert time.monotonic() - began < 5
    assert (done.signals, done.error_type) == (["error"], "connection")
    assert "code 3" in done.error and "cannot start: no configuration" in done.error


async def test_a_server_that_never_starts_is_tried_less_and_less(calls):
    calls.server("--exit-at-start", "3")
    await calls("echo")
    began = time.monotonic()
    errors = []
    for _ in range(8):
        errors.append((await calls.bench.run()).error)
    assert time.monotonic() - began < 8
    assert "failed" in errors[-1] and "times in a row" in errors[-1] and "code 3" in errors[-1]


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"command": "no-such-program-of-tuvl"}, "no program 'no-such-program-of-tuvl'"),
        ({"command": "./plain_file"}, "may not be executed"),
        ({"cwd": "nowhere"}, "folder"),
    ],
)
async def test_a_program_that_cannot_be_started(calls, spec, words):
    import sys

    calls.bench.write("plain_file", "no program")
    calls.document("faults", **{"transport": "stdio", "command": sys.executable, **spec})
    done = await calls("echo")
    assert (done.signals, done.error_type) == (["error"], "connection")
    assert words in done.error


async def test_time_passes_inside_a_call(calls):
    began = time.monotonic()
    done = await calls("sleep", {"seconds": 60}, timeout=0.5)
    assert time.monotonic() - began < 4
    assert (done.signals, done.error_type) == (["error"], "timeout")
    assert "no answer in time (mcp.timeout: 0.5 s)" in done.error


async def test_time_passes_while_connecting_and_the_next_call_finds_it_open(calls):
    calls.server("--slow", "1.2")
    began = time.monotonic()
    done = await calls("echo", {"text": "a"}, timeout=0.3)
    assert time.monotonic() - began < 2
    assert (done.signals, done.error_type) == (["error"], "timeout")
    await asyncio.sleep(1.5)
    app = calls.bench.app
    assert (await app.run("w")).path[-1].signal == "default"


async def test_a_server_that_says_nothing_is_given_up(calls):
    calls.server("--mute", timeout=0.5)
    done = await calls("echo", {"text": "a"})
    assert (done.signals, done.error_type) == (["error"], "timeout")
    assert calls.all_gone()


async def test_a_server_that_closes_its_output_but_lives(calls):
    began = time.monotonic()
    done = await calls("mute_pipe", timeout=300)
    assert time.monotonic() - began < 5
    assert (done.signals, done.error_type) == (["error"], "connection")
    assert "closed its output" in done.error


@pytest.mark.parametrize("flags", [["--stubborn"], ["--fork"], ["--stubborn", "--fork"], ["--mute", "--stubborn"]])
async def test_closing_leaves_nothing(calls, flags):
    calls.server(*flags, timeout=1)
    await calls("pid", timeout=1)
    children = processes("sleep", "977")
    began = time.monotonic()
    await calls.bench.close()
    assert time.monotonic() - began < 6
    assert calls.all_gone()
    if "--fork" in flags:
        assert children
        assert none_left("sleep", "977")


async def test_closing_in_any_order_with_calls_under_way(calls, caplog):
    """Case M-1."""
    calls.server("--mark-a", name="a")
    calls.server("--stubborn", name="b")
    slow = {"tool": "sleep", "arguments": {"seconds": 60}}
    steps = [
        {"id": "one", "kind": "MCP", "mcp": {"server": "a", "tool": "pid"}},
        {"id": "two", "kind": "MCP", "mcp": {"server": "b", **slow}},
    ]
    calls.bench.workflow(*steps)
    app = await calls.bench.open()
    handles = [await app.start("w") for _ in range(3)]
    await asyncio.sleep(1)
    handles[0].cancel("enough")
    result = await handles[0].wait()
    assert result.status == "cancelled"
    await calls.bench.close()
    assert all([(await handle.wait()).status == "cancelled" for handle in handles])
    gc.collect()
    await asyncio.sleep(0)
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


async def test_cancelling_a_run_leaves_the_session_to_the_others(calls):
    first = await calls.value("pid")
    calls.bench.workflow({"id": "call", "kind": "MCP", "mcp": {"server": "faults", "tool": "pid"}}, name="other")
    handle = await calls.bench.app.start("w")
    handle.cancel("at once")
    await handle.wait()
    assert (await calls.bench.run()).context["call_result"] == first


async def test_cancelling_while_connecting(calls):
    calls.server("--slow", "30")
    calls.bench.workflow(calls.step("echo"))
    app = await calls.bench.open()
    handle = await app.start("w")
    await asyncio.sleep(0.3)
    handle.cancel("enough")
    assert (await handle.wait()).status == "cancelled"
    began = time.monotonic()
    await calls.bench.close()
    assert time.monotonic() - began < 5


async def test_a_hundred_calls_at_once_share_one_server(calls):
    calls.server()
    calls.bench.workflow(calls.step("echo", {"text": "{{ text }}"}))
    app = await calls.bench.open()
    results = await asyncio.gather(*(app.run("w", {"text": str(n)}) for n in range(100)))
    assert [item.context["call_result"]["got"]["text"] for item in results] == [str(n) for n in range(100)]
    assert len(calls.alive()) == 1


async def test_a_death_ends_every_call_under_way(calls):
    calls.server()
    calls.bench.workflow(calls.step("sleep", {"seconds": 60}, timeout=300))
    app = await calls.bench.open()
    handles = [await app.start("w") for _ in range(10)]
    await asyncio.sleep(0.7)
    [pid] = calls.alive()
    began = time.monotonic()
    os.kill(pid, signal.SIGKILL)
    results = [await handle.wait() for handle in handles]
    assert time.monotonic() - began < 3
    assert {item.path[-1].signal for item in results} == {"error"}
    assert "signal 9" in handles[0].run.context["_last_error"]


async def test_the_environment_is_a_short_list(calls, monkeypatch):
    monkeypatch.setenv("TUVL_OF_OURS", "s3cr3t-9")
    monkeypatch.setenv("LANG", "C.UTF-8")
    calls.server(env={"DECLARED": "yes it is"})
    got = await calls.value("env")
    from tuvl_kinds_mcp.servers import SAFE_ENVIRONMENT

    assert got["DECLARED"] == "yes it is"
    assert got["LANG"] == "C.UTF-8"
    assert got["PATH"] == os.environ["PATH"]
    assert set(got) <= {"DECLARED", *SAFE_ENVIRONMENT, "LC_CTYPE"}


async def test_secrets_stay_out_of_everything(calls, caplog):
    """Case O-2: whatever level is logged."""
    calls.server("--banner", env={"TOKEN": "s3cr3t-4"})
    calls.bench.workflow(calls.step("die"))
    app = await calls.bench.open()
    with caplog.at_level(logging.DEBUG):
        events = [event.to_dict() async for event in app.stream("w")]
    said = repr(events) + "".join(record.getMessage() + str(record.exc_text) for record in caplog.records)
    assert "s3cr3t" not in said
    assert "faults" in said and "code 1" in said
    plan = app.plan("w")
    assert "s3cr3t" not in repr(plan.steps["call"].config) + repr(plan.steps["call"].prepared)
    assert "s3cr3t" not in repr(app.project.definitions("MCPServer")["faults"].to_data())


async def test_closing_twice_while_a_stubborn_server_goes(calls):
    """The second end comes while the first is still waiting for the server."""
    calls.server("--mute", "--stubborn", "--fork", timeout=0.4)
    calls.bench.workflow(calls.step("echo", timeout=0.2))
    app = await calls.bench.open()
    await app.run("w")
    await asyncio.sleep(0.6)
    await calls.bench.close()
    gc.collect()
    assert calls.all_gone()
    assert none_left("sleep", "977")


async def test_a_line_beyond_every_measure(calls, monkeypatch, caplog):
    monkeypatch.setattr("tuvl_kinds_mcp.stdio._MAX_LINE", 100_000)
    began = time.monotonic()
    done = await calls("big", {"n": 3_000_000})
    assert time.monotonic() - began < 5
    assert (done.signals, done.error_type) == (["error"], "connection")
    assert any("100000 bytes" in record.getMessage() for record in caplog.records)


async def test_the_exit_code_is_told_whichever_pipe_breaks_first(calls):
    calls.server("--exit-at-start", "3")
    for _ in range(5):
        done = await calls("echo")
        assert "code 3" in done.error
        await calls.bench.close()
