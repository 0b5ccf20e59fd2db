"""Kind APICall: what is sent again, and what never is."""

from __future__ import annotations

import email.utils
import time

import pytest


class Script:
    """Answers one after the other; the last one stays."""

    def __init__(self, *answers):
        self.answers = list(answers)

    def __call__(self, h):
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        answer(h)


def hang(h):
    time.sleep(1.5)


def status(code, **headers):
    return lambda h: h.answer(code, b"try later", Content_Type="text/plain", **headers)


def good(h):
    h.json({"ok": True})


def drop(h):
    h.close_connection = True
    h.connection.close()


@pytest.mark.parametrize("method", ["POST", "PATCH", "PUT", "DELETE", "GET"])
@pytest.mark.parametrize(
    "answer", [hang, status(503), status(429, Retry_After="1"), drop], ids=["hang", "503", "429", "drop"]
)
async def test_by_default_a_request_is_sent_once(api, server, method, answer):
    outcome = await api(server.on("/x", answer), method=method, timeout=0.4)
    assert outcome.signals == ["error"]
    assert len(server.seen) == 1


@pytest.mark.parametrize("method", ["POST", "PATCH", "PUT", "DELETE"])
@pytest.mark.parametrize("answer", [status(503), drop, hang], ids=["503", "drop", "hang"])
async def test_retries_do_not_count_without_an_idempotency_key(api, server, method, answer):
    outcome = await api(server.on("/x", answer), method=method, retries=3, timeout=0.5)
    assert outcome.signals == ["error"]
    assert len(server.seen) == 1


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS"])
async def test_safe_methods_are_tried_again(api, server, method):
    url = server.on("/x", Script(status(503), drop, good))
    outcome = await api(url, method=method, retries=3)
    assert outcome.signals == ["default"]
    assert len(server.seen) == 3


async def test_the_same_key_goes_with_each_try(api, server):
    url = server.on("/x", Script(hang, status(503), status(429, Retry_After="1"), good))
    began = time.monotonic()
    outcome = await api(
        url, {"order": "A-1"}, method="POST", json={"n": 1}, retries=3, idempotency_key="pay-{{ order }}", timeout=6
    )
    assert outcome.signals == ["default"], outcome.error
    assert [seen.headers["Idempotency-Key"] for seen in server.seen] == ["pay-A-1"] * 4
    assert {seen.body for seen in server.seen} == {b'{"n":1}'}
    assert time.monotonic() - began > 1


@pytest.mark.parametrize("value", ["", None, "   "])
async def test_an_empty_key_is_none(api, server, value):
    outcome = await api(server.on("/x", good), {"k": value}, method="POST", idempotency_key="{{ k }}")
    assert outcome.error_type == "bad_request"
    assert server.seen == []


async def test_tries_are_counted(api, server):
    outcome = await api(server.on("/x", status(503)), retries=2, timeout=10)
    assert outcome.error_type == "http_status"
    assert len(server.seen) == 3


@pytest.mark.parametrize("answer", [hang, status(503)], ids=["hang", "503"])
async def test_the_time_is_never_passed(api, server, answer):
    began = time.monotonic()
    outcome = await api(server.on("/x", answer), retries=10, timeout=1)
    assert outcome.signals == ["error"]
    assert time.monotonic() - began < 5
    assert 1 < len(server.seen) < 11


async def test_a_wait_that_does_not_fit_ends_it_at_once(api, server):
    for asked in ("3600", email.utils.formatdate(time.time() + 3600, usegmt=True)):
        began = time.monotonic()
        outcome = await api(server.on("/x", status(429, Retry_After=asked)), retries=3, timeout=5)
        assert outcome.error_type == "http_status"
        assert "429" in outcome.error
        assert time.monotonic() - began < 4
    assert len(server.seen) == 2


async def test_retry_after_as_a_date(api, server):
    when = email.utils.formatdate(time.time() + 2, usegmt=True)
    url = server.on("/x", Script(status(503, Retry_After=when), good))
    outcome = await api(url, retries=1, timeout=8)
    assert outcome.signals == ["default"]


@pytest.mark.parametrize("asked", ["soon", "-5", "1e9", "99999999999999", ""])
async def test_a_retry_after_that_is_none(api, server, asked):
    url = server.on("/x", Script(status(503, Retry_After=asked), good))
    assert (await api(url, retries=1, timeout=5)).signals == ["default"]


@pytest.mark.parametrize("code", [400, 401, 403, 404, 409, 422, 500, 501])
async def test_other_statuses_are_final(api, server, code):
    await api(server.on("/x", status(code)), retries=3)
    assert len(server.seen) == 1


async def test_a_wrong_answer_is_final(api, server):
    await api(server.on("/x", lambda h: h.answer(200, b"<html>", Content_Type="application/json")), retries=3)
    await api(server.on("/y", lambda h: h.answer(200, b"x" * 100)), retries=3, max_bytes=10)
    assert len(server.seen) == 2


async def test_cancelling_a_run_ends_the_request(api, server, bench):
    import asyncio

    bench.workflow(api.step(server.on("/x", hang), retries=5))
    app = await bench.open()
    handle = await app.start("w")
    await asyncio.sleep(0.2)
    began = time.monotonic()
    handle.cancel()
    result = await handle.wait()
    assert result.status == "cancelled"
    assert time.monotonic() - began < 3
    assert len(server.seen) == 1
