"""Steering files and skills: what an agent may read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from agent_stage import Actor, agent, answer, open_app, write_project

from tuvl_core import check_project
from tuvl_kinds_agent.steering import GuideProblem, read_guide, scope_of

SCOPE = "agents/w__work/steering"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with an agent's directory and much around it."""
    (tmp_path / SCOPE / "more").mkdir(parents=True)
    (tmp_path / "agents/w__work/skills").mkdir()
    (tmp_path / "agents/w__work2/steering").mkdir(parents=True)
    (tmp_path / "agents/w__other/steering").mkdir(parents=True)
    for name in ("agents/w__work2/steering/x.md", "agents/w__other/steering/x.md", "outside.md"):
        (tmp_path / name).write_text("FOREIGN")
    (tmp_path / SCOPE / "tone.md").write_text("\ufeffBe kind.\n", encoding="utf-8")
    (tmp_path / SCOPE / "more" / "deep.md").write_text("Be deep.")
    (tmp_path / SCOPE / "raw.md").write_bytes(b"\xff\xfe\x00\x01")
    (tmp_path / SCOPE / "zero.md").write_bytes(b"a\0b")
    (tmp_path / SCOPE / "link.md").symlink_to(tmp_path / "agents/w__other/steering/x.md")
    (tmp_path / SCOPE / "inside.md").symlink_to(tmp_path / SCOPE / "tone.md")
    (tmp_path / SCOPE / "loop.md").symlink_to(tmp_path / SCOPE / "loop.md")
    (tmp_path / SCOPE / "huge.md").write_text("x" * 1_000_001)
    (tmp_path / SCOPE / "dir").symlink_to(tmp_path / "agents/w__other")
    (tmp_path / "agents/w__work/skills/refunds.md").write_text("How to refund.")
    return tmp_path


def test_the_scope_is_made_of_slugs() -> None:
    assert scope_of("refund desk/2", "a_b-c", "skills") == "agents/refund-desk-2__a_b-c/skills"


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        (f"{SCOPE}/tone.md", "Be kind.\n"),
        (f"{SCOPE}/more/deep.md", "Be deep."),
        (f"{SCOPE}/more/../tone.md", "Be kind.\n"),
        (f"./{SCOPE}/tone.md", "Be kind.\n"),
        (f"{SCOPE}/inside.md", "Be kind.\n"),
    ],
)
def test_files_of_its_own_are_read(root: Path, entry: str, text: str) -> None:
    guide = read_guide(root, SCOPE, entry)
    assert (guide.name, guide.text) == (entry.rpartition("/")[2], text)


@pytest.mark.parametrize(
    "entry",
    [
        "outside.md",
        "../outside.md",
        f"{SCOPE}/../../w__other/steering/x.md",
        "agents/w__work2/steering/x.md",
        "agents/w__work/skills/refunds.md",
        f"{SCOPE}/link.md",
        f"{SCOPE}/dir/steering/x.md",
        "/etc/hostname",
        f"{SCOPE}/a\0b.md",
        f"{SCOPE}/loop.md",
    ],
)
def test_everything_else_is_out_of_scope(root: Path, entry: str) -> None:
    with pytest.raises(GuideProblem) as caught:
        read_guide(root, SCOPE, entry)
    assert caught.value.out_of_scope or "loop" in entry


def test_an_absolute_path_is_out_of_scope_wherever_it_leads(root: Path) -> None:
    with pytest.raises(GuideProblem) as caught:
        read_guide(root, SCOPE, str(root / SCOPE / "tone.md"))
    assert caught.value.out_of_scope


def test_a_link_in_place_of_the_scope_opens_nothing(root: Path) -> None:
    (root / "agents/w__third").symlink_to(root / "agents/w__other")
    with pytest.raises(GuideProblem) as caught:
        read_guide(root, "agents/w__third/steering", "agents/w__third/steering/x.md")
    assert caught.value.out_of_scope


def test_a_project_behind_a_link_is_still_a_project(root: Path, tmp_path_factory) -> None:
    link = tmp_path_factory.mktemp("links") / "project"
    link.symlink_to(root)
    assert read_guide(link, SCOPE, f"{SCOPE}/tone.md").text == "Be kind.\n"


@pytest.mark.parametrize("name", ["none.md", "raw.md", "zero.md", "more", "huge.md", "pipe.md"])
def test_what_is_no_text_file_is_no_guide(root: Path, name: str) -> None:
    os.mkfifo(root / SCOPE / "pipe.md")
    with pytest.raises(GuideProblem) as caught:
        read_guide(root, SCOPE, f"{SCOPE}/{name}")
    assert not caught.value.out_of_scope


async def test_k3_the_prompt_holds_what_is_allowed_and_nothing_else(root, caplog):
    files = f"{SCOPE}/tone.md, {SCOPE}/link.md, outside.md, {SCOPE}/none.md, {SCOPE}/raw.md"
    more = f"steering_files: [{files}]\nskills: [agents/w__work/skills/refunds.md, ../x.md]"
    write_project(root, agent(more=more))
    actor = Actor(answer())
    async with open_app(root, {}, actor=actor) as app:
        assert (await app.run("w")).signal == "resolved"
    prompt = actor.requests[0][0]["content"]
    assert "FOREIGN" not in prompt
    always, rest = prompt.split("# Skills")
    assert "Always follow it" in always
    assert "Help.\n\n## tone.md\n\nBe kind." in always
    assert "relevant" in rest
    assert "## refunds.md\n\nHow to refund." in rest
    skipped = [r.getMessage() for r in caplog.records if "_skipped" in r.getMessage()]
    assert len(skipped) == 5


def test_k3_validate_finds_them(root: Path) -> None:
    files = f"{SCOPE}/tone.md, {SCOPE}/link.md, outside.md, {SCOPE}/none.md"
    write_project(root, agent(more=f"steering_files: [{files}]\nskills: [{SCOPE}/tone.md]"))
    app = open_app(root, {})
    found = [
        (item.code, item.severity, item.location.line, item.location.column)
        for item in check_project(app.project)
        if item.code in ("TUVL-A004", "TUVL-A005")
    ]
    assert [(code, severity) for code, severity, *_ in found] == [
        ("TUVL-A004", "error"),
        ("TUVL-A004", "error"),
        ("TUVL-A005", "warning"),
        ("TUVL-A004", "error"),
    ]
    assert len({place[2:] for place in found}) == 4
