"""Servers that nobody here wrote, over stdio, streamable HTTP and server-sent events."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import time

import pytest
from processes import none_left, processes
from services import PROGRAMS


def call(id, tool, arguments=None, **more):
    return {"id": id, "kind": "MCP", "mcp": {"server": "s", "tool": tool, "arguments": arguments or {}, **more}}


@pytest.fixture
def stdio(calls):
    """Write the server `s`: a program of others."""

    def write(name, *args, **more):
        calls.document("s", transport="stdio", command=str(PROGRAMS[name]), args=list(args), **more)
        return calls.bench

    return write


@pytest.mark.service("mcp-server-time")
async def test_time(stdio):
    bench = stdio("mcp-server-time")
    done = await bench.run(
        call("good", "get_current_time", {"timezone": "Etc/UTC"}),
        {**call("bad", "get_current_time", {"timezone": "Mars/Crater"}), "routes": {"error": "END"}},
    )
    assert done.signals == ["default", "error"]
    assert done.context["good_result"]["timezone"] == "Etc/UTC"
    assert "Mars/Crater" in done.error and done.error_type == "tool_error"


@pytest.mark.service("mcp-server-git")
async def test_git(stdio, tmp_path):
    repo = tmp_path / "repo"
    subprocess.run(["git", "init", "--quiet", "-b", "trunk", str(repo)], check=True)
    (repo / "a.txt").write_text("hello\n")
    bench = stdio("mcp-server-git", "--repository", str(repo),
                  env={"GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.test",
                       "GIT_COMMITTER_NAME": "Ada", "GIT_COMMITTER_EMAIL": "ada@example.test"})  # fmt: skip
    here = {"repo_path": str(repo)}
    done = await bench.run(
        call("add", "git_add", {**here, "files": ["a.txt"]}),
        call("commit", "git_commit", {**here, "message": "{{ message }}"}),
        call("log", "git_log", {**here, "max_count": 1}),
        context={"message": "Say hello"},
    )
    assert done.signals == ["default"] * 3, done.error
    said = subprocess.run(["git", "-C", str(repo), "log", "--format=%s"], capture_output=True, text=True).stdout
    assert said == "Say hello\n"
    assert "Say hello" in str(done.context["log_result"])


@pytest.mark.service("mcp-server-sqlite")
async def test_sqlite_on_the_first_sdk(stdio, tmp_path):
    bench = stdio("mcp-server-sqlite", "--db-path", str(tmp_path / "x.db"))
    done = await bench.run(
        call("make", "create_table", {"query": "CREATE TABLE t (n INTEGER)"}),
        call("fill", "write_query", {"query": "INSERT INTO t VALUES ({{ n }})"}),
        call("look", "read_query", {"query": "SELECT n FROM t"}),
        context={"n": 7},
    )
    assert done.signals == ["default"] * 3, done.error
    assert "7" in str(done.context["look_result"])


@pytest.mark.service("server-filesystem")
async def test_filesystem(stdio, tmp_path):
    (tmp_path / "shared").mkdir()
    bench = stdio("server-filesystem", str(tmp_path / "shared"))
    path = str(tmp_path / "shared" / "note.txt")
    done = await bench.run(
        call("write", "write_file", {"path": path, "content": "{{ text }}"}),
        call("read", "read_text_file", {"path": path}),
        {**call("out", "read_text_file", {"path": "/etc/passwd"}), "routes": {"error": "END"}},
        context={"text": "grüße\n"},
    )
    assert done.signals == ["default", "default", "error"], done.error
    assert "grüße" in str(done.context["read_result"])
    assert done.error_type == "tool_error" and "denied" in done.error.lower()


@pytest.mark.service("server-memory")
async def test_memory(stdio, tmp_path):
    bench = stdio("server-memory", env={"MEMORY_FILE_PATH": str(tmp_path / "m.json")})
    entity = {"name": "{{ who }}", "entityType": "person", "observations": ["wrote a program"]}
    done = await bench.run(
        call("put", "create_entities", {"entities": [entity]}),
        {**call("get", "read_graph"), "response": {"extract": [{"path": "entities.0.name", "as": "name"}]}},
        context={"who": "Ada"},
    )
    assert done.signals == ["default", "default"], done.error
    assert done.context["name"] == "Ada"


EVERYTHING = (
    call("echo", "echo", {"message": "{{ text }}"}),
    call("sum", "get-sum", {"a": "{{ a }}", "b": 4}),
    call("shape", "get-structured-content", {"location": "New York"}),
    call("image", "get-tiny-image"),
    call("links", "get-resource-links", {"count": 2}),
    call("inline", "get-resource-reference", {"resourceType": "Text", "resourceId": 1}),
    call("slow", "trigger-long-running-operation", {"duration": 0.5, "steps": 2}),
)


async def check_everything(bench):
    done = await bench.run(*EVERYTHING, context={"text": "hi there", "a": 3})
    assert done.signals == ["default"] * len(EVERYTHING), done.error
    found = done.context
    assert found["echo_result"] == "Echo: hi there"
    assert "7" in str(found["sum_result"])
    assert set(found["shape_result"]) == {"temperature", "conditions", "humidity"}
    [image] = [part for part in found["image_result"] if isinstance(part, dict)]
    assert image["type"] == "image" and image["mimeType"] == "image/png" and image["bytes"] > 100
    links = [part for part in found["links_result"] if isinstance(part, dict)]
    assert [part["type"] for part in links] == ["resource_link"] * 2
    assert any(isinstance(part, dict) and part["type"] == "resource" for part in found["inline_result"])
    return done


@pytest.mark.service("server-everything")
async def test_everything_over_stdio(stdio, monkeypatch):
    monkeypatch.setenv("TUVL_OF_OURS", "not yours")
    bench = stdio("server-everything")
    await check_everything(bench)
    done = await bench.run(call("env", "get-env"))
    assert "TUVL_OF_OURS" not in done.context["env_result"]


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Remote:
    """A server on a port, which can be stopped and started."""

    def __init__(self, transport, port):
        self.transport, self.port, self.process = transport, port, None
        self.url = f"http://127.0.0.1:{port}/{'mcp' if transport == 'streamableHttp' else 'sse'}"

    def start(self):
        env = {**os.environ, "PORT": str(self.port)}
        command = [str(PROGRAMS["server-everything"]), self.transport]
        quiet = subprocess.DEVNULL
        self.process = subprocess.Popen(command, env=env, stdout=quiet, stderr=quiet)
        due = time.monotonic() + 20
        while time.monotonic() < due:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.05)
        raise AssertionError("it does not start")

    def kill(self):
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
            self.process = None


@pytest.fixture(params=["streamableHttp", "sse"])
def remote(request, calls):
    """The server `s`, over HTTP."""
    made = Remote(request.param, free_port())
    made.start()
    calls.document("s", transport="http" if request.param == "streamableHttp" else "sse", url=made.url)
    yield made
    made.kill()


@pytest.mark.service("server-everything")
async def test_everything_over_http(remote, calls):
    await check_everything(calls.bench)


@pytest.mark.service("server-everything")
async def test_a_remote_server_killed_inside_a_call_and_started_again(remote, calls):
    slow = call("slow", "trigger-long-running-operation", {"duration": 60, "steps": 2}, timeout=300)
    bench = calls.bench
    bench.workflow({**slow, "routes": {"error": "END"}})
    app = await bench.open()
    handle = await app.start("w")
    await asyncio.sleep(0.6)
    began = time.monotonic()
    remote.kill()
    result = await handle.wait()
    assert time.monotonic() - began < 8
    assert result.path[-1].signal == "error"
    error = handle.run.context["_last_error"]
    assert handle.run.context["_last_error_type"] == "connection", error
    assert "'s'" in error
    # While it is away: a clear error at once.
    began = time.monotonic()
    handle = await app.start("w")
    await handle.wait()
    assert time.monotonic() - began < 8
    assert handle.run.context["_last_error_type"] == "connection", handle.run.context["_last_error"]
    remote.start()
    await asyncio.sleep(1)
    handle = await app.start("w")
    await asyncio.sleep(1)
    assert not handle.task.done(), handle.run.context.get("_last_error")
    handle.cancel()
    assert (await handle.wait()).status == "cancelled"


@pytest.mark.service("server-everything")
async def test_a_remote_server_that_was_started_anew_between_calls(remote, calls):
    """It does not know the session any more: the call opens another."""
    done = await calls.bench.run(EVERYTHING[0], context={"text": "a", "a": 1})
    assert done.signals == ["default"], done.error
    remote.kill()
    remote.start()
    for _ in range(2):
        handle = await calls.bench.app.start("w", {"text": "b"})
        await handle.wait()
    assert handle.run.context.get("echo_result") == "Echo: b", handle.run.context.get("_last_error")


async def test_nobody_listens(calls):
    calls.document("s", transport="http", url=f"http://127.0.0.1:{free_port()}/mcp?token=s3cr3t")
    began = time.monotonic()
    done = await calls.bench.run({**call("x", "y"), "routes": {"error": "END"}})
    assert time.monotonic() - began < 5
    assert (done.signals, done.error_type) == (["error"], "connection")
    assert "s3cr3t" not in done.error and "'s'" in done.error


@pytest.mark.service("server-everything")
async def test_no_program_of_others_is_left(stdio):
    await stdio("server-everything").run(EVERYTHING[0], context={"text": "a"})
    assert processes("mcp-server-everything")
    await stdio("server-everything").close()
    assert none_left("mcp-server-everything", "stdio") or not processes("mcp-server-everything")
