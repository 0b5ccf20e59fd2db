"""Secrets of a server's configuration are not in what it answers, and what is none stays."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tuvl_kinds_mcp.censor import secrets_in, without
from tuvl_kinds_mcp.sessions import Sessions

FAULTS = str(Path(__file__).with_name("fault_server.py"))
NOTHING_SECRET = [
    *("srv.py", "--verbose", "5", "-y", "@scope/server-filesystem@1.2.3", "ghcr.io/x/y:1.2.3", "python3.11"),
    *("/home/me/docs2024x/a", "./build123/x", "C:\\data\\x123456", "--model=gpt-4o", "claude-3-5-sonnet-20241022"),
    *("localhost:8080", "http://localhost:8080/mcp", "--since=2026-01-02T00:00:00", "--log-level=debug", "FOO"),
    *("--key-file", "/x/y/z123456", "key.pem", "--sort-key=created_at", "--port", "8080", "--token", "none"),
    *("postgres16", "db1.internal:5432", "a word and another", "user@example.org", "production", "Europe/Berlin"),
]
SECRET = [
    (["--token=ARGSECRET99"], {"ARGSECRET99"}),
    (["ARGSECRET99"], {"ARGSECRET99"}),
    (["--token", "hunterhunter", "plainplain"], {"hunterhunter"}),
    (["-e", "API_KEY=sesame"], {"sesame"}),
    (["-pSECRET123"], {"pSECRET123", "SECRET123"}),
    (["--header", "Authorization: Bearer abcdef"], {"abcdef"}),
    (["--db=postgres://u:p4ssword@h/db"], {"p4ssword"}),
    (["--url=http://h/mcp?token=sesame&tenant=acme"], {"sesame"}),
    (['--config={"password": "x1y2z3w4v5"}'], {"x1y2z3w4v5"}),
    (["550e8400-e29b-41d4-a716-446655440000"], {"550e8400-e29b-41d4-a716-446655440000"}),
]


def test_what_is_no_secret():
    assert secrets_in(NOTHING_SECRET, [], "", []) == ()
    named = [("MODE", "production"), ("DATA", "/srv/abc123def"), ("KEY", "none"), ("LANG", "en_US.UTF-8"), ("N", "5")]
    assert secrets_in([], named, "http://localhost:8000/mcp/v2?tenant=acme", [("Accept", "application/json")]) == ()


@pytest.mark.parametrize(("args", "found"), SECRET)
def test_what_is_one(args, found):
    assert set(secrets_in(args, [], "", [])) == found


def test_secrets_of_a_remote_server():
    url = "http://u:pa%24%24word@h/mcp/t0k3n0fm1ne/sse?token=sesame&tenant=acme"
    found = secrets_in([], [], url, [("Authorization", "Bearer s3cr3t-1"), ("X-Api-Key", "open sesame")])
    assert set(found) == {"pa%24%24word", "pa$$word", "t0k3n0fm1ne", "sesame", "s3cr3t-1", "open sesame"}


def test_every_place_and_form():
    secrets = ("ENV\"SECRET'77", "12345678", "sesame")
    value = {
        "ENV\"SECRET'77": [1, "<ENV\"SECRET'77>"],
        "***": 12345678,
        "escaped": json.dumps("ENV\"SECRET'77"),
        "quoted": "?q=ENV%22SECRET%2777",
        "n": [123456789, 1.5, True, None],
        "word": "sesame sesames",
    }
    assert without(value, secrets) == {
        "***": [1, "<***>"],
        "*** (2)": "***",
        "escaped": '"***"',
        "quoted": "?q=***",
        "n": [123456789, 1.5, True, None],
        "word": "*** sesames",
    }


@settings(max_examples=30)
@given(
    st.recursive(
        st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_without_secrets_a_value_stays(value):
    assert without(value, ()) == value
    assert without(value, ("surely-not-in-it-1234",)) == value


ANSWERS = [
    {"content": [{"type": "text", "text": "it is ENVSECRET77 and ARGSECRET99"}]},
    {"content": [{"type": "text", "text": '{"ENVSECRET77": ["--token=ARGSECRET99"]}'}]},
    {"content": [], "structuredContent": {"ENVSECRET77": 1, "ARGSECRET99": {"deep": ["ENVSECRET77"]}}},
    {"content": [{"type": "resource", "resource": {"uri": "file:///ARGSECRET99", "text": "ENVSECRET77"}}]},
    {"content": [{"type": "text", "text": "ENVSECRET77, ARGSECRET99"}], "isError": True},
]


@pytest.mark.parametrize("answer", ANSWERS)
async def test_results_are_without_secrets(calls, answer):
    calls.server("--token=ARGSECRET99", env={"KEY": "ENVSECRET77"})
    done = await calls("say", {"result": answer})
    # What a workflow itself writes is its own matter: only what came back is looked at.
    back = json.dumps([done.context.get("call_result"), done.context.get("_last_error")])
    assert "SECRET" not in back and "***" in back


async def test_ordinary_results_stay(calls):
    calls.server("--verbose", "5", env={"MODE": "production", "DATA": "/srv/data"})
    said = {"text": "5 files of /srv/data in fault_server.py --verbose, for production"}
    assert await calls.value("echo", said) == {"got": said}


async def test_descriptions_are_without_secrets(calls):
    calls.document(
        "faults",
        transport="stdio",
        command=sys.executable,
        args=[FAULTS, f"--mark={calls.mark}", "--describe=ARGSECRET99"],
    )
    calls.bench.workflow(calls.step("say"))
    app = await calls.bench.open()
    sessions = Sessions()
    try:
        tools = await sessions.tools(app.plan("w").steps["call"].prepared.server, 20)
    finally:
        await sessions.close()
    assert tools["say"].description == "Say ***."
