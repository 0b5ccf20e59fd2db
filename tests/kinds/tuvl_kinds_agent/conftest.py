"""The stage that every test here plays on."""

from __future__ import annotations

from agent_stage import stage

__all__ = ["stage"]
