"""MCP steps on servers that misbehave, and a look at the processes that are left."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from agent_stage import stage as stage
from processes import none_left, processes

FAULTS = Path(__file__).with_name("fault_server.py")


class Calls:
    """Runs workflows of MCP steps on fault servers; each test has servers that its own mark tells apart."""

    def __init__(self, bench: Any, mark: str) -> None:
        self.bench = bench
        self.mark = mark

    def server(self, *flags: str, name: str = "faults", **more: Any) -> str:
        """Write an MCPServer of the project; gives its name."""
        args = [str(FAULTS), *flags, f"--mark={self.mark}"]
        spec = {"transport": "stdio", "command": sys.executable, "args": args, **more}
        self.document(name, **spec)
        return name

    def document(self, name: str, **spec: Any) -> None:
        """Write an MCPServer with these keys."""
        import json

        body = {"kind": "MCPServer", "metadata": {"name": name}, "spec": spec}
        self.bench.write(f"mcp/{name}.yaml", json.dumps(body))

    def step(self, tool: str, arguments: Any = None, response: Any = None, **keys: Any) -> dict[str, Any]:
        """One step."""
        mcp: dict[str, Any] = {"server": "faults", "tool": tool, **keys}
        if arguments is not None:
            mcp["arguments"] = arguments
        step: dict[str, Any] = {"id": keys.pop("id", "call"), "kind": "MCP", "mcp": mcp}
        mcp.pop("id", None)
        step["routes"] = {"default": "END", "error": "END"}
        return {**step, "response": response} if response else step

    async def __call__(self, tool: str, arguments: Any = None, context: Any = None, **keys: Any) -> Any:
        """Call one tool of the server `faults`, which is written if it is not there."""
        if not (self.bench.root / "mcp" / "faults.yaml").exists():
            self.server()
        return await self.bench.run(self.step(tool, arguments, **keys), context=context)

    async def value(self, tool: str, arguments: Any = None, **keys: Any) -> Any:
        """Call it, and give what came of it."""
        outcome = await self(tool, arguments, **keys)
        assert outcome.signals == ["default"], outcome.error
        return outcome.context["call_result"]

    def alive(self) -> list[int]:
        """Servers of this test that are alive."""
        return processes(f"--mark={self.mark}")

    def all_gone(self) -> bool:
        """Whether none of them is left."""
        return none_left(f"--mark={self.mark}")


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers have little time to end by themselves; how long it is changes nothing else."""
    monkeypatch.setattr("tuvl_kinds_mcp.stdio._GRACE_S", 0.4)
    monkeypatch.setattr("tuvl_kinds_mcp.stdio._TERM_S", 0.3)


@pytest.fixture
async def calls(bench: Any, tmp_path: Path) -> AsyncIterator[Calls]:
    """Calls tools; no server may be left after the test."""
    made = Calls(bench, f"{os.getpid()}-{tmp_path.name}")
    yield made
    await bench.close()
    assert made.all_gone(), "a server is left"
