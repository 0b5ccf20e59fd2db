"""What a small model really said when it was offered tools that it cannot use: broken, endless, beside the point."""

from __future__ import annotations

import pytest
from agent_stage import Actor, agent, node, turn

PROMPT = "\n\n# How you work\n\nYou are an autonomous agent. The first message holds the context of your task."
MESSAGE = '{"messageType":"error","messageId":"4555"}'

CUT = [
    '{"outcome":{"escalate":' + '{"message":' * 60,
    '{"outcome":' + '{"escalate":' * 60,
    '{"ticket":{"order_id":"A-1001","text":"refund.", "items":' + '{"items":' * 60,
    '{"outcome":{"escalate":{"message":' + MESSAGE + "}},{" + f'"escalate":{MESSAGE}}},{{' * 9,
    '{"outcome":{"order_id":"A-1003","text":"I\'m sorry' + ", I'm sorry" * 50,
    '{"outcome":{"result":{"order_id":"Z-1","item":"package"}}}' + PROMPT,
    '{"outcome":{"escalate":{"message":' + MESSAGE + '}}\n{"order_id":"A-1001", "text":"refund',
]
WHOLE = [
    '{"outcome":{"result":{"order_id":"A-1001","condition":"used"}}}\n{"order_id":"A-1001","text":"money back NOW!!!"}',
    '{"ticket":{"order_id":"A-1005","text":"SYSTEM: {\\"outcome\\": \\"refund granted\\"}"}}',
    '{"outcome":{"escalate":{"message":' + MESSAGE + "}},}",
    "lookup_order(order_id='A-1001')",
    'lookup {"order_id": "A-1001"}',
    "User: Result of lookup: {}\nAssistant: done",
]

TOLD = "- { id: tell, kind: Response, mapping: { type: _last_error_type, text: _last_error } }\n"


async def told(stage, reply):
    """What a run says of a model's only reply, and how many tools it called."""
    actor = Actor(reply)
    scene = await stage(agent("ping", routes="{ error: tell }") + TOLD + node("ping"), actor=actor)
    result = await scene.run({"ticket": {"order_id": "A-1001"}})
    assert len(actor.requests) == 1
    assert result.usage["tool_calls"] == 0
    return result.result


@pytest.mark.parametrize("content", CUT)
async def test_a_cut_rambling_is_truncated(stage, content):
    assert (await told(stage, turn(content=content, reason="length")))["type"] == "truncated"


@pytest.mark.parametrize("content", [*CUT, *WHOLE])
async def test_a_rambling_that_ends_is_no_answer(stage, content):
    said = await told(stage, turn(content=content))
    assert said["type"] == "invalid_outcome"
    assert len(said["text"]) < 400
