"""Values are bound, never read as SQL: a corpus through every operand changes no statement."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa

CORPUS = [
    "' OR '1'='1",
    "'; DROP TABLE orders; --",
    '" OR ""="',
    "1; DELETE FROM orders",
    "1 OR 1=1",
    "A-1' --",
    "') OR ('1'='1",
    "A-1'/*",
    "\\'; DROP TABLE orders; --",
    "%' OR number LIKE '%",
    "$1",
    ":number",
    "%(number)s",
    "?",
    "{number}",
    "{{ number }}",
    "number",
    "NULL",
    "1 UNION SELECT token, token, token FROM customer",
    "A-1\r\n; DROP TABLE orders",
    "ʼ; DROP TABLE orders; --",
    "'||(SELECT token FROM customer)||'",
    "pg_sleep(10)",
    "`; DROP TABLE orders; `",
]
OPERANDS: dict[str, dict[str, Any]] = {
    "eq": {"operation": "list", "filters": {"number": "{{ evil }}"}},
    "gt": {"operation": "list", "filters": {"number": {"gt": "{{ evil }}", "lt": "{{ evil }}"}}},
    "in": {"operation": "list", "filters": {"number": {"in": ["{{ evil }}"]}}},
    "like": {"operation": "list", "filters": {"number": {"like": "{{ evil }}"}}},
    "mapping": {"operation": "list", "filters": "{{ filters }}"},
    "read": {"operation": "read", "record_id": "{{ evil }}"},
    "update": {"operation": "update", "record_id": 1, "payload": {"note": "{{ evil }}"}},
    "update many": {"operation": "update", "filters": {"number": "{{ evil }}"}, "payload": {"note": "{{ evil }}"}},
    "delete": {"operation": "delete", "record_id": "{{ evil }}"},
    "delete many": {"operation": "delete", "filters": {"number": "{{ evil }}"}},
    "order_by": {"operation": "list", "order_by": "{{ evil }}"},
    "limit": {"operation": "list", "limit": "{{ evil }}"},
    "offset": {"operation": "list", "offset": "{{ evil }}"},
    "is_null": {"operation": "list", "filters": {"note": {"is_null": "{{ evil }}"}}},
    "enum": {"operation": "list", "filters": {"status": "{{ evil }}"}},
    "numeric": {"operation": "list", "filters": {"total": {"in": ["{{ evil }}"]}}},
    "payload names": {"operation": "create", "payload": "{{ payload }}"},
}


@pytest.mark.parametrize("operand", list(OPERANDS))
async def test_no_value_changes_a_statement(shop: Any, operand: str) -> None:
    await shop.fill([{"number": "A-1", "total": 1}, {"number": "A-2", "total": 2}])
    shop.source["create_tables"] = False
    shop.workflow({"id": "it", "model": "Order", **OPERANDS[operand]})
    app = await shop.open()
    from tuvl_kinds_modelop.scope import SOURCES

    engine = app.resources[SOURCES].source("main").engine.sync_engine
    said: set[str] = set()
    sa.event.listen(engine, "before_cursor_execute", lambda c, cursor, statement, *rest: said.add(statement))
    seen = []
    for evil in CORPUS:
        if evil == "number" and operand in ("mapping", "payload names"):
            continue  # there it is a name that the model has
        result = await app.run(
            "w",
            {"evil": evil, "filters": {"number": evil, evil: 1}, "payload": {"number": f"Z-{len(seen)}", evil: evil}},
        )
        assert result.status in ("completed", "stopped"), result.error
        seen.append(result)
    own = [
        text
        for text in said
        if not text.startswith(("SAVEPOINT", "RELEASE", "ROLLBACK", "BEGIN", "COMMIT", "PRAGMA busy_timeout"))
    ]
    assert len(own) <= 1, own
    for text in own:
        assert not any(evil in text for evil in CORPUS if len(evil) > 6)
    if operand in ("payload names", "limit", "mapping"):
        assert own == []
    rows = await shop.rows(order_by="number")
    assert [row["number"] for row in rows] == ["A-1", "A-2"]


async def test_evil_text_is_kept_as_it_is(shop: Any) -> None:
    make = {
        "id": "make",
        "model": "Order",
        "operation": "create",
        "payload": {"number": "{{ n }}", "note": "{{ evil }}"},
    }
    shop.workflow(make, {"id": "find", "model": "Order", "operation": "list", "filters": {"note": "{{ evil }}"}})
    app = await shop.open()
    for number, evil in enumerate(CORPUS):
        result = await app.run("w", {"n": str(number), "evil": evil})
        assert result.status == "completed", result.error
        assert [row["note"] for row in result.context["find_result"]] == [evil]
    assert [row["note"] for row in await shop.rows(order_by="id")] == CORPUS


async def test_names_of_definitions_are_quoted(shop: Any) -> None:
    """Words of SQL, and capital letters, are names like others."""
    fields = {"id": {"type": "integer", "primary_key": True}, "select": {"type": "string"}, "Group": {"type": "string"}}
    shop.models = {"Order": {"tablename": "user", "fields": fields}}
    await shop.fill([{"select": "a", "Group": "b"}])
    assert await shop.rows(filters={"select": "a", "Group": {"like": "b"}}, order_by="-Group") == [
        {"id": 1, "select": "a", "Group": "b"}
    ]
