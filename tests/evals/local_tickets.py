"""How well the local model works twenty tickets, so that changes of a prompt can be compared.

make eval-local [CALLING=native]
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "helpers"))
from local_tickets import TICKETS, Worked, desk, work  # noqa: E402


def row(number: int, worked: Worked) -> str:
    """One ticket on one line."""
    tools = " ".join(name for name, _ in worked.dispatched) or "-"
    decision = worked.result.result.get("decision", "-") if isinstance(worked.result.result, dict) else "-"
    mark = "ok" if worked.right else "  "
    usage = worked.result.usage["tokens"]
    return f"{number:>2} {mark} {worked.exit:<15} {decision:<16} {usage:>6} {worked.seconds:>5.1f} s  {tools}"


async def main(calling: str) -> int:
    """Print a line a ticket, and how often the right tools were called."""
    print(f"tool_calling: {calling}\n\n #    exit            decision         tokens    time  tools")
    done: list[Worked] = []
    with tempfile.TemporaryDirectory() as folder:
        async with await desk(Path(folder), calling) as app:
            for number, ticket in enumerate(TICKETS, 1):
                done.append(await work(app, ticket))
                print(row(number, done[-1]), flush=True)
    first = sum(worked.dispatched[:1] != [] and worked.dispatched[0][0] == worked.ticket.tools[0] for worked in done)
    id_right = sum(arguments == {"order_id": w.ticket.order_id} for w in done for _, arguments in w.dispatched)
    calls = sum(len(worked.dispatched) for worked in done)
    print(f"\nright first tool   {first} of {len(done)}")
    print(f"right tools        {sum(worked.right for worked in done)} of {len(done)}")
    print(f"right order id     {id_right} of {calls} calls")
    print(f"model's own exit   {sum(worked.exit in ('resolved', 'escalate') for worked in done)} of {len(done)}")
    print(f"median time        {statistics.median(worked.seconds for worked in done):.1f} s")
    return 0


if __name__ == "__main__":
    raise SystemExit(asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "schema")))
