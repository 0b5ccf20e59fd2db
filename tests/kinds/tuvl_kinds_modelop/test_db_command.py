"""`tuvl db` as people run it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

TUVL = Path(sys.executable).with_name("tuvl")
MODEL = {"fields": [{"name": "id", "type": "integer", "primary_key": True}, {"name": "f", "type": "text"}]}


def tuvl(root: Path, *arguments: str, code: int = 0) -> str:
    """Run the command; give what it prints."""
    done = subprocess.run([TUVL, "db", *arguments], cwd=root, capture_output=True, text=True, timeout=100, check=False)
    shown = done.stdout + done.stderr
    assert done.returncode == code, shown
    assert "Traceback" not in shown
    return shown


def prepare(shop: Any) -> None:
    shop.source["create_tables"] = False
    shop.models = {"Thing": MODEL}
    shop.load()


def slow(shop: Any) -> None:
    folder = shop.root / "migrations" / "main" / "versions"
    folder.mkdir(parents=True)
    (folder / "r1.py").write_text(
        '"""slow"""\nimport time\nimport sqlalchemy as sa\nfrom alembic import op\n'
        "revision = 'r1'\ndown_revision = None\n\n\ndef upgrade():\n    time.sleep(1)\n"
        "    op.create_table('thing', sa.Column('id', sa.Integer, primary_key=True), sa.Column('f', sa.Text))\n"
    )


def test_from_nothing_to_a_migrated_database(shop):
    prepare(shop)
    assert "+ thing: new table with id, f" in tuvl(shop.root, "check", code=1)
    assert "op.create_table('thing'" in tuvl(shop.root, "diff", code=1)
    assert "wrote migrations/main/versions/" in tuvl(shop.root, "diff", "--write", "first things")
    assert "CREATE TABLE thing" in tuvl(shop.root, "upgrade", "--sql")
    assert "would apply 1 migration" in tuvl(shop.root, "upgrade", "--dry-run")
    tuvl(shop.root, "check", code=1)
    assert "applied 1 migration" in tuvl(shop.root, "upgrade")
    assert "no migration to apply" in tuvl(shop.root, "upgrade")
    assert "the tables are what the models define" in tuvl(shop.root, "check")
    assert "the tables are what the models define" in tuvl(shop.root, "diff")
    assert "nothing to create" in tuvl(shop.root, "create")


def test_json(shop):
    prepare(shop)
    found = json.loads(tuvl(shop.root, "check", "--json", code=1))
    assert found["ok"] is False
    (change,) = found["sources"][0]["changes"]
    assert change == {"change": "add", "table": "thing", "text": "thing: new table with id, f", "warning": None}
    found = json.loads(tuvl(shop.root, "diff", "--json", code=1))
    assert found["sources"][0]["operations"].startswith("op.create_table(")
    assert found["sources"][0]["file"] is None
    found = json.loads(tuvl(shop.root, "diff", "--json", "--write", "x"))
    assert found["sources"][0]["file"].endswith("_x.py")
    found = json.loads(tuvl(shop.root, "upgrade", "--json"))
    assert [item["message"] for item in found["sources"][0]["applied"]] == ["x"]
    found = json.loads(tuvl(shop.root, "create", "--json"))
    assert found == {"sources": [{"source": "main", "created": []}]}
    assert json.loads(tuvl(shop.root, "check", "--json"))["ok"] is True


def test_two_deployments_at_once(shop):
    prepare(shop)
    slow(shop)
    commands = [
        subprocess.Popen([TUVL, "db", "upgrade"], cwd=shop.root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        for _ in range(3)
    ]
    shown = [command.communicate(timeout=100)[0].decode() for command in commands]
    assert [command.returncode for command in commands] == [0, 0, 0], shown
    assert sorted("applied 1 migration" in text for text in shown) == [False, False, True], shown
    tuvl(shop.root, "check")


def test_an_upgrade_that_is_killed_leaves_everything_as_it_was(shop):
    prepare(shop)
    slow(shop)
    file = shop.root / "migrations" / "main" / "versions" / "r1.py"
    file.write_text(
        file.read_text().replace("time.sleep(1)", "pass") + "    print('made', flush=True)\n    time.sleep(60)\n"
    )
    with subprocess.Popen([TUVL, "db", "upgrade"], cwd=shop.root, stderr=subprocess.PIPE) as command:
        assert command.stderr is not None
        assert command.stderr.readline() == b"made\n"
        command.kill()
    file.unlink()
    assert "+ thing: new table" in tuvl(shop.root, "check", code=1)
    tuvl(shop.root, "create")


def test_wrong_use(sqlite_shop):
    prepare(sqlite_shop)
    root = sqlite_shop.root
    assert "mian" in tuvl(root, "check", "--source", "mian", code=2)
    assert "there is no DataSource 'nowhere'" in tuvl(root, "create", "--source", "nowhere", code=2)
    assert "say what the migration is for" in tuvl(root, "diff", "--write", " ", code=2)
    assert "choose one" in tuvl(root, "upgrade", "--json", "--sql", code=2)
    tuvl(root, "check", "-C", "nowhere", code=2)
    sqlite_shop.document("DataSource", "other", {"type": "sqlite"})
    sqlite_shop.document("DataSource", "main", {**sqlite_shop.source, "primary": True})
    assert "name it with `--source`" in tuvl(root, "upgrade", "--to", "r1", code=2)
    assert "created thing" in tuvl(root, "create", "--source", "main")


def test_a_project_that_is_not_in_order(sqlite_shop):
    sqlite_shop.models = {"Thing": {"fields": [{"name": "f", "type": "text"}]}}
    sqlite_shop.load()
    for command in ("create", "check", "diff", "upgrade"):
        shown = tuvl(sqlite_shop.root, command, code=3)
        assert "TUVL-D002" in shown
        assert "ModelDefinition-Thing-.yaml:1:" in shown
    sqlite_shop.models = {"Thing": {"fieldz": []}}
    sqlite_shop.load()
    assert "fieldz" in tuvl(sqlite_shop.root, "check", code=3)


def test_a_failing_migration(shop):
    prepare(shop)
    slow(shop)
    file = shop.root / "migrations" / "main" / "versions" / "r1.py"
    file.write_text(file.read_text().replace("time.sleep(1)", "op.execute('SELEKT')"))
    shown = tuvl(shop.root, "upgrade", code=1)
    assert "revision r1 (slow) failed, and nothing was applied" in shown


def test_a_server_that_is_not_there(tmp_path):
    source = {"type": "postgresql", "connection": {"host": "127.0.0.1", "port": 1, "password": "hunter2"}}
    for kind, name, spec in (("DataSource", "main", source), ("ModelDefinition", "Thing", MODEL)):
        (tmp_path / f"{name}.yaml").write_text(json.dumps({"kind": kind, "metadata": {"name": name}, "spec": spec}))
    for command in ("create", "check", "diff", "upgrade"):
        shown = tuvl(tmp_path, command, code=1)
        assert "main (postgresql://127.0.0.1:1/postgres): " in shown
        assert "cannot be reached" in shown
        assert "hunter2" not in shown


def test_without_models_there_is_nothing_to_do(tmp_path):
    assert "no models" in tuvl(tmp_path, "create")
    tuvl(tmp_path, "check")
    tuvl(tmp_path, "diff", "--write", "x")
    tuvl(tmp_path, "upgrade")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("arguments", [["--help"], ["db", "--help"], ["db", "upgrade", "--help"]])
def test_help_waits_for_no_database_library(tmp_path, arguments):
    code = (
        "import sys\nfrom tuvl_cli.main import cli\n"
        f"cli.main({arguments!r}, standalone_mode=False)\n"
        "assert not {'sqlalchemy', 'alembic', 'mako'} & set(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=os.environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "db" in done.stdout
