"""Plain or async: what a function that may be either returned, once it is there."""

from __future__ import annotations

import inspect
from typing import Any


async def settle(outcome: Any) -> Any:
    """Return `outcome`, awaited where it can be: users write `def` or `async def`, and some return what is to be awaited."""
    return await outcome if inspect.isawaitable(outcome) else outcome
