"""The shop's refund policy as an MCP server: what it decides by itself, and what it leaves to people.

Ask it by hand: `tuvl mcp list-tools policy`.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

LIMIT = Decimal(200)
"""Above this, a person decides."""

server = MCPServer("policy")


@server.tool()
def check_policy(order_id: str, order: dict[str, Any] | None = None) -> dict[str, str]:
    """Say what the refund policy says about an order.

    Args:
        order_id: The order that is asked about.
        order: The order as the shop knows it.
    """
    if order is None or order["order_id"] != order_id:
        raise ToolError("look the order up first, with lookup_order")
    total, days = Decimal(order["total"]), order["days_since_delivery"]
    if order["condition"] == "broken" and days <= 30:
        verdict, because = "refund", f"the {order['item']} broke within 30 days"
    elif order["condition"] == "unused" and days <= 14:
        verdict, because = "refund", f"the {order['item']} came back unused within 14 days"
    else:
        verdict, because = "refuse", f"the {order['item']} is {order['condition']}, {days} days after delivery"
    if verdict == "refund" and total > LIMIT:
        verdict, because = "review", f"{because}, but {total} is more than {LIMIT}"
    return {"verdict": verdict, "amount": str(total), "because": because}


if __name__ == "__main__":
    server.run("stdio")
