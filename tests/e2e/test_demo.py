"""The demo as its user runs it: on a script, on a server that speaks OpenAI's API, and with a wrong ticket."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from openai_server import called, openai_server, said

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "refund_desk"
TICKETS = sorted(path.stem for path in (EXAMPLE / "tickets").glob("*.json"))


def demo(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    # Keys of the machine that the tests run on must not choose the model.
    clean = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY") and name != "MODEL"}
    command = [sys.executable, str(EXAMPLE / "demo.py"), *arguments]
    return subprocess.run(command, env={**clean, **environ}, capture_output=True, text=True, check=False, timeout=100)


@pytest.mark.parametrize("ticket", TICKETS)
def test_every_ticket_is_decided_or_handed_over(ticket: str) -> None:
    done = demo(ticket, "--json", MODEL="scripted")
    result = json.loads(done.stdout)
    assert (done.returncode, result["status"]) == (0, "completed"), done.stderr
    assert result["result"]["decision"] in ("refund", "refuse", "a person decides")
    assert "no language model is involved" in done.stderr


def test_it_runs_on_any_server_that_speaks_openais_api() -> None:
    arguments = json.dumps({"order_id": "A-1003"})
    answer = json.dumps({"outcome": "resolved", "result": "refused by policy"})
    with openai_server() as server:
        server.answers = [
            said(None, called("lookup_order", arguments, "1")),
            said(None, called("check_policy", arguments, "2")),
            said(answer),
        ]
        done = demo("old_headphones", OPENAI_API_BASE=server.url, OPENAI_MODEL="mine")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["decision"] == "refuse"
    assert "openai/mine (OPENAI_API_BASE points to" in done.stderr
    assert [body["model"] for _, body in server.requests] == ["mine"] * 3
    assert [tool["function"]["name"] for tool in server.requests[0][1]["tools"]] == ["lookup_order", "check_policy"]


def test_a_model_that_is_down_ends_in_a_routed_exit() -> None:
    done = demo("broken_kettle", OPENAI_API_BASE="http://127.0.0.1:9/v1", OPENAI_API_KEY="sk-s3cr3t-demo")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["decision"] == "a person decides"
    assert "sk-s3cr3t-demo" not in done.stdout + done.stderr


def test_a_ticket_that_is_not_there() -> None:
    done = demo("nothing", MODEL="scripted")
    assert done.returncode == 2
    assert "broken_kettle" in done.stderr
