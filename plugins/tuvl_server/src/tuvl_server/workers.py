"""Several workers on one port, and the process that watches over them."""

from __future__ import annotations

import logging
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Final

import attrs

from tuvl_core import TuvlError, log_event

__all__ = ["Overseer", "Post"]

_log = logging.getLogger("tuvl.server")
_READY: Final = b"R"
_LOOK_S: Final = 0.1
_SPARE_S: Final = 10.0
_MOST_WAIT_S: Final = 30.0


@attrs.define(eq=False)
class _Worker:
    process: subprocess.Popen[bytes]
    line: socket.socket
    began: float
    ready: bool = False


class Post:
    """A worker's line to the process that started it.

    Args:
        number: The descriptor it was given.
    """

    def __init__(self, number: int) -> None:
        self._line = socket.socket(fileno=number)
        os.set_inheritable(number, False)

    def ready(self) -> None:
        """Say that requests are answered."""
        self._line.send(_READY)

    def fileno(self) -> int:
        """What becomes readable when the process that started it is gone."""
        return self._line.fileno()

    def close(self) -> None:
        """Let go of it."""
        self._line.close()


class Overseer:
    """Starts workers, starts another for each that dies, and hands signals on.

    Workers are the same command once more, with what `--worker` says: each opens the project by itself. They are no
    part of the terminal's group of processes: Ctrl-C reaches them through their overseer alone, once. One that loses
    its overseer drains and ends.

    Args:
        listening: Where requests come in; all of them accept there.
        count: How many workers.
        grace_s: Seconds that a worker's runs have to end by themselves.
        announce: Called once, when the first worker answers.
    """

    def __init__(self, listening: socket.socket, count: int, grace_s: float, announce: Callable[[], None]) -> None:
        self._listening = listening
        self._count = count
        self._grace_s = grace_s
        self._announce: Callable[[], None] | None = announce
        self._workers: list[_Worker] = []
        self._signals = 0
        self._wait_s = 0.0

    def run(self) -> None:
        """Oversee until a signal.

        Raises:
            TuvlError: No worker has ever come to answer.
        """
        before = {number: signal.signal(number, self._handle) for number in (signal.SIGINT, signal.SIGTERM)}
        os.set_inheritable(self._listening.fileno(), True)
        try:
            self._workers = [self._start() for _ in range(self._count)]
            while not self._signals:
                self._listen(_LOOK_S)
                self._replace()
        finally:
            self._end()
            for number, handler in before.items():
                signal.signal(number, handler)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self._signals += 1

    def _start(self) -> _Worker:
        line, theirs = socket.socketpair()
        os.set_inheritable(theirs.fileno(), True)
        told = f"{self._listening.fileno()}:{theirs.fileno()}"
        command = [sys.executable, *sys.orig_argv[1:], "--worker", told]
        kept = (self._listening.fileno(), theirs.fileno())
        process = subprocess.Popen(command, pass_fds=kept, start_new_session=True)  # noqa: S603 - this very command
        theirs.close()
        return _Worker(process, line, time.monotonic())

    def _listen(self, timeout: float) -> None:
        """Hear which workers answer by now."""
        quiet = [worker for worker in self._workers if not worker.ready]
        if not quiet:
            time.sleep(timeout)
            return
        heard, _, _ = select.select([worker.line for worker in quiet], [], [], timeout)
        for worker in quiet:
            if worker.line in heard and worker.line.recv(1) == _READY:
                worker.ready = True
                if self._announce is not None:
                    self._announce()
                    self._announce = None

    def _replace(self) -> None:
        for place, worker in enumerate(self._workers):
            code = worker.process.poll()
            if code is None:
                continue
            worker.line.close()
            if self._announce is not None and not worker.ready:
                raise TuvlError("the first worker could not start; it says above why")
            fields = {"pid": worker.process.pid, "code": code}
            log_event(_log, logging.WARNING, "server.worker_died", fields)
            self._pause(worker)
            if not self._signals:
                self._workers[place] = self._start()

    def _pause(self, worker: _Worker) -> None:
        """Wait before another try where a worker has died soon after its start, each time longer."""
        soon = time.monotonic() - worker.began < _SPARE_S
        self._wait_s = min(max(self._wait_s * 2, 0.1), _MOST_WAIT_S) if soon else 0.0
        due = time.monotonic() + self._wait_s
        while time.monotonic() < due and not self._signals:
            time.sleep(_LOOK_S)

    def _end(self) -> None:
        """Have all workers drain; asked once more, end now."""
        self._listening.close()
        self._tell(signal.SIGTERM)
        told, due = self._signals, time.monotonic() + self._grace_s + _SPARE_S
        while any(worker.process.poll() is None for worker in self._workers) and time.monotonic() < due:
            if self._signals > told:
                told = self._signals
                self._tell(signal.SIGINT)
                due = min(due, time.monotonic() + _SPARE_S)
            time.sleep(_LOOK_S / 2)
        for worker in self._workers:
            if worker.process.poll() is None:
                worker.process.kill()
            worker.process.wait()
            worker.line.close()

    def _tell(self, number: int) -> None:
        for worker in self._workers:
            if worker.process.poll() is None:
                worker.process.send_signal(number)
