"""How Hypothesis runs, and what happens to tests whose services are missing.

Hypothesis runs anew each time at a desk, the same each time in CI; a busy machine is no failure.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import settings
from services import missing, required

settings.register_profile("desk", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "desk")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test whose service is missing; in CI, fail it."""
    for mark in item.iter_markers("service"):
        reason = missing(mark.args[0])
        if reason is not None:
            (pytest.fail if required() else pytest.skip)(reason)
