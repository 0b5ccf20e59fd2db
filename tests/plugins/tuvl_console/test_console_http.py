"""The console without a browser: who may see what, where forms may come from, and what is escaped."""

from __future__ import annotations

import asyncio
import json

import httpx
import pytest

from tuvl_core import Principal

OPERATOR = "acme/op/run:read/agent:observe/agent:control"
ANN = Principal(subject="ann", tenant="acme")


@pytest.fixture
async def client():
    async with httpx.AsyncClient(follow_redirects=False, timeout=20) as found:
        yield found


async def until(condition):
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0.01)


def own(url):
    return {"origin": url}


async def test_who_is_not_signed_in_gets_the_form_and_nothing_else(desk, client):
    async with desk(dev=False) as (service, url):
        live = await service.start("desk", principal=ANN)
        for path in ("/console", f"/console/runs/{live.run_id}", "/console/live", f"/console/runs/{live.run_id}/live"):
            answer = await client.get(url + path)
            assert answer.status_code == 401, path
            assert "Sign in" in answer.text
            assert "desk" not in answer.text
        bad = await client.post(f"{url}/console/sign-in", data={"token": "wrong"}, headers=own(url))
        assert (bad.status_code, "not good" in bad.text) == (401, True)
        good = await client.post(f"{url}/console/sign-in", data={"token": f"Bearer {OPERATOR}"}, headers=own(url))
        assert (good.status_code, good.headers["location"]) == (303, "/console")
        cookie = good.headers["set-cookie"].lower()
        assert all(part in cookie for part in ("httponly", "samesite=strict", "path=/console"))
        page = await client.get(f"{url}/console")
        assert live.run_id in page.text
        out = await client.post(f"{url}/console/sign-out", headers=own(url))
        assert out.status_code == 303
        assert (await client.get(f"{url}/console")).status_code == 401
        await live.left()


async def test_a_foreign_run_and_an_unknown_one_are_the_same_page(desk, client):
    async with desk(dev=False) as (service, url):
        live = await service.start("desk", principal=ANN)
        await until(lambda: len(service.app.loops))
        client.cookies.set("tuvl_console", "evil/eve/run:read/agent:observe/agent:control")
        pages = []
        for id in (live.run_id, "00000000-0000-4000-8000-000000000000"):
            answer = await client.get(f"{url}/console/runs/{id}")
            assert answer.status_code == 404
            pages.append(answer.text.replace(id, "ID"))
            for path in (f"runs/{id}/abort", f"loops/{id}.1/abort"):
                assert (await client.post(f"{url}/console/{path}", headers=own(url))).status_code == 404
        assert pages[0] == pages[1]
        assert live.run_id not in (await client.get(f"{url}/console")).text
        assert not live.over
        await live.left()


@pytest.mark.parametrize(
    "headers",
    [{}, {"origin": "https://evil.example"}, {"origin": "null"}, {"sec-fetch-site": "cross-site"}],
    ids=["none", "foreign", "null", "fetch"],
)
async def test_forms_of_other_sites_do_nothing(desk, client, headers):
    async with desk() as (service, url):
        live = await service.start("desk", principal=Principal.local())
        await until(lambda: len(service.app.loops))
        [loop] = service.app.loops
        for path in (f"loops/{loop.id}/pause", f"runs/{live.run_id}/abort", "sign-in", "sign-out"):
            answer = await client.post(f"{url}/console/{path}", headers=headers, data={"token": "a/b"})
            assert answer.status_code == 403
        assert not loop.touched
        await live.left()


async def test_who_may_only_look_sees_no_buttons_and_cannot_act(desk, client):
    async with desk(dev=False) as (service, url):
        live = await service.start("desk", principal=ANN)
        await until(lambda: len(service.app.loops))
        client.cookies.set("tuvl_console", "acme/eye/run:read/agent:observe")
        page = (await client.get(f"{url}/console/runs/{live.run_id}")).text
        assert "Agent work" in page
        assert "Pause work" not in page
        answer = await client.post(f"{url}/console/loops/{live.run_id}.1/pause", headers=own(url))
        assert (answer.status_code, "agent:control" in answer.text) == (403, True)
        client.cookies.set("tuvl_console", "acme/reader/run:read")
        page = (await client.get(f"{url}/console/runs/{live.run_id}")).text
        assert "agent:observe" in page
        await live.left()


async def test_operators_act_by_plain_forms(desk, client):
    async with desk() as (service, url):
        live = await service.start("desk", principal=Principal.local())
        await until(lambda: len(service.app.loops))
        [loop] = service.app.loops

        async def post(path, **data):
            answer = await client.post(f"{url}/console/{path}", data=data, headers=own(url))
            return answer.status_code, answer.headers.get("location")

        back = (303, f"/console/runs/{live.run_id}")
        assert await post(f"loops/{loop.id}/pause") == back
        await until(lambda: loop.status == "paused")
        assert "Resume work" in (await client.get(url + back[1])).text
        assert await post(f"loops/{loop.id}/steer", text="be brief") == back
        assert (await post(f"loops/{loop.id}/steer", text=" "))[0] == 422
        assert (await post(f"loops/{loop.id}/explode"))[0] == 422
        assert (await post(f"loops/{loop.id}/steer", text="x" * 70_000))[0] == 422
        assert await post(f"loops/{loop.id}/resume") == back
        assert await post(f"loops/{loop.id}/abort", text="enough", force="on") == back
        result = await live.wait()
        assert [entry.signal for entry in result.path][:1] == ["aborted"]


async def test_what_values_hold_is_never_a_script(desk, client):
    async with desk() as (service, url):
        live = await service.start("desk", principal=Principal.local())
        await until(lambda: len(service.app.loops))
        service.app.loops.get(f"{live.run_id}.1", "default").control.abort("<b>enough</b>")
        await live.wait()
        await asyncio.sleep(0)
        for path in ("/console", f"/console/runs/{live.run_id}"):
            page = await client.get(url + path)
            assert "&lt;script&gt;alert(" in page.text
            assert "<script>alert" not in page.text
            policy = page.headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "unsafe-inline" not in policy
            assert " style=" not in page.text
            assert " onclick=" not in page.text
            assert page.headers["cache-control"] == "no-store"


async def test_the_stream_of_a_run_ends_with_the_run_and_says_what_came_of_it(desk, client):
    async with desk() as (service, url):
        live = await service.start("desk", principal=Principal.local())
        await until(lambda: len(service.app.loops))
        parts = {}
        async with client.stream("GET", f"{url}/console/runs/{live.run_id}/live") as stream:
            assert stream.headers["content-type"].startswith("text/event-stream")
            service.app.resources["played"].done = True
            async for line in stream.aiter_lines():
                if line.startswith("data: "):
                    parts |= json.loads(line[6:])
        assert "completed" in parts["facts"]
        assert "Pause" not in parts["controls"]
        assert "<b>work</b>" in parts["lines"]
        assert 'id="node-@end" class="end current"' in parts["graph"]


async def test_files_are_served_with_a_tag(desk, client):
    async with desk() as (_, url):
        first = await client.get(f"{url}/console/static/console.js")
        assert first.headers["content-type"].startswith("text/javascript")
        again = await client.get(f"{url}/console/static/console.js", headers={"if-none-match": first.headers["etag"]})
        assert again.status_code == 304
        for name in ("nope.js", "../routes.py", "..%2Froutes.py"):
            assert (await client.get(f"{url}/console/static/{name}")).status_code == 404


async def test_the_server_s_own_address_leads_to_the_console(desk, client):
    async with desk() as (_, url):
        for path in ("/", "/console/"):
            answer = await client.get(url + path)
            assert (answer.status_code, answer.headers["location"]) == (307, "/console")
