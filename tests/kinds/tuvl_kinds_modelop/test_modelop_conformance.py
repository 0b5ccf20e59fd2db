"""What every kind has to hold; and what this one declares."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from modelop_shop import CUSTOMER, ORDER, SQLITE, empty_postgresql

from tuvl_core import App, Effects, declared
from tuvl_kinds_modelop.kind import ModelOp
from tuvl_testing import check_kind


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
@pytest.mark.parametrize(
    ("step", "signal"),
    [
        ({"operation": "list"}, "default"),
        ({"operation": "list", "filters": {"number": "{{ number }}"}, "order_by": "-total"}, "default"),
        ({"operation": "read", "record_id": 7}, "default"),
        ({"operation": "delete", "record_id": 7}, "default"),
        ({"operation": "update", "record_id": 7, "payload": {"note": "x"}}, "default"),
        ({"operation": "create", "payload": {"number": "{{ number }}"}}, "default"),
        ({"operation": "create", "payload": {"number": "{{ number }}", "total": "x"}}, "error"),
        ({"operation": "read", "record_id": "x"}, "error"),
        ({"operation": "list", "filters": {"number": "{{ nobody }}"}}, "error"),
    ],
)
async def test_the_contract_of_kinds(database: str, step: dict[str, Any], signal: str) -> None:
    source = SQLITE if database == "sqlite" else await empty_postgresql()
    documents = [
        {"kind": "DataSource", "metadata": {"name": "main"}, "spec": source},
        {"kind": "ModelDefinition", "metadata": {"name": "Order"}, "spec": ORDER},
        {"kind": "ModelDefinition", "metadata": {"name": "Customer"}, "spec": CUSTOMER},
    ]
    await check_kind(
        ModelOp,
        {"model": "Order", **step},
        context={"number": "A-1"},
        signal=signal,
        documents=documents,
        spec={"context": ["Order"]},
    )


def test_it_is_silent_on_nothing(tmp_path: Path) -> None:
    tuvl = Path(sys.executable).with_name("tuvl")
    done = subprocess.run([tuvl, "kinds", "--json"], capture_output=True, text=True, cwd=tmp_path, timeout=60)
    [found] = [item for item in json.loads(done.stdout)["kinds"] if item["name"] == "ModelOp"]
    assert set(found["silent_on"]) <= {"children", "composite", "callable_as_tool", "model_writes", "sinks"}


def test_declarations(sqlite_shop: Any) -> None:
    shop = sqlite_shop
    shop.workflow(
        {"id": "a", "model": "Order", "operation": "list", "filters": {"number": "{{ who.number }}"}},
        {"id": "b", "model": "Order", "operation": "delete", "record_id": "{{ id }}", "output": "gone"},
    )
    plan = App(shop.load()).plan("w")
    first, second = plan.steps["a"], plan.steps["b"]

    def said(what: str, step: Any) -> Any:
        return declared(step.kind, what, step, plan)

    assert said("reads", first).names == {"who"}
    assert said("writes", second).names == {"gone"}
    assert (first.effects, second.effects) == (Effects.READS, Effects.WRITES)
    assert second.transactional
    assert said("capabilities", first).database
    shop.source["transaction"] = "step"
    assert not App(shop.load()).plan("w").steps["b"].transactional
