"""The budget of a run in a store: its limits hold for all processes that write it together, and for its successor after a kill.

Each process reserves an allotment in the store, and admits calls as long as the allotment lasts. So all of them together make
exactly as many calls of judges as the limit allows. Dollars are reserved by the most expensive call so far, of any process: the
limit is exceeded only by what a call costs more than that, and by what the agent costs in the trials under way. What a killed
process has reserved counts as spent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from math import ceil

from proctor.common.safe_text import count_text
from proctor.engine.usage.budget import JUDGE, RunBudget
from proctor.models.base import Reply
from proctor.stores.base import NOTHING, Allotment, Amounts, Demand

WAIT_SECONDS = 0.2
"""Seconds between two demands while other members hold the rest."""
_CALLS_AT_ONCE = 20
"""The largest number of calls that one demand reserves."""
_FIRST_CALLS = 20
"""A call whose price is not known reserves the limit divided by this number."""
_MILLION = 1_000_000


class SharedBudget(RunBudget):
    """The caps of a run, seen by one process; see `Budget`. Used on one event loop."""

    def __init__(self, *, max_calls: int | None = None, max_cost: float | None = None) -> None:
        """Set the limits of all processes; until `share` they are those of this one."""
        super().__init__(max_calls=max_calls, max_cost=max_cost)
        self._allotment: Allotment | None = None
        self._commit: Callable[[], Awaitable[None]]
        self._turns = asyncio.Lock()
        self._no_calls = ""  # why no further call of a judge may be made, although the limit is not reached

    def share(self, allotment: Allotment, commit: Callable[[], Awaitable[None]]) -> None:
        """Spend from `allotment`, which `commit` updates; what an earlier process of this run or part has spent counts."""
        before = allotment.spent()
        self.calls = max(self.calls, before.calls)
        self.cost = max(self.cost, before.micros / _MILLION)
        self._allotment, self._commit = allotment, commit
        self._exchange_price(allotment)

    def _exchange_price(self, allotment: Allotment) -> None:
        """Learn what the most expensive call of any process has cost, and let the others learn it."""
        allotment.dearest = max(allotment.dearest, ceil(self._dearest * _MILLION))
        self._dearest = max(self._dearest, allotment.dearest / _MILLION)

    def settle(self, purpose: str, reply: Reply | None) -> None:
        """Record the end of a call; `None` if it gave no reply."""
        super().settle(purpose, reply)
        if self._allotment is not None:
            self._exchange_price(self._allotment)

    @property
    def total_calls(self) -> int:
        """Calls of judges of all members."""
        return self.calls + self._other_processes.calls

    @property
    def total_cost(self) -> float:
        """US dollars that all members have spent."""
        return self.cost + self._other_processes.micros / _MILLION

    @property
    def micros(self) -> int:
        """What this part has spent, in millionths of a US dollar."""
        return ceil(self.cost * _MILLION)

    @property
    def _other_processes(self) -> Amounts:
        return NOTHING if self._allotment is None else self._allotment.others

    async def admit(self, purpose: str) -> None:
        """Wait until one more call may be made, by any member.

        Raises:
            ModelError: none may be made any more; its `fault` is `BUDGET`.
        """
        async with self._turns:
            while (
                (allotment := self._allotment)
                and not self._refusal_reason(purpose)
                and not self._has_room(purpose)
            ):
                await self._reserve(allotment, purpose)
            await super().admit(purpose)

    def _has_room(self, purpose: str) -> bool:
        if (allotment := self._allotment) is None:
            return super()._has_room(purpose)
        if purpose == JUDGE and self.max_calls is not None and self.calls >= allotment.allotted.calls:
            return False
        if self.max_cost is None:
            return True
        left = allotment.allotted.micros - self.micros
        is_alone = not self._under_way and left > 0
        if not is_alone and not self._is_price_known(self.max_cost):
            return False
        return self._reserved(1) <= left or (is_alone and allotment.is_rest)

    def _reserved(self, more: int) -> int:
        """Return what the calls under way, and so many more, may cost, in millionths of a US dollar."""
        if self._dearest or self.max_cost is None:
            return (self._under_way + more) * ceil(self._dearest * _MILLION)
        if not self._under_way + more:
            return 0
        # the only call of all processes; those that are killed in it again and again together reserve the limit
        return ceil(max(min(self.max_cost / _FIRST_CALLS, self.max_cost - self.total_cost), 0) * _MILLION)

    async def _reserve(self, allotment: Allotment, purpose: str) -> None:
        """Demand what one more call needs; if it is not available, wait for calls that end here or elsewhere."""
        spent, calls = self.micros, self.calls
        cost = 0 if self.max_cost is None else self._reserved(1) or 1
        demand = allotment.demand = Demand(
            target=Amounts(spent + cost, calls + (purpose == JUDGE)),
            floor=Amounts(spent + self._reserved(0), calls),
            chunk=Amounts(_CALLS_AT_ONCE * allotment.dearest, _CALLS_AT_ONCE - 1),
        )
        await self._commit()
        allotment.demand = None
        self._exchange_price(allotment)
        self.check()
        if self._has_room(purpose) or self._refusal_reason(purpose):
            return
        if allotment.is_rest and not self._under_way and not allotment.covers(demand):
            self._stop(allotment, purpose)
            return
        with suppress(TimeoutError):
            await asyncio.wait_for(self._wait_for_turn(), WAIT_SECONDS)

    def _stop(self, allotment: Allotment, purpose: str) -> None:
        """Refuse further calls: what is left of a limit is reserved by processes that have died."""
        micros, calls, _ = allotment.lost
        holders = "reserved by parts whose process has died"
        if purpose == JUDGE and self.max_calls is not None and self.calls >= allotment.allotted.calls:
            self._no_calls = why = (
                f"max_judge_calls: judges were asked {self.total_calls:,} of {self.max_calls:,} times; "
                f"{count_text(calls, 'call')} {'is' if calls == 1 else 'are'} {holders}"
            )
        else:
            spent = f"max_cost: ${self.total_cost:.4g} of ${self.max_cost:g} are spent"
            self._spent = why = f"{spent}; ${micros / _MILLION:.4g} are {holders}" if micros else spent
        self._announce(why)

    def _refusal_reason(self, purpose: str) -> str:
        return super()._refusal_reason(purpose) or (self._no_calls if purpose == JUDGE else "")
