"""A project with customers and orders in a database, SQLite or PostgreSQL."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from agent_stage import Actor

from tuvl_core import App, Diagnostic, Plugins, Principal, Run, RunResult, check_project, load_project
from tuvl_models import ModelFamily, add_family

SERVER = {"host": "127.0.0.1", "port": 5432, "username": "postgres"}
REQUIRED = bool(os.environ.get("TUVL_TESTS_REQUIRE_SERVICES"))

CUSTOMER: dict[str, Any] = {
    "fields": [
        {"name": "id", "type": "string", "primary_key": True},
        {"name": "name", "type": "string", "required": True},
        {"name": "token", "type": "string", "secure": True},
    ],
    "relations": [
        {"name": "orders", "model": "Order", "foreign_key": "customer_id", "type": "one_to_many"},
    ],
}
ORDER: dict[str, Any] = {
    "tablename": "orders",
    "fields": [
        {"name": "id", "type": "integer", "primary_key": True},
        {"name": "number", "type": "string", "required": True, "unique": True, "description": "Such as A-1."},
        {"name": "status", "type": "enum", "enum_values": ["open", "paid", "void"], "default": "open"},
        {"name": "total", "type": "numeric", "precision": 12, "scale": 2},
        {"name": "note", "type": "text"},
        {"name": "customer_id", "type": "string"},
        {"name": "made", "type": "timestamptz", "default": "now", "input": False},
    ],
    "relations": [
        {"name": "customer", "model": "Customer", "foreign_key": "customer_id", "type": "many_to_one"},
    ],
}


class Shop:
    """A project whose models lie in one database; writes, checks and runs its workflows."""

    def __init__(self, root: Path, source: Mapping[str, Any]) -> None:
        self.root = root
        self.source = dict(source)
        self.environ: dict[str, str] = {}
        self.models: dict[str, Any] = {"Customer": CUSTOMER, "Order": ORDER}
        self.app: App | None = None
        self.actor: Actor | None = None

    @property
    def postgresql(self) -> bool:
        """Whether its database is PostgreSQL."""
        return self.source["type"] == "postgresql"

    def document(self, kind: str, name: str, spec: Mapping[str, Any], **metadata: Any) -> None:
        """Write a document; JSON is YAML."""
        file = self.root / f"{kind}-{name}-{metadata.get('schema_version', '')}.yaml"
        file.write_text(json.dumps({"kind": kind, "metadata": {"name": name, **metadata}, "spec": spec}))

    def workflow(self, *steps: Mapping[str, Any], name: str = "w", **spec: Any) -> None:
        """Write a workflow; by itself it may touch every model."""
        spec.setdefault("context", list(self.models))
        self.document("Workflow", name, {**spec, "steps": [{"kind": "ModelOp", **step} for step in steps]})

    def node(self, code: str) -> None:
        """Write the project's nodes."""
        (self.root / "nodes").mkdir(exist_ok=True)
        (self.root / "nodes" / "n.py").write_text("from tuvl_kinds_functional import node\n" + code)

    def load(self) -> Any:
        """Load the project as it stands."""
        self.document("DataSource", "main", self.source)
        for name, spec in self.models.items():
            self.document("ModelDefinition", name, spec)
        plugins = Plugins.load(root=self.root, environ=self.environ)
        return load_project(self.root, plugins=plugins, environ=self.environ)

    def check(self) -> list[Diagnostic]:
        """Validate."""
        return check_project(self.load())

    async def open(self) -> App:
        """Open the project."""
        if self.app is None:
            project = self.load()
            if self.actor is not None:
                actor = self.actor
                add_family(project, ModelFamily(prefix="test", create=lambda _: actor, tool_calling="native"))
            self.app = await App(project).__aenter__()
        return self.app

    def agent(self, turns: Sequence[Any], *tools: Mapping[str, Any], entries: Any = None, **spec: Any) -> Actor:
        """Write a workflow of one agent, whose model says these turns, and its tools."""
        self.actor = Actor(*turns)
        self.document("AgentModel", "actor", {"model": "test/actor", "retry": {"attempts": 1}})
        agent = {
            "model": "actor",
            "steering": "Work.",
            "tools": entries or [{"ref": tool["id"]} for tool in tools],
            "outcome": {"enum": ["resolved"]},
            "max_iterations": 8,
        }
        routes = dict.fromkeys(("resolved", "max_iterations", "budget_exceeded", "error", "aborted"), "END")
        self.workflow({"id": "agent", "kind": "AutonomousAgent", "agent": agent, "routes": routes}, *tools, **spec)
        return self.actor

    async def run(
        self,
        *steps: Mapping[str, Any],
        context: Mapping[str, Any] | None = None,
        principal: Principal | None = None,
        **spec: Any,
    ) -> RunResult:
        """Run a workflow of these steps, or the one that was written, to its end."""
        if steps:
            await self.close()
            self.workflow(*steps, **spec)
        app = await self.open()
        return await app.run("w", context or {}, principal=principal)

    async def live(self, context: Mapping[str, Any] | None = None) -> tuple[Run, RunResult]:
        """Run the workflow that was written; give the run too, with the whole context it left."""
        handle = await (await self.open()).start("w", context or {})
        return handle.run, await handle.wait()

    async def rows(self, model: str = "Order", **step: Any) -> list[dict[str, Any]]:
        """What a model holds, as a run of its own sees it."""
        self.workflow({"id": "look", "model": model, "operation": "list", **step}, name="look")
        await self.close()
        result = await (await self.open()).run("look")
        assert result.status == "completed", result.error
        found: list[dict[str, Any]] = result.context["look_result"]
        return found

    async def fill(self, rows: Sequence[Mapping[str, Any]], model: str = "Order") -> None:
        """Make records."""
        steps = [
            {"id": f"s{number}", "model": model, "operation": "create", "payload": dict(row)}
            for number, row in enumerate(rows)
        ]
        result = await self.run(*steps)
        assert result.status == "completed", result.error
        await self.close()

    async def close(self) -> None:
        """Close the project if it is open."""
        if self.app is not None:
            await self.app.close()
            self.app = None


async def _admin(statement: str, database: str = "postgres") -> None:
    import asyncpg

    connection = await asyncpg.connect(host=SERVER["host"], port=SERVER["port"], user="postgres", database=database)
    try:
        await connection.execute(statement)
    finally:
        await connection.close()


_made: set[str] = set()


async def drop_databases() -> None:
    """Remove the PostgreSQL databases that this process made."""
    while _made:
        await _admin(f"DROP DATABASE IF EXISTS {_made.pop()} WITH (FORCE)")


async def empty_postgresql() -> dict[str, Any]:
    """An empty PostgreSQL database of this worker's own, as the keys of a DataSource."""
    import asyncpg

    name = f"tuvl_{os.environ.get('PYTEST_XDIST_WORKER', 'one')}_{os.getpid()}"
    try:
        await _admin(f"CREATE DATABASE {name}")
        _made.add(name)
    except asyncpg.DuplicateDatabaseError:
        pass
    except OSError as error:
        if REQUIRED:
            pytest.fail(f"PostgreSQL is required, and cannot be reached: {error}")
        pytest.skip(f"PostgreSQL is not there: {error}")
    await _admin("DROP SCHEMA public CASCADE; CREATE SCHEMA public", database=name)
    return {"type": "postgresql", "connection": {**SERVER, "database": name}, "create_tables": True}


SQLITE = {"type": "sqlite", "path": "shop.db", "create_tables": True}
