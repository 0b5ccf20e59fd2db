"""A Redis of the test's own, and workers that meet there."""

from __future__ import annotations

from contextlib import asynccontextmanager

import pytest
from redis_project import open_app, write
from redis_server import RedisServer

from tuvl_core import Gate, RunService


@pytest.fixture
def redis_server():
    server = RedisServer()
    server.start()
    yield server
    server.kill()


@pytest.fixture
def settings():
    """Make the text of a tuvl.toml; times are short, so that tests are."""

    def text(port, *, password="", redis="", more=""):
        user = f":{password}@" if password else ""
        return (
            f'[redis]\nurl = "redis://{user}127.0.0.1:{port}/0"\nttl_s = 1.5\ntimeout_s = 0.5\n{redis}\n[run]\n{more}\n'
        )

    return text


@pytest.fixture
def worker(tmp_path):
    """Give a context manager: `async with worker(settings) as service`, one worker of the project."""

    @asynccontextmanager
    async def opened(settings, *, folder="shop"):
        async with open_app(write(tmp_path / folder, settings)) as app:
            yield RunService(app, gate=Gate(app, dev=True))

    return opened
