"""`tuvl serve`: a project's workflows over HTTP."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import sys
import threading
from collections.abc import Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from tuvl_core import Plugins, Project, ProjectError, check_project, load_project, log_event
from tuvl_server.hosts import bind, is_loopback, shown_address

if TYPE_CHECKING:
    from tuvl_server.serving import WebServer
    from tuvl_server.workers import Post

__all__ = ["command"]

_log = logging.getLogger("tuvl.server")
_GRACE_S: Final = 1.0


@click.command("serve")
@click.option(
    "-C",
    "directory",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=Path(),
    metavar="DIR",
    help="The project's directory; here by itself.",
)
@click.option("--host", metavar="ADDRESS", help="Address to listen on; `server.host` by itself.")
@click.option("--port", type=click.IntRange(0, 65535), help="Port; 0 takes a free one; `server.port` by itself.")
@click.option("--workers", type=click.IntRange(1, 256), help="Processes; `server.workers` by itself.")
@click.option("--dev", is_flag=True, help="Every caller is a local operator with all scopes; on loopback only.")
@click.option("--worker", hidden=True, help="What an overseer tells its workers.")
def command(
    directory: Path, host: str | None, port: int | None, workers: int | None, dev: bool, worker: str | None
) -> None:
    """Serve a project's workflows over HTTP, until Ctrl-C or SIGTERM.

    Runs that go on then have `server.shutdown_grace_s` seconds to end, before they are cancelled; a second Ctrl-C
    cancels them at once.

    Exit codes: 0 ended in good order; 1 it cannot listen; 2 for a wrong use; 3 the project is invalid.
    """
    logging.getLogger("tuvl.server").setLevel(logging.INFO)
    project = load_project(directory, plugins=Plugins.load(root=directory))
    settings = project.settings
    host = host if host is not None else settings["server.host"]
    if dev and not is_loopback(host):
        text = f"--dev makes everybody an operator, and others could reach {host}: listen on 127.0.0.1 with it"
        raise click.UsageError(text)
    if worker is not None:
        _work(project, worker, dev)
        return
    _refuse_broken(project)
    listening = bind(host, port if port is not None else settings["server.port"])
    count = workers if workers is not None else settings["server.workers"]
    where = shown_address(listening)
    if count > 1:
        from tuvl_server.workers import Overseer

        grace_s = settings["server.shutdown_grace_s"]
        Overseer(listening, count, grace_s, lambda: click.echo(f"serving on {where}, {count} workers")).run()
        return
    _serve(project, listening, dev, where, None)


def _refuse_broken(project: Project) -> None:
    """Serve nothing that could not run, and no trigger that could not be reached.

    Raises:
        ProjectError: With what stands in the way.
    """
    errors = [item for item in check_project(project) if item.severity == "error"]
    barring = [item for item in errors if item.klass == "structure" or item.code.startswith("TUVL-E")]
    if barring:
        count = "1 error" if len(barring) == 1 else f"{len(barring)} errors"
        raise ProjectError(f"the project cannot be served: {count}", barring)
    if not project.workflows:
        text = f"there is no workflow in {project.root}: is that the project's directory? -C names another"
        log_event(_log, logging.WARNING, "server.no_workflow", {"message": text})
    if errors:
        text = f"{len(errors)} findings would fail runs that come across them: `tuvl validate` shows them"
        log_event(_log, logging.WARNING, "server.findings", {"message": text})


def _work(project: Project, told: str, dev: bool) -> None:
    """Be one of several workers."""
    from tuvl_server.workers import Post

    try:
        own, line = (int(part) for part in told.split(":"))
        listening, post = socket.socket(fileno=own), Post(line)
        os.set_inheritable(own, False)
    except (ValueError, OSError):
        raise click.UsageError("--worker is what `tuvl serve --workers N` says to its own workers") from None
    listening.setblocking(False)
    _serve(project, listening, dev, None, post)


def _serve(project: Project, listening: socket.socket, dev: bool, where: str | None, post: Post | None) -> None:
    from tuvl_server.serving import serve_project

    def ready(server: WebServer, also: list[str]) -> None:
        if where is not None:
            click.echo("\n".join([f"serving on {where}", *also]))
        if post is not None:
            post.ready()
            asyncio.get_running_loop().add_reader(post.fileno(), _orphaned, server, post)
        if not server.open_to_anybody:
            text = (
                "nobody can sign in: all but public triggers answer 401; run `tuvl token issue` and restart, "
                "set keys, or use --dev"
            )
            log_event(_log, logging.WARNING, "server.no_authenticator", {"message": text})

    try:
        endless = _run(serve_project(project, listening, dev=dev, ready=ready))
    finally:
        listening.close()
    if endless or _threads_left():
        # What never ends would keep the process for ever.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


def _orphaned(server: WebServer, post: Post) -> None:
    """The process that watched over this worker is gone: drain, and end."""
    asyncio.get_running_loop().remove_reader(post.fileno())
    server.should_exit = True


def _threads_left() -> bool:
    main = threading.main_thread()
    return any(not thread.daemon and thread is not main for thread in threading.enumerate())


def _run(work: Coroutine[Any, Any, None]) -> bool:
    """Run on an event loop that ends even where something on it never does; whether there was such a thing."""
    loop = asyncio.new_event_loop()
    endless = False
    try:
        loop.run_until_complete(work)
    finally:
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        if left:
            _, still = loop.run_until_complete(asyncio.wait(left, timeout=_GRACE_S))
            endless = bool(still)
        if not endless:
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.close()
    return endless
