"""Text of other people's errors loses its secrets and keeps what finds the fault."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuvl_core.views import scrub


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("401 for api.example.com: Authorization: Bearer s3cr3t-1", ["401", "api.example.com"]),
        ("{'authorization': 'Bearer s3cr3t-1', 'accept': '*/*'}", ["'accept': '*/*'"]),
        ('{"Authorization": "Basic czNjcjN0LTE6s3cr3t-1"}', ["Authorization"]),
        ("Client error '400' for url 'http://api.x/orders?a=1&key=s3cr3t-1&b=2'", ["400", "b=2"]),
        ("http://api.x/o?access_token=s3cr3t-1#top", ["api.x", "#top"]),
        ("http://api.x/o?X-Amz-Signature=s3cr3t-1&n=1", ["n=1"]),
        (
            "cannot connect to postgresql+asyncpg://app:s3cr3t-1@db.example.com:5432/x",
            ["db.example.com:5432/x"],
        ),
        ("git clone https://s3cr3t-1@git.example.com/r failed", ["git.example.com/r"]),
        (
            "Incorrect API key provided: sk-s3cr3t-1abcdef. See docs",
            ["Incorrect API key", "See docs"],
        ),
        ("Incorrect API key provided: s3cr3t-1", ["Incorrect"]),
        ("bad key sk-proj-s3cr3t-1_abcdef0123456789", ["bad key"]),
        ('{"api_key": "s3cr3t-1", "model": "m"}', ['"model": "m"']),
        ("api_key=s3cr3t-1&model=m", ["model=m"]),
        ("X-Api-Key: s3cr3t-1\nHost: h", ["Host: h"]),
        ("password = 's3cr3t-1' host = 'h'", ["host = 'h'"]),
        (
            "env: {'GITHUB_TOKEN': 'ghp_s3cr3t1s3cr3t1s3cr3t1'}".replace("s3cr3t1", "s3cr3t"),
            ["env"],
        ),
        ("MCP_ACCESS_TOKEN=s3cr3t-1", ["MCP_ACCESS_TOKEN"]),
        ("cookie: session=s3cr3t-1; path=/", ["cookie"]),
        ("jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJzM2NyM3QifQ.s3cr3t-1_x rejected", ["rejected"]),
        ("aws AKIAS3CR3TS3CR3TS3CR failed", ["aws", "failed"]),
    ],
)
def test_what_looks_like_a_credential_is_replaced(text: str, kept: list[str]) -> None:
    out = scrub(text)
    assert "s3cr3t" not in out.lower()
    assert "***" in out
    assert all(part in out for part in kept), out


@pytest.mark.parametrize(
    "text",
    [
        "HTTP 400 from api.example.com/orders/A-1?page=2: bad request",
        "the key 'order_id' is missing",
        "max_tokens: 100, tokens=1200",
        "ask-me-anything about risk-free desk-work",
        "keyboard monkey: turkey=2",
        "mail a.b@example.com at http://x.y/z",
        "",
        "naïve tokens and basic facts",
    ],
)
def test_harmless_text_stays(text: str) -> None:
    assert scrub(text) == text


def test_known_secrets_go_wherever_and_however_they_stand() -> None:
    secret = 'p@ss/w"ö rd'
    text = f'raw {secret}, in a URL p%40ss%2Fw%22%C3%B6%20rd, a form p%40ss%2Fw%22%C3%B6+rd, JSON p@ss/w\\"\\u00f6 rd'
    assert scrub(text, [secret]) == "raw ***, in a URL ***, a form ***, JSON ***"


def test_longer_secrets_go_first_and_short_ones_only_as_words() -> None:
    assert scrub("abcdef abcd", ["abcd", "abcdef"]) == "*** ***"
    assert scrub("pin 42 of 1420, '42'", ["42"]) == "pin *** of 1420, '***'"
    assert scrub("text", ["", "  ", "***"]) == "text"


def test_scrubbing_twice_is_scrubbing_once() -> None:
    text = "Authorization: Bearer abcdefgh https://u:p@h/?key=1 api_key='x' sk-abcdefgh password: y"
    assert scrub(scrub(text)) == scrub(text)


@given(st.text(), st.text(alphabet="abcXYZ019-_.~+/=%ä", min_size=8))
def test_a_known_secret_never_survives(text: str, secret: str) -> None:
    assert secret not in scrub(f"{text}{secret}{text}", [secret])


def test_long_text_of_any_make_ends() -> None:
    # Quadratic patterns would run into the suite's limit here.
    for part in (
        "sk-",
        "a-",
        "key=",
        "eyJaaaaaaa.",
        "://",
        "?a.",
        "bearer ",
        "secret: '",
        "x@",
        "-----BEGIN A PRIVATE KEY-----",
    ):
        assert scrub(part * (40_000 // len(part))) is not None
