"""Await several tasks without leaking one, and await what a plain or async function returned."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Sequence
from typing import Any, TypeVar

T = TypeVar("T")


async def gather_all(waiting: Sequence[Awaitable[T]]) -> list[T]:
    """Await all of them concurrently. If one raises, or the caller is cancelled, cancel the others first and wait for their end."""
    if len(waiting) == 1:
        return [await waiting[0]]
    tasks = [asyncio.ensure_future(one) for one in waiting]
    try:
        return await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


async def settle(outcome: Any) -> Any:
    """Return `outcome`, awaited if it is awaitable: users write `def` or `async def`, and some plain functions return a coroutine."""
    return await outcome if inspect.isawaitable(outcome) else outcome
