"""One run, followed by curl, by a client over HTTP and by one over gRPC at once: the same events in the same order."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from served import frames

from tuvl_grpc.client import connect as grpc
from tuvl_server.client import connect as http

TUVL = str(Path(sys.executable).with_name("tuvl"))
WORKFLOW = """
kind: Workflow
metadata: { name: ticks }
spec: { output: odd, steps: [{ id: a, kind: Functional, runner: tick }, { id: b, kind: Functional, runner: tick }] }
"""
NODES = """
import asyncio
from tuvl_kinds_functional import node


@node("tick")
async def tick(ctx):
    await asyncio.sleep(0.3)
    return {"odd": "a\\nb\\r\\nc\\rd\\u2028e\\u0085f\\x0bg\\nevent: x\\n", "n": ctx.get("n", 0) + 1}
"""


@pytest.fixture
def server(tmp_path):
    """The real `tuvl serve` with both protocols; gives its URL and its address for gRPC."""
    (tmp_path / "nodes").mkdir()
    (tmp_path / "nodes" / "n.py").write_text(NODES)
    (tmp_path / "w.yaml").write_text(WORKFLOW)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "TUVL_GRPC_PORT": str(port)}
    log = tmp_path / "log.txt"
    with log.open("w") as out:
        command = [TUVL, "serve", "-C", str(tmp_path), "--port", "0", "--dev"]
        process = subprocess.Popen(command, env=environment, stdout=out, stderr=out)
    try:
        due = time.monotonic() + 60
        while not (found := re.search(r"serving on (http://\S+)", log.read_text())):
            assert process.poll() is None and time.monotonic() < due, log.read_text()
            time.sleep(0.05)
        yield found[1], f"127.0.0.1:{port}"
    finally:
        process.terminate()
        assert process.wait(30) == 0, log.read_text()


async def by_curl(url, id):
    program = shutil.which("curl")
    assert program is not None
    process = await asyncio.create_subprocess_exec(
        program, "-sN", f"{url}/api/runs/{id}/events", stdout=asyncio.subprocess.PIPE
    )
    out, _ = await process.communicate()
    return [frame["data"] for frame in frames(out.decode())]


async def by(client, id):
    async with client:
        return [event.json async for event in client.follow(id)]


async def test_the_three_see_the_same(server):
    url, target = server
    async with http(url, None) as client:
        async for event in client.start("ticks", {}, detach=True):
            id = event.to_dict()["run_id"]
            break
    seen = await asyncio.gather(by_curl(url, id), by(http(url, None), id), by(grpc(target, None), id))
    assert seen[0] == seen[1] == seen[2]
    assert len(seen[0]) == 5
    assert '"status":"completed"' in seen[0][-1]
