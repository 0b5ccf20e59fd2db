"""One log of a run's events, and any number of readers."""

from __future__ import annotations

import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuvl_core import EventLog, RecordedEvent, StepEvent


def event(seq, type="step", snapshot="{}"):
    return StepEvent(
        type=type,
        run_id="r",
        seq=seq,
        time=0.0,
        workflow="w",
        step_id="s",
        visit=1,
        kind="k",
        signal="running",
        snapshot_json=snapshot,
        outcome={"status": "completed"} if type == "run" else None,
    )


async def read(log, after=0):
    return [item.seq async for item in log.follow(after)]


async def test_a_late_reader_gets_what_is_kept_and_then_what_comes():
    log = EventLog()
    log.emit(event(1))
    log.emit(event(2))
    reader = asyncio.create_task(read(log))
    again = asyncio.create_task(read(log, after=2))
    await asyncio.sleep(0)
    log.emit(event(3))
    await asyncio.sleep(0)
    log.emit(event(4, "run"))
    log.close()
    assert await reader == [1, 2, 3, 4]
    assert await again == [3, 4]
    assert await read(log, after=4) == []


async def test_the_oldest_events_give_way_and_the_last_is_always_kept():
    log = EventLog(most=3)
    for seq in range(1, 10):
        log.emit(event(seq))
    log.emit(event(10, "run"))
    log.close()
    assert await read(log) == [8, 9, 10]

    log = EventLog(most_bytes=1000)
    for seq in range(1, 10):
        log.emit(event(seq, snapshot=json.dumps({"text": "x" * 400})))
    log.emit(event(10, "run", snapshot=json.dumps({"text": "x" * 5000})))
    log.close()
    assert await read(log) == [10]


async def test_a_slow_reader_goes_on_with_the_oldest_that_is_kept():
    log = EventLog(most=2)
    log.emit(event(1))
    reader = log.follow()
    assert (await anext(reader)).seq == 1
    for seq in range(2, 8):
        log.emit(event(seq))
    assert (await anext(reader)).seq == 6
    log.close()
    assert [item.seq async for item in reader] == [7]


async def test_a_reader_that_goes_away_leaves_nothing_behind():
    log = EventLog()
    readers = [asyncio.create_task(read(log)) for _ in range(3)]
    await asyncio.sleep(0)
    readers[0].cancel()
    with pytest.raises(asyncio.CancelledError):
        await readers[0]
    assert len(log._waiting) == 2
    log.close()
    assert [await reader for reader in readers[1:]] == [[], []]


async def test_a_log_that_is_closed_without_a_last_event_ends_its_readers():
    log = EventLog()
    log.emit(event(1))
    log.close()
    log.emit(event(2))
    assert await read(log) == [1]


@given(kept=st.integers(1, 6), total=st.integers(1, 20), after=st.integers(0, 25))
async def test_every_place_in_the_log_is_found(kept, total, after):
    log = EventLog(most=kept)
    for seq in range(1, total + 1):
        log.emit(event(seq))
    log.close()
    oldest = max(total - kept + 1, 1)
    assert await read(log, after) == list(range(max(oldest, after + 1), total + 1))
    assert [item.seq for item in log.kept(after)] == await read(log, after)


def test_a_recorded_event_is_its_text():
    text = event(7, "run").to_json()
    parsed = RecordedEvent.parse(text)
    assert (parsed.seq, parsed.type, parsed.terminal, parsed.to_json()) == (7, "run", True, text)
    assert parsed.to_dict()["status"] == "completed"
    for wrong in ("[]", "{}", '{"seq": "1", "type": "step"}', "nonsense"):
        with pytest.raises(ValueError, match=r".+"):
            RecordedEvent.parse(wrong)


@given(st.integers(0, 12), st.integers(1, 5), st.integers(-1, 15))
def test_what_is_kept_after_a_number_is_the_end_of_what_is_kept(events, most, after):
    log = EventLog(most=most)
    for seq in range(1, events + 1):
        log.emit(event(seq))
    assert [item.seq for item in log.kept(after)] == [item.seq for item in log.kept() if item.seq > after]
    assert log.first_seq == (log.kept()[0].seq if events else 0)
