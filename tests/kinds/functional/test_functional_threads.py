"""Plain functions run in threads that can be left behind."""

from __future__ import annotations

import asyncio
import contextvars
import subprocess
import sys
import threading
import time

import pytest

from tuvl_kinds_functional.threads import Threads

HEAD = "import asyncio, time, threading\nfrom tuvl_kinds_functional import node\n"


async def test_a_blocking_function_does_not_hold_up_the_loop(bench):
    bench.write("nodes/n.py", HEAD + "@node('n')\ndef n(ctx):\n    time.sleep(0.5)\n    return 'done'\n")
    app = None
    bench.workflow({"id": "s", "runner": "n", "routes": {"done": "END"}})
    app = await bench.open()
    ticks = 0

    async def tick():
        nonlocal ticks
        while True:
            await asyncio.sleep(0.02)
            ticks += 1

    ticker = asyncio.ensure_future(tick())
    result = await app.run("w")
    ticker.cancel()
    assert result.signal == "done"
    assert ticks > 10


@pytest.mark.parametrize(
    "body",
    [
        "def n(ctx):\n    time.sleep(8)\n",
        "async def n(ctx):\n    try:\n        await asyncio.sleep(9)\n    finally:\n        await asyncio.sleep(8)\n",
        "async def n(ctx):\n    end = time.time() + 8\n    while time.time() < end:\n        try:\n"
        "            await asyncio.sleep(8)\n        except asyncio.CancelledError:\n            pass\n",
    ],
    ids=["blocks", "cleans_up_for_ever", "catches_cancellation"],
)
async def test_a_steps_limit_holds_whatever_the_node_does(bench, body, caplog):
    bench.write("nodes/n.py", f"{HEAD}@node('n')\n{body}")
    began = time.monotonic()
    step = {"id": "s", "runner": "n", "timeout": 0.2, "routes": {"error": "END"}}
    outcome = await bench.run(step)
    assert time.monotonic() - began < 6
    assert outcome.error_type == "timeout"
    assert "left" in caplog.text


async def test_a_function_left_behind_changes_nothing(bench):
    bench.write(
        "nodes/n.py", HEAD + "@node('n')\ndef n(ctx):\n    time.sleep(0.4)\n    ctx['late'] = 1\n    return {'x': 1}\n"
    )
    step = {"id": "s", "runner": "n", "timeout": 0.1, "routes": {"error": "END"}}
    outcome = await bench.run(step)
    await asyncio.sleep(0.6)
    assert "late" not in outcome.context
    assert "x" not in outcome.context


async def test_context_variables_go_along(bench):
    bench.write(
        "nodes/n.py",
        HEAD + "import contextvars\nNAME = contextvars.ContextVar('name', default='none')\n"
        "@node('n')\ndef n(ctx):\n"
        "    seen = dict((var.name, value) for var, value in contextvars.copy_context().items())\n"
        "    return {'seen': seen.get('request', 'none'), 'thread': threading.current_thread().name}\n",
    )
    request = contextvars.ContextVar("request", default="none")
    token = request.set("R-1")
    try:
        bench.workflow({"id": "s", "runner": "n"})
        app = await bench.open()
        result = await app.run("w")
    finally:
        request.reset(token)
    assert result.context["seen"] == "R-1"
    assert result.context["thread"] != threading.main_thread().name


async def test_the_default_executor_is_never_used(bench):
    bench.write("nodes/n.py", HEAD + "@node('n')\ndef n(ctx):\n    return 'done'\n")
    loop = asyncio.get_running_loop()
    used = []
    loop.set_default_executor = used.append
    before = loop._default_executor
    outcome = await bench.run({"id": "s", "runner": "n", "routes": {"done": "END"}})
    assert outcome.signals == ["done"]
    assert loop._default_executor is before


async def test_threads_are_reused_and_bounded():
    threads = Threads(3)
    names, running, most = set(), 0, 0
    lock = threading.Lock()

    def work(_: object) -> None:
        nonlocal running, most
        with lock:
            names.add(threading.get_ident())
            running += 1
            most = max(most, running)
        time.sleep(0.02)
        with lock:
            running -= 1

    await asyncio.gather(*(threads.run(work, None) for _ in range(12)))
    assert most == 3
    assert len(names) <= 6
    await threads.close()


async def test_a_function_left_behind_gives_its_place_free():
    threads = Threads(1)
    release = threading.Event()
    stuck = asyncio.ensure_future(threads.run(lambda _: release.wait(5), None))
    await asyncio.sleep(0.05)
    stuck.cancel()
    with pytest.raises(asyncio.CancelledError):
        await stuck
    assert await asyncio.wait_for(threads.run(lambda x: x, 7), 1) == (7, None)
    release.set()
    await threads.close()


async def test_results_and_errors_come_as_a_pair():
    threads = Threads(1)

    def stop(_: object) -> None:
        raise StopIteration

    value, error = await threads.run(stop, None)
    assert value is None
    assert isinstance(error, StopIteration)
    await threads.close()


def test_a_function_that_never_returns_does_not_keep_the_process():
    code = (
        "import asyncio, threading\n"
        "from tuvl_kinds_functional.threads import Threads\n"
        "async def main():\n"
        "    threads = Threads(2)\n"
        "    task = asyncio.ensure_future(threads.run(lambda _: threading.Event().wait(), None))\n"
        "    await asyncio.sleep(0.1)\n"
        "    task.cancel()\n"
        "asyncio.run(main())\n"
        "print('over')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=20, check=True)
    assert done.stdout.strip() == "over"
    assert done.stderr == ""
