"""What the refund desk decides by itself, and what it leaves to people."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from tuvl_kinds_functional import node

LIMIT = Decimal(200)
"""Above this, a person decides."""


@node("check_policy")
async def check_policy(ctx: Any) -> dict[str, Any]:
    """Apply the refund policy to the order that was looked up."""
    order = ctx.get("order")
    if order is None or order["order_id"] != ctx.get("order_id", order["order_id"]):
        raise LookupError("look the order up first, with lookup_order")
    total, days = Decimal(order["total"]), order["days_since_delivery"]
    if order["condition"] == "broken" and days <= 30:
        verdict, because = "refund", f"the {order['item']} broke within 30 days"
    elif order["condition"] == "unused" and days <= 14:
        verdict, because = "refund", f"the {order['item']} came back unused within 14 days"
    else:
        verdict, because = "refuse", f"the {order['item']} is {order['condition']}, {days} days after delivery"
    if verdict == "refund" and total > LIMIT:
        verdict, because = "review", f"{because}, but {total} is more than {LIMIT}"
    return {"policy": {"verdict": verdict, "amount": str(total), "because": because}}


@node("hand_over")
async def hand_over(ctx: Any) -> dict[str, Any]:
    """Write down for a person what is known and why the desk stopped."""
    known = [name for name in ("order", "policy") if name in ctx]
    if ctx.get("_last_error"):
        why = f"the agent stopped: {ctx['_last_error']}"
    elif "policy" in ctx:
        why = ctx["policy"]["because"]
    else:
        why = f"the agent never checked the policy; it says: {ctx.get('summary')}"
    return {"handover": {"decision": "a person decides", "because": why, "known": known}}
