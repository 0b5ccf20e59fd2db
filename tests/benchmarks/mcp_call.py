"""A workflow that calls a tool over a kept session, against the SDK's own call of the same tool."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from floors import ratio

from tuvl_core import App, Plugins, load_project

SECONDS = float(os.environ.get("BENCH_SECONDS", "4"))
SERVER = str(Path(__file__).with_name("mcp_server.py"))
STEP = {"id": "call", "kind": "MCP", "mcp": {"server": "s", "tool": "echo", "arguments": {"text": "{{ text }}"}}}


async def main() -> None:
    """Measure."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        spec = {"transport": "stdio", "command": sys.executable, "args": [SERVER]}
        (root / "s.yaml").write_text(json.dumps({"kind": "MCPServer", "metadata": {"name": "s"}, "spec": spec}))
        body = {"kind": "Workflow", "metadata": {"name": "w"}, "spec": {"steps": [STEP]}}
        (root / "w.yaml").write_text(json.dumps(body))
        project = load_project(root, plugins=Plugins.load(root=root, environ={}), environ={})
        async with App(project) as app:
            result = await app.run("w", {"text": "hello"})
            assert result.status == "completed", result.error
            # The SDK only now: it is what the first call has imported.
            from mcp import Client, StdioServerParameters

            async with Client(StdioServerParameters(command=sys.executable, args=[SERVER])) as client:
                await client.list_tools()

                async def ours() -> Any:
                    return await app.run("w", {"text": "hello"})

                async def theirs() -> Any:
                    return await client.call_tool("echo", {"text": "hello"})

                found = await ratio(ours, theirs, seconds=SECONDS * 2, block=0.1)
    name = "a run that calls an MCP tool over the SDK's own call"
    print(json.dumps({"name": name, "value": round(found, 2), "goal": 1.2, "unit": "×"}))


if __name__ == "__main__":
    asyncio.run(main())
