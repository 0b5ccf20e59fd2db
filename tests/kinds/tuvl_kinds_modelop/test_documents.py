"""Models and data sources that contradict themselves are refused, at their place; versions are pinned."""

from __future__ import annotations

from typing import Any

import pytest

KEY = {"name": "id", "type": "uuid", "primary_key": True}


@pytest.mark.parametrize(
    ("spec", "code", "words"),
    [
        ({"fields": [KEY, {"name": "a", "type": "enum"}]}, "TUVL-D001", "enum_values"),
        ({"fields": [KEY, {"name": "a", "type": "text", "enum_values": ["x"]}]}, "TUVL-D001", "enum_values"),
        ({"fields": [KEY, {"name": "a", "type": "enum", "enum_values": ["x", "x"]}]}, "TUVL-D001", "twice"),
        ({"fields": [KEY, {"name": "a", "type": "text"}, {"name": "a", "type": "text"}]}, "TUVL-D001", "twice"),
        ({"fields": [KEY, {"name": "a b", "type": "text"}]}, "TUVL-D001", "name"),
        ({"fields": [KEY, {"name": "a", "type": "integer", "default": "x"}]}, "TUVL-D001", "default"),
        ({"fields": [KEY, {"name": "a", "type": "text", "length": 3}]}, "TUVL-D001", "length"),
        ({"fields": [KEY, {"name": "a", "type": "numeric", "precision": 2, "scale": 3}]}, "TUVL-D001", "scale"),
        ({"fields": [{**KEY, "secure": True}]}, "TUVL-D001", "secure"),
        ({"fields": [{**KEY, "type": "jsonb"}]}, "TUVL-D001", "primary key"),
        ({"fields": [{"name": "a", "type": "text"}]}, "TUVL-D002", "primary key"),
        ({"fields": [KEY, {**KEY, "name": "b"}]}, "TUVL-D002", "several"),
        ({"fields": [KEY], "tenant_field": "tenant"}, "TUVL-D001", "tenant_field"),
        ({"fields": [KEY, {"name": "t", "type": "text"}], "tenant_field": "t"}, "TUVL-D001", "required"),
        ({"fields": [KEY], "datasource": "mian"}, "TUVL-D005", "main"),
        (
            {
                "fields": [KEY],
                "relations": [{"name": "x", "model": "Custmer", "foreign_key": "id", "type": "many_to_one"}],
            },
            "TUVL-D004",
            "Customer",
        ),
        (
            {
                "fields": [KEY],
                "relations": [{"name": "x", "model": "Customer", "foreign_key": "c", "type": "many_to_one"}],
            },
            "TUVL-D004",
            "no field 'c'",
        ),
        (
            {
                "fields": [KEY],
                "relations": [{"name": "x", "model": "Customer", "foreign_key": "id", "type": "many_to_one"}],
            },
            "TUVL-D004",
            "uuid",
        ),
        ({"fields": [KEY], "tablename": "orders"}, "TUVL-D003", "share"),
        ({"fields": [KEY, {"name": "n", "type": "numeric", "unique": True}]}, "TUVL-D001", "scale"),
        (
            {
                "fields": [KEY, {"name": "c", "type": "string"}],
                "datasource": "other",
                "relations": [{"name": "x", "model": "Customer", "foreign_key": "c", "type": "many_to_one"}],
            },
            "TUVL-D004",
            "another data source",
        ),
    ],
)
def test_a_model_that_contradicts_itself_is_refused(
    sqlite_shop: Any, spec: dict[str, Any], code: str, words: str
) -> None:
    shop = sqlite_shop
    shop.source["primary"] = True
    shop.document("DataSource", "other", {"type": "sqlite"})
    shop.workflow({"id": "it", "model": "Order", "operation": "list"})
    shop.document("ModelDefinition", "Thing", spec)
    found = [item for item in shop.check() if item.code.startswith("TUVL-D")]
    assert [item.code for item in found] == [code], found
    assert words in f"{found[0].message} {found[0].hint}"
    assert found[0].location is not None


def test_a_mistyped_context_is_said_once(sqlite_shop: Any) -> None:
    shop = sqlite_shop
    shop.workflow({"id": "it", "model": "Order", "operation": "list"}, context=["Ordr"])
    assert [item.code for item in shop.check()] == ["TUVL-D007"]


def test_models_are_checked_where_no_workflow_uses_them_yet(sqlite_shop: Any) -> None:
    shop = sqlite_shop
    shop.document("ModelDefinition", "Thing", {"fields": [{"name": "a", "type": "text"}]})
    assert [item.code for item in shop.check()] == ["TUVL-D002"]


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"type": "postgresql"}, "connection"),
        ({"type": "sqlite", "isolation": "serializable"}, "isolation"),
        ({"type": "sqlite", "path": ":memory:"}, "memory"),
        ({"type": "sqlite", "driver": "asyncpg"}, "aiosqlite"),
        ({"type": "postgresql", "url": "mysql://x"}, "no address"),
        ({"type": "postgresql", "url": "sqlite:///x.db"}, "another type"),
        ({"type": "postgresql", "url": "postgresql://h/x?sslmod=require"}, "sslmod"),
        ({"type": "sqlite", "url": "sqlite:///x.db", "path": "y.db"}, "whole address"),
        ({"type": "sqlite", "pooling": {"min_size": 3, "max_size": 2}}, "min_size"),
    ],
)
def test_a_source_that_contradicts_itself_is_refused(sqlite_shop: Any, spec: dict[str, Any], words: str) -> None:
    shop = sqlite_shop
    shop.source["primary"] = True
    shop.workflow({"id": "it", "model": "Order", "operation": "list"})
    shop.document("DataSource", "other", spec)
    found = [item for item in shop.check() if item.code.startswith("TUVL-D")]
    assert [item.code for item in found] == ["TUVL-D006"], found
    assert words in found[0].message


def test_a_table_of_tenants_is_not_another_models_without(sqlite_shop: Any) -> None:
    shop = sqlite_shop
    fields = [KEY, {"name": "tenant", "type": "string", "required": True}]
    shop.workflow({"id": "it", "model": "Order", "operation": "list"})
    shop.document("ModelDefinition", "Mine", {"fields": fields, "tablename": "x", "tenant_field": "tenant"})
    shop.document("ModelDefinition", "All", {"fields": fields, "tablename": "x"})
    assert [item.code for item in shop.check()] == ["TUVL-D003"]


async def test_an_address_may_ask_for_tls_as_other_drivers_spell_it(postgresql_shop: Any) -> None:
    shop = postgresql_shop
    database = shop.source["connection"]["database"]
    shop.source = {
        "type": "postgresql",
        "url": f"postgresql://postgres@127.0.0.1/{database}?sslmode=disable",
        "create_tables": True,
    }
    shop.workflow({"id": "it", "model": "Order", "operation": "list"})
    _, result = await shop.live()
    assert result.status == "completed", result.error


def test_of_several_sources_one_is_primary(sqlite_shop: Any) -> None:
    shop = sqlite_shop
    shop.workflow({"id": "it", "model": "Order", "operation": "list"})
    shop.document("DataSource", "other", {"type": "sqlite"})
    assert {item.code for item in shop.check()} == {"TUVL-D005"}
    shop.document("DataSource", "other", {"type": "sqlite"}, primary=True)
    assert shop.check() == []
    shop.source["primary"] = True
    assert [item.code for item in shop.check()] == ["TUVL-D005"]


V1 = {"fields": [{"name": "id", "type": "integer", "primary_key": True}, {"name": "a", "type": "string"}]}
V2 = {"tablename": "thing_two", "fields": [*V1["fields"], {"name": "b", "type": "string"}]}


async def test_a_workflow_may_ask_for_one_version_of_a_model(shop: Any) -> None:
    shop.models = {}
    shop.document("ModelDefinition", "Thing", V1, schema_version="v1")
    shop.document("ModelDefinition", "Thing", V2, schema_version="v2")
    make = {"id": "make", "model": "Thing", "operation": "create", "payload": {"a": "x"}}
    for context, keys in (
        ("Thing", {"id", "a", "b"}),
        ({"models": [{"name": "Thing", "version": "v1"}]}, {"id", "a"}),
        ({"models": [{"name": "Thing", "version": "v2"}]}, {"id", "a", "b"}),
    ):
        shop.workflow(make, context=context)
        await shop.close()
        _, result = await shop.live()
        assert result.status == "completed", result.error
        assert set(result.context["make_result"]) == keys
    shop.workflow(make, context={"models": [{"name": "Thing", "version": "v9"}]})
    await shop.close()
    assert [item.code for item in shop.check() if item.code == "TUVL-D007"] == ["TUVL-D007"]


def test_two_enabled_versions_of_one_table_with_different_fields_are_refused(sqlite_shop: Any) -> None:
    shop = sqlite_shop
    shop.models = {}
    shop.workflow({"id": "it", "model": "Thing", "operation": "list"}, context="Thing")
    shop.document("ModelDefinition", "Thing", V1, schema_version="v1")
    shop.document("ModelDefinition", "Thing", {"fields": V2["fields"]}, schema_version="v2")
    assert [item.code for item in shop.check()] == ["TUVL-D003"]
    with pytest.raises(Exception, match="cannot run"):
        from tuvl_core import App

        App(shop.load()).plan("w")


async def test_without_a_source_there_is_a_database_in_the_project(sqlite_shop: Any) -> None:
    shop = sqlite_shop
    shop.workflow({"id": "it", "model": "Order", "operation": "create", "payload": {"number": "A-1"}})
    project = shop.load()
    (shop.root / "DataSource-main-.yaml").unlink()
    from tuvl_core import App, load_project

    async with App(load_project(shop.root, plugins=project.plugins, environ={})) as app:
        result = await app.run("w")
    assert result.status == "completed", result.error
    assert (shop.root / ".tuvl" / "data.db").is_file()


async def test_a_declared_source_makes_no_tables_by_itself(shop: Any) -> None:
    shop.source["create_tables"] = False
    shop.workflow({"id": "it", "model": "Order", "operation": "list"})
    run, result = await shop.live()
    assert result.status == "stopped"
    assert run.context["_last_error_type"] == "no_table"
    assert "tuvl db" in run.context["_last_error"]


async def test_sources_side_by_side(shop: Any) -> None:
    shop.source["primary"] = True
    shop.document("DataSource", "notes", {"type": "sqlite", "path": "notes.db", "create_tables": True})
    shop.models["Note"] = {
        "datasource": "notes",
        "fields": [{"name": "id", "type": "integer", "primary_key": True}, {"name": "text", "type": "text"}],
    }
    result = await shop.run(
        {"id": "a", "model": "Order", "operation": "create", "payload": {"number": "A-1"}},
        {"id": "b", "model": "Note", "operation": "create", "payload": {"text": "x"}},
    )
    assert result.status == "completed", result.error
    shop.node("@node('boom')\nasync def boom(ctx):\n    raise ValueError\n")
    result = await shop.run(
        {"id": "a", "model": "Order", "operation": "create", "payload": {"number": "A-2"}},
        {"id": "b", "model": "Note", "operation": "create", "payload": {"text": "y"}},
        {"id": "c", "kind": "Functional", "runner": "boom"},
    )
    assert result.status == "stopped"
    assert len(await shop.rows()) == len(await shop.rows("Note")) == 1


def test_validating_waits_for_no_database_library(sqlite_shop: Any) -> None:
    import subprocess
    import sys

    shop = sqlite_shop
    shop.workflow({"id": "it", "model": "Order", "operation": "list"})
    shop.load()
    code = (
        "import sys\nfrom tuvl_cli.main import main\nsys.argv[1:1] = ['validate', '-C']\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code, end.code\n"
        "heavy = sorted({'sqlalchemy', 'asyncpg', 'aiosqlite', 'alembic'} & set(sys.modules))\nassert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(shop.root)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr + done.stdout
