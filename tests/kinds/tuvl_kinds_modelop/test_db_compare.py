"""`tuvl db create`, `check` and `diff`: what lies between a database and the models."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import sqlalchemy as sa

from tuvl_core import ProjectError
from tuvl_kinds_modelop.db.work import check_all, create_all, diff_all, upgrade_all

NASTY = ["o'clock", "a:b", " :c", "(x)", "100%", "back\\slash", 'a "q"', "ä,ö", "x = 'y'"]
TYPES: list[dict[str, Any]] = [
    {"name": "a_string", "type": "string", "length": 20},
    {"name": "a_plain_string", "type": "string"},
    {"name": "a_text", "type": "text"},
    {"name": "a_varchar", "type": "varchar", "length": 9},
    {"name": "an_integer", "type": "integer"},
    {"name": "a_bigint", "type": "bigint"},
    {"name": "a_smallint", "type": "smallint"},
    {"name": "a_numeric", "type": "numeric"},
    {"name": "a_price", "type": "numeric", "precision": 12, "scale": 2},
    {"name": "a_count", "type": "numeric", "precision": 9},
    {"name": "a_float", "type": "float"},
    {"name": "a_boolean", "type": "boolean"},
    {"name": "a_uuid", "type": "uuid", "default": "uuid4"},
    {"name": "a_date", "type": "date"},
    {"name": "a_timestamp", "type": "timestamp"},
    {"name": "a_timestamptz", "type": "timestamptz", "default": "now"},
    {"name": "a_jsonb", "type": "jsonb"},
    {"name": "a_bytea", "type": "bytea"},
    {"name": "an_enum", "type": "enum", "enum_values": NASTY},
]


def everything() -> dict[str, Any]:
    """Models of every kind of field, index, unique, tenant and relation."""
    secure = [{**field, "name": f"{field['name']}_s", "secure": True} for field in TYPES]
    required = [{**field, "name": f"{field['name']}_r", "required": True} for field in TYPES]
    return {
        "Every": {"fields": [{"name": "id", "type": "uuid", "primary_key": True}, *TYPES, *secure, *required]},
        "Counted": {
            "fields": [
                {"name": "id", "type": "bigint", "primary_key": True},
                {"name": "order", "type": "string", "required": True, "unique": True, "index": True},
                {"name": "tenant", "type": "string", "required": True},
                {"name": "select", "type": "enum", "enum_values": ["one"], "required": True},
                {"name": "parent", "type": "bigint"},
                {"name": "node", "type": "string"},
            ],
            "tenant_field": "tenant",
            "relations": [
                {"name": "up", "model": "Counted", "foreign_key": "parent", "type": "many_to_one"},
                {"name": "its_node", "model": "Node", "foreign_key": "node", "type": "many_to_one"},
            ],
        },
        # A table and its other refer to each other.
        "Node": {
            "tablename": "Nodes of Mine",
            "fields": [
                {"name": "id", "type": "string", "primary_key": True},
                {"name": "first", "type": "bigint"},
                {"name": "n" * 60, "type": "enum", "enum_values": ["a", "b"], "unique": True},
            ],
            "relations": [{"name": "f", "model": "Counted", "foreign_key": "first", "type": "many_to_one"}],
        },
        # Where keys do not make themselves, each tenant has its own.
        "Owned": {
            "fields": [
                {"name": "id", "type": "string", "primary_key": True},
                {"name": "tenant", "type": "string", "required": True},
                {"name": "boss", "type": "string", "unique": True},
            ],
            "tenant_field": "tenant",
            "relations": [{"name": "b", "model": "Owned", "foreign_key": "boss", "type": "many_to_one"}],
        },
        "Small": {"fields": [{"name": "id", "type": "smallint", "primary_key": True}]},
    }


def prepare(shop: Any, models: dict[str, Any] | None = None) -> None:
    """Write the project's files."""
    shop.source["create_tables"] = False
    if models is not None:
        for file in shop.root.glob("ModelDefinition-*"):
            file.unlink()
        shop.models = models
    shop.load()


def changes(shop: Any) -> list[str]:
    """What `check` finds, of one database."""
    (report,) = check_all(shop.root, None)
    assert report.problem is None, report.problem
    return [str(change) for change in report.changes]


def execute(shop: Any, *statements: str) -> list[Any]:
    """Run SQL; give the rows of the last statement."""
    from tuvl_kinds_modelop.db.places import find_places

    (place,) = find_places(shop.root, None)

    def work(connection: sa.Connection) -> list[Any]:
        with connection.begin():
            for statement in statements:
                result = connection.exec_driver_sql(statement)
            return [tuple(row) for row in result] if result.returns_rows else []

    return asyncio.run(place.write(work))


def migrate(shop: Any, message: str = "change") -> str:
    """Write a migration and apply it; give the file's text."""
    (report,) = diff_all(shop.root, None, message)
    assert report.file is not None
    list(upgrade_all(shop.root, None, "head", rehearse=False))
    return (shop.root / report.file).read_text()


def small(*fields: dict[str, Any], **spec: Any) -> dict[str, Any]:
    """One model with a key and these fields."""
    return {"Thing": {"fields": [{"name": "id", "type": "integer", "primary_key": True}, *fields], **spec}}


def test_a_created_database_has_no_differences(shop):
    prepare(shop, everything())
    assert len(changes(shop)) >= 4
    assert create_all(shop.root, None) == {"main": ["Nodes of Mine", "counted", "every", "owned", "small"]}
    assert changes(shop) == []
    assert create_all(shop.root, None) == {"main": []}


def test_a_migrated_database_has_no_differences(shop):
    prepare(shop, everything())
    text = migrate(shop)
    assert changes(shop) == []
    assert "tuvl" not in text
    for own in ("ExactNumeric", "UtcDateTime", "Hidden", "none_as_null"):
        assert own not in text


def test_databases_that_were_created_and_migrated_are_alike(shop):
    prepare(shop, everything())
    create_all(shop.root, None)
    create = [item for item in schema(shop) if "alembic" not in item]
    execute(shop, *drop_all(shop))
    migrate(shop)
    assert [item for item in schema(shop) if "alembic" not in item] == create


def drop_all(shop: Any) -> list[str]:
    if shop.postgresql:
        return ["DROP SCHEMA public CASCADE", "CREATE SCHEMA public"]
    tables = ['"Nodes of Mine"', "counted", "every", "owned", "small"]
    return ["PRAGMA defer_foreign_keys=ON", *(f"DROP TABLE {table}" for table in tables)]


def schema(shop: Any) -> list[str]:
    """Everything that the database says of its columns and constraints."""
    from tuvl_kinds_modelop.db.places import find_places

    (place,) = find_places(shop.root, None)

    def look(connection: sa.Connection) -> list[str]:
        inspector = sa.inspect(connection)
        found = []
        for table in inspector.get_table_names():
            for get in ("columns", "indexes", "unique_constraints", "foreign_keys", "check_constraints"):
                items = getattr(inspector, f"get_{get}")(table)
                found += [f"{table} {get} {sorted(map(str, item.items()))}" for item in items]
            found.append(f"{table} {inspector.get_pk_constraint(table)}")
        return sorted(found)

    return asyncio.run(place.read(look))


def test_create_alters_nothing(shop):
    prepare(shop, small())
    create_all(shop.root, None)
    prepare(shop, small({"name": "more", "type": "text"}))
    assert create_all(shop.root, None) == {"main": []}
    assert changes(shop) == ["+ thing.more: new field, TEXT"]


def test_a_missing_file_is_not_made(sqlite_shop):
    prepare(sqlite_shop, small())
    assert changes(sqlite_shop) == ["+ thing: new table with id"]
    diff_all(sqlite_shop.root, None, None)
    list(upgrade_all(sqlite_shop.root, None, "head", rehearse=True))
    assert not (sqlite_shop.root / "shop.db").exists()


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ({"type": "integer"}, {"type": "integer", "index": True}, ["+ thing: new index on f"]),
        ({"type": "integer", "index": True}, {"type": "integer"}, ["- thing: index ix_thing_f goes"]),
        ({"type": "integer"}, {"type": "integer", "unique": True}, ["+ thing: f becomes unique"]),
        ({"type": "integer", "required": True}, {"type": "integer"}, ["~ thing.f: is not required any more"]),
        ({"type": "integer"}, {"type": "integer", "required": True}, ["~ thing.f: becomes required"]),
        ({"type": "text"}, {"type": "text", "secure": True}, []),
        ({"type": "text"}, {"type": "text", "description": "d", "default": "x", "input": False}, []),
        (
            {"type": "enum", "enum_values": ["ab", "cd"]},
            {"type": "enum", "enum_values": ["ef", "ab"]},
            ["~ thing.f: takes ab, ef; it was ab, cd"],
        ),
        ({"type": "enum", "enum_values": ["ab", "cd"]}, {"type": "enum", "enum_values": ["cd", "ab"]}, []),
    ],
    ids=str,
)
def test_each_difference_is_found_and_mended(shop, before, after, told):
    prepare(shop, small({"name": "f", **before}))
    create_all(shop.root, None)
    prepare(shop, small({"name": "f", **after}))
    assert changes(shop) == told
    if told:
        migrate(shop)
        assert changes(shop) == []


@pytest.mark.parametrize("kind", ["string", "bigint", "numeric"])
def test_a_type_changes_with_its_rows(shop, kind):
    prepare(shop, small({"name": "f", "type": "integer"}))
    create_all(shop.root, None)
    execute(shop, "INSERT INTO thing (id, f) VALUES (1, 42)")
    prepare(shop, small({"name": "f", "type": kind}))
    if not changes(shop):
        assert kind == "bigint" and not shop.postgresql  # SQLite has one type of whole numbers
        return
    (report,) = diff_all(shop.root, None, None)
    assert "converts what is there" in report.warnings[0]
    migrate(shop)
    assert changes(shop) == []
    assert str(execute(shop, "SELECT f FROM thing")[0][0]) == "42"


def test_a_text_becomes_a_number_on_postgresql(postgresql_shop):
    shop = postgresql_shop
    prepare(shop, small({"name": "f", "type": "text"}))
    create_all(shop.root, None)
    execute(shop, "INSERT INTO thing (id, f) VALUES (1, '42')")
    prepare(shop, small({"name": "f", "type": "integer", "required": True, "default": 1}))
    migrate(shop)
    assert changes(shop) == []
    assert execute(shop, "SELECT f FROM thing") == [(42,)]


def test_relations_come_and_go(shop):
    other = {"Other": {"fields": [{"name": "id", "type": "integer", "primary_key": True}]}}
    relation = {"name": "o", "model": "Other", "foreign_key": "other_id", "type": "many_to_one"}
    field = {"name": "other_id", "type": "integer"}
    prepare(shop, {**small(field), **other})
    create_all(shop.root, None)
    prepare(shop, {**small(field, relations=[relation]), **other})
    assert changes(shop) == ["+ thing: other_id refers to other"]
    migrate(shop)
    assert changes(shop) == []
    prepare(shop, {**small(), **other})
    assert changes(shop) == [
        "- thing: foreign key fk_thing_other_id goes",
        "- thing.other_id: no model has this field",
    ]
    migrate(shop)
    assert changes(shop) == []


def test_a_dropped_field_is_told_with_what_it_costs(shop):
    enum = {"name": "old", "type": "enum", "enum_values": ["a"], "required": True, "index": True}
    prepare(shop, small(enum))
    create_all(shop.root, None)
    prepare(shop, small())
    (report,) = diff_all(shop.root, None, None)
    lines = list(report.lines(operations=True))
    assert "  - thing.old: no model has this field" in lines
    assert "  warning: thing.old is dropped: what it holds is lost" in lines
    assert any("# thing.old: what it holds is lost." in line for line in lines)
    migrate(shop)
    assert changes(shop) == []


def test_tables_of_others_are_left_alone(shop):
    prepare(shop, small())
    execute(shop, "CREATE TABLE theirs (id integer)", "CREATE VIEW seen AS SELECT id FROM theirs")
    create_all(shop.root, None)
    (report,) = check_all(shop.root, None)
    assert report.well
    assert "theirs" not in "\n".join(report.lines())
    assert report.to_json()["unmanaged"] == ["theirs"]


def test_constraints_of_others_are_left_alone(shop):
    prepare(shop, small({"name": "f", "type": "integer"}))
    key = "SERIAL" if shop.postgresql else "INTEGER NOT NULL"
    execute(shop, f"CREATE TABLE thing (id {key} PRIMARY KEY, f integer CONSTRAINT positive CHECK (f > 0))")
    assert changes(shop) == []


def test_what_cannot_be_reached_is_named_without_its_password(postgresql_shop, tmp_path):
    shop = postgresql_shop
    prepare(shop, small())
    wrong = {**shop.source["connection"], "port": 1, "password": "hunter2"}
    shop.document("DataSource", "gone", {"type": "postgresql", "connection": wrong})
    shop.document("DataSource", "main", {**shop.source, "primary": True})
    url = "postgresql://me:hunter2@127.0.0.1:1/x"
    shop.document("DataSource", "other", {"type": "postgresql", "url": url})
    reports = check_all(shop.root, None)
    assert [(report.source, report.problem is None) for report in reports] == [
        ("gone", False),
        ("main", True),
        ("other", False),
    ]
    text = "\n".join(line for report in reports for line in report.lines()) + str(
        [report.to_json() for report in reports]
    )
    assert "hunter2" not in text
    assert "gone (postgresql://postgres@127.0.0.1:1/" in text
    assert "other (postgresql://me@127.0.0.1:1/x)" in text


def test_a_file_that_is_no_database_is_named(sqlite_shop):
    prepare(sqlite_shop, small())
    (sqlite_shop.root / "shop.db").write_text("hello, I am no database " * 100)
    (report,) = check_all(sqlite_shop.root, None)
    assert "no SQLite database" in report.problem


def test_models_that_are_not_in_order_are_refused(sqlite_shop):
    prepare(sqlite_shop, {"Thing": {"fields": [{"name": "x", "type": "text"}]}})
    with pytest.raises(ProjectError) as caught:
        check_all(sqlite_shop.root, None)
    assert "has no primary key" in str(caught.value)


def test_workflows_that_are_not_in_order_do_not_stand_in_the_way(sqlite_shop):
    prepare(sqlite_shop, small())
    (sqlite_shop.root / "w.yaml").write_text("kind: Workflow\nmetadata: {name: w}\nspec: {stepz: []}\n")
    assert changes(sqlite_shop) == ["+ thing: new table with id"]


def test_another_key_is_told_and_left_to_people(shop):
    prepare(shop, small({"name": "number", "type": "integer", "required": True}))
    create_all(shop.root, None)
    fields = [
        {"name": "id", "type": "integer", "required": True},
        {"name": "number", "type": "integer", "primary_key": True},
    ]
    prepare(shop, {"Thing": {"fields": fields}})
    (report,) = diff_all(shop.root, None, "another key")
    assert [str(change) for change in report.changes] == ["~ thing: the primary key is id, and becomes number"]
    assert "write it by hand" in report.warnings[0]
    text = (shop.root / report.file).read_text()
    assert (
        "    # thing: the primary key is id, and becomes number; nobody can write that down but you.\n    pass" in text
    )
    assert "    # thing: the primary key is number, and becomes id;" in text


def test_a_key_that_does_not_count_is_told(postgresql_shop):
    shop = postgresql_shop
    prepare(shop, small())
    execute(shop, "CREATE TABLE thing (id integer PRIMARY KEY)")
    assert changes(shop) == ["~ thing: the database does not number id by itself yet, as the model has it"]
    execute(shop, "ALTER TABLE thing ALTER id ADD GENERATED BY DEFAULT AS IDENTITY")
    assert changes(shop) == []


def test_a_text_is_never_cut_off(postgresql_shop):
    shop = postgresql_shop
    prepare(shop, small({"name": "f", "type": "string", "length": 10}))
    create_all(shop.root, None)
    execute(shop, "INSERT INTO thing (id, f) VALUES (1, 'long text')")
    prepare(shop, small({"name": "f", "type": "string", "length": 4}))
    with pytest.raises(Exception, match="nothing was applied"):
        migrate(shop)
    assert execute(shop, "SELECT f FROM thing") == [("long text",)]


def test_an_isolation_of_its_own(postgresql_shop):
    shop = postgresql_shop
    shop.source["isolation"] = "serializable"
    prepare(shop, small())
    migrate(shop)
    assert changes(shop) == []


def test_two_sources_with_one_database_are_told(shop):
    prepare(shop, small())
    migrate(shop)
    shop.document("DataSource", "other", shop.source)
    shop.document("DataSource", "main", {**shop.source, "primary": True})
    reports = {report.source: report for report in check_all(shop.root, None)}
    assert reports["main"].well
    assert reports["other"].problem is not None
    assert "migrations/other/versions" in reports["other"].problem


def test_a_source_cannot_lead_out_of_the_folder_of_migrations(sqlite_shop):
    prepare(sqlite_shop, small())
    file = sqlite_shop.root / "DataSource-main-.yaml"
    file.write_text(file.read_text().replace('"main"', '"../../x"'))
    with pytest.raises(ProjectError, match=r"a folder of migrations has its name"):
        diff_all(sqlite_shop.root, None, "x")
