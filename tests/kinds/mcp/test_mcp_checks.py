"""What `tuvl validate` says of MCP steps and servers; each code firing and not firing."""

from __future__ import annotations

import json

import pytest

GOOD = {"transport": "stdio", "command": "python"}


def step(id="call", response=None, **mcp):
    found = {"id": id, "kind": "MCP", "mcp": mcp, "routes": {"default": "END", "error": "END"}}
    return {**found, "response": response} if response else found


def findings(bench, *steps, code, **servers):
    for name, spec in servers.items():
        body = {"kind": "MCPServer", "metadata": {"name": name}, "spec": spec}
        bench.write(f"mcp/{name}.yaml", json.dumps(body))
    return [item for item in bench.check(*steps) if item.code.startswith(code)]


def test_a_good_step_has_no_findings(bench):
    steps = (
        step(server="clock", tool="now", arguments={"zone": "{{ zone }}"}),
        step("b", transport="http", url="https://example.test/mcp?key=x", headers={"X-Key": "a"}, tool="t"),
        step("c", transport="sse", url="http://localhost:1/sse", tool="t"),
    )
    steps[0]["routes"]["default"], steps[1]["routes"]["default"] = "b", "c"
    found = findings(bench, *steps, code="TUVL-", clock=GOOD)
    assert {item.code for item in found} <= {"TUVL-W022"}  # an open `spec.input` cannot promise `zone`


def test_an_unknown_server(bench):
    [found] = findings(bench, step(server="clok", tool="now"), code="TUVL-T001", clock=GOOD)
    assert (found.severity, found.klass) == ("error", "structure")
    assert "did you mean `clock`?" in found.hint
    assert found.location.path == "w.yaml"
    assert '"clok"' in (bench.root / "w.yaml").read_text().splitlines()[found.location.line - 1]


def test_no_server_at_all_lists_none(bench):
    [found] = findings(bench, step(server="x", tool="now"), code="TUVL-T001")
    assert "none" in found.hint


@pytest.mark.parametrize(
    ("spec", "where", "words"),
    [
        ({"transport": "stdio"}, "transport", "needs `command`"),
        ({"transport": "http"}, "transport", "needs `url`"),
        ({"transport": "sse", "command": "x", "url": "http://a/"}, "command", "means nothing"),
        ({**GOOD, "headers": {"a": "b"}}, "headers", "means nothing"),
        ({"transport": "http", "url": "ftp://a/b"}, "url", "https://host/path"),
        ({"transport": "http", "url": "http://a:x/"}, "url", "cannot be read"),
        ({"transport": "http", "url": "http://a/", "headers": {"a b": "c"}}, "a b", "no header name"),
        ({"transport": "http", "url": "http://a/", "headers": {"a": "b\nc"}}, "a", "line break"),
        ({**GOOD, "env": {"A=B": "c"}}, "A=B", "no environment variable"),
    ],
)
def test_keys_that_do_not_fit_the_transport(bench, spec, where, words):
    [found] = findings(bench, step(server="s", tool="t"), code="TUVL-T002", s=spec)
    assert words in found.message
    assert found.location.path == "mcp/s.yaml"
    [found] = findings(bench, step(tool="t", **spec), code="TUVL-T002")
    assert words in found.message and found.location.path == "w.yaml"


def test_a_credential_in_a_url_does_not_show(bench):
    found = findings(bench, step(server="s", tool="t"), code="TUVL-", s={"transport": "http", "url": "s3cr3t://s3cr3t"})
    assert found
    assert "s3cr3t" not in "".join(map(str, found))


def test_where_the_server_is_said_twice_or_not_at_all(bench):
    [found] = findings(bench, step(tool="t"), code="TUVL-T003")
    assert "does not say" in found.message
    [found] = findings(bench, step(server="clock", command="x", tool="t"), code="TUVL-T003", clock=GOOD)
    assert "`command`" in found.message


@pytest.mark.parametrize(
    ("response", "words"),
    [
        ({"output_key": "_x"}, "belong to the engine"),
        ({"output_key": " "}, "has a name"),
        ({"output_key": "x", "extract": [{"path": "a", "as": "x"}]}, "written twice"),
        ({"extract": [{"path": "{{ a }}", "as": "x"}]}, "braces"),
    ],
)
def test_outputs(bench, response, words):
    [found] = findings(bench, step(server="clock", tool="t", response=response), code="TUVL-T004", clock=GOOD)
    assert words in found.message


SCHEMA = {"type": "object", "properties": {"zone": {"type": "string"}, "n": {}}, "required": ["zone"]}


def lock(bench, **tools):
    found = {name: {"name": name, "description": "", "schema": schema} for name, schema in tools.items()}
    bench.write("tuvl.lock", json.dumps({"version": 1, "mcp": {"servers": {"clock": {"tools": found}}}}))


def test_a_tool_that_the_lock_file_does_not_hold(bench):
    lock(bench, now=SCHEMA)
    [found] = findings(bench, step(server="clock", tool="nw", arguments={}), code="TUVL-T005", clock=GOOD)
    assert (found.severity, found.hint) == ("warning", "did you mean `now`?")
    given = {"zone": "x"}
    assert not findings(bench, step(server="clock", tool="now", arguments=given), code="TUVL-T", clock=GOOD)
    assert not findings(bench, step(server="other", tool="x"), code="TUVL-T", other=GOOD)


@pytest.mark.parametrize("text", ["{", "[]", '{"mcp": []}', '{"mcp": {"servers": {"clock": {"tools": 3}}}}'])
def test_a_lock_file_that_cannot_be_read(bench, text):
    bench.write("tuvl.lock", text)
    [found] = findings(bench, step(server="clock", tool="now"), code="TUVL-T006", clock=GOOD)
    assert found.klass == "structure"


def test_arguments_beside_the_locked_schema(bench):
    lock(bench, now=SCHEMA, open={**SCHEMA, "additionalProperties": True})
    found = findings(bench, step(server="clock", tool="now", arguments={"zon": "a"}), code="TUVL-T", clock=GOOD)
    told = {(item.code, item.severity): (item.message, item.hint) for item in found}
    assert told == {
        ("TUVL-T007", "warning"): ("the tool 'now' takes no argument 'zon'", "did you mean `zone`?"),
        ("TUVL-T008", "error"): (
            "the tool 'now' needs the argument 'zone'",
            "add `zone` to `arguments`; if the server has changed, run `tuvl lock`",
        ),
    }
    given = {"zone": "a", "more": 1}
    assert not findings(bench, step(server="clock", tool="open", arguments=given), code="TUVL-T", clock=GOOD)


def test_on_the_spine_nobody_gives_arguments(bench):
    lock(bench, now=SCHEMA, ping={"type": "object"})
    [found] = findings(bench, step(server="clock", tool="now"), code="TUVL-T", clock=GOOD)
    assert (found.code, found.klass) == ("TUVL-T008", "flow")
    assert not findings(bench, step(server="clock", tool="ping"), code="TUVL-T", clock=GOOD)


def test_unknown_keys_and_wrong_types_are_located(bench):
    found = findings(bench, step(server="clock", tol="now"), code="TUVL-S", clock=GOOD)
    assert any("tool" in str(item.hint) or "tool" in item.message for item in found)


def test_validate_starts_nothing(bench, tmp_path):
    touch = {"transport": "stdio", "command": "touch", "args": [str(tmp_path / "started")]}
    findings(bench, step(server="s", tool="t"), code="TUVL-", s=touch)
    assert not (tmp_path / "started").exists()
