"""Our share of a model call over LiteLLM's own, against a server on loopback."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from floors import ratio

sys.path.insert(0, str(Path(__file__).parents[1] / "helpers"))
from openai_server import openai_server, said  # noqa: E402

from tuvl_core import Plugins, load_project  # noqa: E402
from tuvl_models import ChatRequest, resolve_model  # noqa: E402

SECONDS = float(os.environ.get("BENCH_SECONDS", "4"))


async def main() -> None:
    """Measure."""
    with openai_server() as server, tempfile.TemporaryDirectory() as folder:
        server.answers = [said("hello")]
        root = Path(folder)
        (root / "m.yaml").write_text(
            "kind: AgentModel\nmetadata: { name: m }\n"
            f"spec: {{ model: openai/x, api_base: '{server.url}', api_key: k }}\n"
        )
        project = load_project(root, plugins=Plugins.load(root=root, environ={}), environ={})
        model = resolve_model(project, "m")
        request = ChatRequest(messages=[{"role": "user", "content": "hi"}])
        await model.complete(request)
        import litellm

        async def ours() -> Any:
            return await model.complete(request)

        async def theirs() -> Any:
            return await litellm.acompletion(
                model="openai/x", api_base=server.url, api_key="k", messages=request.messages,
                num_retries=0, max_retries=0, timeout=120.0,
            )  # fmt: skip

        found = await ratio(ours, theirs, seconds=SECONDS * 2, block=0.1)
    share = max(found - 1, 0) * 100
    row = {"name": "our share of a model call over LiteLLM's own", "value": round(share, 2), "goal": 2, "unit": "%"}
    print(json.dumps(row))


if __name__ == "__main__":
    asyncio.run(main())
