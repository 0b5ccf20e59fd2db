"""The client of the server, over real sockets, and through connections that break."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st
from served import frames

from tuvl_core import (
    BusyError,
    DeniedError,
    Directive,
    InputError,
    TuvlError,
    UnauthenticatedError,
    UnknownRunError,
    UnknownWorkflowError,
)
from tuvl_server.client import connect
from tuvl_server.events import EventReader


async def until(condition):
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0.005)


async def collect(events):
    return [event async for event in events]


async def test_it_starts_follows_and_lists(desk):
    odd = "a\u2028b\u0085c\r\nd"
    async with desk() as (service, http), connect(str(http.base_url), None) as client:
        events = await collect(client.start("hello", {"name": odd}, detach=False))
        assert [event.type for event in events] == ["step", "step", "run"]
        assert events[-1].to_dict()["result"] == odd
        run_id = events[-1].to_dict()["run_id"]
        assert await collect(client.follow(run_id, 1)) == events[1:]
        assert (await client.run(run_id))["status"] == "completed"
        assert [run["run_id"] for run in await client.runs()] == [run_id]
        assert await client.abort(run_id, "too late") is False


async def test_leaving_cancels_unless_it_is_detached(desk):
    async with desk() as (service, http), connect(str(http.base_url), None) as client:
        for detach, status in ((False, "cancelled"), (True, "running")):
            events = client.start("wait", {}, detach=detach)
            run_id = (await anext(events)).to_dict()["run_id"]
            await events.aclose()
            await asyncio.sleep(0.2)
            assert (await client.run(run_id))["status"] == status


async def test_it_directs_loops(desk):
    async with desk() as (service, http), connect(str(http.base_url), None) as client:
        following = asyncio.create_task(collect(client.start("turns", {}, detach=False)))
        await until(lambda: len(service.app.loops) == 1)
        [loop], missing = await client.loops()
        assert missing is None
        pause = Directive(action="pause")
        assert [await client.direct(loop["id"], pause) for _ in range(2)] == ["applied", "repeated"]
        assert await client.direct(loop["id"], Directive(action="abort", text="enough", force=True)) == "applied"
        events = await following
        assert events[-1].terminal


@pytest.mark.parametrize(
    ("ask", "error"),
    [
        (lambda client: collect(client.start("hello", {"name": 1}, detach=False)), InputError),
        (lambda client: collect(client.start("no_such", {}, detach=False)), UnknownWorkflowError),
        (lambda client: collect(client.start("guarded", {}, detach=False)), DeniedError),
        (lambda client: collect(client.follow("no-such-run")), UnknownRunError),
        (lambda client: client.run("a/b?c"), UnknownRunError),
        (lambda client: client.loops(), DeniedError),
        (lambda client: client.direct("x.1", Directive(action="pause")), DeniedError),
    ],
)
async def test_it_raises_what_the_service_raised(desk, ask, error):
    async with desk(dev=False) as (service, http), connect(str(http.base_url), "acme/ann") as client:
        with pytest.raises(error):
            await ask(client)


async def test_it_says_who_nobody_knows_and_who_is_busy(desk):
    async with desk("[run]\nmax_running = 1\nmax_queued = 0\n", dev=False) as (service, http):
        async with connect(str(http.base_url), None) as client:
            with pytest.raises(UnauthenticatedError):
                await client.runs()
        async with connect(str(http.base_url), "acme/ann") as client:
            first = client.start("wait", {}, detach=True)
            await anext(first)
            with pytest.raises(BusyError) as caught:
                await collect(client.start("wait", {}, detach=False))
            assert caught.value.retry_after_s > 0
            await first.aclose()


async def test_what_is_no_server_of_ours_is_said():
    async def greet(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nhi")
        writer.close()

    server = await asyncio.start_server(greet, "127.0.0.1", 0)
    async with server, connect(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", None) as client:
        for ask in (client.runs(), collect(client.follow("x"))):
            with pytest.raises(TuvlError, match="no server of tuvl"):
                await ask
    async with connect("http://127.0.0.1:1", None) as client:
        with pytest.raises(TuvlError, match="is `tuvl serve` running there"):
            await client.runs()
        with pytest.raises(TuvlError, match="is `tuvl serve` running there"):
            await collect(client.start("x", {}, detach=False))


@asynccontextmanager
async def breaking(host, port, after):
    """A proxy that breaks each connection once so many bytes have come back."""
    broken = []

    async def pass_on(reader, writer):
        there, back = await asyncio.open_connection(host, port)

        async def up():
            while data := await reader.read(65536):
                back.write(data)

        sending = asyncio.create_task(up())
        left = after if len(broken) < 3 else 10**9
        while left > 0 and (data := await there.read(min(left, 65536))):
            left -= len(data)
            writer.write(data)
        broken.append(left <= 0)
        sending.cancel()
        for end in (writer, back):
            end.close()

    server = await asyncio.start_server(pass_on, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", broken


@pytest.mark.parametrize("after", [100, 700, 1000, 1500])
async def test_a_broken_stream_is_taken_up_where_it_was(desk, after):
    async with desk() as (service, http):
        async with breaking(http.base_url.host, http.base_url.port, after) as (url, broken):
            done = await http.post("/api/hello", json={"name": "x" * 300})
            run_id = done.headers["x-run-id"]
            async with connect(url, None) as client:
                events = await collect(client.follow(run_id))
        assert [event.seq for event in events] == [1, 2, 3]
        assert any(broken)


@given(st.lists(st.text(st.characters(exclude_characters="\r\n\0")), max_size=4), st.randoms(use_true_random=False))
def test_the_reader_agrees_with_another_however_the_bytes_come(values, random):
    ends = ["\n", "\r\n", "\r"]
    text = "".join(
        f"id: {n}{random.choice(ends)}data: {value}{random.choice(ends)}\n" for n, value in enumerate(values)
    )
    data, reader, found = (text + ": end\n\n").encode("utf-8", "surrogatepass"), EventReader(), []
    data = data.decode("utf-8", "replace").encode()
    while data:
        size = random.randint(1, 7)
        found += reader.feed(data[:size])
        data = data[size:]
    expected = frames((text + ": end\n\n").encode("utf-8", "surrogatepass").decode("utf-8", "replace"))
    assert [(event.id, event.data) for event in found] == [(one["id"], one["data"]) for one in expected]
