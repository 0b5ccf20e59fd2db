"""What the refund desk does in Python: fill the shop, and hand a ticket over to a person."""

from __future__ import annotations

from typing import Any

from tuvl_kinds_functional import node


@node("stock")
async def stock(ctx: Any) -> dict[str, Any]:
    """Put the orders of the input into the shop, but for those that are there already."""
    orders = ctx["_db"]["Order"]
    made = [await orders.create(order) for order in ctx["orders"] if await orders.get(order["order_id"]) is None]
    return {"stocked": len(made)}


@node("hand_over")
async def hand_over(ctx: Any) -> dict[str, Any]:
    """Write down for a person what is known and why the desk stopped."""
    known = [name for name in ("order", "policy") if ctx.get(name) is not None]
    if ctx.get("_last_error"):
        why = f"the desk stopped: {ctx['_last_error']}"
    elif "policy" in ctx:
        why = ctx["policy"]["because"]
    else:
        why = f"the agent never checked the policy; it says: {ctx.get('summary')}"
    return {"handover": {"decision": "a person decides", "because": why, "known": known}}
