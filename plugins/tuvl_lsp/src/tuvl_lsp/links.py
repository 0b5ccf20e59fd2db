"""From a name to where it is declared."""

from __future__ import annotations

from tuvl_core import Location, ProjectError
from tuvl_lsp.look import STEP, Look
from tuvl_lsp.spots import Spot

__all__ = ["definition_of"]


def definition_of(look: Look, spot: Spot) -> Location | None:
    """Where what is named at a place is declared: a step's id, or a document's name."""
    refers = look.refers(spot)
    if refers is None:
        return None
    if refers != STEP:
        try:
            return look.project.find(refers, spot.text).locate("metadata", "name")
        except ProjectError:
            return None
    for number, (id, _) in enumerate(look.ids(spot.document)):
        if id == spot.text:
            return spot.document.locate(("spec", "steps", number, "id"))
    return None
