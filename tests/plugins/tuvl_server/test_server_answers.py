"""What requests get: statuses, problems, headers, and strict reading."""

from __future__ import annotations

import json
import logging

import pytest

JSON = {"content-type": "application/json"}


async def test_a_run_that_completes_is_its_object(desk):
    async with desk() as (service, http):
        answer = await http.post("/api/workflows/hello/runs", json={"name": "Ada"})
        assert answer.status_code == 200
        found = answer.json()
        assert found["run_id"] == answer.headers["x-run-id"]
        assert list(found) == [
            "run_id", "workflow", "status", "signal", "last_step", "path", "result", "context", "error", "usage"
        ]  # fmt: skip
        assert (found["status"], found["result"]) == ("completed", "Ada")
        assert (await http.post("/api/hello", json={"name": "Bo"})).json()["result"] == "Bo"
        assert (await http.get(f"/api/runs/{found['run_id']}")).json()["status"] == "completed"
        assert [run["run_id"] for run in (await http.get("/api/runs?workflow=hello")).json()["runs"]][1:] == [
            found["run_id"]
        ]


@pytest.mark.parametrize(
    ("workflow", "status", "ended"),
    [("made", 201, "completed"), ("fails", 500, "stopped"), ("late", 504, "failed"), ("odd", 500, "completed")],
)
async def test_how_it_ends_is_the_status(desk, workflow, status, ended):
    async with desk() as (service, http):
        answer = await http.post(f"/api/workflows/{workflow}/runs", json={"n": 1})
        assert answer.status_code == status
        assert answer.json()["status"] == ended
        assert (answer.json()["error"] is None) is (status == 201)


async def test_a_status_without_a_body_has_none(desk):
    async with desk() as (service, http):
        answer = await http.post("/api/workflows/nothing/runs", json={"n": 1})
        assert (answer.status_code, answer.content) == (204, b"")
        assert answer.headers["x-run-id"]


async def test_triggers_take_the_path_the_query_and_the_body(desk):
    async with desk() as (service, http):
        assert (await http.put("/orders/7", json={})).json()["result"] == {"number": 7}
        assert (await http.put("/orders/seven")).status_code == 422
        assert (await http.put("/orders/7", json={"number": 8})).json()["errors"][0]["path"] == "number"
        assert (await http.get("/api/made?n=3")).json()["result"] == 3
        assert (await http.get("/api/made?n=3&n=4")).status_code == 422
        assert (await http.get("/api/made?n=1_0")).status_code == 422
        assert (await http.get("/api/made?n=" + "9" * 400)).json()["result"] == int("9" * 400)
        wrong = await http.post("/api/made")
        assert wrong.status_code == 405
        assert set(wrong.headers["allow"].split(", ")) == {"GET", "HEAD"}
        assert wrong.json()["type"] == "urn:tuvl:problem:method-not-allowed"


async def test_input_that_does_not_fit_is_named_by_path(desk):
    async with desk() as (service, http):
        answer = await http.post("/api/hello", json={"name": "Ada", "n": "one", "more": 1})
        assert answer.status_code == 422
        assert answer.headers["content-type"] == "application/problem+json"
        problem = answer.json()
        assert (problem["type"], problem["status"]) == ("urn:tuvl:problem:input", 422)
        assert {item["path"] for item in problem["errors"]} == {"n", ""}
        assert (await http.get("/api/runs")).json()["runs"] == []


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b'{"name": "a", "name": "b"}', 422),
        (b'{"name": NaN}', 422),
        (b'{"name": "a", "n": 1e999}', 422),
        (b'{"name": "\\ud800"}', 422),
        (b'{"name": "a"', 422),
        (b'["a"]', 422),
        (b"\xff", 422),
        (b'{"name": ' + b"[" * 5000 + b"]" * 5000 + b"}", 422),
        (b'{"name": "\\ud83d\\ude00 \\u0000"}', 200),
        ('{"name": "é\u2028"}'.encode(), 200),
    ],
)
async def test_bodies_are_strict_json(desk, body, status):
    async with desk() as (service, http):
        answer = await http.post("/api/hello", content=body, headers=JSON)
        assert answer.status_code == status
        if status == 200:
            assert answer.json()["result"] == json.loads(body)["name"]


async def test_only_json_is_taken(desk):
    async with desk() as (service, http):
        for kind in ("text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin-1"):
            answer = await http.post("/api/hello", content=b'{"name": "a"}', headers={"content-type": kind})
            assert answer.status_code == 415, kind
        for kind in ("application/json; charset=UTF-8", "application/vnd.acme+json"):
            answer = await http.post("/api/hello", content=b'{"name": "a"}', headers={"content-type": kind})
            assert answer.status_code == 200, kind


async def test_bodies_are_bounded_however_they_are_sent(desk):
    async with desk("[server]\nmax_body_bytes = 100\n") as (service, http):
        big = json.dumps({"name": "x" * 200}).encode()

        async def pieces():
            for start in range(0, len(big), 10):
                yield big[start : start + 10]

        for content in (big, pieces()):
            answer = await http.post("/api/hello", content=content, headers=JSON)
            assert answer.status_code == 413
            assert answer.json()["type"] == "urn:tuvl:problem:body-too-large"
        assert (await http.post("/api/hello", json={"name": "x"})).status_code == 200


async def test_busy_says_when_to_come_back(desk):
    async with desk("[run]\nmax_running = 1\nmax_queued = 0\n") as (service, http):
        first = await http.post("/api/workflows/wait/runs", headers={"prefer": "respond-async"})
        assert first.status_code == 202
        answer = await http.post("/api/workflows/wait/runs")
        assert answer.status_code == 429
        assert int(answer.headers["retry-after"]) > 0


async def test_later_is_where_to_find_it(desk):
    async with desk() as (service, http):
        answer = await http.post("/api/workflows/wait/runs", headers={"prefer": "wait=5, respond-async"})
        assert answer.status_code == 202
        assert answer.headers["preference-applied"] == "respond-async"
        where = answer.headers["location"]
        assert where == f"/api/runs/{answer.headers['x-run-id']}"
        assert (await http.get(where)).json()["status"] == "running"
        assert (await http.post(f"{where}/abort", json={"reason": "enough"})).json()["aborted"] is True
        events = (await http.get(f"{where}/events")).text
        assert '"status":"cancelled"' in events
        assert (await http.post(f"{where}/abort")).json()["aborted"] is False


async def test_request_ids_come_back_and_are_logged_without_values(desk, caplog):
    caplog.set_level(logging.INFO, "tuvl.server")
    token = "acme/ann/s3cr3t-scope"
    async with desk(dev=False) as (service, http):
        sent = {"x-request-id": "abc-1", "authorization": f"Bearer {token}"}
        answer = await http.post(
            "/api/workflows/hello/runs?detach=0&q=s3cr3t-q", json={"name": "s3cr3t-n"}, headers=sent
        )
        assert answer.headers["x-request-id"] == "abc-1"
        odd = await http.get("/no%0Asuch?x=s3cr3t-x", headers={"x-request-id": "bad id"})
        assert odd.headers["x-request-id"] not in ("bad id", "")
    lines = [record.getMessage() for record in caplog.records if record.name == "tuvl.server.access"]
    assert "request_id=abc-1" in lines[0]
    assert "subject=ann" in lines[0]
    assert f"run_id={answer.headers['x-run-id']}" in lines[0]
    assert "path=/no%0Asuch status=404" in lines[1]
    assert "s3cr3t" not in caplog.text


async def test_pages_of_others_may_call_only_where_they_are_named(desk):
    preflight = {"access-control-request-method": "POST", "access-control-request-headers": "content-type"}
    async with desk(dev=False) as (service, http):
        answer = await http.options("/api/hello", headers={"origin": "https://app.example", **preflight})
        assert "access-control-allow-origin" not in answer.headers
    async with desk('[server]\ncors_origins = ["https://app.example"]\n', dev=False) as (service, http):
        answer = await http.options("/api/hello", headers={"origin": "https://app.example", **preflight})
        assert answer.headers["access-control-allow-origin"] == "https://app.example"
        answer = await http.options("/api/hello", headers={"origin": "https://other.example", **preflight})
        assert "access-control-allow-origin" not in answer.headers


async def test_with_dev_no_page_of_elsewhere_gets_in(desk):
    async with desk() as (service, http):
        assert (
            await http.post("/api/workflows/wait/runs", headers={"origin": "https://evil.example"})
        ).status_code == 403
        assert (await http.get("/api/runs", headers={"host": "evil.example"})).status_code == 421
        assert (await http.get("/api/runs", headers={"origin": str(http.base_url)})).status_code == 200


async def test_hosts_are_a_list_where_there_is_one(desk):
    async with desk('[server]\nhosts = ["api.example"]\n', dev=False) as (service, http):
        assert (await http.get("/healthz")).status_code == 421
        assert (await http.get("/healthz", headers={"host": "API.example:443"})).status_code == 200


async def test_plugins_serve_routes_and_leave_ours_alone(desk, bearer, caplog):
    plugin = """
from tuvl_core import HttpRoute, hookimpl

async def who(request):
    from starlette.responses import PlainTextResponse
    return PlainTextResponse(f"{request.state.principal and request.state.principal.subject}")

async def broken(request):
    raise RuntimeError("s3cr3t-bug")

@hookimpl(optionalhook=True)
def tuvl_http_routes(service):
    yield HttpRoute(path="/acme/who", endpoint=who)
    yield HttpRoute(path="/acme/open", endpoint=who, public=True)
    yield HttpRoute(path="/acme/staff", endpoint=who, scope="staff")
    yield HttpRoute(path="/acme/broken", endpoint=broken, public=True)
    yield HttpRoute(path="/api/runs", endpoint=broken, public=True)
"""
    async with desk(dev=False, plugin=plugin) as (service, http):
        assert (await http.get("/acme/who")).status_code == 401
        assert (await http.get("/acme/who", headers=bearer("acme/ann"))).text == "ann"
        assert (await http.get("/acme/open")).text == "None"
        assert (await http.get("/acme/staff", headers=bearer("acme/ann"))).status_code == 403
        assert (await http.get("/acme/staff", headers=bearer("acme/ann/staff"))).text == "ann"
        answer = await http.get("/acme/broken")
        assert (answer.status_code, answer.json()["type"]) == (500, "urn:tuvl:problem:failed")
        assert "s3cr3t" not in answer.text
        assert (await http.get("/api/runs")).status_code == 401
    assert "http.route_taken path=/api/runs" in caplog.text
