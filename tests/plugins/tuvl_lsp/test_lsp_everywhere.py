"""Wherever the cursor stands, and however little of a text is there, an answer comes and no exception."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lsp_editor import DESK, MODEL
from lsprotocol.types import Position

from tuvl_lsp.completion import complete
from tuvl_lsp.hover import hover
from tuvl_lsp.links import definition_of
from tuvl_lsp.session import Session
from tuvl_lsp.text import Text

DATA = """kind: ModelDefinition
metadata: { name: Order }
spec:
  fields: { id: { type: string, primary_key: true } }
---
kind: Workflow
metadata: { name: data }
spec:
  context: { models: [{ name: Order }, Other] }
  steps:
    - { id: a, kind: ModelOp, model: Order, operation: list, routes: { default: END } }
    - id: b
      kind: MCP
      mcp: { server: files, tool: "read" }
"""
TEXTS = (DESK, MODEL, DATA)


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    root: Path = tmp_path_factory.mktemp("project")
    (root / "model.yaml").write_text(MODEL)
    return Session(root)


def answers(session: Session, text: str, index: int) -> list[str]:
    look = session.look("a.yaml", text)
    spot = look.spot(index)
    if spot is not None:
        hover(look, spot)
        definition_of(look, spot)
    done = complete(look.text, index, lambda changed: session.look("a.yaml", changed))
    assert 0 <= done.start <= index <= done.end <= len(text)
    return [offer.label for offer in done.offers]


@settings(max_examples=150)
@given(st.data())
def test_any_part_of_a_text_at_any_place(session: Session, data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(TEXTS))
    start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(text))] * 2)))
    cut = (
        text[:start]
        + data.draw(st.sampled_from(["", "", "{", "[", '"', ":", "- ", "\n", "\t", "&a", "😀"]))
        + text[end:]
    )
    answers(session, cut, data.draw(st.integers(0, len(cut))))


def test_documents_are_named_by_what_fields_refer_to(session: Session) -> None:
    session.edit("data.yaml", DATA)
    assert answers(session, DATA, DATA.index("Order, operation")) == ["Order"]
    assert answers(session, DATA, DATA.index("Order }, Other")) == ["Order"]
    assert answers(session, DATA, DATA.index("Other")) == ["Order", "name", "version"]
    assert answers(session, "kind: AgentModel\nspec: m\n", 24) == []
    look = session.look("data.yaml")
    spot = look.spot(DATA.index("Order, operation"))
    assert spot is not None
    place = definition_of(look, spot)
    assert place is not None and (place.path, place.line) == ("data.yaml", 2)


@given(st.text(st.sampled_from("a😀é\n\r\t "), max_size=20))
def test_places_there_and_back(text: str) -> None:
    shown = Text(text)
    for index in range(len(text) + 1):
        if text[max(index - 1, 0) : index + 1] == "\r\n" or text[index : index + 1] in ("\r", "\n"):
            continue
        assert shown.index(shown.position(index)) == index
    assert shown.index(Position(line=99, character=0)) == len(text)
    assert shown.index(Position(line=0, character=99)) == len(shown.line(0))
