"""A ModelOp read over the same SQLAlchemy statement by hand, on SQLite and, where it runs, on PostgreSQL.

`BENCH_TUVL2` may name a Python in whose environment the package tuvl 2 is installed: its repository layer is then
measured in the same run, against the same file.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from floors import ratio

from tuvl_core import App, Plugins, load_project
from tuvl_kinds_modelop.scope import SOURCES

SECONDS = float(os.environ.get("BENCH_SECONDS", "4"))
READS = 50
FIELDS = {
    "id": {"type": "integer", "primary_key": True},
    "number": {"type": "string"},
    "total": {"type": "numeric", "precision": 12, "scale": 2},
    "made": {"type": "timestamptz", "default": "now"},
    "note": {"type": "text"},
}
SERVER = {"host": "127.0.0.1", "port": 5432, "username": "postgres", "database": "postgres"}
SOURCES_OF = {
    "SQLite": {"type": "sqlite", "path": "bench.db", "create_tables": True},
    "PostgreSQL": {"type": "postgresql", "connection": SERVER, "create_tables": True},
}


def write(root: Path, source: Mapping[str, Any]) -> None:
    """Write a project whose workflow `w` reads one record many times, and whose `fill` makes it."""
    make = {
        "id": "make",
        "model": "Bench",
        "operation": "create",
        "payload": {"number": "A-1", "total": "1", "note": "x" * 50},
    }
    reads = [{"id": f"r{n}", "model": "Bench", "operation": "read", "record_id": "{{ id }}"} for n in range(READS)]
    for name, steps in (("fill", [make]), ("w", reads)):
        body = {"context": "Bench", "steps": [{"kind": "ModelOp", **step} for step in steps]}
        document(root, "Workflow", name, body)
    document(root, "DataSource", "main", source)
    document(root, "ModelDefinition", "Bench", {"tablename": "tuvl_bench", "fields": FIELDS})


def document(root: Path, kind: str, name: str, spec: Mapping[str, Any]) -> None:
    """Write one document."""
    (root / f"{kind}-{name}.yaml").write_text(json.dumps({"kind": kind, "metadata": {"name": name}, "spec": spec}))


async def measure(root: Path, name: str) -> None:
    """Print a row for one database."""
    async with App(load_project(root, plugins=Plugins.load(root=root, environ={}), environ={})) as app:
        made = (await app.run("fill")).context.get("make_result")
        if made is None:
            return  # it does not run here
        source = app.resources[SOURCES].source("main")
        table = source.metadata.tables["tuvl_bench"]
        statement = sa.select(table).where(table.c.id == sa.bindparam("id"))

        async def ours() -> Any:
            return await app.run("w", {"id": made["id"]})

        async def by_hand() -> Any:
            async with source.engine.begin() as connection:
                for _ in range(READS):
                    dict((await connection.execute(statement, {"id": made["id"]})).mappings().one())

        assert (await ours()).status == "completed"
        found = await ratio(ours, by_hand, seconds=SECONDS)
        row(f"ModelOp read on {name} over the statement by hand", found, 1.5)
        if name == "SQLite" and (python := os.environ.get("BENCH_TUVL2")):
            await against_tuvl2(python, root / "bench.db", ours)
        async with source.engine.begin() as connection:
            await connection.run_sync(source.metadata.drop_all)


def row(name: str, value: float, goal: float) -> None:
    """Print a row of the table."""
    print(json.dumps({"name": name, "value": round(value, 2), "goal": goal, "unit": "x"}), flush=True)


OTHER = """
import asyncio, sys, time
from sqlalchemy.ext.asyncio import create_async_engine
from sqlmodel.ext.asyncio.session import AsyncSession
from tuvl.core.models.loader import create_sqlmodel_class, MODEL_REGISTRY
from tuvl.core.repositories.base import BaseRepository, _orm_to_dict

FIELDS = [
    {"name": "id", "type": "integer", "primary_key": True}, {"name": "number", "type": "string"},
    {"name": "total", "type": "string"}, {"name": "made", "type": "timestamp"}, {"name": "note", "type": "text"},
]

async def main(file, reads):
    model = create_sqlmodel_class({"metadata": {"name": "Bench"}, "spec": {"tablename": "tuvl_bench", "fields": FIELDS}})
    MODEL_REGISTRY["Bench"] = model
    engine = create_async_engine(f"sqlite+aiosqlite:///{file}")
    async def block():
        # A record that a session has seen is not read again: each read has a session of its own.
        async with engine.connect() as connection:
            for _ in range(reads):
                async with AsyncSession(bind=connection) as session:
                    _orm_to_dict(await BaseRepository("Bench", session).get(1))
    await block()
    print("ready", flush=True)
    for line in sys.stdin:
        began = time.perf_counter()
        await block()
        print(time.perf_counter() - began, flush=True)

asyncio.run(main(sys.argv[1], int(sys.argv[2])))
"""


async def against_tuvl2(python: str, file: Path, ours: Any) -> None:
    """Print a row for the repository layer of tuvl 2, which reads as often in a process of its own, in turns."""
    other = subprocess.Popen(
        [python, "-W", "ignore", "-c", OTHER, str(file), str(READS)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert other.stdin is not None and other.stdout is not None
    while other.stdout.readline().strip() != "ready":
        assert other.poll() is None, "tuvl 2 does not run in that environment"
    found = []
    loop = asyncio.get_running_loop()
    ends = loop.time() + SECONDS
    while loop.time() < ends:
        began = loop.time()
        await ours()
        mine = loop.time() - began
        other.stdin.write("\n")
        other.stdin.flush()
        found.append(mine / float(other.stdout.readline()))
    other.stdin.close()
    other.wait()
    row("ModelOp read on SQLite over tuvl 2's repository layer", sorted(found)[len(found) // 2], 1)


async def main() -> None:
    """Measure both databases."""
    for name, source in SOURCES_OF.items():
        with tempfile.TemporaryDirectory() as folder:
            write(Path(folder), source)
            await measure(Path(folder), name)


if __name__ == "__main__":
    asyncio.run(main())
