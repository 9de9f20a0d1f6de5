"""What a run may spend on models: hard caps on calls of judges and on dollars, asked before each call.

A call is admitted only while there is room for it. What a call will cost is known when it is over, so each one under
way is taken to cost as much as the dearest so far; before any price is known one call goes ahead alone. So a cap on
dollars is passed by less than what one call costs, however many wait.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable

from proctor.models.base import ModelError, ModelFault, Reply
from proctor.schema.results.model_usage import Spent

JUDGE = "judge"
_UNKNOWN = (
    "max_cost: the price of {model} is not known, so that this limit cannot be kept; --max-judge-calls (max_judge_calls) "
    "limits calls"
)
_UNKNOWN_OF_AGENT = (
    "max_cost: the price of {model}, which the agent uses, is not known, so that this limit cannot be kept; --max-tokens "
    "(max_tokens) limits what the agent uses, --max-judge-calls (max_judge_calls) what judges do"
)


class RunBudget:
    """The caps of one run; see `Budget`. Used on one event loop."""

    def __init__(self, *, max_calls: int | None = None, max_cost: float | None = None) -> None:
        """Take how often judges may be asked, and how many US dollars may be spent; `None`: no limit."""
        self.max_calls, self.max_cost = max_calls, max_cost
        self.calls = 0
        """Calls of judges that were admitted."""
        self.cost = 0.0
        """US dollars that are known to be spent: on judges, played users and the agent."""
        self.refused = ""
        """What the first who was refused was told; empty while nobody was."""
        self._spent = ""  # why nothing at all may be spent any more
        self._under_way = 0
        self._dearest = 0.0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._told: set[str] = set()
        self._tell: Callable[[str], None] = lambda _: None

    def listen(self, tell: Callable[[str], None]) -> None:
        """Have `tell` called with the reason when a limit is reached; at once, where what went before has reached it."""
        self._tell = tell
        self._reached(self._why_not(JUDGE))

    def go_on_from(self, before: RunBudget) -> None:
        """Count what another run of the same go took: its caps are over all of them."""
        self.calls, self.cost = before.calls, before.cost
        self._spent, self._dearest = before._spent, before._dearest

    async def admit(self, purpose: str) -> None:
        """Wait until one more call may be made.

        Raises:
            ModelError: none may be made any more; its `fault` is `BUDGET`.
        """
        while not (why := self._why_not(purpose)) and not self._has_room():
            await self._turn()
        self._wake_one()  # whoever is next looks whether there is room for one more
        if why:
            self.refused = self.refused or why
            raise ModelError(f"not asked: {why}", fault=ModelFault.BUDGET)
        self._under_way += 1
        if purpose == JUDGE:
            self.calls += 1
            self._reached(self._why_not(purpose))

    def settle(self, purpose: str, reply: Reply | None) -> None:
        """Take note of what a call came to; `None` where it gave no reply."""
        self._under_way -= 1
        if reply is not None and reply.cost is not None:
            self._dearest = max(self._dearest, reply.cost)
            self.spend(reply.cost)
        elif reply is not None and self.max_cost is not None:
            self._spent = self._spent or _UNKNOWN.format(model=reply.model or "a model")
            self._reached(self._spent)
        self._wake_one()

    def spend(self, cost: float) -> None:
        """Count dollars, also those that were spent otherwise: by the agent."""
        self.cost += cost
        if self.max_cost is not None and self.cost >= self.max_cost:
            self._spent = self._spent or f"max_cost: ${self.cost:.4g} of ${self.max_cost:g} are spent"
            self._reached(self._spent)

    def spend_on_agent(self, spent: Iterable[Spent]) -> None:
        """Count what the agent spent in a trial; what nobody knows ends it all, as of judges."""
        for one in spent:
            self.spend(one.cost)
            if one.unpriced and self.max_cost is not None:
                self._spent = self._spent or _UNKNOWN_OF_AGENT.format(
                    model=one.model or "a model without a name"
                )
                self._reached(self._spent)

    def _why_not(self, purpose: str) -> str:
        if (
            not self._spent
            and purpose == JUDGE
            and self.max_calls is not None
            and self.calls >= self.max_calls
        ):
            return f"max_judge_calls: judges were asked {self.calls:,} time{'' if self.calls == 1 else 's'}"
        return self._spent

    def _has_room(self) -> bool:
        if self.max_cost is None or not self._under_way:
            return True
        if not self._dearest:
            return False  # what one costs is not known yet
        return self.cost + (self._under_way + 1) * self._dearest <= self.max_cost

    def _reached(self, limit: str) -> None:
        if limit and limit not in self._told:
            self._told.add(limit)
            self._tell(limit)

    async def _turn(self) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except BaseException:
            if turn.done() and not turn.cancelled():
                self._wake_one()  # it was its turn, and it will not take it
            raise

    def _wake_one(self) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
