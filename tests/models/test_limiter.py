"""How many requests run at once: as many as allowed, fewer when it is too much."""

from __future__ import annotations

import asyncio
import random

import pytest
from hypothesis import given, strategies as st

from proctor.models.retries import Limiter


def test_no_more_than_allowed_at_once_and_in_turn() -> None:
    async def run() -> tuple[int, list[int]]:
        limiter, most, order = Limiter(3), 0, []

        async def one(number: int) -> None:
            nonlocal most
            slot = await limiter.acquire()
            most = max(most, limiter.in_use)
            order.append(number)
            await asyncio.sleep(0)
            limiter.release(slot, limited=False)

        await asyncio.gather(*(one(number) for number in range(20)))
        assert limiter.in_use == 0
        return most, order

    assert asyncio.run(run()) == (3, list(range(20)))


def test_overload_is_counted_once_for_all_concurrent_calls() -> None:
    async def run() -> None:
        limiter = Limiter(100)
        slots = [await limiter.acquire() for _ in range(100)]
        for slot in slots[:50]:
            limiter.release(slot, limited=True)
        assert limiter.limit == 70
        for slot in slots[50:]:
            limiter.release(slot, limited=None)
        limiter.release(await limiter.acquire(), limited=True)
        assert limiter.limit == 1, "of one request that was under way alone, no more than one is left"

    asyncio.run(run())


def test_it_rises_again_to_what_is_allowed_and_no_further() -> None:
    async def run() -> None:
        limiter = Limiter(10)
        slots = [await limiter.acquire() for _ in range(10)]
        for slot in slots:
            limiter.release(slot, limited=True)
        assert limiter.limit == 7
        limits = []
        for _ in range(100):
            limiter.release(await limiter.acquire(), limited=False)
            limits.append(limiter.limit)
        assert limits == sorted(limits)
        assert limits[-1] == 10
        assert limiter.lowest == 7

    asyncio.run(run())


def test_who_gives_up_waiting_takes_no_place() -> None:
    async def run() -> None:
        limiter = Limiter(1)
        slot = await limiter.acquire()
        waiting = [asyncio.ensure_future(limiter.acquire()) for _ in range(3)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        await asyncio.sleep(0)
        limiter.release(slot)
        waiting[1].cancel()  # its turn has come, and it does not know yet
        second = await waiting[2]
        limiter.release(second)
        assert limiter.in_use == 0

    asyncio.run(asyncio.wait_for(run(), 20))


@pytest.mark.slow
@given(st.integers(0, 2**32), st.integers(1, 20))
def test_all_calls_are_served_in_any_case(seed: int, most: int) -> None:
    chance = random.Random(seed)

    async def one(limiter: Limiter) -> None:
        slot = await limiter.acquire()
        try:
            assert 1 <= limiter.in_use <= most
            for _ in range(chance.randrange(3)):
                await asyncio.sleep(0)
        finally:
            limiter.release(slot, limited=chance.choice([True, False, None]))

    async def run() -> None:
        limiter = Limiter(most)
        tasks = [asyncio.ensure_future(one(limiter)) for _ in range(40)]
        for _ in range(5):
            chance.choice(tasks).cancel()
            await asyncio.sleep(0)
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(result is None or isinstance(result, asyncio.CancelledError) for result in results)
        assert limiter.in_use == 0
        assert 1 <= limiter.limit <= most

    asyncio.run(asyncio.wait_for(run(), 20))


def test_each_of_several_processes_takes_an_equal_part_of_the_limit() -> None:
    for processes, most in ((2, 100), (3, 66), (300, 1)):
        limiter = Limiter()
        limiter.share(processes)
        assert (limiter.most, limiter.limit) == (most, most)
