"""The real `tuvl serve`: what it refuses, what it says, how it ends, and its workers."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from processes import processes

from tuvl_server.hosts import bind

TUVL = str(Path(sys.executable).with_name("tuvl"))
WORKFLOWS = """
kind: Workflow
metadata: { name: nap }
spec: { output: pid, steps: [{ id: n, kind: Functional, runner: nap }] }
---
kind: Workflow
metadata: { name: who }
spec: { output: pid, steps: [{ id: n, kind: Functional, runner: who }] }
"""
NODES = """
import asyncio, os
from tuvl_kinds_functional import node


@node("nap")
async def nap(ctx):
    await asyncio.sleep(float(ctx.get("s", 600)))
    return {"pid": os.getpid()}


@node("who")
async def who(ctx):
    return {"pid": os.getpid()}
"""


@pytest.fixture
def root(tmp_path):
    (tmp_path / "nodes").mkdir()
    (tmp_path / "nodes" / "n.py").write_text(NODES)
    (tmp_path / "w.yaml").write_text(WORKFLOWS)
    return tmp_path


def run(root, *options, **environ):
    command = [TUVL, "serve", "-C", str(root), *options]
    return subprocess.run(command, env={**os.environ, **environ}, capture_output=True, text=True, timeout=60)


@contextmanager
def serving(root, *options, **environ):
    """Start it on a free port; gives the process and its URL."""
    log = (root / "log.txt").open("w+")
    command = [TUVL, "serve", "-C", str(root), "--port", "0", *options]
    process = subprocess.Popen(command, env={**os.environ, "PYTHONUNBUFFERED": "1", **environ}, stdout=log, stderr=log)
    try:
        due = time.monotonic() + 60
        while not (found := re.search(r"serving on (http://\S+?)[,\s]", said(root))):
            assert process.poll() is None and time.monotonic() < due, said(root)
            time.sleep(0.02)
        yield process, found[1]
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        log.close()


def said(root):
    return (root / "log.txt").read_text()


def test_dev_is_for_this_machine_alone(root):
    done = run(root, "--dev", "--host", "0.0.0.0", "--port", "0")
    assert done.returncode == 2
    assert "--dev makes everybody an operator" in done.stderr


def test_answers_do_not_wait_for_more_to_send():
    with bind("127.0.0.1", 0) as listening:
        assert listening.proto == socket.IPPROTO_TCP


def test_a_port_that_is_taken_is_said(root):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = run(root, "--dev", "--port", str(taken.getsockname()[1]))
    assert done.returncode == 1
    assert "already in use" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_broken_project_is_not_served(root, workers):
    (root / "bad.yaml").write_text("kind: Workflow\nmetadata: { name: bad }\nspec: { stepps: [] }\n")
    done = run(root, "--dev", "--port", "0", "--workers", workers)
    assert done.returncode == 3
    assert "bad.yaml:3" in done.stderr
    (root / "bad.yaml").write_text(
        "kind: Workflow\nmetadata: { name: bad }\nspec:\n  trigger: { path: nope }\n"
        "  steps: [{ id: s, kind: Response, source: x }]\n"
    )
    done = run(root, "--dev", "--port", "0", "--workers", workers)
    assert (done.returncode, "TUVL-E001" in done.stderr) == (3, True)


def test_without_keys_it_says_that_nobody_gets_in(root):
    with serving(root) as (process, url):
        assert httpx.get(f"{url}/api/runs").status_code == 401
        assert "nobody can sign in" in said(root)
        process.terminate()
        assert process.wait(30) == 0


def test_sigterm_drains_and_ends_in_good_order(root):
    with serving(root, "--dev") as (process, url):
        started = httpx.post(f"{url}/api/workflows/nap/runs", json={"s": 0.7}, headers={"prefer": "respond-async"})
        process.terminate()
        with httpx.stream("GET", f"{url}{started.headers['location']}/events", timeout=30) as answer:
            text = answer.read().decode()
        assert '"status":"completed"' in text
        assert process.wait(30) == 0
    assert "Traceback" not in said(root)


def test_a_second_ctrl_c_ends_it_now(root):
    with serving(root, "--dev", TUVL_SERVER_SHUTDOWN_GRACE_S="600") as (process, url):
        httpx.post(f"{url}/api/workflows/nap/runs", headers={"prefer": "respond-async"})
        process.send_signal(signal.SIGINT)
        deadline(lambda: httpx.get(f"{url}/readyz").status_code == 503)
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
    assert "Traceback" not in said(root)


def deadline(condition, seconds=30):
    due = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < due
        time.sleep(0.02)


async def pids(url, count):
    """Ask from many connections at once who answers, until so many have."""
    found = set()
    async with asyncio.timeout(60):
        while len(found) < count:
            limits = httpx.Limits(max_keepalive_connections=0)
            async with httpx.AsyncClient(base_url=url, limits=limits, timeout=30) as http:
                asked = (http.post("/api/workflows/who/runs") for _ in range(8))
                answers = await asyncio.gather(*asked, return_exceptions=True)
            found |= {answer.json()["result"] for answer in answers if isinstance(answer, httpx.Response)}
    return found


def test_workers_share_a_port_and_are_replaced(root):
    with serving(root, "--dev", "--workers", "2") as (process, url):
        first = asyncio.run(pids(url, 2))
        dead = min(first)
        os.kill(dead, signal.SIGKILL)
        after = asyncio.run(pids(url, 3 - len(first - {dead})))
        deadline(lambda: "server.worker_died" in said(root))
        assert dead not in after
        process.terminate()
        assert process.wait(60) == 0
    assert not processes("serve", str(root))


def test_workers_drain_when_their_overseer_is_gone(root):
    with serving(root, "--dev", "--workers", "2") as (process, url):
        asyncio.run(pids(url, 2))
        process.kill()
        process.wait()
        deadline(lambda: not processes("serve", str(root)))
