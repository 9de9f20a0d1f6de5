"""Waiting for several things at once, so that none is left behind when one of them goes wrong."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Sequence
from typing import Any, TypeVar

T = TypeVar("T")


async def together(waiting: Sequence[Awaitable[T]]) -> list[T]:
    """Wait for several at once. When one raises, or this is cancelled, the others are ended before that passes on."""
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


# --- Plain or async: what a function that may be either returned, once it is there ------------------------------------


async def settle(outcome: Any) -> Any:
    """Return `outcome`, awaited where it can be: users write `def` or `async def`, and some return what is to be awaited."""
    return await outcome if inspect.isawaitable(outcome) else outcome
