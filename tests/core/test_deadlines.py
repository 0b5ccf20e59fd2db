"""`TimeLimit`: what `asyncio.timeout` promises, on a timer that all limits share."""

from __future__ import annotations

import asyncio
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tuvl_core import TimeLimit


async def test_work_in_time_is_left_alone():
    with TimeLimit(5, "work"):
        await asyncio.sleep(0)
    await asyncio.sleep(0)
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


@pytest.mark.parametrize("seconds", [0.02, 0, -1])
async def test_the_limit_becomes_a_timeout(seconds):
    began = time.monotonic()
    with pytest.raises(TimeoutError):
        with TimeLimit(seconds, "work"):
            await asyncio.sleep(60)
    assert time.monotonic() - began < 20
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


async def test_clean_up_is_waited_for():
    cleaned = False
    with pytest.raises(TimeoutError):
        with TimeLimit(0.01, "work"):
            try:
                await asyncio.sleep(60)
            finally:
                await asyncio.sleep(0.02)
                cleaned = True
    assert cleaned


async def test_an_error_of_the_work_stays_what_it_is():
    with pytest.raises(ValueError, match="mine"):
        with TimeLimit(0.01, "work"):
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                raise ValueError("mine") from None


async def test_a_cancellation_from_elsewhere_goes_on():
    async def work():
        with TimeLimit(60, "work"):
            await asyncio.sleep(60)

    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize(("outer", "inner", "who"), [(0.01, 60, "outer"), (60, 0.01, "inner")])
async def test_of_two_limits_the_one_that_passed_says_so(outer, inner, who):
    said = None
    try:
        with TimeLimit(outer, "outer"):
            try:
                with TimeLimit(inner, "inner"):
                    await asyncio.sleep(60)
            except TimeoutError:
                said = "inner"
    except TimeoutError:
        said = "outer"
    assert said == who


def test_outside_of_a_task_it_is_refused():
    with pytest.raises(RuntimeError):
        with TimeLimit(1, "work"):
            pass


def test_every_event_loop_has_its_own():
    async def late() -> bool:
        try:
            with TimeLimit(0.01, "work"):
                await asyncio.sleep(60)
        except TimeoutError:
            return True
        return False

    assert [asyncio.run(late()) for _ in range(3)] == [True] * 3


@settings(max_examples=20)
@given(st.lists(st.tuples(st.sampled_from([0.01, 0.02, 60.0]), st.sampled_from([0.0, 0.005, 0.05])), max_size=12))
def test_exactly_the_work_that_takes_too_long_expires(jobs):
    async def one(limit: float, needs: float) -> bool:
        try:
            with TimeLimit(limit, "work"):
                await asyncio.sleep(needs)
        except TimeoutError:
            return True
        return False

    async def together() -> list[bool]:
        return await asyncio.gather(*[one(limit, needs) for limit, needs in jobs])

    for (limit, needs), expired in zip(jobs, asyncio.run(together()), strict=True):
        if limit == 60 or needs == 0.05:  # nearer together, a busy machine decides
            assert expired == (needs > limit)
