"""What every kind has to hold, and what importing this one costs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tuvl_core import Effects, declared
from tuvl_kinds_mcp.kind import MCP
from tuvl_testing import check_kind

FAULTS = str(Path(__file__).with_name("fault_server.py"))
SERVER = {"transport": "stdio", "command": sys.executable, "args": [FAULTS]}


@pytest.mark.parametrize(
    ("mcp", "signal"),
    [
        ({"tool": "echo", "arguments": {"text": "{{ who }}"}}, "default"),
        ({"tool": "echo"}, "default"),
        ({"tool": "nothing of the kind"}, "error"),
        ({"tool": "die"}, "error"),
        ({"tool": "sleep", "arguments": {"seconds": 5}, "timeout": 0.2}, "error"),
    ],
)
async def test_the_contract_of_kinds(mcp, signal):
    await check_kind(MCP, {"mcp": {**SERVER, **mcp}}, context={"who": "Ada"}, signal=signal)


def test_it_is_silent_on_nothing(tmp_path):
    done = subprocess.run(
        [Path(sys.executable).with_name("tuvl"), "kinds", "--json"], capture_output=True, text=True, cwd=tmp_path
    )
    [found] = [item for item in json.loads(done.stdout)["kinds"] if item["name"] == "MCP"]
    assert set(found["silent_on"]) <= {
        *("children", "composite", "callable_as_tool", "transactional", "model_writes", "sinks"),
    }


async def test_declarations(bench):
    http = {"transport": "http", "url": "https://user:pw@example.test:8443/mcp", "tool": "t"}
    bench.workflow(
        {"id": "a", "kind": "MCP", "mcp": {**http, "arguments": {"x": "{{ order.id }}", "y": ["{{ z }}"]}}},
        {"id": "b", "kind": "MCP", "mcp": {**SERVER, "tool": "t", "timeout": 5},
         "response": {"output_key": "k", "extract": [{"path": "a", "as": "v"}]}},
    )  # fmt: skip
    app = await bench.open()
    plan = app.plan("w")
    first, second = plan.steps["a"], plan.steps["b"]

    def said(what, step):
        return declared(step.kind, what, step, plan)

    assert said("reads", first).names == {"order", "z"}
    assert said("writes", second).names == {"k", "v"}
    assert said("capabilities", first).network == ("example.test",)
    assert not said("capabilities", first).subprocess
    assert said("capabilities", second).subprocess and said("capabilities", second).network == ("*",)
    assert said("effects", first) is Effects.IRREVERSIBLE
    assert said("cost", second).seconds == 5
    assert said("cost", second).model_calls == 0


@pytest.mark.parametrize("arguments", [["--help"], ["validate"], ["kinds"], ["lock", "--help"], ["mcp", "--help"]])
def test_nobody_pays_for_the_sdk_who_does_not_call(tmp_path, arguments):
    step = {"id": "a", "kind": "MCP", "mcp": {**SERVER, "tool": "echo", "arguments": {}}, "routes": {"error": "END"}}
    body = {"kind": "Workflow", "metadata": {"name": "w"}, "spec": {"steps": [step]}}
    (tmp_path / "w.yaml").write_text(json.dumps(body))
    script = (
        "import sys\nfrom tuvl_cli.main import main\nsys.argv[1:] = " + repr(arguments) + "\n"
        "try:\n    main()\nexcept SystemExit as done:\n    assert not done.code, done.code\n"
        "heavy = {'mcp', 'mcp_types', 'httpx2', 'pydantic', 'anyio'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
