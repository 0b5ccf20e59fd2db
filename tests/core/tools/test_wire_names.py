"""The names under which models know tools: valid everywhere, stable, one each."""

from __future__ import annotations

import json
import re
import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st

from tuvl_core.tools import wire_names

VALID = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")


def test_a_ref_that_every_provider_takes_keeps_its_name() -> None:
    refs = ["lookup_order", "Find-It", "_x", "a" * 64]
    assert wire_names(refs) == {ref: ref for ref in refs}


def test_any_other_gets_a_readable_alias_with_a_hash() -> None:
    refs = ["crm.contacts.find by email", "a" * 70, "1st", "é", "", "a.b", "a b"]
    names = wire_names(refs)
    assert list(names) == refs
    assert names["crm.contacts.find by email"].startswith("crm_contacts_find_by_email_")
    assert names["a" * 70].startswith("aaaa")
    assert len(names["a" * 70]) == 64
    assert names["1st"].startswith("tool_1st_")
    assert names["a.b"] != names["a b"]
    assert all(VALID.fullmatch(name) for name in names.values())


def test_an_alias_gives_way_to_a_ref_that_is_spelled_like_it() -> None:
    alias = wire_names(["a b"])["a b"]
    names = wire_names(["a b", alias])
    assert names[alias] == alias
    assert names["a b"] != alias
    assert names["a b"].startswith(alias)


def test_long_refs_that_begin_alike_stay_apart() -> None:
    names = wire_names(["x" * 100 + str(number) for number in range(50)])
    assert len(set(names.values())) == 50


def test_names_are_the_same_in_every_process_and_order() -> None:
    refs = ["find by email", "x" * 70, "ok"]
    code = f"import json; from tuvl_core.tools import wire_names; print(json.dumps(wire_names({refs[::-1]!r})))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(out.stdout) == wire_names(refs)


@given(st.lists(st.text() | st.from_regex(VALID, fullmatch=True)))
def test_names_are_valid_unique_and_stable_for_any_refs(refs: list[str]) -> None:
    names = wire_names(refs)
    assert set(names) == set(refs)
    assert all(VALID.fullmatch(name) for name in names.values())
    assert len(set(names.values())) == len(names)
    assert wire_names(refs[::-1]) == names
