"""Migration files: what is written, and how `tuvl db upgrade` applies it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from tuvl_core import TuvlError
from tuvl_kinds_modelop.db.places import find_places
from tuvl_kinds_modelop.db.upgrading import Revisions
from tuvl_kinds_modelop.db.work import check_all, create_all, diff_all, upgrade_all

DEFAULTS: list[tuple[str, Any, dict[str, Any]]] = [
    ("string", "it's :x at 12:30 and 100% \\n", {}),
    ("integer", 3, {}),
    ("bigint", 2**40, {}),
    ("numeric", "1.50", {"precision": 9, "scale": 2}),
    ("float", 0.25, {}),
    ("boolean", True, {}),
    ("uuid", "6f1de9ac-6d3c-4b22-8d34-0a2f6c0b8a11", {}),
    ("uuid", "uuid4", {}),
    ("date", "2026-01-31", {}),
    ("date", "now", {}),
    ("timestamp", "2026-01-31T12:30:00", {}),
    ("timestamp", "now", {}),
    ("timestamptz", "2026-01-31T12:30:00+02:00", {}),
    ("timestamptz", "now", {}),
    ("jsonb", {"a": [1, "it's :b"]}, {}),
    ("bytea", {"base64": "/wD+"}, {}),
    ("enum", " :c", {"enum_values": ["a", " :c"]}),
]


def prepare(shop: Any, models: dict[str, Any] | None = None) -> None:
    shop.source["create_tables"] = False
    if models is not None:
        for file in shop.root.glob("ModelDefinition-*"):
            file.unlink()
        shop.models = models
    shop.load()


def thing(*fields: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return {"Thing": {"fields": [{"name": "id", "type": "integer", "primary_key": True}, *fields], **spec}}


def changes(shop: Any) -> list[str]:
    (report,) = check_all(shop.root, None)
    assert report.problem is None, report.problem
    return [str(change) for change in report.changes]


def written(shop: Any, message: str = "change") -> Path:
    (report,) = diff_all(shop.root, None, message)
    return Path(shop.root / report.file)


def upgrade(shop: Any, target: str = "head", *, rehearse: bool = False) -> Any:
    (outcome,) = upgrade_all(shop.root, None, target, rehearse=rehearse)
    return outcome


def execute(shop: Any, *statements: str) -> list[Any]:
    (place,) = find_places(shop.root, None)

    def work(connection: sa.Connection) -> list[Any]:
        with connection.begin():
            for statement in statements:
                result = connection.exec_driver_sql(statement)
            return [tuple(row) for row in result] if result.returns_rows else []

    return asyncio.run(place.write(work))


def migration(shop: Any, name: str, up: str, after: str | None = None, down: str = "pass") -> None:
    """Write a file by hand."""
    folder = shop.root / "migrations" / "main" / "versions"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.py").write_text(
        f'"""does {name}"""\nimport sqlalchemy as sa\nfrom alembic import op\n'
        f"revision = {name!r}\ndown_revision = {after!r}\n\n\ndef upgrade():\n    {up}\n\n\ndef downgrade():\n    {down}\n"
    )


def downgrade(shop: Any) -> None:
    """Go back to the beginning, as Alembic itself would."""
    from alembic.config import Config
    from alembic.runtime.environment import EnvironmentContext

    (place,) = find_places(shop.root, None)
    scripts = Revisions(place).scripts

    def work(connection: sa.Connection) -> None:
        if place.source.sqlite:
            connection.connection.cursor().execute("PRAGMA foreign_keys=OFF")
        with connection.begin():
            back = lambda current, context: scripts._downgrade_revs("base", current)  # noqa: E731
            with EnvironmentContext(Config(), scripts, fn=back) as environment:
                environment.configure(connection=connection)
                environment.run_migrations()

    asyncio.run(place.write(work))


@pytest.mark.parametrize("secure", [False, True])
async def test_rows_get_the_default_of_a_field_that_becomes_required(shop, secure):
    shop.models = thing({"name": "note", "type": "text"}, {"name": "late", "type": "integer"})
    await shop.fill([{"note": "here", "late": 7}, {"note": "there"}], "Thing")
    fields = [
        {"name": f"f{number}", "type": kind, "required": True, "default": default, "secure": secure, **more}
        for number, (kind, default, more) in enumerate(DEFAULTS)
    ]
    late = {"name": "late", "type": "integer", "required": True, "default": 9}
    await asyncio.to_thread(prepare, shop, thing({"name": "note", "type": "text"}, late, *fields))
    await asyncio.to_thread(written, shop)
    await asyncio.to_thread(upgrade, shop)
    assert await asyncio.to_thread(changes, shop) == []
    # What was hidden is read as if it were not: its column is the same.
    fields = [{**field, "secure": False} for field in fields]
    shop.models = thing({"name": "note", "type": "text"}, late, *fields)
    rows = await shop.rows("Thing")
    assert [row["late"] for row in rows] == [7, 9]
    await shop.fill([{"note": "new", "late": 1}], "Thing")
    after = await shop.rows("Thing")
    assert after[:2] == rows
    for field in fields:
        if field["default"] not in ("now", "uuid4"):
            values = {repr(row[field["name"]]) for row in after}
            assert len(values) == 1, (field, values)
        else:
            assert all(row[field["name"]] for row in after)
    ids = {row["f7"] for row in after}
    assert len(ids) == 3


def test_a_required_field_without_a_default_is_left_to_people(shop):
    prepare(shop, thing())
    create_all(shop.root, None)
    execute(shop, "INSERT INTO thing (id) VALUES (1)")
    prepare(shop, thing({"name": "f", "type": "integer", "required": True}))
    (report,) = diff_all(shop.root, None, "add f")
    assert "thing.f is required and has no default" in report.warnings[0]
    file = shop.root / report.file
    before = file.read_text()
    with pytest.raises(TuvlError, match="a field that must have a value has none"):
        upgrade(shop)
    assert changes(shop) == ["+ thing.f: new field, INTEGER, required"]
    line = next(line for line in before.splitlines() if "give rows that are there a value" in line)
    file.write_text(before.replace(line, "    op.execute('UPDATE thing SET f = id')"))
    upgrade(shop)
    assert changes(shop) == []
    assert execute(shop, "SELECT f FROM thing") == [(1,)]


def test_a_migration_goes_back_as_well(shop):
    prepare(shop)
    written(shop, "first")
    upgrade(shop)
    enum = {"name": "kind", "type": "enum", "enum_values": ["a", "b"], "required": True, "default": "a"}
    order = shop.models["Order"]
    fields = [
        {**item, "enum_values": ["open", "void"]} if item["name"] == "status" else item
        for item in order["fields"]
        if item["name"] != "note"
    ]
    prepare(shop, {**shop.models, "Order": {**order, "fields": [*fields, enum]}})
    written(shop, "second")
    upgrade(shop)
    assert changes(shop) == []
    downgrade(shop)
    assert len(changes(shop)) == 2
    upgrade(shop)
    assert changes(shop) == []


def test_rows_that_refer_to_an_altered_table_stay(shop):
    prepare(shop)
    create_all(shop.root, None)
    execute(
        shop,
        "INSERT INTO customer (id, name) VALUES ('c', 'Ada')",
        "INSERT INTO orders (id, number, customer_id) VALUES (1, 'A-1', 'c')",
    )
    customer = shop.models["Customer"]
    fields = [item for item in customer["fields"] if item["name"] != "token"]
    prepare(shop, {**shop.models, "Customer": {**customer, "fields": fields}})
    written(shop)
    upgrade(shop)
    assert changes(shop) == []
    assert execute(shop, "SELECT customer_id FROM orders") == [("c",)]
    with pytest.raises(Exception, match="(?i)foreign key|refers to"):
        execute(shop, "DELETE FROM customer")


def test_rows_never_come_to_refer_to_nothing(shop):
    prepare(shop)
    create_all(shop.root, None)
    execute(
        shop,
        "INSERT INTO customer (id, name) VALUES ('c', 'Ada')",
        "INSERT INTO orders (id, number, customer_id) VALUES (1, 'A-1', 'c')",
    )
    migration(shop, "r1", "op.execute('DELETE FROM customer')")
    with pytest.raises(TuvlError, match="nothing was applied"):
        upgrade(shop)
    assert execute(shop, "SELECT id FROM customer") == [("c",)]


def test_a_failing_migration_leaves_everything_as_it_was(shop):
    prepare(shop, thing({"name": "f", "type": "integer"}))
    migration(shop, "r1", "op.create_table('thing', sa.Column('id', sa.Integer, primary_key=True))")
    migration(shop, "r2", "op.add_column('thing', sa.Column('f', sa.Integer)); op.execute('SELEKT 1')", "r1")
    with pytest.raises(TuvlError) as caught:
        upgrade(shop)
    text = str(caught.value)
    assert "revision r2 (does r2) failed, and nothing was applied" in text
    assert "SELEKT" in text
    assert execute(shop, f"SELECT count(*) FROM {catalog(shop)}") == [(0,)]
    assert upgrade(shop, "r1").applied.revisions == (("r1", "does r1"),)
    with pytest.raises(TuvlError, match="r2"):
        upgrade(shop)
    assert changes(shop) == ["+ thing.f: new field, INTEGER"]


def catalog(shop: Any) -> str:
    return "pg_tables WHERE schemaname = 'public'" if shop.postgresql else "sqlite_master"


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("raise RuntimeError('not today')", "RuntimeError: not today (migrations/main/versions/r1.py, line 9)"),
        ("nonsense", "NameError: name 'nonsense' is not defined (migrations/main/versions/r1.py, line 9)"),
        ("op.drop_table('gone')", "gone"),
        ("with op.get_context().autocommit_block(): pass", "`autocommit_block` would end the one transaction"),
        ("op.execute(\"INSERT INTO thing (id) VALUES ('hunter2')\")", "nothing was applied"),
    ],
)
def test_why_a_migration_failed_is_told(shop, code, told):
    prepare(shop, thing())
    create_all(shop.root, None)
    migration(shop, "r1", code)
    with pytest.raises(TuvlError) as caught:
        upgrade(shop)
    assert told in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_a_file_that_is_no_python_is_told(shop):
    prepare(shop, thing())
    migration(shop, "r1", "def def")
    for attempt in (lambda: upgrade(shop), lambda: diff_all(shop.root, None, "x")):
        with pytest.raises(TuvlError, match=r"invalid syntax \(.*r1\.py, line 9\)"):
            attempt()


def test_values_of_every_kind_outlive_a_copied_table(shop):
    values = ["o'clock", "a:b", " :c", "(x)", "100%", "back\\slash", 'a "q"', "x = 'y'", "two\nlines"]
    enum = {"name": "e", "type": "enum", "enum_values": values}
    prepare(shop, thing(enum, {"name": "gone", "type": "text", "unique": True}))
    written(shop, "first")
    upgrade(shop)
    assert changes(shop) == []
    prepare(shop, thing(enum))
    written(shop, "second")
    upgrade(shop)
    assert changes(shop) == []
    for number, value in enumerate(values):
        literal = value.replace("'", "''")
        execute(shop, f"INSERT INTO thing (id, e) VALUES ({number}, '{literal}')")
    with pytest.raises(Exception, match="(?i)check|not one of those"):
        execute(shop, "INSERT INTO thing (id, e) VALUES (99, 'other')")


def test_views_outlive_a_copied_table(shop):
    prepare(shop, thing({"name": "gone", "type": "text", "unique": True}))
    create_all(shop.root, None)
    execute(shop, "CREATE VIEW seen AS SELECT id FROM thing")
    prepare(shop, thing())
    written(shop)
    upgrade(shop)
    assert changes(shop) == []
    assert execute(shop, "SELECT * FROM seen") == []


def test_up_to_a_revision_and_no_further(shop):
    prepare(shop, thing())
    for number in range(1, 5):
        after = f"r{number - 1}" if number > 1 else None
        migration(shop, f"r{number}", f"op.create_table('t{number}', sa.Column('id', sa.Integer))", after)
    rehearsed = upgrade(shop, "r2", rehearse=True)
    assert [revision for revision, _ in rehearsed.applied.revisions] == ["r1", "r2"]
    assert list(rehearsed.lines())[0].endswith("would apply 2 migrations")
    assert any("CREATE TABLE t2" in statement for statement in rehearsed.applied.statements)
    assert not any("t3" in statement for statement in rehearsed.applied.statements)
    assert execute(shop, f"SELECT count(*) FROM {catalog(shop)}") == [(0,)]
    for target, expected in (("r2", ["r1", "r2"]), ("r2", []), ("+1", ["r3"]), ("head", ["r4"]), ("head", [])):
        assert [revision for revision, _ in upgrade(shop, target).applied.revisions] == expected
    with pytest.raises(TuvlError, match="beyond 'r2' already"):
        upgrade(shop, "r2")
    with pytest.raises(TuvlError, match="nowhere"):
        upgrade(shop, "nowhere")


def test_a_database_ahead_of_the_files_is_told(shop):
    prepare(shop, thing())
    migration(shop, "r1", "pass")
    upgrade(shop)
    (shop.root / "migrations" / "main" / "versions" / "r1.py").unlink()
    with pytest.raises(TuvlError, match="r1"):
        upgrade(shop)
    (report,) = check_all(shop.root, None)
    assert "r1" in report.problem


def test_two_last_revisions_are_told(shop):
    prepare(shop, thing())
    migration(shop, "r1", "pass")
    migration(shop, "r2", "pass")
    with pytest.raises(TuvlError, match=r"r1 and r2 are both the last one; set the `down_revision`"):
        upgrade(shop)


def test_no_file_is_written_while_others_wait(shop):
    prepare(shop, thing())
    written(shop)
    with pytest.raises(TuvlError, match="it lacks 1 migration; `tuvl db upgrade` first"):
        diff_all(shop.root, None, "again")
    (report,) = check_all(shop.root, None)
    assert "  hint: `tuvl db upgrade` applies 1 migration that it lacks" in list(report.lines())


def test_nothing_to_write_writes_nothing(shop):
    prepare(shop, thing())
    create_all(shop.root, None)
    (report,) = diff_all(shop.root, None, "nothing")
    assert report.file is None
    assert not (shop.root / "migrations").exists()


@pytest.mark.parametrize("message", ['say "hi" \\ """ there', "a\nb", "../../etc/passwd", "{upgrade}", "ü" * 300])
def test_every_message_makes_a_file(sqlite_shop, message):
    prepare(sqlite_shop, thing())
    file = written(sqlite_shop, message)
    assert file.parent == sqlite_shop.root / "migrations" / "main" / "versions"
    upgrade(sqlite_shop)
    assert changes(sqlite_shop) == []


def test_upgrades_wait_for_each_other_on_postgresql(postgresql_shop, monkeypatch):
    from tuvl_kinds_modelop.db.upgrading import _LOCK

    shop = postgresql_shop
    monkeypatch.setenv("TUVL_DB_WAIT_S", "0.3")
    prepare(shop, thing())
    migration(shop, "r1", "pass")

    async def go() -> None:
        import asyncpg

        connection = await asyncpg.connect(
            host="127.0.0.1", port=5432, user="postgres", database=shop.source["connection"]["database"]
        )
        try:
            await connection.execute(f"SELECT pg_advisory_lock({_LOCK})")
            with pytest.raises(TuvlError, match="another `tuvl db upgrade` is at work"):
                await asyncio.to_thread(upgrade, shop)
        finally:
            await connection.close()

    asyncio.run(go())
