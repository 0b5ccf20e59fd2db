"""What a call sends, and what becomes of its result."""

from __future__ import annotations

import json
import uuid
from datetime import UTC, datetime
from decimal import Decimal

import pytest

PIXEL = "iVBORw0KGgo="


async def test_arguments_keep_their_types_and_results_are_kept_by_name(calls):
    arguments = {"text": "{{ who }}!", "n": "{{ n }}", "deep": {"on": True, "list": ["{{ n }}"]}}
    response = {"output_key": "answer", "extract": [{"path": "got.deep.list.0", "as": "first"}]}
    done = await calls("echo", arguments, {"who": "Ada", "n": 3}, response=response)
    assert done.context["answer"] == {"got": {"text": "Ada!", "n": 3, "deep": {"on": True, "list": [3]}}}
    assert done.context["first"] == 3
    assert "call_result" not in done.context


async def test_values_are_sent_in_wire_form(calls):
    id = uuid.uuid4()
    context = {"id": id, "at": datetime(2026, 1, 2, tzinfo=UTC), "price": Decimal("10.10"), "tags": {"b", "a"}}
    got = await calls.value("echo", {name: f"{{{{ {name} }}}}" for name in context}, context=context)
    assert got["got"] == {"id": str(id), "at": "2026-01-02T00:00:00+00:00", "price": "10.10", "tags": ["a", "b"]}


async def test_a_null_from_a_template_is_left_out_and_a_written_one_is_sent(calls):
    got = await calls.value("echo", {"text": None, "n": "{{ n | default(none) }}", "mode": "{{ mode }}"},
                            context={"mode": None})  # fmt: skip
    assert got == {"got": {"text": None}}


async def test_no_arguments_send_none(calls):
    assert await calls.value("echo") == {"got": {}}


async def test_an_undefined_name_fails_before_anything_is_sent(calls):
    done = await calls("echo", {"text": "{{ order.id }}"})
    assert (done.signals, done.error_type) == (["error"], "undefined_name")
    assert "order.id" in done.error
    assert not calls.alive()


async def test_a_value_without_wire_form(calls):
    done = await calls("echo", {"text": "{{ thing }}"}, {"thing": object()})
    assert (done.signals, done.error_type) == (["error"], "bad_request")
    assert "mcp.arguments.text" in done.error


SAID = [
    ({"content": []}, None),
    ({"content": [{"type": "text", "text": "plain"}]}, "plain"),
    ({"content": [{"type": "text", "text": ' {"a": [1, 2.5, null]} '}]}, {"a": [1, 2.5, None]}),
    ({"content": [{"type": "text", "text": "NaN"}]}, "NaN"),
    ({"content": [{"type": "text", "text": "42"}]}, 42),
    ({"content": [{"type": "text", "text": "{broken"}]}, "{broken"),
    ({"content": [{"type": "text", "text": "x"}], "structuredContent": {"a": 1}}, {"a": 1}),
    ({"content": [{"type": "text", "text": "1"}, {"type": "text", "text": "two"}]}, [1, "two"]),
    ({"content": [{"type": "image", "data": PIXEL, "mimeType": "image/png"}]},
     {"type": "image", "mimeType": "image/png", "bytes": 8}),
    ({"content": [{"type": "audio", "data": PIXEL, "mimeType": "audio/wav"}]},
     {"type": "audio", "mimeType": "audio/wav", "bytes": 8}),
    ({"content": [{"type": "resource", "resource": {"uri": "file:///a", "mimeType": "image/png", "blob": PIXEL}}]},
     {"type": "resource", "uri": "file:///a", "mimeType": "image/png", "bytes": 8}),
    ({"content": [{"type": "resource", "resource": {"uri": "file:///a", "text": "hello"}}]},
     {"type": "resource", "uri": "file:///a", "text": "hello"}),
    ({"content": [{"type": "resource_link", "uri": "file:///b", "name": "b"}]},
     {"type": "resource_link", "uri": "file:///b", "name": "b"}),
    ({"content": [{"type": "text", "text": "{}"}, {"type": "image", "data": PIXEL, "mimeType": "image/png"}],
      "structuredContent": {"a": 1}},
     [{"a": 1}, {"type": "image", "mimeType": "image/png", "bytes": 8}]),
]  # fmt: skip


async def test_every_form_of_content(calls):
    calls.server()
    for number, (result, value) in enumerate(SAID):
        done = await calls("say", {"result": result})
        assert done.signals == ["default"], (number, done.error)
        assert done.context["call_result"] == value, number
        assert PIXEL not in json.dumps(done.result.to_dict())


async def test_failure_is_what_the_protocol_says(calls):
    """Case M-3."""
    failed = {"isError": True, "content": [{"type": "text", "text": "quota used up"}]}
    done = await calls("say", {"result": failed})
    assert (done.signals, done.error, done.error_type) == (["error"], "quota used up", "tool_error")
    assert "call_result" not in done.context
    fine = {"isError": False, "content": [{"type": "text", "text": "Error: is a common word"}]}
    assert await calls.value("say", {"result": fine}) == "Error: is a common word"
    mute = await calls("say", {"result": {"isError": True, "content": []}})
    assert "did not say why" in mute.error


async def test_a_failure_of_five_megabytes_is_told_in_part(calls):
    done = await calls("big", {"n": 5_000_000, "failed": True})
    assert done.signals == ["error"]
    assert len(done.error) < 25_000


async def test_an_answer_of_five_megabytes(calls):
    assert await calls.value("big", {"n": 5_000_000}) == "y" * 5_000_000


async def test_notifications_are_borne(calls):
    assert await calls.value("progress") == "done"


async def test_a_tool_that_is_not_there(calls):
    done = await calls("ecko")
    assert (done.signals, done.error_type) == (["error"], "unknown_tool")
    assert "did you mean `echo`?" in done.error
    assert "w.yaml:" in done.error
    assert "'faults'" in done.error


async def test_what_a_server_answers_instead_of_a_result(calls):
    done = await calls("refuse")
    assert (done.signals, done.error_type) == (["error"], "protocol_error")
    assert "-32601" in done.error and "no method tools/call" in done.error


async def test_a_server_that_wants_to_ask_somebody(calls):
    calls.server("--modern")
    done = await calls("ask")
    assert (done.signals, done.error_type) == (["error"], "input_required")
    assert "nobody to ask" in done.error and "'faults'" in done.error


async def test_a_server_of_the_newest_protocol(calls):
    calls.server("--modern")
    assert await calls.value("echo", {"text": "a"}) == {"got": {"text": "a"}}


async def test_an_extract_that_is_not_there_keeps_the_result(calls):
    done = await calls("echo", {"text": "a"}, response={"extract": [{"path": "got.nothing", "as": "x"}]})
    assert (done.signals, done.error_type) == (["error"], "bad_response")
    assert done.context["call_result"] == {"got": {"text": "a"}}


async def test_runs_share_one_session(calls):
    first = await calls.value("pid")
    again = await calls.bench.run()
    assert again.context["call_result"] == first
    assert len(calls.alive()) == 1
    assert first["cwd"] == str(calls.bench.root)


async def test_an_inline_server_and_an_equal_document_are_one(calls):
    import sys

    name = calls.server()
    args = [str(arg) for arg in (__import__("pathlib").Path(__file__).with_name("fault_server.py"),)]
    inline = {"transport": "stdio", "command": sys.executable, "args": [*args, f"--mark={calls.mark}"], "tool": "pid"}
    steps = [
        {"id": "a", "kind": "MCP", "mcp": {"server": name, "tool": "pid"}},
        {"id": "b", "kind": "MCP", "mcp": inline},
    ]
    done = await calls.bench.run(*steps)
    assert done.signals == ["default", "default"], done.error
    assert done.context["a_result"] == done.context["b_result"]


async def test_a_folder_of_its_own(calls):
    (calls.bench.root / "work").mkdir()
    calls.server(cwd="work")
    assert (await calls.value("pid"))["cwd"] == str(calls.bench.root / "work")


@pytest.mark.parametrize("value", ["yes", "0123", "1.10", "null"])
async def test_environment_values_are_their_text(calls, value):
    calls.server()
    calls.bench.write(
        "mcp/faults.yaml",
        (calls.bench.root / "mcp" / "faults.yaml")
        .read_text()
        .replace('"spec": {', '"spec": {"env": {"X": %s}, ' % value),
    )
    assert (await calls.value("env"))["X"] == value
